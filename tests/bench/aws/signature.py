"""Signature version 4, checked as the services do. Source: AWS General Reference, "Create a signed AWS API request"."""

import datetime
import hashlib
import hmac
import re
import urllib.parse

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<date>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request,\s*"
    r"SignedHeaders=(?P<headers>[^,]+),\s*Signature=(?P<signature>[0-9a-f]+)"
)


def scope(headers):
    """Access key, region, service and the rest of the Authorization header; None when there is none."""
    found = AUTHORIZATION.match(headers.get("Authorization") or "")
    return found.groupdict() if found else None


def sign(secret, date, region, service, string_to_sign):
    """The signature as hexadecimal text."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, string_to_sign.encode(), hashlib.sha256).hexdigest()


def canonical_query(pairs):
    """Sorted, percent-encoded."""
    quoted = sorted((urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~")) for k, v in pairs)
    return "&".join(f"{key}={value}" for key, value in quoted)


def string_to_sign(method, path, query, headers, signed, payload_hash, amz_date, region, service):
    """`headers` by lower-case name, `signed` the names in their order, `query` canonical."""
    lines = "".join(f"{name}:{' '.join((headers.get(name) or '').split())}\n" for name in signed)
    canonical = "\n".join([method, path, query, lines, ";".join(signed), payload_hash])
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return "\n".join(["AWS4-HMAC-SHA256", amz_date, f"{amz_date[:8]}/{region}/{service}/aws4_request", digest])


def request_is_signed_with(secret, request, parts):
    """Whether the Authorization header of a request is what this secret gives."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    pairs = urllib.parse.parse_qsl(request.query_text, keep_blank_values=True)
    # Every service but S3 encodes the path once more.
    path = urllib.parse.quote(request.path, safe="/-_.~")
    text = string_to_sign(
        request.method,
        path,
        canonical_query(pairs),
        headers,
        parts["headers"].split(";"),
        headers.get("x-amz-content-sha256") or hashlib.sha256(request.body).hexdigest(),
        headers.get("x-amz-date", ""),
        parts["region"],
        parts["service"],
    )
    return hmac.compare_digest(sign(secret, parts["date"], parts["region"], parts["service"], text), parts["signature"])


def is_fresh(amz_date, now, seconds):
    """Whether a date such as 20261130T202612Z lies at most so many seconds back or ahead."""
    try:
        then = datetime.datetime.strptime(amz_date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.UTC)
    except ValueError:
        return False
    return abs((now - then).total_seconds()) <= seconds
