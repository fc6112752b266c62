"""Node groups and their updates."""

import base64
import pathlib

from base import TEMPLATE, BenchTest

RELEASE = "1.33.1-20251023"


def mime(text):
    """A user-data document with one shell part."""
    return base64.b64encode(
        b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/x-shellscript\n\n'
        + text.encode()
        + b"\n--b--\n"
    ).decode()


class Groups(BenchTest):
    def create(self, name="new", **more):
        ask = {"subnets": ["subnet-0aa11111111111111"], "nodeRole": "arn:aws:iam::111122223333:role/nodes", **more}
        return self.eks.create_nodegroup(clusterName="demo", nodegroupName=name, **ask)["nodegroup"]

    def update(self, name="web", **ask):
        return self.eks.update_nodegroup_version(clusterName="demo", nodegroupName=name, **ask)["update"]

    def group(self, name="web"):
        return self.eks.describe_nodegroup(clusterName="demo", nodegroupName=name)["nodegroup"]

    def template(self, version):
        return {"id": TEMPLATE, "version": str(version)}

    def to(self, version, **more):
        return self.update(launchTemplate=self.template(version), releaseVersion=RELEASE, **more)

    def test_a_version_is_rolled_out(self):
        number = self.new_version(UserData=mime("#!/bin/sh"))
        update = self.to(number)
        self.assertEqual((update["status"], update["type"]), ("InProgress", "VersionUpdate"))
        group = self.group()
        self.assertEqual(
            (group["status"], group["launchTemplate"]["version"], group["releaseVersion"]),
            ("ACTIVE", str(number), RELEASE),
        )
        done = self.eks.describe_update(name="demo", nodegroupName="web", updateId=update["id"])["update"]
        self.assertEqual(done["status"], "Successful")
        self.assertEqual(self.eks.list_updates(name="demo", nodegroupName="web")["updateIds"], [update["id"]])

    def test_it_takes_as_many_looks_as_a_test_wants(self):
        self.settings(polls=2)
        self.to(self.new_version(UserData=mime("#!/bin/sh")))
        self.assertEqual([self.group()["status"] for _ in range(3)], ["UPDATING", "UPDATING", "ACTIVE"])

    def test_a_group_that_is_updating_takes_no_other_update(self):
        self.settings(polls=5)
        number = self.new_version(UserData=mime("#!/bin/sh"))
        self.to(number)
        self.refused("ResourceInUseException", self.to, number, status=409)
        self.refused(
            "ResourceInUseException",
            self.eks.update_nodegroup_config,
            clusterName="demo",
            nodegroupName="web",
            labels={"addOrUpdateLabels": {"a": "b"}},
        )

    def test_an_update_fails_as_a_test_wants(self):
        self.settings(
            update_errors={
                "web": [{"errorCode": "NodeCreationFailure", "errorMessage": "did not join", "resourceIds": ["i-1"]}]
            }
        )
        update = self.to(self.new_version(UserData=mime("#!/bin/sh")))
        self.assertEqual(self.group()["launchTemplate"]["version"], "3")
        done = self.eks.describe_update(name="demo", nodegroupName="web", updateId=update["id"])["update"]
        self.assertEqual((done["status"], done["errors"][0]["errorMessage"]), ("Failed", "did not join"))

    def test_template_id_and_name_together(self):
        number = self.new_version(UserData=mime("#!/bin/sh"))
        both = {"id": TEMPLATE, "name": "web-nodes", "version": str(number)}
        self.refused(
            "InvalidParameterException",
            self.update,
            launchTemplate=both,
            says="Either provide launch template ID or launch template name",
        )
        self.refused("InvalidParameterException", self.update, launchTemplate={"version": "3"})
        self.update(launchTemplate={"name": "web-nodes", "version": str(number)}, releaseVersion=RELEASE)
        self.assertEqual(self.group()["launchTemplate"]["id"], TEMPLATE)

    def test_an_unknown_template_or_version(self):
        self.refused("InvalidRequestException", self.to, 99)
        self.refused(
            "InvalidRequestException", self.update, launchTemplate={"id": "lt-0fffffffffffffff0", "version": "1"}
        )

    def test_another_template_than_its_own(self):
        other = self.ec2.create_launch_template(LaunchTemplateName="other", LaunchTemplateData={"KeyName": "x"})[
            "LaunchTemplate"
        ]
        self.refused(
            "InvalidParameterException", self.update, launchTemplate={"id": other["LaunchTemplateId"], "version": "1"}
        )

    def test_a_group_without_template_never_gets_one(self):
        self.refused("InvalidParameterException", self.update, name="old", launchTemplate=self.template(3))

    def test_no_release_with_an_image(self):
        image = {"ImageId": "ami-0123456789abcdef0"}
        made = self.ec2.create_launch_template(LaunchTemplateName="custom", LaunchTemplateData=image)["LaunchTemplate"]
        template = {"id": made["LaunchTemplateId"], "version": "1"}
        create = lambda **more: self.create("custom", launchTemplate=template, **more)  # noqa: E731
        self.refused("InvalidParameterException", create, version="1.33", says="kubernetesVersion")
        self.refused("InvalidParameterException", create, releaseVersion=RELEASE, says="releaseVersion")
        self.refused("InvalidParameterException", create, amiType="AL2023_x86_64_STANDARD", says="CUSTOM")
        group = create()
        self.assertEqual(
            (group["amiType"], group["releaseVersion"], group["status"]),
            ("CUSTOM", "ami-0123456789abcdef0", "CREATING"),
        )
        self.group("custom")
        self.refused("InvalidParameterException", self.update, name="custom", launchTemplate=template, version="1.33")
        self.refused("InvalidParameterException", self.update, name="custom", says="can't be null")
        self.update(name="custom", launchTemplate=template)

    def test_an_image_is_neither_added_nor_taken(self):
        self.refused("InvalidParameterException", self.update, launchTemplate=self.template(5))

    def test_without_release_the_newest_is_taken(self):
        self.update(launchTemplate=self.template(self.new_version(UserData=mime("#!/bin/sh"))))
        self.assertEqual(self.group()["releaseVersion"], "1.33.0-20251120")

    def test_a_release_belongs_to_its_version(self):
        self.refused(
            "InvalidParameterException",
            self.update,
            launchTemplate=self.template(1),
            releaseVersion="1.32.1-20251023",
            says="Allowed release version",
        )

    def test_forbidden_settings(self):
        for data in (
            {"IamInstanceProfile": {"Name": "x"}},
            {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-0aa11111111111111"}]},
            {"InstanceMarketOptions": {"MarketType": "spot"}},
            {"InstanceInitiatedShutdownBehavior": "terminate"},
            {"HibernationOptions": {"Configured": True}},
            {"NetworkInterfaces": [{"DeviceIndex": 0}], "SecurityGroupIds": ["sg-0cc33333333333333"]},
        ):
            with self.subTest(sorted(data)):
                self.refused("InvalidParameterException", self.to, self.new_version(**data))

    def test_user_data_that_eks_cannot_merge(self):
        script = base64.b64encode(b"#!/bin/bash\necho\n").decode()
        self.refused("InvalidRequestException", self.to, self.new_version(UserData=script), says="MIME")
        self.refused(
            "InvalidRequestException",
            self.to,
            self.new_version(UserData=mime("#!/bin/sh\n" + "x" * 15_000)),
            says="16384",
        )

    def test_a_client_token_starts_one_update(self):
        self.settings(polls=5)
        number = self.new_version(UserData=mime("#!/bin/sh"))
        first, again = (self.to(number, clientRequestToken="t-1") for _ in range(2))
        self.assertEqual(first, again)

    def test_creation_checks_what_excludes_what(self):
        refused = lambda code, **ask: self.refused(code, self.create, **ask)  # noqa: E731
        refused("ResourceInUseException", name="web")
        refused("InvalidParameterException", subnets=["subnet-0fffffffffffffff1"])
        refused("InvalidParameterException", labels={"node.kubernetes.io/x": "y"})
        refused("InvalidParameterException", scalingConfig={"minSize": 3, "maxSize": 2, "desiredSize": 2})
        refused("InvalidParameterException", launchTemplate=self.template(1), diskSize=50)
        refused("InvalidParameterException", launchTemplate=self.template(1), remoteAccess={"ec2SshKey": "x"})
        typed = self.new_version(InstanceType="m5.large")
        refused("InvalidRequestException", launchTemplate=self.template(typed), instanceTypes=["m5.large"])
        self.refused(
            "ResourceNotFoundException",
            self.eks.create_nodegroup,
            clusterName="nope",
            nodegroupName="x",
            subnets=["subnet-0aa11111111111111"],
            nodeRole="r",
        )

    def test_a_new_group_has_what_the_request_left_out(self):
        number = self.new_version(UserData=mime("#!/bin/sh"))
        group = self.create(launchTemplate={"id": TEMPLATE}, labels={"k8s.amazonaws.com/eniConfig": "x"})
        self.assertNotEqual(str(number), "1")
        self.assertEqual(group["launchTemplate"], {"id": TEMPLATE, "name": "web-nodes", "version": "1"})
        self.assertEqual(
            (group["version"], group["amiType"], group["instanceTypes"]),
            ("1.33", "AL2023_x86_64_STANDARD", ["t3.medium"]),
        )
        self.assertNotIn("diskSize", group)
        self.assertEqual(self.group("new")["status"], "ACTIVE")

    def test_eks_makes_a_child_of_the_template(self):
        self.create(
            launchTemplate={"id": TEMPLATE, "version": "$Latest"}
            | self.template(self.new_version(UserData=mime("#!/bin/sh")))
        )
        children = self.ec2.describe_launch_templates(Filters=[{"Name": "tag:eks:nodegroup-name", "Values": ["new"]}])[
            "LaunchTemplates"
        ]
        self.assertEqual(len(children), 1)
        self.assertTrue(children[0]["LaunchTemplateName"].startswith("eks-"))
        self.assertIn("ImageId", self.version(1, children[0]["LaunchTemplateId"]))

    def test_a_configuration_update(self):
        self.eks.update_nodegroup_config(
            clusterName="demo",
            nodegroupName="web",
            scalingConfig={"desiredSize": 3},
            labels={"addOrUpdateLabels": {"a": "b"}, "removeLabels": ["tier"]},
            taints={"removeTaints": [{"key": "dedicated", "value": "web", "effect": "NO_SCHEDULE"}]},
        )
        group = self.group()
        self.assertEqual(
            (group["scalingConfig"]["desiredSize"], group["labels"], group.get("taints")), (3, {"a": "b"}, None)
        )


class Nodes(BenchTest):
    """What a roll-out leaves in the cluster."""

    def roll(self, script):
        number = self.new_version(UserData=mime(script))
        self.eks.update_nodegroup_version(
            clusterName="demo",
            nodegroupName="web",
            launchTemplate={"id": TEMPLATE, "version": str(number)},
            releaseVersion=RELEASE,
        )
        self.eks.describe_nodegroup(clusterName="demo", nodegroupName="web")
        return self.kube("GET", "/api/v1/nodes?labelSelector=eks.amazonaws.com/nodegroup%3Dweb")[2]["items"]

    def custom_networking(self):
        env = [{"name": "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "value": "true"}]
        body = {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "aws-node", "namespace": "kube-system"},
            "spec": {"template": {"spec": {"containers": [{"name": "aws-node", "env": env}]}}},
        }
        path = "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node?fieldManager=test&force=true"
        self.assertEqual(self.kube("PATCH", path, body, "application/apply-patch+yaml")[0], 200)

    def script(self, body):
        return f"#!/bin/bash\n# eniplan.dev/part: test\n{body}\n"

    def drop_in(self, flag):
        return self.script(
            'mkdir -p "$ENIPLAN_ROOT/etc/eks/nodeadm.d"\n'
            "printf 'apiVersion: node.eks.aws/v1alpha1\\nkind: NodeConfig\\nspec:\\n  kubelet:\\n    config: "
            f'{{maxPods: 17}}\\n    flags: ["{flag}"]\\n\' '
            '>"$ENIPLAN_ROOT/etc/eks/nodeadm.d/zz.yaml"'
        )

    def test_nodes_are_replaced_and_run_their_script(self):
        self.custom_networking()
        nodes = self.roll(self.drop_in("--node-labels=k8s.amazonaws.com/eniConfig=ap-southeast-1a"))
        self.assertEqual(len(nodes), 2)
        for node in nodes:
            self.assertEqual(node["metadata"]["labels"]["k8s.amazonaws.com/eniConfig"], "ap-southeast-1a")
            self.assertEqual(node["metadata"]["labels"]["eks.amazonaws.com/sourceLaunchTemplateVersion"], "6")
            self.assertEqual(node["status"]["capacity"]["pods"], "17")
        ready = {
            node["metadata"]["labels"]["topology.kubernetes.io/zone"]: node["status"]["conditions"][0]["status"]
            for node in nodes
        }
        # The ENIConfig's subnet lies in zone a, so a node of zone b gets no interface from it.
        self.assertEqual(ready, {"ap-southeast-1a": "True", "ap-southeast-1b": "False"})
        interfaces = self.ec2.describe_network_interfaces(
            Filters=[{"Name": "attachment.device-index", "Values": ["1"]}]
        )["NetworkInterfaces"]
        self.assertEqual([one["SubnetId"] for one in interfaces], ["subnet-0dd44444444444444"])
        pods = self.kube("GET", "/api/v1/pods")[2]["items"]
        self.assertEqual([pod["status"]["podIP"] for pod in pods], ["100.64.0.11"])

    def test_a_label_that_names_nothing_leaves_a_node_not_ready(self):
        self.custom_networking()
        nodes = self.roll(self.drop_in("--node-labels=k8s.amazonaws.com/eniConfig=eniplan-no-match"))
        self.assertEqual({node["status"]["conditions"][0]["status"] for node in nodes}, {"False"})

    def test_the_script_asks_the_metadata_service(self):
        self.roll(
            self.script(
                't=$(curl -sfX PUT -H "X-aws-ec2-metadata-token-ttl-seconds: 9" "$ENIPLAN_IMDS/latest/api/token")\n'
                'curl -sfH "X-aws-ec2-metadata-token: $t" '
                '"$ENIPLAN_IMDS/latest/meta-data/placement/availability-zone"'
            )
        )
        self.assertEqual(sorted(self.control("GET", "consoles").values()), ["ap-southeast-1a", "ap-southeast-1b"])

    def test_foreign_parts_are_not_run(self):
        mark = pathlib.Path("/tmp") / f"eniplan-bench-foreign-{id(self)}"
        self.roll(f"#!/bin/bash\ntouch {mark}\n")
        self.assertFalse(mark.exists())

    def test_labels_may_also_come_from_the_test(self):
        self.settings(boot=False, node_labels={"web": {"*": {"a": "1"}, "subnet-0bb22222222222222": {"a": "2"}}})
        nodes = self.roll("#!/bin/sh")
        self.assertEqual(sorted(node["metadata"]["labels"]["a"] for node in nodes), ["1", "2"])

    def test_max_pods_that_nobody_sets(self):
        pods = lambda nodes: {node["status"]["capacity"]["pods"] for node in nodes}  # noqa: E731
        self.assertEqual(pods(self.roll("#!/bin/sh")), {"29"})
        self.custom_networking()
        self.assertEqual(pods(self.roll("#!/bin/sh")), {"20"})

    def test_without_custom_networking_pods_share_the_node_subnet(self):
        self.roll("#!/bin/sh")
        interfaces = self.ec2.describe_network_interfaces(
            Filters=[{"Name": "attachment.device-index", "Values": ["1"]}]
        )["NetworkInterfaces"]
        self.assertEqual(
            sorted(one["SubnetId"] for one in interfaces), ["subnet-0aa11111111111111", "subnet-0bb22222222222222"]
        )
        reservations = self.ec2.describe_instances()["Reservations"]
        self.assertEqual([len(one["Instances"][0]["NetworkInterfaces"]) for one in reservations], [2, 2])
