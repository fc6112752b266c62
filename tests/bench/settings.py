"""What a test may set. `POST /bench/settings` changes any of them, `POST /bench/reset` brings the defaults back."""

ACCESS_KEY_ID = "AKIAENIPLANBENCH0001"
SECRET_ACCESS_KEY = "bench-secret-access-key"


def defaults():
    """Every setting with its default."""
    return {
        # Largest page of any AWS list, whatever MaxResults says; 0 leaves each service's own limit. By action:
        # "page_sizes".
        "page_size": 0,
        "page_sizes": {},
        # Largest page of a Kubernetes list; 0 leaves the client's `limit`.
        "kube_page_size": 0,
        # How many looks at a cluster, group, add-on or update in progress still find it so.
        "polls": 0,
        # Errors with which the next update of a node group or add-on ends, by its name: [{errorCode, errorMessage,
        # resourceIds}].
        "update_errors": {},
        # Date of the newest AMI release, which a group gets when an update names none.
        "latest_release": "20251120",
        # Configuration values that an add-on update quietly does not bring to the DaemonSet: names of env entries.
        "addon_env_lost": [],
        # Whether nodes of a group are replaced when its template version changes, and made when it is created.
        "nodes_follow": True,
        # How many lists of nodes do not show a new node yet.
        "nodes_late": 0,
        # Whether those new nodes run the shell parts of their user data to find their labels.
        "boot": True,
        # Labels of new nodes, over what their boot says: {group: {subnet id: {key: value}}}; "*" for all subnets.
        "node_labels": {},
        # Whether signatures of AWS calls and tokens are checked.
        "check_signatures": True,
        # Seconds for which a token of Kubernetes is good.
        "token_seconds": 15 * 60,
        # Access keys: {id: {"secret", "arn", "token", "expired"}}. "token" is the session token that must come along.
        "credentials": {
            ACCESS_KEY_ID: {
                "secret": SECRET_ACCESS_KEY,
                "arn": "arn:aws:sts::111122223333:assumed-role/platform/tester",
                "user_id": "AROAENIPLANBENCH:tester",
            }
        },
        # The only actions that are permitted, with wildcards: ["ec2:Describe*", "kube:list eniconfigs", …]; null
        # permits all.
        "allow": None,
        # An IAM policy document that permits AWS calls, and RBAC rules that permit Kubernetes requests; null permits
        # all. A rule of a Role
        # has "namespace" beside apiGroups, resources, verbs and resourceNames.
        "policy": None,
        "rbac": None,
        # The user name of the Kubernetes side, as 403 bodies show it.
        "kube_user": "platform-engineer",
        # The public part of DescribeCluster.endpoint and certificateAuthority: "local" for this bench's own, "seeded"
        # for the file's.
        "endpoint": "local",
    }
