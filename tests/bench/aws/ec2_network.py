"""VPCs, subnets, security groups and route tables, as EC2 describes them."""

from aws import filters
from aws.errors import AwsError
from aws.filters import by_ids, member, members
from aws.paging import ec2_page
from aws.registry import operation

VPC_FILTERS = {
    "vpc-id": member("VpcId"),
    "cidr": member("CidrBlock"),
    "state": member("State"),
    "owner-id": member("OwnerId"),
    "is-default": member("IsDefault"),
    "cidr-block-association.cidr-block": members("CidrBlockAssociationSet", "CidrBlock"),
}

SUBNET_FILTERS = {
    "subnet-id": member("SubnetId"),
    "vpc-id": member("VpcId"),
    "cidr-block": member("CidrBlock"),
    "availability-zone": member("AvailabilityZone"),
    "availability-zone-id": member("AvailabilityZoneId"),
    "state": member("State"),
    "owner-id": member("OwnerId"),
    "map-public-ip-on-launch": member("MapPublicIpOnLaunch"),
    "outpost-arn": member("OutpostArn"),
}

GROUP_FILTERS = {
    "group-id": member("GroupId"),
    "group-name": member("GroupName"),
    "vpc-id": member("VpcId"),
    "owner-id": member("OwnerId"),
    "description": member("Description"),
}

ROUTE_TABLE_FILTERS = {
    "route-table-id": member("RouteTableId"),
    "vpc-id": member("VpcId"),
    "owner-id": member("OwnerId"),
    "association.main": members("Associations", "Main"),
    "association.subnet-id": members("Associations", "SubnetId"),
    "association.route-table-id": members("Associations", "RouteTableId"),
    "route.destination-cidr-block": members("Routes", "DestinationCidrBlock"),
    "route.gateway-id": members("Routes", "GatewayId"),
    "route.nat-gateway-id": members("Routes", "NatGatewayId"),
    "route.state": members("Routes", "State"),
}


@operation("ec2", "DescribeVpcs")
def describe_vpcs(call):
    # EC2 error codes: InvalidVpcID.NotFound.
    found = by_ids(call.region.vpcs, call.parameters.get("VpcIds"), "InvalidVpcID", "vpc", r"vpc-[0-9a-f]+")
    return ec2_page(call, filters.apply(call, found, VPC_FILTERS), "Vpcs", 1000)


@operation("ec2", "DescribeSubnets")
def describe_subnets(call):
    # EC2 error codes: InvalidSubnetID.NotFound, InvalidSubnetID.Malformed.
    found = by_ids(
        call.region.subnets, call.parameters.get("SubnetIds"), "InvalidSubnetID", "subnet", r"subnet-[0-9a-f]+"
    )
    return ec2_page(call, filters.apply(call, found, SUBNET_FILTERS), "Subnets", 1000)


@operation("ec2", "DescribeSecurityGroups")
def describe_security_groups(call):
    parameters = call.parameters
    ids = parameters.get("GroupIds") or []
    for one in ids:
        # EC2 error codes: InvalidGroupId.Malformed, InvalidGroup.NotFound.
        if not one.startswith("sg-"):
            raise AwsError("InvalidGroupId.Malformed", f'Invalid id: "{one}" (expecting "sg-...")')
    missing = [one for one in ids if one not in call.region.security_groups]
    if missing:
        names = ", ".join(missing)
        text = (
            f"The security group '{names}' does not exist"
            if len(missing) == 1
            else f"The security groups '{names}' do not exist"
        )
        raise AwsError("InvalidGroup.NotFound", text)
    found = [group for one, group in call.region.security_groups.items() if not ids or one in set(ids)]
    if parameters.get("GroupNames"):
        found = [group for group in found if group.get("GroupName") in set(parameters["GroupNames"])]
    return ec2_page(call, filters.apply(call, found, GROUP_FILTERS), "SecurityGroups", 1000)


@operation("ec2", "DescribeRouteTables")
def describe_route_tables(call):
    # EC2 error codes: InvalidRouteTableID.NotFound. DescribeRouteTables takes MaxResults from 5 to 100.
    found = by_ids(
        call.region.route_tables,
        call.parameters.get("RouteTableIds"),
        "InvalidRouteTableID",
        "routeTable",
        r"rtb-[0-9a-f]+",
    )
    return ec2_page(call, filters.apply(call, found, ROUTE_TABLE_FILTERS), "RouteTables", 100, maximum=100)
