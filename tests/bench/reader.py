"""Reads a cluster through the bench, with boto3 and plain HTTP, into the shape of an inventory file: the second
half of a round trip.

It asks in pages and knows nothing of how the bench was seeded.
"""

import json


def read(bench, name, region):
    """The inventory of a cluster, without gaps and without what belongs to the reading itself."""
    return Reader(bench, name, region).inventory()


def _tags(item, member="Tags"):
    return {tag["Key"]: tag["Value"] for tag in item.get(member, [])}


class Reader:
    def __init__(self, bench, name, region):
        self.bench, self.name, self.region = bench, name, region
        self.eks, self.ec2 = bench.aws("eks", region=region), bench.aws("ec2", region=region)
        self.token = bench.token(name, region)

    def pages(self, client, operation, member, **ask):
        return client.get_paginator(operation).paginate(**ask).build_full_result().get(member, [])

    def inventory(self):
        cluster = self.eks.describe_cluster(name=self.name)["cluster"]
        groups = [
            self.eks.describe_nodegroup(clusterName=self.name, nodegroupName=name)["nodegroup"]
            for name in self.pages(self.eks, "list_nodegroups", "nodegroups", clusterName=self.name)
        ]
        vpc = cluster["resourcesVpcConfig"].get("vpcId")
        in_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
        inventory = {
            "region": self.region,
            "cluster": _cluster(cluster),
            "vpc": _vpc(self.ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]) if vpc else None,
            "subnets": [_subnet(one) for one in self.pages(self.ec2, "describe_subnets", "Subnets", Filters=in_vpc)],
            "security_groups": [
                _group(one) for one in self.pages(self.ec2, "describe_security_groups", "SecurityGroups")
            ],
            "route_tables": [
                _route_table(one)
                for one in self.pages(self.ec2, "describe_route_tables", "RouteTables", Filters=in_vpc)
            ],
            "node_groups": [_nodegroup(one) for one in groups],
            "add_on": self.add_on(),
        }
        if cluster.get("endpoint"):
            inventory.update(self.kubernetes())
        return inventory

    def launch_templates(self, ids):
        """The templates of these ids with all versions that were asked for: {id: [numbers]}."""
        found = []
        for template_id, numbers in sorted(ids.items()):
            template = self.ec2.describe_launch_templates(LaunchTemplateIds=[template_id])["LaunchTemplates"][0]
            versions = self.ec2.describe_launch_template_versions(
                LaunchTemplateId=template_id, Versions=[str(one) for one in numbers]
            )
            found.append(
                {
                    "launch_template_id": template_id,
                    "launch_template_name": template["LaunchTemplateName"],
                    "default_version_number": template["DefaultVersionNumber"],
                    "latest_version_number": template["LatestVersionNumber"],
                    "tags": _tags(template),
                    "versions": [
                        {
                            "version_number": one["VersionNumber"],
                            "version_description": one.get("VersionDescription"),
                            "launch_template_data": one["LaunchTemplateData"],
                        }
                        for one in sorted(versions["LaunchTemplateVersions"], key=lambda one: one["VersionNumber"])
                    ],
                }
            )
        return found

    def add_on(self):
        try:
            addon = self.eks.describe_addon(clusterName=self.name, addonName="vpc-cni")["addon"]
        except self.eks.exceptions.ResourceNotFoundException:
            return None
        return {
            "addon_version": addon["addonVersion"],
            "status": addon.get("status"),
            "configuration_values": addon.get("configurationValues"),
            "service_account_role_arn": addon.get("serviceAccountRoleArn"),
            "pod_identity_associations": addon.get("podIdentityAssociations", []),
            "health_issues": [issue["message"] for issue in addon["health"]["issues"]],
        }

    def get(self, path):
        status, _, body = self.bench.kube("GET", path, token=self.token)
        return body if status == 200 else None

    def list(self, path):
        items, token = [], ""
        while True:
            page = self.get(f"{path}?limit=2{token}")
            if page is None:
                return items
            items += page["items"]
            if not page["metadata"].get("continue"):
                return items
            token = f"&continue={page['metadata']['continue']}"

    def kubernetes(self):
        crd = self.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com")
        aws_node = self.get("/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node")
        return {
            "eni_config_crd": {"has_schema": "properties" in crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]}
            if crd
            else None,
            "eni_configs": [_eni_config(one) for one in self.list("/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs")],
            "aws_node": _aws_node(aws_node) if aws_node else None,
            "nodes": [_node(one) for one in self.list("/api/v1/nodes")],
        }


