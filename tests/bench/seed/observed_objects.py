"""What `inventory --for verify` reads on top: pods, interfaces and the custom resources beside ENIConfigs."""

import ipaddress

from kube import kinds
from seed.aws_objects import tags
from seed.kube_objects import CREATED

KINDS = {
    "cni_nodes": "cninodes.vpcresources.k8s.aws",
    "security_group_policies": "securitygrouppolicies.vpcresources.k8s.aws",
    "node_pools": "nodepools.karpenter.sh",
    "ec2_node_classes": "ec2nodeclasses.karpenter.k8s.aws",
}
# Addresses of which the file says only how many an interface has. Source: RFC 2544, for tests of devices.
MADE_UP = ipaddress.ip_network("198.18.0.0/15")


def put_observed(world, region, inventory):
    """The file's part `observed`; kinds of which it has none count as not installed."""
    observed = inventory.get("observed")
    if observed is None:
        return
    for pod in observed.get("pods", []):
        world.kube.put(kinds.POD, (pod["namespace"], pod["name"]), _pod(world, pod))
    for member, key in KINDS.items():
        kind = kinds.KINDS[key]
        objects = observed.get(member, [])
        world.kube.installed.discard(key)
        if objects:
            world.kube.installed.add(key)
        for one in objects:
            name = (one.get("namespace", ""), one["name"])
            value = {"metadata": _metadata(world, one), "spec": SPECS[member](one)}
            world.kube.put(kind, name, {"apiVersion": kind.api_version, "kind": kind.kind, **value})
    vpc = (inventory.get("vpc") or {}).get("vpc_id")
    spare = (str(address) for address in MADE_UP.hosts())
    for one in observed.get("network_interfaces", []):
        region.network_interfaces[one["network_interface_id"]] = _interface(world, vpc, one, spare)


def _metadata(world, one):
    metadata = {
        "name": one["name"],
        "uid": world.new_uid(),
        "resourceVersion": world.kube.next_version(),
        "creationTimestamp": CREATED,
    }
    if one.get("namespace"):
        metadata["namespace"] = one["namespace"]
    return metadata


def _pod(world, pod):
    metadata = _metadata(world, pod)
    if pod.get("branch_interface"):
        metadata["annotations"] = {"vpc.amazonaws.com/pod-eni": '[{"eniId":"eni-0123456789abcdef0","vlanId":1}]'}
    spec = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}
    if pod.get("node"):
        spec["nodeName"] = pod["node"]
    if pod.get("host_network"):
        spec["hostNetwork"] = True
    status = {"phase": pod["phase"]}
    if pod.get("ip"):
        status.update(podIP=pod["ip"], podIPs=[{"ip": pod["ip"]}])
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": status}


def _cni_node(one):
    features = [
        {"name": name, **({"value": value} if value else {})} for name, value in sorted(one.get("features", {}).items())
    ]
    return {"features": features} if features else {}


def _security_group_policy(one):
    return {"podSelector": {}, "securityGroups": {"groupIds": list(one.get("group_ids", []))}}


def _node_pool(one):
    requirements = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]
    if one.get("zones"):
        requirements.append({"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(one["zones"])})
    template = {"spec": {"requirements": requirements}}
    if one.get("labels"):
        template["metadata"] = {"labels": dict(one["labels"])}
    if one.get("node_class"):
        template["spec"]["nodeClassRef"] = {
            "group": "karpenter.k8s.aws",
            "kind": "EC2NodeClass",
            "name": one["node_class"],
        }
    return {"template": template}


def _ec2_node_class(one):
    spec = {"amiFamily": "AL2023"}
    if one.get("user_data") is not None:
        spec["userData"] = one["user_data"]
    if one.get("max_pods") is not None:
        spec["kubelet"] = {"maxPods": one["max_pods"]}
    return spec


SPECS = {
    "cni_nodes": _cni_node,
    "security_group_policies": _security_group_policy,
    "node_pools": _node_pool,
    "ec2_node_classes": _ec2_node_class,
}


def _interface(world, vpc, one, spare):
    own = one.get("private_ip_address")
    addresses = [{"Primary": True, "PrivateIpAddress": own}] if own else []
    addresses += [
        {"Primary": False, "PrivateIpAddress": next(spare)} for _ in range(one.get("secondary_private_ip_addresses", 0))
    ]
    value = {
        "NetworkInterfaceId": one["network_interface_id"],
        "SubnetId": one["subnet_id"],
        "VpcId": vpc,
        "Description": one.get("description") or "",
        "OwnerId": world.account,
        "Groups": [{"GroupId": group, "GroupName": group} for group in one.get("groups", [])],
        "PrivateIpAddresses": addresses,
        "TagSet": tags(one.get("tags")),
    }
    if own:
        value["PrivateIpAddress"] = own
    if one.get("interface_type"):
        value["InterfaceType"] = one["interface_type"]
    if one.get("status"):
        value["Status"] = one["status"]
    if one.get("ipv4_prefixes"):
        value["Ipv4Prefixes"] = [{"Ipv4Prefix": prefix} for prefix in one["ipv4_prefixes"]]
    if one.get("attachment"):
        attachment = one["attachment"]
        value["Attachment"] = {
            "AttachmentId": "eni-attach-" + one["network_interface_id"].removeprefix("eni-"),
            "DeviceIndex": attachment["device_index"],
            "NetworkCardIndex": attachment.get("network_card_index", 0),
            "Status": "attached",
        }
        if attachment.get("instance_id"):
            value["Attachment"]["InstanceId"] = attachment["instance_id"]
    return value
