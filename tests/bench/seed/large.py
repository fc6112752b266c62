"""A large healthy cluster: every node has its label, its interfaces lie in the pod subnet of its zone, its pods on
them.

Nodes and pods are kept as the bytes that lists send, so that a hundred thousand of them are served quickly.
"""

import ipaddress
import json

import seed
from kube import kinds
from seed.kube_objects import CREATED, node_object

REGION = "eu-west-1"
LABEL = "k8s.amazonaws.com/eniConfig"
CLUSTER_GROUP = "sg-0aaaaaaaaaaaaaaa1"
POD_GROUP = "sg-0aaaaaaaaaaaaaaa2"
VPC = "vpc-0aaaaaaaaaaaaaaa1"
ZONES = ("a", "b", "c")
PODS_ON_THE_HOST = 2
ADDRESSES_A_CARD = 15


def seed_large(bench, wanted):
    """Seeds {"nodes": 5000, "pods": 100000, "interfaces": 20000, "groups": 10, "cni_nodes": true}; returns the
    inventory without nodes."""
    nodes = wanted.get("nodes", 5_000)
    pods = wanted.get("pods", nodes * 20)
    interfaces = wanted.get("interfaces", nodes * 4)
    groups = wanted.get("groups", 10)
    inventory = _inventory(groups, nodes)
    expected = seed.seed(bench, inventory)["inventory"]
    region = bench.world.region(REGION)
    hosts = {zone: iter(_addresses(inventory, "node", zone)) for zone in ZONES}
    pod_hosts = {zone: iter(_addresses(inventory, "pod", zone)) for zone in ZONES}
    for at in range(nodes):
        zone = ZONES[at % len(ZONES)]
        name, instance = _put_node(
            bench, region, at, zone, f"group-{at % groups}", str(next(hosts[zone])), wanted.get("cni_nodes", True)
        )
        share = _share(pods, nodes, at)
        on_cards = max(share - PODS_ON_THE_HOST, 0)
        cards = max(_share(interfaces, nodes, at) - 1, 0)
        addresses = []
        for card in range(cards):
            own = str(next(pod_hosts[zone]))
            more = [str(next(pod_hosts[zone])) for _ in range(-(-on_cards // cards))]
            addresses += more
            _put_interface(region, bench, instance, zone, card + 1, [own, *more])
        for pod in range(share):
            host = pod < PODS_ON_THE_HOST or not addresses
            _put_pod(
                bench,
                at,
                pod,
                name,
                instance["PrivateIpAddress"] if host else addresses[(pod - PODS_ON_THE_HOST) % len(addresses)],
                host,
            )
    return {"inventory": expected, "nodes": nodes, "pods": pods, "interfaces": len(region.network_interfaces)}


def _share(total, nodes, at):
    """The part of one node, so that all parts add up."""
    return total * (at + 1) // nodes - total * at // nodes


def _subnets():
    subnets = {}
    for at, zone in enumerate(ZONES):
        common = {
            "vpc_id": VPC,
            "availability_zone": f"{REGION}{zone}",
            "availability_zone_id": f"euw1-az{at + 1}",
            "state": "available",
        }
        common.update(owner_id="111122223333", map_public_ip_on_launch=False, outpost_arn=None)
        for kind, cidr, free in (("node", f"10.0.{at * 64}.0/18", 14_000), ("pod", f"100.{64 + at}.0.0/16", 20_000)):
            subnet_id = f"subnet-0{kind.encode().hex():0<14}{at:02d}"
            subnets[(kind, zone)] = {
                **common,
                "subnet_id": subnet_id,
                "cidr_block": cidr,
                "available_ip_address_count": free,
                "tags": {"Name": f"{kind}-{zone}"},
            }
    return subnets


SUBNETS = _subnets()


def _addresses(inventory, kind, zone):
    network = ipaddress.ip_network(SUBNETS[(kind, zone)]["cidr_block"])
    return (network[at] for at in range(10, network.num_addresses - 1))


def _inventory(groups, nodes):
    node_subnets = [SUBNETS[("node", zone)]["subnet_id"] for zone in ZONES]
    return {
        "schema_version": 1,
        "collected_at": CREATED,
        "region": REGION,
        "account_id": "111122223333",
        "redacted": False,
        "gaps": [],
        "nodes": [],
        "cluster": {
            "name": "large",
            "arn": f"arn:aws:eks:{REGION}:111122223333:cluster/large",
            "version": "1.33",
            "status": "ACTIVE",
            "endpoint": f"https://LARGE.gr7.{REGION}.eks.amazonaws.com",
            "certificate_authority": "LS0tCg==",
            "service_ipv4_cidr": "172.20.0.0/16",
            "ip_family": "ipv4",
            "vpc_id": VPC,
            "subnet_ids": node_subnets,
            "cluster_security_group_id": CLUSTER_GROUP,
            "endpoint_public_access": True,
            "endpoint_private_access": True,
            "authentication_mode": "API",
        },
        "vpc": {
            "vpc_id": VPC,
            "owner_id": "111122223333",
            "tags": {},
            "cidr_block_associations": [
                {"cidr_block": cidr, "state": "associated"}
                for cidr in ("10.0.0.0/16", "100.64.0.0/16", "100.65.0.0/16", "100.66.0.0/16")
            ],
        },
        "subnets": list(SUBNETS.values()),
        "security_groups": [
            {
                "group_id": group,
                "group_name": group,
                "vpc_id": VPC,
                "ip_permissions": [{"ip_protocol": "-1", "user_id_group_pairs": [CLUSTER_GROUP, POD_GROUP]}],
                "ip_permissions_egress": [{"ip_protocol": "-1", "ip_ranges": ["0.0.0.0/0"]}],
                "tags": {},
            }
            for group in (CLUSTER_GROUP, POD_GROUP)
        ],
        "route_tables": [
            {
                "route_table_id": "rtb-0aaaaaaaaaaaaaaa1",
                "main": True,
                "subnet_ids": [],
                "routes": [
                    {"destination": "10.0.0.0/16", "target": "local", "state": "active"},
                    {"destination": "0.0.0.0/0", "target": "nat-0aaaaaaaaaaaaaaa1", "state": "active"},
                ],
            }
        ],
        "node_groups": [
            {
                "name": f"group-{at}",
                "status": "ACTIVE",
                "ami_type": "AL2023_x86_64_STANDARD",
                "capacity_type": "ON_DEMAND",
                "version": "1.33",
                "release_version": "1.33.5-20251120",
                "instance_types": ["m5.2xlarge"],
                "subnets": node_subnets,
                "launch_template": {"id": f"lt-0aaaaaaaaaaaa{at:04x}", "name": f"large-{at}", "version": "1"},
                "scaling_config": {"min_size": 1, "max_size": nodes, "desired_size": _share(nodes, groups, at)},
                "node_role": "arn:aws:iam::111122223333:role/nodes",
                "max_unavailable": 1,
            }
            for at in range(groups)
        ],
        "launch_templates": [
            {
                "launch_template_id": f"lt-0aaaaaaaaaaaa{at:04x}",
                "launch_template_name": f"large-{at}",
                "default_version_number": 1,
                "latest_version_number": 1,
                "tags": {},
                "versions": [
                    {
                        "version_number": 1,
                        "version_description": None,
                        "launch_template_data": {"MetadataOptions": {"HttpTokens": "required"}},
                    }
                ],
            }
            for at in range(groups)
        ],
        "images": [],
        "instance_types": [
            {
                "instance_type": "m5.2xlarge",
                "network_cards": [{"network_card_index": 0, "maximum_network_interfaces": 4}],
                "ipv4_addresses_per_interface": ADDRESSES_A_CARD,
                "hypervisor": "nitro",
                "default_v_cpus": 8,
            }
        ],
        "add_on": None,
        "eni_config_crd": {"has_schema": True},
        "eni_configs": [
            {"name": f"{REGION}{zone}", "subnet": SUBNETS[("pod", zone)]["subnet_id"], "security_groups": [POD_GROUP]}
            for zone in ZONES
        ],
        "aws_node": {
            "image": "amazon-k8s-cni:v1.20.4-eksbuild.1",
            "env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENI_CONFIG_LABEL_DEF": LABEL},
            "generation": 1,
        },
    }


def _put_node(bench, region, at, zone, group, address, cni_node):
    name = f"ip-{address.replace('.', '-')}.{REGION}.compute.internal"
    instance_id = f"i-0{at:016x}"
    labels = {
        "eks.amazonaws.com/nodegroup": group,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": "m5.2xlarge",
        "topology.kubernetes.io/zone": f"{REGION}{zone}",
        LABEL: f"{REGION}{zone}",
        "eks.amazonaws.com/sourceLaunchTemplateVersion": "1",
    }
    value = node_object(
        bench.world,
        {
            "name": name,
            "instance_id": instance_id,
            "labels": labels,
            "internal_ip": address,
            "max_pods": 44,
            "created_at": CREATED,
            "ready": True,
            "os_image": "Amazon Linux 2023.9.20251110",
        },
    )
    bench.world.kube.put(kinds.NODE, ("", name), _bytes(kinds.NODE, value))
    if cni_node:
        kind = kinds.KINDS["cninodes.vpcresources.k8s.aws"]
        metadata = {
            "name": name,
            "uid": _uid(2, at),
            "resourceVersion": value["metadata"]["resourceVersion"],
            "creationTimestamp": CREATED,
        }
        own = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": {"tags": {}}}
        bench.world.kube.put(kind, ("", name), _bytes(kind, own))
    node_subnet = SUBNETS[("node", zone)]["subnet_id"]
    instance = {
        "InstanceId": instance_id,
        "ImageId": "ami-0eeeeeeeeeeeeeeee",
        "InstanceType": "m5.2xlarge",
        "State": {"Code": 16, "Name": "running"},
        "PrivateDnsName": name,
        "PrivateIpAddress": address,
        "SubnetId": node_subnet,
        "VpcId": VPC,
        "Placement": {"AvailabilityZone": f"{REGION}{zone}"},
        "SecurityGroups": [{"GroupId": CLUSTER_GROUP, "GroupName": CLUSTER_GROUP}],
        "Tags": [{"Key": "eks:nodegroup-name", "Value": group}],
    }
    region.instances[instance_id] = instance
    _put_interface(region, bench, instance, zone, 0, [address])
    return name, instance


def _put_interface(region, bench, instance, zone, index, addresses):
    number = len(region.network_interfaces)
    group = CLUSTER_GROUP if index == 0 else POD_GROUP
    region.network_interfaces[f"eni-0{number:016x}"] = {
        "NetworkInterfaceId": f"eni-0{number:016x}",
        "SubnetId": SUBNETS[("node" if index == 0 else "pod", zone)]["subnet_id"],
        "VpcId": VPC,
        "AvailabilityZone": f"{REGION}{zone}",
        "Description": "" if index == 0 else f"aws-K8S-{instance['InstanceId']}",
        "InterfaceType": "interface",
        "OwnerId": bench.world.account,
        "PrivateIpAddress": addresses[0],
        "PrivateIpAddresses": [{"Primary": at == 0, "PrivateIpAddress": one} for at, one in enumerate(addresses)],
        "Groups": [{"GroupId": group, "GroupName": group}],
        "Status": "in-use",
        "Attachment": {
            "AttachmentId": f"eni-attach-0{number:016x}",
            "DeviceIndex": index,
            "NetworkCardIndex": 0,
            "InstanceId": instance["InstanceId"],
            "Status": "attached",
        },
        "TagSet": [],
    }


def _put_pod(bench, node_at, at, node, address, on_host):
    name = f"{'daemon' if on_host else 'work'}-{node_at:05d}-{at:02d}"
    namespace = "kube-system" if on_host else f"team-{node_at % 40:02d}"
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "registry.example/app:1"}]}
    if on_host:
        spec["hostNetwork"] = True
    value = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": _uid(1, node_at * 1_000 + at),
            "resourceVersion": "1",
            "creationTimestamp": CREATED,
            "labels": {"app": "work"},
        },
        "spec": spec,
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
    }
    bench.world.kube.put(kinds.POD, (namespace, name), _bytes(kinds.POD, value))


def _uid(kind, number):
    return f"0000000{kind}-0000-4000-8000-{number:012x}"


def _bytes(kind, value):
    """As a list sends it: items of built-in kinds without kind and apiVersion."""
    if not kind.custom:
        value = {name: inner for name, inner in value.items() if name not in ("kind", "apiVersion")}
    return json.dumps(value, separators=(",", ":")).encode()
