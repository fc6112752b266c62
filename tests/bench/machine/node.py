"""A node from its launch to its first pods."""

import base64
import re

from aws import moto_rest
from kube import kinds
from kube.reading import load
from kube.writing import now
from machine import addresses, boot, cni, interfaces

PODS_A_NODE = 1


def launch(call, group, data, subnet_id):
    """Launches one instance of a managed group into a subnet and lets it register."""
    region, world = call.region, call.world
    subnet = region.subnets[subnet_id]
    instance_id = world.new_id("i")
    address = addresses.next_address(region, subnet_id)
    if address is None:
        return
    cluster = region.clusters[group["clusterName"]]["cluster"]
    groups = _node_groups(data) or [cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]]
    primary = interfaces.interface(call, instance_id, subnet_id, groups, 0, address)
    kind = data.get("InstanceType") or (group["instanceTypes"] or ["m5.large"])[0]
    machine = {
        "instance_id": instance_id,
        "mac": primary["MacAddress"],
        "zone": subnet["AvailabilityZone"],
        "subnet_id": subnet_id,
        "subnet_cidr": subnet["CidrBlock"],
        "ami_type": _ami_type(call, group, data),
        "merged": not data.get("ImageId"),
    }
    outcome = boot.Outcome()
    if call.settings["boot"]:
        outcome = boot.boot(
            base64.b64decode(data.get("UserData", "")), machine, _release_date(call, group, data), cluster["name"]
        )
        world.consoles[instance_id] = outcome.console
    labels = {**_labels(call, group, kind, subnet, address), **outcome.labels, **_asked_for(call, group, subnet_id)}
    pod_subnet, pod_groups, ready = cni.pod_place(world.kube, labels, {}, subnet_id, groups)
    attached, pods = [primary], []
    if pod_subnet in region.subnets and region.subnets[pod_subnet]["AvailabilityZone"] == subnet["AvailabilityZone"]:
        secondary, pods = interfaces.pod_interface(call, instance_id, pod_subnet, pod_groups, PODS_A_NODE)
        attached += [secondary] if secondary else []
    ready = ready and len(attached) > 1
    name = _node_name(region.name, address)
    most = outcome.max_pods or _max_pods(call, group, data, kind)
    _put_instance(call, group, instance_id, kind, data, name, attached)
    late = call.settings["nodes_late"]
    world.kube.put_late(
        late, kinds.NODE, ("", name), _node(world, name, instance_id, subnet, address, labels, ready, most, group)
    )
    for at, pod_address in enumerate(pods if ready else []):
        pod = f"{group['nodegroupName']}-{instance_id[-8:]}-{at}"
        world.kube.put_late(late, kinds.POD, ("default", pod), _pod(world, pod, name, pod_address))


def _max_pods(call, group, data, kind):
    if data.get("ImageId"):
        return cni.max_pods_of_image(_kind(call, kind))
    return cni.max_pods_of_eks(call.world.kube, [_kind(call, one) for one in group["instanceTypes"] or [kind]])


def _ami_type(call, group, data):
    if group["amiType"] != "CUSTOM":
        return group["amiType"]
    name = (call.region.images.get(data.get("ImageId")) or {}).get("Name") or ""
    if name.startswith("bottlerocket"):
        return "BOTTLEROCKET_x86_64"
    return "AL2_x86_64" if re.match(r"amazon-eks-(arm64-|gpu-)?node-1", name) else "AL2023_x86_64_STANDARD"


def _release_date(call, group, data):
    image = (call.region.images.get(data.get("ImageId")) or {}).get("Name") or group["releaseVersion"] or ""
    found = re.search(r"-v?(\d{8})$", image)
    return int(found[1]) if found else 0


def _node_groups(data):
    groups = data.get("SecurityGroupIds") or []
    return groups + [
        group
        for one in data.get("NetworkInterfaces", [])
        if one.get("DeviceIndex", 0) == 0
        for group in one.get("Groups", [])
    ]


def _asked_for(call, group, subnet_id):
    wanted = call.settings["node_labels"].get(group["nodegroupName"], {})
    return {**wanted.get("*", {}), **wanted.get(subnet_id, {})}


