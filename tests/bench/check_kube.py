"""The Kubernetes half beyond the recording: tokens, what the caller may, patches, ownership, rollouts."""

import base64
import json
import urllib.parse

from base import BenchTest

ENI_CONFIGS = "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs"
AWS_NODE = "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node"
APPLY, MERGE, STRATEGIC, JSON_PATCH = (
    "application/apply-patch+yaml",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
)
NODE = "/api/v1/nodes/ip-172-31-25-222.ap-southeast-1.compute.internal"


def eni_config(name="new", **spec):
    return {
        "apiVersion": "crd.k8s.amazonaws.com/v1alpha1",
        "kind": "ENIConfig",
        "metadata": {"name": name},
        "spec": {"subnet": "subnet-0aaa", **spec},
    }


def daemon_set(**env):
    container = {"name": "aws-node", "env": [{"name": name, "value": value} for name, value in env.items()]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "aws-node", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


class Tokens(BenchTest):
    def status(self, token):
        return self.kube("GET", "/api/v1/nodes", token=token)[0]

    def test_good_tokens(self):
        self.assertEqual(self.status(self.bench.token()), 200)
        self.assertEqual(self.status(self.bench.token(region="us-east-1")), 200)
        self.control("PUT", "plain-tokens", ["from-a-kubeconfig"])
        self.assertEqual(self.status("from-a-kubeconfig"), 200)

    def edited(self, **changes):
        """A token whose URL was changed after it was signed; None takes a parameter out."""
        token = self.bench.token().removeprefix("k8s-aws-v1.")
        url = urllib.parse.urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
        query = dict(urllib.parse.parse_qsl(url.query))
        host, path = changes.pop("host", url.netloc), changes.pop("path", url.path)
        query.update({name.replace("_", "-"): value for name, value in changes.items()})
        text = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        return "k8s-aws-v1." + base64.urlsafe_b64encode(f"https://{host}{path}?{text}".encode()).decode().rstrip("=")

    def test_refused_tokens_and_why(self):
        for token, why in (
            ("nonsense", "no prefix"),
            (self.bench.token() + "==", "padded"),
            (self.bench.token(cluster="other"), "signature does not match"),
            (self.bench.token(expires=1_000), "X-Amz-Expires"),
            (self.edited(X_Amz_Signature="0" * 64), "signature does not match"),
            (self.edited(X_Amz_Date="20200101T000000Z"), "expired"),
            (self.edited(X_Amz_SignedHeaders="host"), "x-k8s-aws-id"),
            (self.edited(Action="GetSessionToken"), "unexpected action"),
            (self.edited(Extra="1"), "not allowed"),
            (self.edited(host="127.0.0.1:1"), "not an STS host"),
            (self.edited(path="/x"), "unexpected path"),
            (
                self.edited(X_Amz_Credential="AKIANOBODY0000000001/20261130/ap-southeast-1/sts/aws4_request"),
                "not known",
            ),
        ):
            with self.subTest(why):
                self.assertEqual(self.status(token), 401)
                self.assertIn(why, self.control("GET", "refused-tokens")[-1])

    def test_anyone_may_see_the_version(self):
        self.assertEqual(self.kube("GET", "/version", token="nonsense")[0], 200)

    def test_one_right_is_missing(self):
        self.faults({"service": "kube", "action": "get daemonsets", "kind": "deny"})
        status, _, body = self.kube("GET", AWS_NODE)
        self.assertEqual(status, 403)
        self.assertEqual(
            body["message"],
            'daemonsets.apps "aws-node" is forbidden: User "platform-engineer" '
            'cannot get resource "daemonsets" in API group "apps" in the namespace "kube-system"',
        )
        self.assertEqual(self.kube("GET", "/api/v1/nodes")[0], 200)

    def test_an_apply_that_creates_needs_the_right_to_create(self):
        self.faults({"service": "kube", "action": "create eniconfigs", "kind": "deny"})
        self.assertEqual(self.kube("PATCH", f"{ENI_CONFIGS}/new?fieldManager=t", eni_config(), APPLY)[0], 403)
        self.assertEqual(
            self.kube(
                "PATCH",
                f"{ENI_CONFIGS}/ap-southeast-1a?fieldManager=t&force=true",
                eni_config("ap-southeast-1a"),
                APPLY,
            )[0],
            200,
        )


class Writes(BenchTest):
    def apply(self, body, manager="eniplan", path=None, force=False, **options):
        path = path or f"{ENI_CONFIGS}/{body['metadata']['name']}"
        return self.kube(
            "PATCH",
            f"{path}?fieldManager={manager}{'&force=true' if force else ''}{options.get('more', '')}",
            body,
            APPLY,
        )

    def owners(self, body):
        return {(one["manager"], one["operation"]): one["fieldsV1"] for one in body["metadata"]["managedFields"]}

    def test_what_is_not_applied_any_more_goes(self):
        self.apply(eni_config(securityGroups=["sg-0a"]))
        body = self.apply(eni_config())[2]
        self.assertEqual(body["spec"], {"subnet": "subnet-0aaa"})
        self.assertEqual(body["metadata"]["generation"], 2)

    def test_what_somebody_else_owns_too_stays(self):
        self.apply(eni_config(securityGroups=["sg-0a"]))
        self.apply(eni_config(securityGroups=["sg-0a"]), manager="other")
        body = self.apply(eni_config())[2]
        self.assertEqual(body["spec"]["securityGroups"], ["sg-0a"])
        self.assertEqual(self.owners(body)[("other", "Apply")], {"f:spec": {"f:securityGroups": {}, "f:subnet": {}}})

    def test_labels_and_annotations_are_owned_one_by_one(self):
        body = eni_config()
        body["metadata"].update(labels={"a": "1"}, annotations={"b": "2"})
        made = self.apply(body)[2]
        self.assertEqual(
            self.owners(made)[("eniplan", "Apply")]["f:metadata"],
            {"f:labels": {"f:a": {}}, "f:annotations": {"f:b": {}}},
        )
        other = eni_config()
        other["metadata"]["labels"] = {"c": "3"}
        merged = self.apply(other, manager="other")[2]
        self.assertEqual(merged["metadata"]["labels"], {"a": "1", "c": "3"})

    def test_a_dry_run_stores_nothing(self):
        made = self.apply(eni_config(), more="&dryRun=All")
        self.assertEqual(made[0], 201)
        self.assertNotIn("resourceVersion", made[2]["metadata"])
        self.assertEqual(self.kube("GET", f"{ENI_CONFIGS}/new")[0], 404)
        self.assertEqual(self.control("GET", "journal?mutating=true"), [])

    def test_an_apply_with_a_version_never_creates(self):
        body = eni_config()
        body["metadata"]["resourceVersion"] = "1"
        self.assertEqual(self.apply(body)[0], 409)

    def test_the_schema_of_the_definition(self):
        self.assertEqual(self.apply(eni_config(subnet=7))[2]["details"]["causes"][0]["field"], "spec.subnet")
        self.assertEqual(self.apply(eni_config(securityGroups="sg-0a"))[0], 422)
        self.control("POST", "seed", {**self.inventory(), "eni_config_crd": {"has_schema": False}})
        self.assertEqual(self.apply({**eni_config(), "spec": {}})[0], 201)

    def test_without_definition_there_is_no_such_path(self):
        self.kube("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com")
        self.assertEqual(self.kube("GET", ENI_CONFIGS), (404, "text/plain; charset=utf-8", "404 page not found\n"))

    def test_an_env_entry_is_taken_over_alone(self):
        before = self.kube("GET", AWS_NODE)[2]
        self.assertEqual(self.apply(daemon_set(AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG="true"), path=AWS_NODE)[0], 409)
        after = self.apply(daemon_set(AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG="true"), path=AWS_NODE, force=True)[2]

        def env(value):
            container = value["spec"]["template"]["spec"]["containers"][0]
            return {one["name"]: one.get("value") for one in container["env"]}

        self.assertEqual(env(after), {**env(before), "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"})
        self.assertEqual(
            after["spec"]["template"]["spec"]["containers"][0]["image"],
            before["spec"]["template"]["spec"]["containers"][0]["image"],
        )

    def test_the_same_value_of_two_managers_is_no_conflict(self):
        self.assertEqual(self.apply(daemon_set(WARM_ENI_TARGET="1"), path=AWS_NODE)[0], 200)

    def test_a_rollout_takes_its_time(self):
        self.settings(polls=1)
        self.apply(daemon_set(WARM_ENI_TARGET="3"), path=AWS_NODE, force=True)
        seen = []
        for _ in range(3):
            body = self.kube("GET", AWS_NODE)[2]
            seen.append(
                (
                    body["status"]["observedGeneration"] == body["metadata"]["generation"],
                    body["status"]["updatedNumberScheduled"],
                )
            )
        self.assertEqual(seen, [(True, 0), (True, 2), (True, 2)])

    def test_node_labels_by_every_patch(self):
        for content_type, patch, value in (
            (MERGE, {"metadata": {"labels": {"a": "1"}}}, "1"),
            (STRATEGIC, {"metadata": {"labels": {"a": "2"}}}, "2"),
            (JSON_PATCH, [{"op": "replace", "path": "/metadata/labels/a", "value": "3"}], "3"),
        ):
            body = self.kube("PATCH", NODE, patch, content_type)[2]
            self.assertEqual(body["metadata"]["labels"]["a"], value)
        gone = self.kube("PATCH", NODE, {"metadata": {"labels": {"a": None}}}, MERGE)[2]
        self.assertNotIn("a", gone["metadata"]["labels"])
        self.assertEqual(self.kube("PATCH", NODE, {"metadata": {"labels": {"a": "not valid!"}}}, MERGE)[0], 422)

    def test_a_strategic_patch_finds_the_entry_by_name(self):
        patch = {
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "aws-node", "env": [{"name": "WARM_ENI_TARGET", "value": "5"}]}]}
                }
            }
        }
        body = self.kube("PATCH", f"{AWS_NODE}?fieldManager=kubectl-set", patch, STRATEGIC)[2]
        self.assertIn(
            {"name": "WARM_ENI_TARGET", "value": "5"}, body["spec"]["template"]["spec"]["containers"][0]["env"]
        )
        self.assertIn(("kubectl-set", "Update"), self.owners(body))
        self.assertEqual(self.kube("PATCH", f"{ENI_CONFIGS}/ap-southeast-1a", {"spec": {}}, STRATEGIC)[0], 415)

    def test_the_uid_of_an_object_made_anew(self):
        body = self.kube("GET", f"{ENI_CONFIGS}/ap-southeast-1a")[2]
        self.kube(
            "DELETE",
            f"{ENI_CONFIGS}/ap-southeast-1a",
            {"preconditions": {"uid": body["metadata"]["uid"]}},
            "application/json",
        )
        self.apply(eni_config("ap-southeast-1a"))
        sent = eni_config("ap-southeast-1a")
        sent["metadata"]["uid"] = body["metadata"]["uid"]
        self.assertEqual(self.apply(sent, force=True)[0], 409)
        gone = self.kube(
            "DELETE",
            f"{ENI_CONFIGS}/ap-southeast-1a",
            {"preconditions": {"uid": body["metadata"]["uid"]}},
            "application/json",
        )
        self.assertIn("the UID in the precondition", gone[2]["message"])

    def test_selectors(self):
        def names(query):
            return [
                one["metadata"]["name"].split(".")[0]
                for one in self.kube("GET", f"/api/v1/nodes?{urllib.parse.urlencode(query)}")[2]["items"]
            ]

        a, b = "ip-172-31-25-222", "ip-172-31-33-7"
        self.assertEqual(names({"labelSelector": "topology.kubernetes.io/zone=ap-southeast-1a"}), [a])
        self.assertEqual(
            names({"labelSelector": "topology.kubernetes.io/zone!=ap-southeast-1a,eks.amazonaws.com/nodegroup"}), [b]
        )
        self.assertEqual(
            names({"labelSelector": "topology.kubernetes.io/zone in (ap-southeast-1a,ap-southeast-1b)"}), [a, b]
        )
        self.assertEqual(names({"labelSelector": "!eks.amazonaws.com/nodegroup"}), [])
        self.assertEqual(names({"fieldSelector": "spec.unschedulable=true"}), [])
        self.assertEqual(names({"fieldSelector": f"metadata.name={b}.ap-southeast-1.compute.internal"}), [b])