def _cluster(cluster):
    vpc, network = cluster["resourcesVpcConfig"], cluster["kubernetesNetworkConfig"]
    outpost = cluster.get("outpostConfig")
    return {
        "name": cluster["name"],
        "arn": cluster.get("arn"),
        "version": cluster.get("version"),
        "status": cluster.get("status"),
        "endpoint": cluster.get("endpoint"),
        "certificate_authority": cluster.get("certificateAuthority", {}).get("data"),
        "service_ipv4_cidr": network.get("serviceIpv4Cidr"),
        "service_ipv6_cidr": network.get("serviceIpv6Cidr"),
        "ip_family": network.get("ipFamily"),
        "vpc_id": vpc.get("vpcId"),
        "subnet_ids": vpc["subnetIds"],
        "cluster_security_group_id": vpc.get("clusterSecurityGroupId"),
        "security_group_ids": vpc["securityGroupIds"],
        "endpoint_public_access": vpc.get("endpointPublicAccess"),
        "endpoint_private_access": vpc.get("endpointPrivateAccess"),
        "authentication_mode": cluster.get("accessConfig", {}).get("authenticationMode"),
        "auto_mode": cluster.get("computeConfig", {}).get("enabled", False),
        "outpost_config": {"outpost_arns": outpost["outpostArns"]} if outpost else None,
        "id": cluster.get("id"),
        "tags": cluster.get("tags", {}),
    }


def _vpc(vpc):
    blocks = [
        {"cidr_block": one["CidrBlock"], "state": one["CidrBlockState"]["State"]}
        for one in vpc["CidrBlockAssociationSet"]
    ]
    return {
        "vpc_id": vpc["VpcId"],
        "cidr_block_associations": blocks,
        "owner_id": vpc.get("OwnerId"),
        "tags": _tags(vpc),
    }


def _subnet(subnet):
    return {
        "subnet_id": subnet["SubnetId"],
        "vpc_id": subnet.get("VpcId"),
        "cidr_block": subnet["CidrBlock"],
        "availability_zone": subnet["AvailabilityZone"],
        "availability_zone_id": subnet["AvailabilityZoneId"],
        "available_ip_address_count": subnet.get("AvailableIpAddressCount"),
        "map_public_ip_on_launch": subnet["MapPublicIpOnLaunch"],
        "state": subnet.get("State"),
        "owner_id": subnet.get("OwnerId"),
        "outpost_arn": subnet.get("OutpostArn"),
        "tags": _tags(subnet),
    }


def _group(group):
    def rules(member):
        return [
            {
                "ip_protocol": rule["IpProtocol"],
                "from_port": rule.get("FromPort"),
                "to_port": rule.get("ToPort"),
                "ip_ranges": [one["CidrIp"] for one in rule["IpRanges"]],
                "user_id_group_pairs": [one["GroupId"] for one in rule["UserIdGroupPairs"]],
                "prefix_list_ids": [one["PrefixListId"] for one in rule["PrefixListIds"]],
            }
            for rule in group[member]
        ]

    return {
        "group_id": group["GroupId"],
        "group_name": group.get("GroupName"),
        "vpc_id": group.get("VpcId"),
        "ip_permissions": rules("IpPermissions"),
        "ip_permissions_egress": rules("IpPermissionsEgress"),
        "tags": _tags(group),
    }


