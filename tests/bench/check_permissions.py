"""Policies and rules: a policy permits what it says, and no more."""

from base import TEMPLATE, BenchTest
from check_kube import APPLY, AWS_NODE, ENI_CONFIGS, eni_config

ARN = "arn:aws:eks:ap-southeast-1:111122223333"
TEMPLATES = "arn:aws:ec2:ap-southeast-1:111122223333:launch-template/*"


class Policies(BenchTest):
    def permit(self, *statements):
        self.settings(
            policy={
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Resource": "*", **one} for one in statements],
            }
        )

    def test_actions(self):
        self.permit({"Action": ["ec2:Describe*", "eks:listclusters"]})
        self.ec2.describe_subnets()
        self.eks.list_clusters()
        self.refused("AccessDeniedException", self.eks.describe_cluster, name="demo")
        self.refused("UnauthorizedOperation", self.new_version, KeyName="x", says="ec2:CreateLaunchTemplateVersion")
        self.refused(
            "UnauthorizedOperation",
            self.ec2.modify_launch_template,
            LaunchTemplateId=TEMPLATE,
            DefaultVersion="3",
            DryRun=True,
        )

    def test_resources_of_eks(self):
        self.permit({"Action": "eks:*", "Resource": [f"{ARN}:cluster/demo", f"{ARN}:nodegroup/demo/web/*"]})
        self.eks.describe_cluster(name="demo")
        self.eks.describe_nodegroup(clusterName="demo", nodegroupName="web")
        self.refused("AccessDeniedException", self.eks.describe_nodegroup, clusterName="demo", nodegroupName="old")
        self.refused("AccessDeniedException", self.eks.describe_addon, clusterName="demo", addonName="vpc-cni")
        self.refused("AccessDeniedException", self.eks.list_clusters)

    def test_tags_of_a_template(self):
        self.permit(
            {"Action": "ec2:*", "Resource": TEMPLATES, "Condition": {"StringEquals": {"aws:ResourceTag/owner": "web"}}}
        )
        self.new_version(KeyName="x")
        self.control(
            "POST", "patch-aws", [{"store": "launch_templates", "id": TEMPLATE, "patch": {"template": {"Tags": []}}}]
        )
        self.refused("UnauthorizedOperation", self.new_version, KeyName="y")

    def test_tags_on_creation_need_their_own_permission(self):
        tags = [{"ResourceType": "launch-template", "Tags": [{"Key": "eniplan.dev/cluster", "Value": "demo"}]}]
        ask = {
            "LaunchTemplateName": "eniplan-demo-x",
            "LaunchTemplateData": {"KeyName": "x"},
            "TagSpecifications": tags,
        }
        create = {
            "Action": "ec2:CreateLaunchTemplate",
            "Condition": {"StringEquals": {"aws:RequestTag/eniplan.dev/cluster": "demo"}},
        }
        self.permit(create)
        self.refused("UnauthorizedOperation", self.ec2.create_launch_template, **ask, says="ec2:CreateTags")
        self.permit(
            create,
            {
                "Action": "ec2:CreateTags",
                "Resource": TEMPLATES,
                "Condition": {"StringEquals": {"ec2:CreateAction": "CreateLaunchTemplate"}},
            },
        )
        self.ec2.create_launch_template(**ask)
        self.refused(
            "UnauthorizedOperation", self.ec2.create_tags, Resources=[TEMPLATE], Tags=[{"Key": "a", "Value": "b"}]
        )


class Rbac(BenchTest):
    def permit(self, *rules):
        self.settings(rbac=list(rules))

    def test_verbs_and_resources(self):
        self.permit({"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]})
        self.assertEqual(self.kube("GET", "/api/v1/nodes")[0], 200)
        self.assertEqual(self.kube("GET", "/api/v1/nodes/x")[0], 403)
        self.assertEqual(self.kube("GET", "/api/v1/pods")[0], 403)
        self.assertEqual(self.kube("GET", "/version")[0], 200)

    def test_an_apply_needs_patch_and_for_a_new_object_create(self):
        rule = {"apiGroups": ["crd.k8s.amazonaws.com"], "resources": ["eniconfigs"]}
        self.permit({**rule, "verbs": ["patch"]})
        self.assertEqual(
            self.kube(
                "PATCH",
                f"{ENI_CONFIGS}/ap-southeast-1a?fieldManager=t&force=true",
                eni_config("ap-southeast-1a"),
                APPLY,
            )[0],
            200,
        )
        self.assertEqual(self.kube("PATCH", f"{ENI_CONFIGS}/new?fieldManager=t", eni_config(), APPLY)[0], 403)
        self.permit({**rule, "verbs": ["patch", "create"]})
        self.assertEqual(self.kube("PATCH", f"{ENI_CONFIGS}/new?fieldManager=t", eni_config(), APPLY)[0], 201)

    def test_names_and_namespaces(self):
        self.permit(
            {
                "namespace": "kube-system",
                "apiGroups": ["apps"],
                "resources": ["daemonsets"],
                "verbs": ["get", "list"],
                "resourceNames": ["aws-node"],
            }
        )
        self.assertEqual(self.kube("GET", AWS_NODE)[0], 200)
        self.assertEqual(self.kube("GET", "/apis/apps/v1/namespaces/kube-system/daemonsets")[0], 403)
        self.assertEqual(self.kube("GET", "/apis/apps/v1/namespaces/default/daemonsets/aws-node")[0], 403)
