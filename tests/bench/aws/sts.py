"""Who is calling."""

from aws.registry import operation


@operation("sts", "GetCallerIdentity")
def get_caller_identity(call):
    credentials = call.settings["credentials"].get(call.scope["key"], {})
    return {"Account": call.world.account, "Arn": call.caller, "UserId": credentials.get("user_id", "AIDAUNKNOWN")}
