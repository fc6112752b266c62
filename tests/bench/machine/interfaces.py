"""Network interfaces, as EC2 describes them."""

from machine import addresses


def interface(call, instance_id, subnet_id, groups, index, address, pod_addresses=(), tags=()):
    """An interface of an instance; its first address is its own."""
    region, world = call.region, call.world
    subnet = region.subnets[subnet_id]
    digest = world.digest()
    every = [address, *pod_addresses]
    return {
        "NetworkInterfaceId": f"eni-0{digest[:16]}",
        "SubnetId": subnet_id,
        "VpcId": subnet.get("VpcId"),
        "AvailabilityZone": subnet["AvailabilityZone"],
        "Description": "" if index == 0 else f"aws-K8S-{instance_id}",
        "InterfaceType": "interface",
        "MacAddress": ":".join(["06", *(digest[at : at + 2] for at in range(16, 26, 2))]),
        "OwnerId": world.account,
        "PrivateIpAddress": address,
        "PrivateIpAddresses": [{"Primary": at == 0, "PrivateIpAddress": one} for at, one in enumerate(every)],
        "Groups": [
            {"GroupId": group, "GroupName": region.security_groups.get(group, {}).get("GroupName") or group}
            for group in groups
        ],
        "Status": "in-use",
        "SourceDestCheck": True,
        "Attachment": {
            "AttachmentId": f"eni-attach-0{digest[26:42]}",
            "DeleteOnTermination": True,
            "DeviceIndex": index,
            "NetworkCardIndex": 0,
            "InstanceId": instance_id,
            "InstanceOwnerId": world.account,
            "Status": "attached",
        },
        "TagSet": [{"Key": key, "Value": value} for key, value in dict(tags).items()],
    }


def pod_interface(call, instance_id, subnet_id, groups, pods):
    """(the CNI's first interface for pods, the addresses of so many pods); (None, []) when the subnet is full."""
    address = addresses.next_address(call.region, subnet_id)
    if address is None:
        return None, []
    pod_addresses = [one for one in (addresses.next_address(call.region, subnet_id) for _ in range(pods)) if one]
    tags = {"node.k8s.amazonaws.com/instance_id": instance_id}
    return interface(call, instance_id, subnet_id, groups, 1, address, pod_addresses, tags), pod_addresses
