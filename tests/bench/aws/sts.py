"""Who is calling, and roles to take on."""

import time

from aws.errors import access_denied
from aws.registry import operation


@operation("sts", "GetCallerIdentity")
def get_caller_identity(call):
    credentials = call.settings["credentials"].get(call.scope["key"], {})
    return {"Account": call.world.account, "Arn": call.caller, "UserId": credentials.get("user_id", "AIDAUNKNOWN")}


@operation("sts", "AssumeRole")
def assume_role(call):
    """Temporary credentials, which count from then on like those of the settings."""
    role, session = call.parameters["RoleArn"], call.parameters["RoleSessionName"]
    if "denied" in role:
        raise access_denied("sts", "AssumeRole", call.caller)
    digest = call.world.digest()
    key, user = f"ASIA{digest[:16].upper()}", f"AROA{digest[16:32].upper()}:{session}"
    arn = role.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + f"/{session}"
    call.settings["credentials"][key] = {"secret": digest[:40], "token": digest, "arn": arn, "user_id": user}
    return {
        "Credentials": {
            "AccessKeyId": key,
            "SecretAccessKey": digest[:40],
            "SessionToken": digest,
            "Expiration": int(time.time()) + call.parameters.get("DurationSeconds", 3_600),
        },
        "AssumedRoleUser": {"AssumedRoleId": user, "Arn": arn},
    }
