"""The AWS half: finds out which operation a request is, checks it, lets its handler answer, writes the answer down."""

import re
import urllib.parse

import control
from answer import Answer
from aws import errors, models, moto_rest, parse, policy, serialise, signature, validate
from aws.errors import AwsError
from aws.registry import HANDLERS, is_mutating
from http_end import serve


class Call:
    """One AWS call on its way through the bench."""

    def __init__(self, bench, request, scope):
        self.bench = bench
        self.request = request
        self.scope = scope
        self.service = scope["service"]
        self.action, self._path_values, self._form = _which_operation(self.service, request)
        self.model = (
            models.operation(self.service, self.action) if self.service in models.SERVICES and self.action else None
        )
        self.parameters, self._refused = {}, None
        try:
            self.parameters = self._parse()
        except AwsError as error:
            self._refused = error
        self.request_id = bench.request_id()
        self.mutating = is_mutating(self.action or "")
        self.dry_run = bool(self.parameters.get("DryRun"))
        self.resources = _words(self.parameters)
        self.journal = {
            "region": scope["region"],
            "params": self.parameters,
            "request_id": self.request_id,
            "attempt": _attempt(request.headers),
            "host": request.headers.get("Host"),
        }

    @property
    def world(self):
        return self.bench.world

    @property
    def region(self):
        return self.world.region(self.scope["region"])

    @property
    def settings(self):
        return self.bench.settings

    @property
    def caller(self):
        return (
            self.settings["credentials"]
            .get(self.scope["key"], {})
            .get("arn", f"arn:aws:iam::{self.world.account}:user/unknown")
        )

    def arn(self, service, resource):
        """An ARN in this account and region."""
        return f"arn:{partition(self.region.name)}:{service}:{self.region.name}:{self.world.account}:{resource}"

    def page_size(self, default):
        """Entries on a page of this operation: the service's limit or the caller's wish, less when a test wants
        less."""
        wanted = self.parameters.get("MaxResults") or self.parameters.get("maxResults") or default
        return min(wanted, self.settings["page_sizes"].get(self.action) or self.settings["page_size"] or wanted)

    def _parse(self):
        if self.model is None:
            return dict(self._form)
        if self.service == "eks":
            query = urllib.parse.parse_qs(self.request.query_text, keep_blank_values=True)
            return parse.rest_json(self.model, self._path_values, query, self.request.headers, self.request.body)
        return parse.ec2_or_query(self.model, self._form)

    def act(self):
        """The answer and, when it is an error, its code."""
        try:
            self._authenticate()
            if self._refused:
                raise self._refused
            if (self.service, self.action) not in HANDLERS:
                return self._elsewhere(), None
            if self.settings["policy"] is not None and (denied := policy.refused(self.settings["policy"], self)):
                service, _, action = denied.partition(":")
                raise errors.access_denied(service, action, self.caller)
            validate.check(self.service, self.model, self.parameters)
            if self.dry_run:
                # EC2 API reference, any action: DryRun asks for the permission only.
                raise AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
            return self._write(HANDLERS[(self.service, self.action)](self)), None
        except AwsError as error:
            return self._write_error(error), error.code

    def _elsewhere(self):
        """moto has an account of its own, so it may only answer what touches none of the bench's objects."""
        if self.service == "eks" or (self.service == "ec2" and self.mutating):
            raise AwsError("BenchDoesNotKnow", f"the bench has no {self.service}:{self.action}", 501)
        return moto_rest.answer(self.request)

    def fault_answer(self, rule):
        """The answer that a fault rule gives instead."""
        kind = rule["kind"]
        if kind == "garbage":
            return Answer(
                rule.get("status", 200), rule.get("body", "<<<not an answer").encode(), "text/html"
            ), "garbage"
        if kind == "answer":
            body = rule.get("body", "")
            return Answer(rule.get("status", 200), body.encode(), rule.get("content_type", "text/plain")), "answer"
        error = {
            "deny": lambda: errors.access_denied(self.service, self.action, self.caller, rule.get("message")),
            "throttle": lambda: errors.throttled(self.service),
            "error": lambda: errors.internal(self.service, rule.get("status", 500)),
            "expired": lambda: errors.expired(self.service),
            "refuse": lambda: AwsError(rule["code"], rule.get("message", ""), rule.get("status", 400)),
        }[kind]()
        return self._write_error(error), error.code

    def _authenticate(self):
        credentials = self.settings["credentials"].get(self.scope["key"])
        if not self.settings["check_signatures"]:
            return
        if credentials is None or (credentials.get("token") or None) != self.request.headers.get(
            "X-Amz-Security-Token"
        ):
            raise {
                # EC2 common client errors: AuthFailure; EKS and STS answer with their own names for the same.
                "ec2": AwsError("AuthFailure", "AWS was not able to validate the provided access credentials", 401),
                "eks": AwsError(
                    "UnrecognizedClientException", "The security token included in the request is invalid.", 403
                ),
            }.get(
                self.service,
                AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", 403),
            )
        if credentials.get("expired"):
            raise errors.expired(self.service)
        if not signature.request_is_signed_with(credentials["secret"], self.request, self.scope):
            code = "InvalidSignatureException" if self.service == "eks" else "SignatureDoesNotMatch"
            raise AwsError(
                code,
                "The request signature we calculated does not match the signature you provided. "
                "Check your AWS Secret Access Key and signing method.",
                403,
            )

    def _write(self, result):
        if self.service == "eks":
            return Answer(200, serialise.rest_json(self.model, result), headers={"x-amzn-RequestId": self.request_id})
        write = serialise.ec2 if self.service == "ec2" else serialise.query
        answer = write(self.action, self.model, result, self.request_id)
        return Answer(200, answer, "text/xml;charset=UTF-8", headers={"x-amzn-RequestId": self.request_id})

    def _write_error(self, error):
        if self.service == "eks":
            headers = {"x-amzn-RequestId": self.request_id, "x-amzn-ErrorType": error.code}
            return Answer(error.status, serialise.rest_json_error(error), headers=headers)
        write = serialise.ec2_error if self.service == "ec2" else serialise.query_error
        answer = write(error, self.request_id)
        return Answer(error.status, answer, "text/xml;charset=UTF-8", headers={"x-amzn-RequestId": self.request_id})


