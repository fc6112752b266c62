"""VPC blocks, subnets and security groups: making them, as a walk-through does before there is a cluster."""

import ipaddress

from aws.errors import AwsError
from aws.filters import by_ids
from aws.paging import ec2_page
from aws.registry import operation


def _tags(call, resource_type):
    return [
        tag
        for one in call.parameters.get("TagSpecifications", [])
        if one.get("ResourceType") == resource_type
        for tag in one.get("Tags", [])
    ]


def _vpc(call):
    vpc_id = call.parameters["VpcId"]
    return by_ids(call.region.vpcs, [vpc_id], "InvalidVpcID", "vpc", r"vpc-[0-9a-f]+")[0]


def _block(text):
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        # EC2 error codes: InvalidParameterValue.
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({text}) for parameter cidrBlock is invalid. This is not a valid CIDR block.",
        ) from error


@operation("ec2", "CreateVpc")
def create_vpc(call):
    block = _block(call.parameters["CidrBlock"])
    if not 16 <= block.prefixlen <= 28:
        # EC2 error codes: InvalidVpc.Range.
        raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' is invalid.")
    vpc = {
        "VpcId": call.world.new_id("vpc"),
        "CidrBlock": str(block),
        "State": "available",
        "IsDefault": False,
        "OwnerId": call.world.account,
        "CidrBlockAssociationSet": [_association(call, block)],
        "Tags": _tags(call, "vpc"),
    }
    call.region.vpcs[vpc["VpcId"]] = vpc
    return {"Vpc": vpc}


def _association(call, block):
    return {
        "AssociationId": call.world.new_id("vpc-cidr-assoc"),
        "CidrBlock": str(block),
        "CidrBlockState": {"State": "associated"},
    }


@operation("ec2", "AssociateVpcCidrBlock")
def associate_vpc_cidr_block(call):
    vpc, block = _vpc(call), _block(call.parameters["CidrBlock"])
    taken = [ipaddress.ip_network(one["CidrBlock"]) for one in vpc["CidrBlockAssociationSet"]]
    if not 16 <= block.prefixlen <= 28 or any(block.overlaps(one) for one in taken):
        # EC2 error codes: InvalidVpc.Range; the User Guide, "VPC CIDR blocks", for the limits.
        raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' is invalid.")
    association = _association(call, block)
    vpc["CidrBlockAssociationSet"].append(association)
    return {"VpcId": vpc["VpcId"], "CidrBlockAssociation": {**association, "CidrBlockState": {"State": "associating"}}}


@operation("ec2", "DescribeAvailabilityZones")
def describe_availability_zones(call):
    """The zones of the seeded subnets, and a, b, c of a region without any."""
    zones = {one["AvailabilityZone"]: one["AvailabilityZoneId"] for one in call.region.subnets.values()}
    for at, letter in enumerate("abc"):
        zones.setdefault(f"{call.region.name}{letter}", _unused_zone_id(call.region.name, at, zones))
    found = [
        {
            "ZoneName": name,
            "ZoneId": zone_id,
            "RegionName": call.region.name,
            "State": "available",
            "ZoneType": "availability-zone",
            "OptInStatus": "opt-in-not-required",
        }
        for name, zone_id in sorted(zones.items())
    ]
    wanted = call.parameters.get("ZoneNames")
    return {"AvailabilityZones": [one for one in found if not wanted or one["ZoneName"] in wanted]}


def _unused_zone_id(region, at, zones):
    place, direction, number = region.rsplit("-", 2)
    prefix = (
        place
        + "".join(part[0] for part in direction.replace("north", "n-").replace("south", "s-").split("-") if part)
        + number
    )
    free = [f"{prefix}-az{n}" for n in range(1, 9) if f"{prefix}-az{n}" not in zones.values()]
    return free[at % len(free)]