def _route_table(table):
    def route(one):
        destination = next(
            one[member]
            for member in ("DestinationCidrBlock", "DestinationPrefixListId", "DestinationIpv6CidrBlock")
            if member in one
        )
        target = next(
            value
            for member, value in one.items()
            if not member.startswith("Destination") and member not in ("State", "Origin")
        )
        return {"destination": destination, "target": target, "state": one.get("State")}

    return {
        "route_table_id": table["RouteTableId"],
        "main": any(one["Main"] for one in table["Associations"]),
        "subnet_ids": [one["SubnetId"] for one in table["Associations"] if "SubnetId" in one],
        "routes": [route(one) for one in table["Routes"]],
    }


def _nodegroup(group):
    scaling, remote = group.get("scalingConfig"), group.get("remoteAccess")
    template = group.get("launchTemplate")
    return {
        "name": group["nodegroupName"],
        "status": group.get("status"),
        "ami_type": group.get("amiType"),
        "capacity_type": group.get("capacityType"),
        "version": group.get("version"),
        "release_version": group.get("releaseVersion"),
        "instance_types": group.get("instanceTypes", []),
        "subnets": group["subnets"],
        "launch_template": {key: template.get(key) for key in ("id", "name", "version")} if template else None,
        "scaling_config": {
            "min_size": scaling["minSize"],
            "max_size": scaling["maxSize"],
            "desired_size": scaling["desiredSize"],
        }
        if scaling
        else None,
        "labels": group.get("labels", {}),
        "taints": [{"value": "", **taint} for taint in group.get("taints", [])],
        "node_role": group.get("nodeRole"),
        "disk_size": group.get("diskSize"),
        "remote_access": {
            "ec2_ssh_key": remote.get("ec2SshKey"),
            "source_security_groups": remote.get("sourceSecurityGroups", []),
        }
        if remote
        else None,
        "max_unavailable": group.get("updateConfig", {}).get("maxUnavailable"),
        "health_issues": [one["message"] for one in group["health"]["issues"]],
        "tags": group.get("tags", {}),
    }


def _managers(metadata, names_of):
    return [
        {"manager": one["manager"], "operation": one["operation"], "fields": sorted(names_of(one["fieldsV1"]))}
        for one in metadata.get("managedFields", [])
    ]


def _paths(fields, prefix=""):
    for element, inner in fields.items():
        if element.startswith("f:"):
            path = f"{prefix}.{element[2:]}"
            if inner:
                yield from _paths(inner, path)
            else:
                yield path


def _env_names(fields):
    containers = fields.get("f:spec", {}).get("f:template", {}).get("f:spec", {}).get("f:containers", {})
    env = containers.get('k:{"name":"aws-node"}', {}).get("f:env", {})
    return [json.loads(element[2:])["name"] for element in env if element != "."]


def _eni_config(value):
    metadata, spec = value["metadata"], value.get("spec", {})
    return {
        "name": metadata["name"],
        "subnet": spec.get("subnet"),
        "security_groups": spec.get("securityGroups", []),
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "uid": metadata["uid"],
        "managers": _managers(metadata, _paths),
    }


def _aws_node(value):
    metadata = value["metadata"]
    container = next(one for one in value["spec"]["template"]["spec"]["containers"] if one["name"] == "aws-node")
    return {
        "image": container["image"],
        "env": {one["name"]: one["value"] for one in container["env"] if "value" in one},
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "managers": _managers(metadata, _env_names),
        "generation": metadata["generation"],
    }


def _node(value):
    metadata, spec, status = value["metadata"], value["spec"], value["status"]
    pods = status.get("capacity", {}).get("pods")
    return {
        "name": metadata["name"],
        "instance_id": spec["providerID"].rpartition("/")[2] if "providerID" in spec else None,
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
        "internal_ip": next((one["address"] for one in status["addresses"] if one["type"] == "InternalIP"), None),
        "max_pods": int(pods) if pods else None,
        "created_at": metadata["creationTimestamp"],
        "ready": any(one["type"] == "Ready" and one["status"] == "True" for one in status["conditions"]),
        "os_image": status["nodeInfo"]["osImage"] or None,
        "unschedulable": spec.get("unschedulable", False),
    }
