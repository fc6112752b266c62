"""A seeded file, read back through both halves, is the same file."""

import base64
import json
import pathlib

from base import BenchTest
from client import HERE, sample
from reader import Reader

FIXTURES = HERE.parent.parent / "fixtures"
# What an inventory may leave out, and how it then reads.
ABSENT = {
    "labels": {},
    "tags": {},
    "annotations": {},
    "managers": [],
    "taints": [],
    "health_issues": [],
    "security_groups": [],
    "instance_types": [],
    "pod_identity_associations": [],
    "ip_ranges": [],
    "user_id_group_pairs": [],
    "prefix_list_ids": [],
    "source_security_groups": [],
    "subnet_ids": [],
    "security_group_ids": [],
    "unschedulable": False,
    "ready": False,
    "map_public_ip_on_launch": False,
    "auto_mode": False,
    "ip_permissions": [],
    "ip_permissions_egress": [],
    "routes": [],
    "main": False,
    "subnets": [],
}
LISTS = {
    "subnets": "subnet_id",
    "security_groups": "group_id",
    "route_tables": "route_table_id",
    "node_groups": "name",
    "eni_configs": "name",
    "nodes": "name",
}


def like(expected, got):
    """The expected value, with what the file leaves out filled in as it reads."""
    if isinstance(got, dict) and isinstance(expected, dict):
        filled = {key: like(expected.get(key, ABSENT.get(key)), value) for key, value in got.items()}
        return {**expected, **filled}
    if isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected):
        return [like(one, other) for one, other in zip(expected, got, strict=True)]
    return expected


def in_order(inventory):
    """As an inventory file orders its lists."""
    for member, key in LISTS.items():
        if isinstance(inventory.get(member), list):
            inventory[member] = sorted(inventory[member], key=lambda one: one[key])
    for group in inventory.get("node_groups", []):
        group["subnets"] = sorted(group["subnets"])
    if inventory.get("vpc"):
        inventory["vpc"]["cidr_block_associations"].sort(key=lambda one: one["cidr_block"])
    for one in [*inventory.get("eni_configs", []), *([inventory["aws_node"]] if inventory.get("aws_node") else [])]:
        one["managers"] = sorted(
            ({**manager, "fields": sorted(manager.get("fields", []))} for manager in one.get("managers", [])),
            key=json.dumps,
        )
    return inventory