@operation("ec2", "CreateSubnet")
def create_subnet(call):
    vpc, parameters = _vpc(call), call.parameters
    block = _block(parameters["CidrBlock"])
    if (
        not any(block.subnet_of(ipaddress.ip_network(one["CidrBlock"])) for one in vpc["CidrBlockAssociationSet"])
        or not 16 <= block.prefixlen <= 28
    ):
        # EC2 error codes: InvalidSubnet.Range.
        raise AwsError("InvalidSubnet.Range", f"The CIDR '{block}' is invalid.")
    others = [one for one in call.region.subnets.values() if one["VpcId"] == vpc["VpcId"]]
    if any(block.overlaps(ipaddress.ip_network(one["CidrBlock"])) for one in others):
        # EC2 error codes: InvalidSubnet.Conflict.
        raise AwsError("InvalidSubnet.Conflict", f"The CIDR '{block}' conflicts with another subnet")
    zones = {one["ZoneName"]: one["ZoneId"] for one in describe_availability_zones(call)["AvailabilityZones"]}
    zone = parameters.get("AvailabilityZone") or next(
        (name for name, zone_id in zones.items() if zone_id == parameters.get("AvailabilityZoneId")), min(zones)
    )
    if zone not in zones:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({zone}) for parameter availabilityZone is invalid. Subnets can currently only be created in "
            f"the following availability zones: {', '.join(sorted(zones))}.",
        )
    subnet = {
        "SubnetId": call.world.new_id("subnet"),
        "VpcId": vpc["VpcId"],
        "CidrBlock": str(block),
        "AvailabilityZone": zone,
        "AvailabilityZoneId": zones[zone],
        # EC2 User Guide, "Subnet sizing": the first four addresses and the last cannot be used.
        "AvailableIpAddressCount": block.num_addresses - 5,
        "MapPublicIpOnLaunch": False,
        "State": "available",
        "OwnerId": call.world.account,
        "Tags": _tags(call, "subnet"),
    }
    call.region.subnets[subnet["SubnetId"]] = subnet
    return {"Subnet": subnet}


@operation("ec2", "CreateSecurityGroup")
def create_security_group(call):
    parameters = call.parameters
    if any(
        one.get("GroupName") == parameters["GroupName"] and one.get("VpcId") == parameters.get("VpcId")
        for one in call.region.security_groups.values()
    ):
        # EC2 error codes: InvalidGroup.Duplicate.
        raise AwsError(
            "InvalidGroup.Duplicate",
            f"The security group '{parameters['GroupName']}' already exists for VPC '{parameters.get('VpcId')}'",
        )
    group = {
        "GroupId": call.world.new_id("sg"),
        "GroupName": parameters["GroupName"],
        "Description": parameters["Description"],
        "VpcId": parameters.get("VpcId"),
        "OwnerId": call.world.account,
        "IpPermissions": [],
        "Tags": _tags(call, "security-group"),
        "IpPermissionsEgress": [
            {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}], "UserIdGroupPairs": [], "PrefixListIds": []}
        ],
    }
    call.region.security_groups[group["GroupId"]] = group
    return {"GroupId": group["GroupId"], "Tags": group["Tags"]}


@operation("ec2", "AuthorizeSecurityGroupIngress")
def authorize_security_group_ingress(call):
    group = call.region.security_groups.get(call.parameters.get("GroupId"))
    if group is None:
        raise AwsError("InvalidGroup.NotFound", f"The security group '{call.parameters.get('GroupId')}' does not exist")
    empty = {"IpRanges": [], "UserIdGroupPairs": [], "PrefixListIds": []}
    group["IpPermissions"] += [{**empty, **rule} for rule in call.parameters.get("IpPermissions", [])]
    return {"Return": True}


@operation("ec2", "DescribeTags")
def describe_tags(call):
    """The tags of everything, by resource-id, resource-type, key and value."""
    kinds = {
        "vpc": call.region.vpcs,
        "subnet": call.region.subnets,
        "security-group": call.region.security_groups,
        "route-table": call.region.route_tables,
        "launch-template": {one: record["template"] for one, record in call.region.launch_templates.items()},
    }
    found = [
        {"ResourceId": one, "ResourceType": kind, "Key": tag["Key"], "Value": tag["Value"]}
        for kind, objects in kinds.items()
        for one, item in objects.items()
        for tag in item.get("Tags", [])
    ]
    names = {"resource-id": "ResourceId", "resource-type": "ResourceType", "key": "Key", "value": "Value"}
    for wanted in call.parameters.get("Filters", []):
        if wanted["Name"] not in names:
            raise AwsError("InvalidParameterValue", f"The filter '{wanted['Name']}' is invalid")
        found = [one for one in found if one[names[wanted["Name"]]] in wanted["Values"]]
    return ec2_page(call, found, "Tags", 1000)