def _attempt(headers):
    """Which try of the SDK this is; 1 when it does not say."""
    found = re.search(r"attempt=(\d+)", headers.get("amz-sdk-request") or "")
    return int(found[1]) if found else 1


def partition(region):
    """The partition that a region belongs to. Source: AWS General Reference, "Amazon Resource Names"."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def _which_operation(service, request):
    if service == "eks":
        path = request.path.rstrip("/")
        for method, pattern, _, action in models.rest_routes("eks"):
            found = pattern.match(path) if method == request.method else None
            if found:
                return action, found.groupdict(), []
        return None, {}, []
    form = urllib.parse.parse_qsl(request.body.decode("utf-8", "replace") or request.query_text, keep_blank_values=True)
    return dict(form).get("Action"), {}, form


def _words(value):
    """Every string in the parameters: what a fault rule's `resource` is looked for in."""
    if isinstance(value, dict):
        return {word for inner in value.values() for word in _words(inner)}
    if isinstance(value, (list, tuple)):
        return {word for inner in value for word in _words(inner)}
    return {value} if isinstance(value, str) and len(value) < 300 else set()


class AwsHalf:
    """Takes control requests, and AWS requests by the service in their signature's scope."""

    def __init__(self, bench):
        self.bench = bench

    def handle(self, request, handler):
        if request.path.startswith("/bench/"):
            handler.send(control.answer(self.bench, request))
            return
        scope = signature.scope(request.headers)
        if scope is None:
            handler.send(
                Answer(
                    403,
                    b'{"message":"Missing Authentication Token"}',
                    headers={"x-amzn-ErrorType": "MissingAuthenticationTokenException"},
                )
            )
            return
        serve(self.bench, handler, request, Call(self.bench, request, scope))
