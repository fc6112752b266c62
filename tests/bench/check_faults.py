"""Faults, permissions, and what a test can hold back, keep and put back."""

import threading
import urllib.error

import botocore.config
import botocore.exceptions
import botocore.parsers

from base import TEMPLATE, BenchTest

NODES = "/api/v1/nodes"


class Faults(BenchTest):
    def test_each_service_has_its_own_words(self):
        for kind, codes in {
            "throttle": ("RequestLimitExceeded", "ThrottlingException", "Throttling", 429),
            "deny": ("UnauthorizedOperation", "AccessDeniedException", "AccessDenied", 403),
            "expired": ("RequestExpired", "ExpiredTokenException", "ExpiredToken", 401),
            "error": ("InternalError", "ServerException", "InternalError", 500),
        }.items():
            with self.subTest(kind):
                self.faults({"kind": kind})
                self.refused(codes[0], self.ec2.describe_vpcs)
                self.refused(codes[1], self.eks.list_clusters)
                self.refused(codes[2], self.sts.get_caller_identity)
                self.assertEqual(self.kube("GET", NODES)[0], codes[3])
        self.assertEqual(
            {entry["fault"] for entry in self.control("GET", "journal")}, {"throttle", "deny", "expired", "error"}
        )

    def test_a_rule_meets_one_call_and_then_no_more(self):
        self.faults({"service": "ec2", "action": "DescribeVpcs", "ordinal": 2, "kind": "throttle"})
        self.ec2.describe_vpcs()
        self.ec2.describe_subnets()
        self.refused("RequestLimitExceeded", self.ec2.describe_vpcs)
        self.ec2.describe_vpcs()
        self.faults({"action": "DescribeVpcs", "times": 2, "kind": "error", "status": 503})
        for _ in range(2):
            self.refused("Unavailable", self.ec2.describe_vpcs, status=503)
        self.ec2.describe_vpcs()
        self.assertEqual(self.control("GET", "faults")[0]["matched"], 3)

    def test_only_mutating_calls_and_no_dry_runs(self):
        self.faults({"mutating": True, "ordinal": 1, "kind": "deny"})
        self.ec2.describe_vpcs()
        self.refused(
            "DryRunOperation",
            self.ec2.modify_launch_template,
            LaunchTemplateId=TEMPLATE,
            DefaultVersion="3",
            DryRun=True,
        )
        self.refused(
            "UnauthorizedOperation", self.ec2.modify_launch_template, LaunchTemplateId=TEMPLATE, DefaultVersion="3"
        )
        self.ec2.modify_launch_template(LaunchTemplateId=TEMPLATE, DefaultVersion="3")

    def test_only_one_resource(self):
        self.faults(
            {
                "action": "DescribeLaunchTemplateVersions",
                "resource": TEMPLATE,
                "kind": "deny",
                "message": "not this one",
            }
        )
        self.refused(
            "UnauthorizedOperation",
            self.ec2.describe_launch_template_versions,
            LaunchTemplateId=TEMPLATE,
            says="not this one",
        )
        self.ec2.describe_launch_template_versions(LaunchTemplateName="web-nodes")

    def test_cut_before_and_after_acting(self):
        for kind, versions in (("cut_before", 5), ("cut_after", 6), ("cut_middle", 7)):
            with self.subTest(kind):
                self.faults({"mutating": True, "kind": kind, "times": 1})
                with self.assertRaises((botocore.exceptions.HTTPClientError, botocore.parsers.ResponseParserError)):
                    self.new_version(KeyName="ops")
                self.assertEqual(
                    self.ec2.describe_launch_templates()["LaunchTemplates"][0]["LatestVersionNumber"], versions
                )

    def test_a_retry_after_a_lost_answer_makes_no_second_version(self):
        self.faults({"mutating": True, "kind": "cut_after", "times": 1})
        patient = self.bench.aws("ec2", attempts=3)
        made = patient.create_launch_template_version(
            LaunchTemplateId=TEMPLATE, LaunchTemplateData={"KeyName": "ops"}, ClientToken="t"
        )
        self.assertEqual(made["LaunchTemplateVersion"]["VersionNumber"], 6)
        self.assertEqual(len(self.control("GET", "journal?mutating=true")), 2)

    def test_kubernetes_connections_are_cut_too(self):
        self.faults({"service": "kube", "action": "list nodes", "kind": "cut_before"})
        with self.assertRaises((urllib.error.URLError, ConnectionError)):
            self.kube("GET", NODES)

    def test_garbage_and_any_other_answer(self):
        self.faults(
            {"action": "DescribeVpcs", "kind": "garbage"},
            {
                "action": "list nodes",
                "kind": "answer",
                "status": 410,
                "body": '{"kind":"Status","code":410}',
                "content_type": "application/json",
            },
        )
        with self.assertRaises(botocore.parsers.ResponseParserError):
            self.ec2.describe_vpcs()
        self.assertEqual(self.kube("GET", NODES)[0], 410)

    def test_from_some_call_on(self):
        self.faults({"service": "eks", "from": 2, "kind": "expired"})
        self.eks.list_clusters()
        for _ in range(2):
            self.refused("ExpiredTokenException", self.eks.list_clusters)

    def test_an_error_of_the_services_own(self):
        self.faults(
            {
                "action": "UpdateNodegroupVersion",
                "kind": "refuse",
                "code": "InvalidRequestException",
                "message": "You are not authorized to launch instances with this launch template.",
            }
        )
        self.refused(
            "InvalidRequestException",
            self.eks.update_nodegroup_version,
            clusterName="demo",
            nodegroupName="web",
            says="not authorized to launch",
        )

    def test_how_calls_overlap_and_repeat_is_written_down(self):
        self.faults(
            {"action": "DescribeVpcs", "kind": "delay", "seconds": 0.3},
            {"action": "DescribeSubnets", "kind": "throttle", "times": 1},
        )
        threads = [threading.Thread(target=self.ec2.describe_vpcs) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.bench.aws("ec2", attempts=2).describe_subnets()
        entries = self.control("GET", "journal")
        self.assertEqual(sorted(entry["in_flight"] for entry in entries[:3]), [1, 2, 3])
        self.assertEqual([entry["attempt"] for entry in entries[3:]], [1, 2])
        for entry in entries:
            self.assertGreaterEqual(entry["ended"], entry["began"])

    def test_a_delay(self):
        self.faults({"action": "DescribeVpcs", "kind": "delay", "seconds": 0.2})
        self.ec2.describe_vpcs()
        self.assertEqual(self.control("GET", "journal")[0]["fault"], "delay")

    def test_rules_that_make_no_sense(self):
        for rule in ({"kind": "explode"}, {"kind": "deny", "acton": "x"}):
            with self.assertRaisesRegex(RuntimeError, "not a fault"):
                self.faults(rule)


class Held(BenchTest):
    def in_background(self, function):
        results = []

        def run():
            try:
                results.append(function())
            except botocore.exceptions.HTTPClientError as error:
                results.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        return thread, results

    def held(self):
        return self.control("GET", "held?at_least=1&timeout=10")

    def latest(self):
        return self.ec2.describe_launch_templates()["LaunchTemplates"][0]["LatestVersionNumber"]

    def test_held_before_and_after_acting_then_released(self):
        for kind, meanwhile in (("withhold_before", 5), ("withhold_after", 7)):
            with self.subTest(kind):
                self.faults({"mutating": True, "kind": kind, "times": 1})
                thread, results = self.in_background(
                    lambda: self.loose_ec2.create_launch_template_version(
                        LaunchTemplateId=TEMPLATE, LaunchTemplateData={"KeyName": "x"}
                    )
                )
                self.assertEqual(self.held()[0]["action"], "CreateLaunchTemplateVersion")
                self.assertEqual(self.latest(), meanwhile)
                self.control("POST", "release")
                thread.join(10)
                self.assertIn("LaunchTemplateVersion", results[0])

    def test_a_client_that_dies_while_held_before_acting_did_nothing(self):
        for kind, versions in (("withhold_before", 5), ("withhold_after", 6)):
            with self.subTest(kind):
                self.faults({"mutating": True, "kind": kind, "times": 1})
                impatient = self.bench.session().client(
                    "ec2",
                    endpoint_url=self.bench.ports["aws_endpoint_url"],
                    config=botocore.config.Config(read_timeout=0.3, retries={"total_max_attempts": 1}),
                )
                with self.assertRaises(botocore.exceptions.ReadTimeoutError):
                    impatient.create_launch_template_version(
                        LaunchTemplateId=TEMPLATE, LaunchTemplateData={"KeyName": "x"}
                    )
                impatient.close()
                while self.control("GET", "held"):
                    pass
                self.assertEqual(self.latest(), versions)


class World(BenchTest):
    def test_a_snapshot_brings_everything_back(self):
        before = self.control("GET", "state")
        self.control("POST", "snapshot?name=a")
        self.settings(polls=1)
        self.new_version(KeyName="ops")
        self.eks.update_addon(
            clusterName="demo",
            addonName="vpc-cni",
            configurationValues='{"env":{"WARM_ENI_TARGET":"2"}}',
            resolveConflicts="PRESERVE",
        )
        self.control("POST", "snapshot?name=b")
        self.eks.describe_addon(clusterName="demo", addonName="vpc-cni")
        self.kube("DELETE", "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs/ap-southeast-1a")
        self.assertNotEqual(before, self.control("GET", "state"))
        self.control("POST", "restore?name=a")
        self.assertEqual(before, self.control("GET", "state"))
        self.control("POST", "restore?name=b")
        states = [self.eks.describe_addon(clusterName="demo", addonName="vpc-cni")["addon"]["status"] for _ in range(2)]
        self.assertEqual(states, ["UPDATING", "ACTIVE"])

    def test_only_what_is_allowed(self):
        self.settings(allow=["ec2:Describe*", "eks:ListClusters", "kube:list nodes"])
        self.ec2.describe_vpcs()
        self.eks.list_clusters()
        self.refused("AccessDeniedException", self.eks.describe_cluster, name="demo", says="eks:DescribeCluster")
        self.refused("UnauthorizedOperation", self.new_version, KeyName="x")
        self.assertEqual(self.kube("GET", NODES)[0], 200)
        self.assertEqual(self.kube("GET", "/api/v1/pods")[0], 403)

    def test_what_is_not_understood_is_refused(self):
        for method, name, body in (
            ("POST", "settings", {"pols": 1}),
            ("POST", "seed", {"inventroy": {}}),
            ("GET", "nothing", None),
        ):
            with self.assertRaises(RuntimeError):
                self.control(method, name, body)
