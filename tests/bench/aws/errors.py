"""An error as an AWS service answers it."""


class AwsError(Exception):
    """`code` and `status` as the service's API reference gives them; `fields` are further members of the error
    shape."""

    def __init__(self, code, message, status=400, **fields):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.fields = fields


def access_denied(service, action, caller, message=None):
    """What each service answers when IAM says no. Sources: EC2 API reference, "Common client errors"
    (UnauthorizedOperation); EKS API reference, "Common errors" (AccessDeniedException); STS query errors
    (AccessDenied)."""
    what = message or (
        f"User: {caller} is not authorized to perform: {service}:{action} "
        f"because no identity-based policy allows the {service}:{action} action"
    )
    if service == "ec2":
        text = message or f"You are not authorized to perform this operation. {what}"
        return AwsError("UnauthorizedOperation", text, 403)
    return AwsError("AccessDenied" if service in ("sts", "iam") else "AccessDeniedException", what, 403)


def throttled(service):
    """Sources: EC2 "Request throttling" (RequestLimitExceeded, 503); EKS common errors (ThrottlingException, 429 as the
    service sends it); STS common errors (Throttling, 400)."""
    if service == "ec2":
        return AwsError("RequestLimitExceeded", "Request limit exceeded.", 503)
    if service == "eks":
        return AwsError("ThrottlingException", "Rate exceeded", 429)
    return AwsError("Throttling", "Rate exceeded", 400)


def expired(service):
    """Sources: EC2 common client errors (RequestExpired, 400); EKS and STS common errors (ExpiredToken)."""
    if service == "ec2":
        return AwsError("RequestExpired", "Request has expired.", 400)
    text = "The security token included in the request is expired"
    return AwsError("ExpiredTokenException" if service == "eks" else "ExpiredToken", text, 403)


def internal(service, status):
    """Sources: EC2 "Server error codes" (InternalError 500, Unavailable 503); EKS ServerException 500 and
    ServiceUnavailableException 503."""
    if service == "eks":
        code = "ServerException" if status == 500 else "ServiceUnavailableException"
    else:
        code = "InternalError" if status == 500 else "Unavailable"
    return AwsError(code, "An internal error has occurred", status)