class Seed(BenchTest):
    def inventories(self):
        yield "the sample", sample()
        for path in sorted(FIXTURES.glob("*/inventory.json")):
            yield path.parent.name, json.loads(pathlib.Path(path).read_text())

    def test_round_trip(self):
        seen = 0
        for name, inventory in self.inventories():
            with self.subTest(name):
                seen += 1
                expected = in_order(
                    self.control("POST", "seed", {"inventory": inventory, "deny_gaps": False})["inventory"]
                )
                self.settings(page_size=3)
                reader = Reader(self.bench, inventory["cluster"]["name"], inventory["region"])
                got = in_order(reader.inventory())
                wanted = like({key: expected.get(key, ABSENT.get(key)) for key in got}, got)
                self.without_unknown_ids(wanted, got)
                for part in got:
                    self.assertEqual(wanted[part], got[part], part)
                self.same_templates(reader, expected)
                self.same_images(reader, expected)
        self.assertGreater(seen, 20)

    def without_unknown_ids(self, wanted, got):
        """A uid that the file does not give is the server's to choose."""
        for one, other in zip(wanted.get("eni_configs", []), got.get("eni_configs", []), strict=True):
            if one.get("uid") is None:
                one["uid"] = other["uid"]

    def same_templates(self, reader, expected):
        templates = sorted(expected.get("launch_templates", []), key=lambda one: one["launch_template_id"])
        got = reader.launch_templates(
            {
                one["launch_template_id"]: [version["version_number"] for version in one["versions"]]
                for one in templates
                if one["versions"]
            }
        )
        self.assertEqual(
            [like(one, other) for one, other in zip([one for one in templates if one["versions"]], got, strict=True)],
            got,
        )

    def same_images(self, reader, expected):
        images = expected.get("images", [])
        got = (
            reader.pages(reader.ec2, "describe_images", "Images", ImageIds=[one["image_id"] for one in images])
            if images
            else []
        )
        self.assertEqual(
            sorted((one["image_id"], one.get("name")) for one in images),
            sorted((one["ImageId"], one.get("Name")) for one in got),
        )
        types = expected.get("instance_types", [])
        got = (
            reader.pages(
                reader.ec2,
                "describe_instance_types",
                "InstanceTypes",
                InstanceTypes=[one["instance_type"] for one in types],
            )
            if types
            else []
        )
        cards = lambda one: [card["maximum_network_interfaces"] for card in one["network_cards"]]  # noqa: E731
        self.assertEqual(
            sorted((one["instance_type"], one["ipv4_addresses_per_interface"], cards(one)) for one in types),
            sorted(
                (
                    one["InstanceType"],
                    one["NetworkInfo"]["Ipv4AddressesPerInterface"],
                    [card["MaximumNetworkInterfaces"] for card in one["NetworkInfo"]["NetworkCards"]],
                )
                for one in got
            ),
        )

    def test_endpoint_and_authority_are_the_benchs_own(self):
        cluster = self.eks.describe_cluster(name="demo")["cluster"]
        self.assertEqual(cluster["endpoint"], self.bench.ports["kube_endpoint"])
        self.assertTrue(
            base64.b64decode(cluster["certificateAuthority"]["data"]).startswith(b"-----BEGIN CERTIFICATE-----")
        )
        self.settings(endpoint="seeded")
        self.assertIn(
            "gr7.ap-southeast-1.eks.amazonaws.com", self.eks.describe_cluster(name="demo")["cluster"]["endpoint"]
        )

    def test_denied_reads_of_a_file_are_denied(self):
        inventory = sample()
        inventory["gaps"] = [
            {
                "source": "launch_templates",
                "action": "ec2:DescribeLaunchTemplateVersions",
                "resource": "lt-0123456789abcdef0",
                "code": "UnauthorizedOperation",
                "message": "no",
            },
            {"source": "nodes", "action": "list nodes", "code": "403", "message": "no"},
        ]
        self.control("POST", "seed", inventory)
        self.refused(
            "UnauthorizedOperation",
            self.ec2.describe_launch_template_versions,
            LaunchTemplateId="lt-0123456789abcdef0",
            says="no",
        )
        self.assertEqual(self.kube("GET", "/api/v1/nodes")[0], 403)
        self.assertEqual(self.kube("GET", "/api/v1/pods")[0], 200)

    def test_plain_objects_and_their_kinds(self):
        path = "/apis/karpenter.sh/v1/nodepools"
        self.assertEqual(self.kube("GET", path)[1:], ("text/plain; charset=utf-8", "404 page not found\n"))
        pool = {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "default"},
            "spec": {"template": {"metadata": {"labels": {"a": "b"}}}},
        }
        self.control("POST", "objects", [pool])
        self.assertEqual([one["metadata"]["name"] for one in self.kube("GET", path)[2]["items"]], ["default"])

    def test_what_verify_reads(self):
        inventory = sample()
        inventory["observed"] = {
            "pods": [
                {"namespace": "shop", "name": "a", "phase": "Running", "node": "n", "ip": "100.64.0.9"},
                {"namespace": "shop", "name": "b", "phase": "Pending", "branch_interface": True},
            ],
            "network_interfaces": [
                {
                    "network_interface_id": "eni-0123456789abcdef0",
                    "subnet_id": inventory["subnets"][0]["subnet_id"],
                    "description": "aws-K8S-i-0123456789abcdef0",
                    "status": "available",
                    "private_ip_address": "100.64.0.8",
                    "secondary_private_ip_addresses": 3,
                }
            ],
            "cni_nodes": [{"name": "n", "features": {"CustomNetworking": "pods-a"}}],
        }
        self.control("POST", "seed", inventory)
        pods = self.kube("GET", "/api/v1/pods")[2]["items"]
        self.assertEqual([pod["status"].get("podIP") for pod in pods], ["100.64.0.9", None])
        self.assertEqual(["annotations" in pod["metadata"] for pod in pods], [False, True])
        wanted = [
            {"Name": "vpc-id", "Values": [inventory["vpc"]["vpc_id"]]},
            {"Name": "status", "Values": ["available"]},
            {"Name": "description", "Values": ["aws-K8S-*"]},
        ]
        [interface] = self.ec2.describe_network_interfaces(Filters=wanted)["NetworkInterfaces"]
        self.assertEqual(len(interface["PrivateIpAddresses"]), 4)
        [node] = self.kube("GET", "/apis/vpcresources.k8s.aws/v1alpha1/cninodes")[2]["items"]
        self.assertEqual(node["spec"]["features"], [{"name": "CustomNetworking", "value": "pods-a"}])
        for path in ("karpenter.sh/v1/nodepools", "vpcresources.k8s.aws/v1beta1/securitygrouppolicies"):
            self.assertEqual(self.kube("GET", f"/apis/{path}")[0], 404)

    def test_further_clusters_and_raw_aws_objects(self):
        other = sample()
        other["cluster"]["name"] = "other"
        self.control(
            "POST",
            "seed",
            {
                "inventory": other,
                "keep": True,
                "aws": {
                    "instances": {
                        "i-0123456789abcdef0": {"InstanceId": "i-0123456789abcdef0", "State": {"Name": "running"}}
                    }
                },
            },
        )
        self.assertEqual(self.eks.list_clusters()["clusters"], ["demo", "other"])
        self.assertEqual(len(self.ec2.describe_instances(InstanceIds=["i-0123456789abcdef0"])["Reservations"]), 1)

    def test_a_large_cluster(self):
        made = self.control("POST", "seed-large", {"nodes": 60, "pods": 1_200, "interfaces": 240, "groups": 3})
        self.assertEqual((made["nodes"], made["pods"], made["interfaces"]), (60, 1_200, 240))
        token = self.bench.token("large", "eu-west-1")
        pods, calls, more = [], 0, ""
        while True:
            page = self.kube("GET", f"/api/v1/pods?limit=500{more}", token=token)[2]
            pods, calls = pods + page["items"], calls + 1
            if not page["metadata"].get("continue"):
                break
            more = f"&continue={page['metadata']['continue']}"
        self.assertEqual((len(pods), calls), (1_200, 3))
        ec2 = self.bench.aws("ec2", region="eu-west-1")
        nodes = self.kube("GET", "/api/v1/nodes", token=token)[2]["items"]
        instances = [node["spec"]["providerID"].rpartition("/")[2] for node in nodes]
        found = ec2.describe_network_interfaces(Filters=[{"Name": "attachment.instance-id", "Values": instances}])[
            "NetworkInterfaces"
        ]
        self.assertEqual(len(found), 240)
        by_address = {
            one["PrivateIpAddress"]: interface for interface in found for one in interface["PrivateIpAddresses"]
        }
        for pod in pods:
            interface = by_address[pod["status"]["podIP"]]
            self.assertEqual(interface["Attachment"]["DeviceIndex"] == 0, pod["spec"].get("hostNetwork", False))
        one = self.kube("GET", f"/api/v1/nodes/{nodes[0]['metadata']['name']}", token=token)[2]
        self.assertEqual(one["kind"], "Node")
