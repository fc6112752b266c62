"""The EKS part of an inventory file, in the API's own shapes."""

from seed.aws_objects import CREATED


def put_cluster(region, inventory, account):
    """The cluster with its node groups and its vpc-cni add-on."""
    cluster = inventory["cluster"]
    name = cluster["name"]
    arn = cluster.get("arn") or f"arn:aws:eks:{region.name}:{account}:cluster/{name}"
    record = {
        "cluster": _cluster(cluster, cluster.get("arn")),
        "nodegroups": {},
        "addons": {},
        "updates": {},
        "pod_identity_associations": _associations(inventory),
        "pending": [],
    }
    for group in inventory.get("node_groups", []):
        record["nodegroups"][group["name"]] = _nodegroup(group, name, arn.replace(":cluster/", ":nodegroup/"))
    addon = inventory.get("add_on")
    if addon:
        record["addons"]["vpc-cni"] = _addon(addon, name, arn.replace(":cluster/", ":addon/"))
    region.clusters[name] = record
    return record


def _cluster(cluster, arn):
    family = cluster.get("ip_family")
    network = {
        "serviceIpv4Cidr": cluster.get("service_ipv4_cidr"),
        "serviceIpv6Cidr": cluster.get("service_ipv6_cidr"),
        "ipFamily": family,
        "elasticLoadBalancing": {"enabled": bool(cluster.get("auto_mode"))},
    }
    outpost = cluster.get("outpost_config")
    authority = cluster.get("certificate_authority")
    mode = cluster.get("authentication_mode")
    return {
        "name": cluster["name"],
        "arn": arn,
        "createdAt": CREATED,
        "version": cluster.get("version"),
        "endpoint": cluster.get("endpoint"),
        "roleArn": "arn:aws:iam::111122223333:role/eks-cluster",
        "resourcesVpcConfig": {
            "subnetIds": cluster.get("subnet_ids", []),
            "securityGroupIds": cluster.get("security_group_ids", []),
            "clusterSecurityGroupId": cluster.get("cluster_security_group_id"),
            "vpcId": cluster.get("vpc_id"),
            "endpointPublicAccess": cluster.get("endpoint_public_access"),
            "endpointPrivateAccess": cluster.get("endpoint_private_access"),
            "publicAccessCidrs": ["0.0.0.0/0"],
        },
        "kubernetesNetworkConfig": network,
        "status": cluster.get("status"),
        "certificateAuthority": {"data": authority} if authority else None,
        "platformVersion": "eks.1",
        "tags": cluster.get("tags") or {},
        "id": cluster.get("id"),
        "health": {"issues": []},
        "outpostConfig": {"outpostArns": outpost["outpost_arns"], "controlPlaneInstanceType": "m5.large"}
        if outpost
        else None,
        "accessConfig": {"authenticationMode": mode} if mode else None,
        "upgradePolicy": {"supportType": "EXTENDED"},
        "computeConfig": {"enabled": True} if cluster.get("auto_mode") else None,
        "deletionProtection": False,
    }


def _nodegroup(group, cluster, arn):
    template, scaling, remote = group.get("launch_template"), group.get("scaling_config"), group.get("remote_access")
    unavailable = group.get("max_unavailable")
    return {
        "nodegroupName": group["name"],
        "nodegroupArn": f"{arn}/{group['name']}/{'0' * 8}-0000-0000-0000-{'0' * 12}",
        "clusterName": cluster,
        "version": group.get("version"),
        "releaseVersion": group.get("release_version"),
        "createdAt": CREATED,
        "modifiedAt": CREATED,
        "status": group.get("status"),
        "capacityType": group.get("capacity_type"),
        "scalingConfig": {
            "minSize": scaling["min_size"],
            "maxSize": scaling["max_size"],
            "desiredSize": scaling["desired_size"],
        }
        if scaling
        else None,
        "instanceTypes": group.get("instance_types") or None,
        "subnets": group.get("subnets", []),
        "remoteAccess": {
            "ec2SshKey": remote.get("ec2_ssh_key"),
            "sourceSecurityGroups": remote.get("source_security_groups", []),
        }
        if remote
        else None,
        "amiType": group.get("ami_type"),
        "nodeRole": group.get("node_role"),
        "labels": group.get("labels") or {},
        "taints": [_taint(taint) for taint in group.get("taints", [])] or None,
        "resources": {"autoScalingGroups": [{"name": f"eks-{group['name']}-asg"}]},
        "diskSize": group.get("disk_size"),
        "health": {"issues": [_issue(text) for text in group.get("health_issues", [])]},
        "updateConfig": {"maxUnavailable": unavailable} if unavailable is not None else None,
        "launchTemplate": {key: template[key] for key in ("id", "name", "version") if template.get(key) is not None}
        if template
        else None,
        "tags": group.get("tags") or {},
    }


def _taint(taint):
    return {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}


def _issue(text):
    # The inventory keeps the messages only; NodegroupIssueCode and AddonIssueCode both know a code that says nothing
    # more.
    return {"code": "Unknown", "message": text, "resourceIds": []}


def _addon(addon, cluster, arn):
    return {
        "addonName": "vpc-cni",
        "clusterName": cluster,
        "status": addon.get("status"),
        "addonVersion": addon["addon_version"],
        "health": {"issues": [{**_issue(text), "code": "InternalFailure"} for text in addon.get("health_issues", [])]},
        "addonArn": f"{arn}/vpc-cni/{'0' * 8}-0000-0000-0000-{'0' * 12}",
        "createdAt": CREATED,
        "modifiedAt": CREATED,
        "serviceAccountRoleArn": addon.get("service_account_role_arn"),
        "tags": {},
        "configurationValues": addon.get("configuration_values"),
        "podIdentityAssociations": addon.get("pod_identity_associations") or None,
    }


def _associations(inventory):
    """What the add-on's association ARNs stand for; the inventory has the ARNs only."""
    name = inventory["cluster"]["name"]
    arns = (inventory.get("add_on") or {}).get("pod_identity_associations") or []
    return {
        arn.rpartition("/")[2]: {
            "clusterName": name, "namespace": "kube-system", "serviceAccount": "aws-node", "associationArn": arn,
            "roleArn": "arn:aws:iam::111122223333:role/vpc-cni", "associationId": arn.rpartition("/")[2],
        }
        for arn in arns
    }