def _kind(call, name):
    own = call.region.instance_types.get(name)
    return own or moto_rest.instance_types()[name]


def _labels(call, group, kind, subnet, address):
    zone, region = subnet["AvailabilityZone"], call.region.name
    labels = {
        "beta.kubernetes.io/instance-type": kind,
        "eks.amazonaws.com/capacityType": group["capacityType"],
        "eks.amazonaws.com/nodegroup": group["nodegroupName"],
        "kubernetes.io/arch": "arm64" if "ARM" in group["amiType"] else "amd64",
        "kubernetes.io/hostname": _node_name(region, address),
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
    }
    if group["launchTemplate"]:
        labels["eks.amazonaws.com/sourceLaunchTemplateId"] = group["launchTemplate"]["id"]
        labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = group["launchTemplate"]["version"]
    return {**labels, **group["labels"]}


def _node_name(region, address):
    suffix = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
    return f"ip-{address.replace('.', '-')}.{suffix}"


def _put_instance(call, group, instance_id, kind, data, name, attached):
    primary = attached[0]
    tags = {"eks:cluster-name": group["clusterName"], "eks:nodegroup-name": group["nodegroupName"]}
    call.region.instances[instance_id] = {
        "InstanceId": instance_id,
        "ImageId": data.get("ImageId", "ami-0eeeeeeeeeeeeeeee"),
        "InstanceType": kind,
        "State": {"Code": 16, "Name": "running"},
        "PrivateDnsName": name,
        "PrivateIpAddress": primary["PrivateIpAddress"],
        "SubnetId": primary["SubnetId"],
        "VpcId": primary["VpcId"],
        "Placement": {"AvailabilityZone": primary["AvailabilityZone"]},
        "SecurityGroups": primary["Groups"],
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    for one in attached:
        call.region.network_interfaces[one["NetworkInterfaceId"]] = one


def _node(world, name, instance_id, subnet, address, labels, ready, most, group):
    taints = [
        {"key": one["key"], "value": one.get("value", ""), "effect": EFFECTS[one["effect"]]}
        for one in group["taints"] or []
    ]
    spec = {"providerID": f"aws:///{subnet['AvailabilityZone']}/{instance_id}"}
    if not ready:
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    if taints:
        spec["taints"] = taints
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
    }
    if not ready:
        condition.update(
            status="False",
            reason="KubeletNotReady",
            message="container runtime network not ready: cni plugin not initialized",
        )
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": world.new_uid(),
            "resourceVersion": world.kube.next_version(),
            "creationTimestamp": now(),
            "labels": labels,
        },
        "spec": spec,
        "status": {
            "capacity": {"pods": str(most)},
            "allocatable": {"pods": str(most)},
            "conditions": [condition],
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "osImage": "Amazon Linux 2023.9.20251110",
                "operatingSystem": "linux",
                "architecture": labels["kubernetes.io/arch"],
            },
        },
    }


# Source: EKS API reference, Taint: effects are spelt otherwise than in Kubernetes.
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


def _pod(world, name, node, address):
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": world.new_uid(),
            "resourceVersion": world.kube.next_version(),
            "creationTimestamp": now(),
            "labels": {"app": "workload"},
        },
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "pause"}]},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
    }


def terminate(call, name):
    """Takes a node, its pods, its instance and its interfaces away."""
    store, region = call.world.kube, call.region
    node = load(store.remove(kinds.NODE, ("", name)))
    for key in [key for key, pod in store.objects[kinds.POD.key].items() if load(pod)["spec"].get("nodeName") == name]:
        store.remove(kinds.POD, key)
    instance_id = node["spec"].get("providerID", "").rpartition("/")[2]
    region.instances.pop(instance_id, None)
    gone = [
        one for one in region.network_interfaces.values() if one.get("Attachment", {}).get("InstanceId") == instance_id
    ]
    for one in gone:
        addresses.give_back(region, one["SubnetId"], len(one["PrivateIpAddresses"]))
        del region.network_interfaces[one["NetworkInterfaceId"]]
