"""A world that changes while somebody looks: late nodes, patches past the API, networks made on the way."""

from base import TEMPLATE, BenchTest
from check_groups import RELEASE, mime

NODES = "/api/v1/nodes"


class Life(BenchTest):
    def names(self):
        return [one["metadata"]["name"] for one in self.kube("GET", NODES)[2]["items"]]

    def test_nodes_that_register_late(self):
        self.settings(nodes_late=2, boot=False)
        number = self.new_version(UserData=mime("#!/bin/sh"))
        self.eks.update_nodegroup_version(
            clusterName="demo",
            nodegroupName="web",
            launchTemplate={"id": TEMPLATE, "version": str(number)},
            releaseVersion=RELEASE,
        )
        self.eks.describe_nodegroup(clusterName="demo", nodegroupName="web")
        self.assertEqual([len(self.names()) for _ in range(3)], [0, 0, 2])

    def test_a_label_that_arrives_late(self):
        name = self.names()[0]
        patch = [
            {"kind": "nodes", "name": name, "patch": {"metadata": {"labels": {"k8s.amazonaws.com/eniConfig": "x"}}}}
        ]
        self.control("PUT", "later", [{"action": "list nodes", "count": 2, "do": [["POST", "patch", patch]]}])
        labels = [
            self.kube("GET", NODES)[2]["items"][0]["metadata"]["labels"].get("k8s.amazonaws.com/eniConfig")
            for _ in range(3)
        ]
        self.assertEqual(labels, [None, "x", "x"])

    def test_patches_past_the_api(self):
        self.control("POST", "patch", [{"kind": "nodes", "name": self.names()[0], "patch": None}])
        self.assertEqual(len(self.names()), 1)
        self.control(
            "POST",
            "patch-aws",
            [
                {
                    "store": "subnets",
                    "id": "subnet-0dd44444444444444",
                    "patch": {"AvailabilityZone": "ap-southeast-1b"},
                },
                {"store": "clusters", "id": "demo", "patch": {"nodegroups": {"web": {"status": "DEGRADED"}}}},
                {"store": "images", "id": "ami-0123456789abcdef0", "patch": None},
            ],
        )
        self.assertEqual(
            self.ec2.describe_subnets(SubnetIds=["subnet-0dd44444444444444"])["Subnets"][0]["AvailabilityZone"],
            "ap-southeast-1b",
        )
        self.assertEqual(
            self.eks.describe_nodegroup(clusterName="demo", nodegroupName="web")["nodegroup"]["status"], "DEGRADED"
        )
        self.assertEqual(self.ec2.describe_images()["Images"], [])

    def test_a_network_is_made(self):
        vpc = "vpc-0a1b2c3d4e5f60718"
        self.refused("InvalidVpc.Range", self.ec2.associate_vpc_cidr_block, VpcId=vpc, CidrBlock="100.64.0.0/18")
        self.ec2.associate_vpc_cidr_block(VpcId=vpc, CidrBlock="100.65.0.0/16")
        make = lambda block, **more: self.ec2.create_subnet(VpcId=vpc, CidrBlock=block, **more)  # noqa: E731
        self.refused("InvalidSubnet.Range", make, "10.0.0.0/24")
        self.refused("InvalidSubnet.Conflict", make, "100.64.0.0/24")
        tags = [{"ResourceType": "subnet", "Tags": [{"Key": "Name", "Value": "pod-1b-2"}]}]
        made = make("100.65.0.0/20", AvailabilityZone="ap-southeast-1b", TagSpecifications=tags)["Subnet"]
        self.assertEqual((made["AvailabilityZoneId"], made["AvailableIpAddressCount"]), ("apse1-az1", 4091))
        self.assertEqual(
            self.ec2.describe_tags(Filters=[{"Name": "resource-id", "Values": [made["SubnetId"]]}])["Tags"][0]["Value"],
            "pod-1b-2",
        )
        group = self.ec2.create_security_group(GroupName="pods", Description="pods", VpcId=vpc)["GroupId"]
        rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-0cc33333333333333"}]}
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
        shown = self.ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
        self.assertEqual(shown["IpPermissions"][0]["UserIdGroupPairs"], rule["UserIdGroupPairs"])

    def test_zones(self):
        zones = {one["ZoneName"]: one["ZoneId"] for one in self.ec2.describe_availability_zones()["AvailabilityZones"]}
        self.assertEqual(
            zones, {"ap-southeast-1a": "apse1-az2", "ap-southeast-1b": "apse1-az1", "ap-southeast-1c": "apse1-az5"}
        )