class AddOn(BenchTest):
    def update(self, **ask):
        return self.eks.update_addon(clusterName="demo", addonName="vpc-cni", **ask)["update"]

    def addon(self):
        return self.eks.describe_addon(clusterName="demo", addonName="vpc-cni")["addon"]

    def env(self):
        body = self.kube("GET", AWS_NODE)[2]
        return {one["name"]: one.get("value") for one in body["spec"]["template"]["spec"]["containers"][0]["env"]}

    def by_hand(self, **env):
        path = f"{AWS_NODE}?fieldManager=kubectl-set"
        self.assertEqual(self.kube("PATCH", path, daemon_set(**env), STRATEGIC)[0], 200)

    def test_values_reach_the_cluster_when_the_update_is_done(self):
        self.settings(polls=1)
        self.update(
            configurationValues='{"env":{"ENI_CONFIG_LABEL_DEF":"topology.kubernetes.io/zone"}}',
            resolveConflicts="PRESERVE",
        )
        self.assertEqual(self.addon()["status"], "UPDATING")
        self.assertNotIn("ENI_CONFIG_LABEL_DEF", self.env())
        self.refused("ResourceInUseException", self.update, configurationValues="{}")
        self.assertEqual(self.addon()["status"], "ACTIVE")
        self.assertEqual(self.env()["ENI_CONFIG_LABEL_DEF"], "topology.kubernetes.io/zone")

    def test_values_are_checked_against_the_schema(self):
        for text in (
            '{"env":{"NO_SUCH_SETTING":"1"}}',
            '{"env":{"WARM_ENI_TARGET":1}}',
            '{"eniConfig":{"create":true}}',
            "{not json or yaml: [",
        ):
            with self.subTest(text):
                self.refused(
                    "InvalidParameterException",
                    self.update,
                    configurationValues=text,
                    says="ConfigurationValue provided in request is not supported",
                )
        self.update(configurationValues="env:\n  WARM_ENI_TARGET: '2'\n")

    def test_conflicts_by_mode(self):
        wanted = '{"env":{"WARM_ENI_TARGET":"2"}}'
        self.by_hand(WARM_ENI_TARGET="9")
        update = self.update(configurationValues=wanted, resolveConflicts="NONE")
        self.assertEqual(self.addon()["status"], "UPDATE_FAILED")
        done = self.eks.describe_update(name="demo", addonName="vpc-cni", updateId=update["id"])["update"]
        self.assertEqual((done["status"], done["errors"][0]["errorCode"]), ("Failed", "ConfigurationConflict"))
        self.update(configurationValues=wanted, resolveConflicts="PRESERVE")
        self.assertEqual((self.addon()["status"], self.env()["WARM_ENI_TARGET"]), ("ACTIVE", "9"))
        self.update(configurationValues=wanted, resolveConflicts="OVERWRITE")
        self.assertEqual((self.addon()["status"], self.env()["WARM_ENI_TARGET"]), ("ACTIVE", "2"))

    def test_overwrite_sets_back_what_was_set_by_hand(self):
        self.by_hand(AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG="true")
        self.update(resolveConflicts="OVERWRITE")
        self.addon()
        self.assertEqual(self.env()["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "false")

    def test_what_is_not_sent_again_is_lost(self):
        self.assertIn("serviceAccountRoleArn", self.addon())
        self.update(configurationValues='{"env":{"ENABLE_POD_ENI":"true"}}', resolveConflicts="PRESERVE")
        self.assertNotIn("serviceAccountRoleArn", self.addon())
        self.update(configurationValues="{}", resolveConflicts="PRESERVE")
        self.addon()
        self.assertEqual(self.env()["ENABLE_POD_ENI"], "false")

    def test_an_update_that_drops_a_setting(self):
        self.settings(addon_env_lost=["ENI_CONFIG_LABEL_DEF"])
        self.update(configurationValues='{"env":{"ENI_CONFIG_LABEL_DEF":"x"}}', resolveConflicts="PRESERVE")
        self.assertEqual(self.addon()["status"], "ACTIVE")
        self.assertNotIn("ENI_CONFIG_LABEL_DEF", self.env())

    def test_an_add_on_for_an_empty_cluster(self):
        inventory = {
            **self.inventory(),
            "add_on": None,
            "aws_node": None,
            "eni_config_crd": None,
            "eni_configs": [],
            "nodes": [],
        }
        self.control("POST", "seed", inventory)
        self.refused("ResourceNotFoundException", self.addon)
        subnets = {"pod-1a": {"id": "subnet-0dd44444444444444", "securityGroups": ["sg-0cc33333333333333"]}}
        values = json.dumps(
            {
                "env": {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"},
                "eniConfig": {"create": True, "region": "ap-southeast-1", "subnets": subnets},
            }
        )
        self.eks.create_addon(
            clusterName="demo", addonName="vpc-cni", addonVersion="v1.20.4-eksbuild.1", configurationValues=values
        )
        self.assertEqual(self.addon()["status"], "ACTIVE")
        self.assertEqual(self.env()["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "true")
        self.assertEqual(
            self.kube("GET", f"{ENI_CONFIGS}/pod-1a")[2]["spec"],
            {"subnet": "subnet-0dd44444444444444", "securityGroups": ["sg-0cc33333333333333"]},
        )
        self.refused("ResourceInUseException", self.eks.create_addon, clusterName="demo", addonName="vpc-cni")

    def test_pod_identity_associations(self):
        self.update(
            podIdentityAssociations=[{"serviceAccount": "aws-node", "roleArn": "arn:aws:iam::111122223333:role/cni"}]
        )
        arn = self.addon()["podIdentityAssociations"][0]
        found = self.eks.describe_pod_identity_association(clusterName="demo", associationId=arn.rpartition("/")[2])[
            "association"
        ]
        self.assertEqual(
            (found["serviceAccount"], found["roleArn"]), ("aws-node", "arn:aws:iam::111122223333:role/cni")
        )
        self.update(resolveConflicts="PRESERVE")
        self.assertEqual(self.addon()["podIdentityAssociations"], [arn])
        self.update(podIdentityAssociations=[])
        self.assertNotIn("podIdentityAssociations", self.addon())

    def test_the_schema_can_be_read(self):
        schema = self.eks.describe_addon_configuration(addonName="vpc-cni", addonVersion="v1.20.4-eksbuild.1")[
            "configurationSchema"
        ]
        self.assertIn("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", schema)
