"""The AWS part of an inventory file, in the API's own shapes and under the file's ids."""

import base64

CREATED = 1764504000  # 2025-11-30T12:00:00Z: the inventory keeps no creation times, and nothing may depend on them.
CREATED_BY = "arn:aws:sts::111122223333:assumed-role/platform/tester"


def tags(pairs):
    """EC2's list of tags."""
    return [{"Key": key, "Value": value} for key, value in sorted((pairs or {}).items())]


def put_network(region, inventory, account):
    """VPC, subnets, security groups, route tables."""
    vpc = inventory.get("vpc")
    if vpc:
        blocks = vpc.get("cidr_block_associations", [])
        region.vpcs[vpc["vpc_id"]] = {
            "VpcId": vpc["vpc_id"],
            "CidrBlock": blocks[0]["cidr_block"] if blocks else None,
            "CidrBlockAssociationSet": [
                {
                    "AssociationId": f"vpc-cidr-assoc-{at:017x}",
                    "CidrBlock": block["cidr_block"],
                    "CidrBlockState": {"State": block["state"]},
                }
                for at, block in enumerate(blocks)
            ],
            "State": "available",
            "IsDefault": False,
            "OwnerId": vpc.get("owner_id"),
            "Tags": tags(vpc.get("tags")),
        }
    for subnet in inventory.get("subnets", []):
        region.subnets[subnet["subnet_id"]] = {
            "SubnetId": subnet["subnet_id"],
            "VpcId": subnet.get("vpc_id"),
            "CidrBlock": subnet["cidr_block"],
            "AvailabilityZone": subnet["availability_zone"],
            "AvailabilityZoneId": subnet["availability_zone_id"],
            "AvailableIpAddressCount": subnet.get("available_ip_address_count"),
            "MapPublicIpOnLaunch": subnet.get("map_public_ip_on_launch", False),
            "State": subnet.get("state"),
            "OwnerId": subnet.get("owner_id"),
            "OutpostArn": subnet.get("outpost_arn"),
            "Tags": tags(subnet.get("tags")),
        }
    for group in inventory.get("security_groups", []):
        region.security_groups[group["group_id"]] = {
            "GroupId": group["group_id"],
            "GroupName": group.get("group_name"),
            "Description": group.get("group_name") or "seeded",
            "VpcId": group.get("vpc_id"),
            "OwnerId": account,
            "IpPermissions": [_permission(rule) for rule in group.get("ip_permissions", [])],
            "IpPermissionsEgress": [_permission(rule) for rule in group.get("ip_permissions_egress", [])],
            "Tags": tags(group.get("tags")),
        }
    for table in inventory.get("route_tables", []):
        put_route_table(region, table, (vpc or {}).get("vpc_id"), account)


def _permission(rule):
    return {
        "IpProtocol": rule["ip_protocol"],
        "FromPort": rule.get("from_port"),
        "ToPort": rule.get("to_port"),
        "IpRanges": [{"CidrIp": one} for one in rule.get("ip_ranges", [])],
        "UserIdGroupPairs": [{"GroupId": one} for one in rule.get("user_id_group_pairs", [])],
        "PrefixListIds": [{"PrefixListId": one} for one in rule.get("prefix_list_ids", [])],
    }


# Source: EC2 API reference, "Route": one member for each kind of target.
TARGETS = {
    "nat-": "NatGatewayId",
    "tgw-": "TransitGatewayId",
    "pcx-": "VpcPeeringConnectionId",
    "eni-": "NetworkInterfaceId",
    "eigw-": "EgressOnlyInternetGatewayId",
    "lgw-": "LocalGatewayId",
    "cagw-": "CarrierGatewayId",
    "i-": "InstanceId",
    "arn:": "CoreNetworkArn",
}


