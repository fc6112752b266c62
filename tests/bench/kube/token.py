"""Bearer tokens of EKS, checked as aws-iam-authenticator does and, beyond it, by the signature itself, which STS
would check.
Source: kubernetes-sigs/aws-iam-authenticator, `pkg/token/token.go`, `Verify`."""

import base64
import binascii
import datetime
import hashlib
import hmac
import re
import urllib.parse

from aws import signature

PREFIX = "k8s-aws-v1."
ALLOWED_KEYS = {
    "action",
    "version",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
    "x-amz-user-agent",
}
# The authenticator's presignedURLExpiration and its greatest X-Amz-Expires, both 15 minutes.
LIFETIME = 15 * 60
HOST = re.compile(r"^sts(-fips)?(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?$")


def why_not(token, cluster, settings):
    """Why a token is refused; None when it is good for this cluster."""
    if not token.startswith(PREFIX):
        return f"token has no prefix {PREFIX}"
    encoded = token[len(PREFIX) :]
    if "=" in encoded:
        return "token is padded"
    try:
        url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "token is not base64url"
    return _url(urllib.parse.urlsplit(url), cluster, settings)


def _url(url, cluster, settings):
    if url.scheme != "https" or not HOST.match(url.netloc):
        return f"not an STS host: {url.scheme}://{url.netloc}"
    if url.path != "/":
        return f"unexpected path {url.path}"
    pairs = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
    query = {key.lower(): value for key, value in pairs}
    if len(query) != len(pairs):
        return "a query parameter comes twice"
    if extra := set(query) - ALLOWED_KEYS:
        return f"query parameters that are not allowed: {sorted(extra)}"
    if query.get("action") != "GetCallerIdentity":
        return f"unexpected action {query.get('action')}"
    signed = query.get("x-amz-signedheaders", "").split(";")
    if "x-k8s-aws-id" not in signed:
        return "x-k8s-aws-id is not among the signed headers"
    expires = query.get("x-amz-expires", "")
    if not expires.isdigit() or not 0 < int(expires) <= LIFETIME:
        return f"X-Amz-Expires is {expires}"
    now = datetime.datetime.now(datetime.UTC)
    if not signature.is_fresh(query.get("x-amz-date", ""), now, settings["token_seconds"]):
        return "token is expired"
    return _signature(url, pairs, query, signed, cluster, settings)


def _signature(url, pairs, query, signed, cluster, settings):
    if not settings["check_signatures"]:
        return None
    try:
        key, date, region, service, _ = query.get("x-amz-credential", "").split("/")
    except ValueError:
        return "X-Amz-Credential is malformed"
    credentials = settings["credentials"].get(key)
    if credentials is None or credentials.get("expired"):
        return f"access key {key} is not known or expired"
    if (credentials.get("token") or None) != query.get("x-amz-security-token"):
        return "X-Amz-Security-Token is not the one of this access key"
    headers = {"host": url.netloc, "x-k8s-aws-id": cluster or ""}
    unsigned = [(name, value) for name, value in pairs if name.lower() != "x-amz-signature"]
    text = signature.string_to_sign(
        "GET",
        "/",
        signature.canonical_query(unsigned),
        headers,
        signed,
        hashlib.sha256(b"").hexdigest(),
        query["x-amz-date"],
        region,
        service,
    )
    expected = signature.sign(credentials["secret"], date, region, service, text)
    if not hmac.compare_digest(expected, query.get("x-amz-signature", "")):
        return f"signature does not match (wrong secret, or x-k8s-aws-id is not {cluster})"
    return None
