"""Every list comes in pages; what is on page 2 is reached only by those who ask for it."""

import copy

from base import TEMPLATE, BenchTest
from client import sample


def big_inventory():
    """25 of everything, so that pages of 12 make three."""
    inventory = sample()
    for member, key, at in (
        ("subnets", "subnet_id", 0),
        ("security_groups", "group_id", 0),
        ("route_tables", "route_table_id", 0),
        ("images", "image_id", 0),
        ("instance_types", "instance_type", 0),
        ("node_groups", "name", 1),
    ):
        pattern = inventory[member][at]
        while len(inventory[member]) < 25:
            number = len(inventory[member])
            suffix = f".{number}xlarge" if member == "instance_types" else f"{number:04x}"
            name = f"{pattern[key][:-4]}{suffix}" if member != "node_groups" else f"old-{number:02d}"
            inventory[member].append({**copy.deepcopy(pattern), key: name, "cidr_block": f"10.0.{number}.0/24"})
    inventory["launch_templates"] += [
        {
            **copy.deepcopy(inventory["launch_templates"][0]),
            "launch_template_id": f"lt-0123456789abc{at:04x}",
            "launch_template_name": f"other-{at}",
        }
        for at in range(119)
    ]
    inventory["launch_templates"][0]["latest_version_number"] = 250
    return inventory


class Pages(BenchTest):
    def inventory(self):
        return big_inventory()

    def all_of(self, client, operation, **ask):
        """(everything, how many calls)."""
        self.control("DELETE", "journal")
        result = client.get_paginator(operation).paginate(**ask).build_full_result()
        return next(iter(result.values())), len(self.control("GET", "journal"))

    def test_a_small_page_size_of_the_bench(self):
        self.settings(page_size=12)
        for client, operation, key, pages in (
            (self.ec2, "describe_subnets", "SubnetId", 3),
            (self.ec2, "describe_security_groups", "GroupId", 3),
            (self.ec2, "describe_route_tables", "RouteTableId", 3),
            (self.ec2, "describe_images", "ImageId", 3),
            (self.ec2, "describe_launch_templates", "LaunchTemplateId", 10),
            (self.eks, "list_nodegroups", None, 3),
        ):
            with self.subTest(operation):
                ask = {"clusterName": "demo"} if client is self.eks else {}
                found, calls = self.all_of(client, operation, **ask)
                self.assertEqual(calls, pages)
                self.assertEqual(len(found), 120 if "templates" in operation else 25)
                self.assertEqual(len({str(one[key] if key else one) for one in found}), len(found))

    def test_the_services_own_limits(self):
        versions, calls = self.all_of(self.ec2, "describe_launch_template_versions", LaunchTemplateId=TEMPLATE)
        self.assertEqual((len(versions), calls), (250, 2))
        types = self.ec2.describe_instance_types()
        self.assertEqual(len(types["InstanceTypes"]), 100)
        self.assertIn("NextToken", types)

    def test_a_page_size_of_one_action(self):
        self.settings(page_sizes={"DescribeSubnets": 2})
        self.assertEqual(len(self.ec2.describe_subnets()["Subnets"]), 2)
        self.assertEqual(len(self.ec2.describe_images()["Images"]), 25)

    def test_the_callers_own_page_size(self):
        self.assertEqual(len(self.ec2.describe_subnets(MaxResults=5)["Subnets"]), 5)
        self.refused("InvalidParameterValue", self.loose_ec2.describe_subnets, MaxResults=1)
        self.refused("InvalidParameterValue", self.loose_ec2.describe_launch_templates, MaxResults=201)

    def test_tokens_are_of_one_list(self):
        token = self.ec2.describe_subnets(MaxResults=5)["NextToken"]
        self.refused("InvalidNextToken", self.ec2.describe_security_groups, NextToken=token)
        self.refused("InvalidNextToken", self.ec2.describe_subnets, NextToken="nonsense")
        self.refused("InvalidParameterException", self.eks.list_nodegroups, clusterName="demo", nextToken="nonsense")

    def test_kubernetes_lists(self):
        self.settings(kube_page_size=1)
        first = self.kube("GET", "/api/v1/nodes?limit=500")[2]
        self.assertEqual((len(first["items"]), first["metadata"]["remainingItemCount"]), (1, 1))
        second = self.kube("GET", f"/api/v1/nodes?limit=500&continue={first['metadata']['continue']}")[2]
        self.assertEqual(len(second["items"]), 1)
        self.assertNotIn("continue", second["metadata"])


