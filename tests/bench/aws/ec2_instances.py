"""Instances and network interfaces."""

from aws import filters
from aws.errors import AwsError
from aws.filters import by_ids, member, members
from aws.paging import ec2_page
from aws.registry import operation

INSTANCE_FILTERS = {
    "instance-id": member("InstanceId"),
    "instance-state-name": member("State", "Name"),
    "instance-type": member("InstanceType"),
    "image-id": member("ImageId"),
    "private-dns-name": member("PrivateDnsName"),
    "private-ip-address": member("PrivateIpAddress"),
    "subnet-id": member("SubnetId"),
    "vpc-id": member("VpcId"),
    "availability-zone": member("Placement", "AvailabilityZone"),
    "instance.group-id": members("SecurityGroups", "GroupId"),
}

INTERFACE_FILTERS = {
    "network-interface-id": member("NetworkInterfaceId"),
    "attachment.instance-id": member("Attachment", "InstanceId"),
    "attachment.status": member("Attachment", "Status"),
    "attachment.device-index": member("Attachment", "DeviceIndex"),
    "availability-zone": member("AvailabilityZone"),
    "description": member("Description"),
    "group-id": members("Groups", "GroupId"),
    "interface-type": member("InterfaceType"),
    "addresses.private-ip-address": members("PrivateIpAddresses", "PrivateIpAddress"),
    "private-ip-address": member("PrivateIpAddress"),
    "status": member("Status"),
    "subnet-id": member("SubnetId"),
    "vpc-id": member("VpcId"),
}


@operation("ec2", "DescribeInstances")
def describe_instances(call):
    parameters, region = call.parameters, call.region
    if parameters.get("InstanceIds") and parameters.get("MaxResults"):
        # EC2 API reference, DescribeInstances, MaxResults: not together with instance ids.
        raise AwsError(
            "InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults"
        )
    # EC2 error codes: InvalidInstanceID.NotFound, InvalidInstanceID.Malformed.
    found = by_ids(region.instances, parameters.get("InstanceIds"), "InvalidInstanceID", "instance", r"i-[0-9a-f]+")
    answer = ec2_page(call, filters.apply(call, found, INSTANCE_FILTERS), "Instances", 1000)
    reservations = [
        {
            "ReservationId": "r-" + instance["InstanceId"][2:],
            "OwnerId": call.world.account,
            "Groups": [],
            "Instances": [_with_interfaces(call, instance)],
        }
        for instance in answer.pop("Instances")
    ]
    return {"Reservations": reservations, **answer}


def _with_interfaces(call, instance):
    """An instance lists its interfaces, shorter than DescribeNetworkInterfaces does."""
    return {**instance, "NetworkInterfaces": [_short(one) for one in call.region.interfaces_of(instance["InstanceId"])]}


def _short(one):
    kept = (
        "NetworkInterfaceId",
        "SubnetId",
        "VpcId",
        "Description",
        "Groups",
        "MacAddress",
        "OwnerId",
        "PrivateIpAddress",
        "PrivateIpAddresses",
        "Status",
        "SourceDestCheck",
        "InterfaceType",
        "Ipv4Prefixes",
    )
    attached = ("AttachmentId", "DeleteOnTermination", "DeviceIndex", "NetworkCardIndex", "Status")
    short = {name: one[name] for name in kept if name in one}
    short["Attachment"] = {name: one["Attachment"][name] for name in attached if name in one["Attachment"]}
    return short


@operation("ec2", "DescribeNetworkInterfaces")
def describe_network_interfaces(call):
    parameters, region = call.parameters, call.region
    # EC2 error codes: InvalidNetworkInterfaceID.NotFound, InvalidNetworkInterfaceID.Malformed.
    found = by_ids(
        region.network_interfaces,
        parameters.get("NetworkInterfaceIds"),
        "InvalidNetworkInterfaceID",
        "networkInterface",
        r"eni-[0-9a-f]+",
    )
    if not parameters.get("NetworkInterfaceIds"):
        found = _of_instances(region, parameters) or found
    passed = filters.apply(call, found, INTERFACE_FILTERS, tags="TagSet")
    return ec2_page(call, passed, "NetworkInterfaces", 1000)


def _of_instances(region, parameters):
    """Those of the instances that a filter names, by the index; a scan of all for each batch would take too long on
    a large cluster."""
    for wanted in parameters.get("Filters", ()):
        values = wanted.get("Values", ())
        if wanted.get("Name") == "attachment.instance-id" and not any(set(value) & {"*", "?"} for value in values):
            return [one for instance in values for one in region.interfaces_of(instance)]
    return None