def put_route_table(region, table, vpc_id, account):
    """A route table with its associations and routes."""
    table_id = table["route_table_id"]
    associations = []
    if table.get("main"):
        associations.append(
            {"Main": True, "RouteTableId": table_id, "RouteTableAssociationId": f"rtbassoc-{table_id[4:]}"}
        )
    for at, subnet in enumerate(table.get("subnet_ids", [])):
        associations.append(
            {
                "Main": False,
                "RouteTableId": table_id,
                "RouteTableAssociationId": f"rtbassoc-{at:04x}{table_id[8:]}",
                "SubnetId": subnet,
            }
        )
    routes = []
    for route in table.get("routes", []):
        destination, target = route["destination"], route["target"]
        kind = "DestinationPrefixListId" if destination.startswith("pl-") else "DestinationCidrBlock"
        kind = "DestinationIpv6CidrBlock" if ":" in destination else kind
        member = next((name for prefix, name in TARGETS.items() if target.startswith(prefix)), "GatewayId")
        routes.append({kind: destination, member: target, "State": route.get("state"), "Origin": "CreateRoute"})
    region.route_tables[table_id] = {
        "RouteTableId": table_id,
        "VpcId": vpc_id,
        "OwnerId": account,
        "Associations": associations,
        "Routes": routes,
        "Tags": [],
    }


def put_images(region, inventory):
    """Images and instance types."""
    for image in inventory.get("images", []):
        region.images[image["image_id"]] = {
            "ImageId": image["image_id"],
            "Name": image.get("name"),
            "OwnerId": image.get("owner_id"),
            "Architecture": image.get("architecture"),
            "State": image.get("state"),
        }
    for kind in inventory.get("instance_types", []):
        cards = kind.get("network_cards", [])
        region.instance_types[kind["instance_type"]] = {
            "InstanceType": kind["instance_type"],
            "Hypervisor": kind.get("hypervisor"),
            "BareMetal": kind.get("bare_metal", False),
            "VCpuInfo": {"DefaultVCpus": kind["default_v_cpus"]},
            "ProcessorInfo": {"SupportedArchitectures": kind.get("supported_architectures", [])},
            "NetworkInfo": {
                "DefaultNetworkCardIndex": kind.get("default_network_card_index", 0),
                "Ipv4AddressesPerInterface": kind["ipv4_addresses_per_interface"],
                "MaximumNetworkCards": len(cards),
                "MaximumNetworkInterfaces": sum(card["maximum_network_interfaces"] for card in cards),
                "NetworkCards": [
                    {
                        "NetworkCardIndex": card["network_card_index"],
                        "MaximumNetworkInterfaces": card["maximum_network_interfaces"],
                    }
                    for card in cards
                ],
            },
        }


def put_launch_templates(region, inventory):
    """Templates; numbers that the file leaves out hold what the next lower one holds, so that numbers go through."""
    for template in inventory.get("launch_templates", []):
        template_id = template["launch_template_id"]
        given = {version["version_number"]: version for version in template.get("versions", [])}
        versions, data = {}, next((given[number]["launch_template_data"] for number in sorted(given)), {})
        for number in range(1, template["latest_version_number"] + 1):
            version = given.get(number)
            data = version["launch_template_data"] if version else data
            versions[number] = {
                "VersionNumber": number,
                "VersionDescription": (version or {}).get("version_description"),
                "CreateTime": CREATED + number,
                "CreatedBy": CREATED_BY,
                "LaunchTemplateData": _without_nulls(data),
            }
        region.launch_templates[template_id] = {
            "template": {
                "LaunchTemplateId": template_id,
                "LaunchTemplateName": template["launch_template_name"],
                "CreateTime": CREATED,
                "CreatedBy": CREATED_BY,
                "DefaultVersionNumber": template["default_version_number"],
                "LatestVersionNumber": template["latest_version_number"],
                "Tags": tags(template.get("tags")),
            },
            "versions": versions,
            "highest": template["latest_version_number"],
        }


def _without_nulls(value):
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value


def user_data_text(data):
    """The decoded user data of a template version; empty when it has none."""
    return base64.b64decode(data.get("UserData") or "")