class Lookups(BenchTest):
    def test_filters(self):
        def subnets(*filters):
            found = self.ec2.describe_subnets(Filters=[{"Name": name, "Values": values} for name, values in filters])
            return [subnet["SubnetId"][:10] for subnet in found["Subnets"]]

        self.assertEqual(
            subnets(("vpc-id", ["vpc-0a1b2c3d4e5f60718"]), ("availability-zone-id", ["apse1-az2"])),
            ["subnet-0aa", "subnet-0dd"],
        )
        self.assertEqual(subnets(("tag:Name", ["pod-*"])), ["subnet-0dd", "subnet-0ee"])
        self.assertEqual(subnets(("tag-key", ["eniplan.dev/pool"]), ("cidr-block", ["100.64.16.0/20"])), ["subnet-0ee"])
        self.refused("InvalidParameterValue", subnets, ("no-such-filter", ["x"]), status=400)

    def test_missing_ids_are_all_named(self):
        a, b = "subnet-0fffffffffffffff1", "subnet-0fffffffffffffff2"
        self.refused(
            "InvalidSubnetID.NotFound",
            self.ec2.describe_subnets,
            SubnetIds=[a],
            says=f"The subnet ID '{a}' does not exist",
        )
        self.refused(
            "InvalidSubnetID.NotFound",
            self.ec2.describe_subnets,
            SubnetIds=[a, b],
            says=f"The subnet IDs '{a}, {b}' do not exist",
        )
        self.refused("InvalidSubnetID.Malformed", self.ec2.describe_subnets, SubnetIds=["subnet-xyz"])
        self.refused("InvalidVpcID.NotFound", self.ec2.describe_vpcs, VpcIds=["vpc-0fffffffffffffff1"])
        self.refused("InvalidGroup.NotFound", self.ec2.describe_security_groups, GroupIds=["sg-0fffffffffffffff1"])
        self.refused(
            "InvalidRouteTableID.NotFound", self.ec2.describe_route_tables, RouteTableIds=["rtb-0fffffffffffffff1"]
        )
        self.refused("InvalidAMIID.NotFound", self.ec2.describe_images, ImageIds=["ami-0fffffffffffffff1"])
        self.refused("InvalidInstanceType", self.ec2.describe_instance_types, InstanceTypes=["m5.huge"])
        self.refused("InvalidInstanceID.NotFound", self.ec2.describe_instances, InstanceIds=["i-0fffffffffffffff1"])

    def test_instance_types_are_the_real_ones(self):
        found = self.ec2.describe_instance_types(InstanceTypes=["p5.48xlarge"])["InstanceTypes"][0]["NetworkInfo"]
        self.assertEqual((found["MaximumNetworkCards"], found["MaximumNetworkInterfaces"]), (32, 64))

    def test_another_region_is_empty(self):
        eks = self.bench.aws("eks", region="us-east-1")
        self.assertEqual(eks.list_clusters()["clusters"], [])
        self.refused("ResourceNotFoundException", eks.describe_cluster, name="demo", status=404)

    def test_what_the_bench_does_not_know_moto_answers(self):
        offerings = self.ec2.describe_instance_type_offerings(
            LocationType="region", Filters=[{"Name": "instance-type", "Values": ["m5.large"]}]
        )
        self.assertEqual([one["InstanceType"] for one in offerings["InstanceTypeOfferings"]], ["m5.large"])
