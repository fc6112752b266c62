"""Requests that AWS refuses before it looks at what they want."""

import http.client
import json

import botocore.auth
import botocore.awsrequest

from base import TEMPLATE, BenchTest


class Wire(BenchTest):
    def raw(self, service, method, path, body, content_type, sign=True, secret=None):
        """(status, headers, text) of a request that no client would send."""
        session = self.bench.session(secret=secret)
        url = self.bench.ports["aws_endpoint_url"] + path
        request = botocore.awsrequest.AWSRequest(
            method=method, url=url, data=body, headers={"Content-Type": content_type}
        )
        if sign:
            botocore.auth.SigV4Auth(session.get_credentials(), service, session.region_name).add_auth(request)
        connection = http.client.HTTPConnection("127.0.0.1", self.bench.ports["aws_port"])
        connection.request(method, path, body, dict(request.headers.items()))
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read().decode()
        connection.close()
        return result

    def form(self, body, **options):
        return self.raw(
            "ec2", "POST", "/", f"Version=2016-11-15&{body}", "application/x-www-form-urlencoded", **options
        )

    def json(self, method, path, body):
        status, headers, text = self.raw("eks", method, path, json.dumps(body), "application/json")
        return status, headers.get("x-amzn-ErrorType"), json.loads(text)["message"]

    def test_unknown_members_of_a_form(self):
        for body in (
            "Action=DescribeSubnets&Subnets.1=x",
            "Action=DescribeSubnets&Filter.1.Naem=vpc-id",
            f"Action=CreateLaunchTemplateVersion&LaunchTemplateId={TEMPLATE}&LaunchTemplateData.UserDate=eA==",
        ):
            with self.subTest(body):
                status, _, text = self.form(body)
                self.assertEqual(status, 400)
                self.assertIn("<Code>UnknownParameter</Code>", text)

    def test_wrong_types_in_a_form(self):
        for body in ("Action=DescribeSubnets&MaxResults=many", "Action=DescribeSubnets&DryRun=perhaps"):
            with self.subTest(body):
                self.assertIn("<Code>InvalidParameterValue</Code>", self.form(body)[2])

    def test_unknown_members_of_json(self):
        self.assertEqual(
            self.json("POST", "/clusters/demo/node-groups/web/update-version", {"launchTemplat": {}})[:2],
            (400, "SerializationException"),
        )
        self.assertEqual(
            self.json("POST", "/clusters/demo/node-groups/web/update-version", {"launchTemplate": {"ID": "x"}})[1],
            "SerializationException",
        )

    def test_wrong_types_in_json(self):
        self.assertEqual(
            self.json("POST", "/clusters/demo/node-groups/web/update-version", {"version": 1.33})[1],
            "SerializationException",
        )
        self.assertEqual(
            self.json("POST", "/clusters/demo/node-groups/web/update-config", {"scalingConfig": {"minSize": "1"}})[1],
            "SerializationException",
        )
        self.assertEqual(
            self.json("POST", "/clusters/demo/node-groups/web/update-config", {"labels": []})[1],
            "SerializationException",
        )

    def test_missing_members(self):
        self.refused(
            "InvalidParameterException",
            self.loose_eks.create_nodegroup,
            clusterName="demo",
            nodegroupName="x",
            subnets=["subnet-0aa11111111111111"],
            says="nodeRole",
        )
        self.refused("MissingParameter", self.loose_ec2.create_launch_template_version, LaunchTemplateId=TEMPLATE)

    def test_values_outside_an_enumeration(self):
        self.refused(
            "InvalidParameterException",
            self.eks.update_addon,
            clusterName="demo",
            addonName="vpc-cni",
            resolveConflicts="MAYBE",
        )
        self.refused(
            "InvalidParameterException",
            self.eks.create_nodegroup,
            clusterName="demo",
            nodegroupName="x",
            subnets=["subnet-0aa11111111111111"],
            nodeRole="r",
            amiType="AL2024",
        )

    def test_signatures(self):
        self.assertEqual(self.sts.get_caller_identity()["Account"], "111122223333")
        wrong = self.bench.aws("ec2", secret="wrong")
        self.refused("SignatureDoesNotMatch", wrong.describe_vpcs, status=403)
        unknown = self.bench.aws("ec2", key="AKIANOBODY0000000001")
        self.refused("AuthFailure", unknown.describe_vpcs, status=401)
        self.refused(
            "UnrecognizedClientException", self.bench.aws("eks", key="AKIANOBODY0000000001").list_clusters, status=403
        )
        status, headers, _ = self.form("Action=DescribeVpcs", sign=False)
        self.assertEqual((status, headers["x-amzn-ErrorType"]), (403, "MissingAuthenticationTokenException"))

    def test_every_path_and_query_can_be_signed(self):
        self.assertEqual(self.eks.list_nodegroups(clusterName="demo", maxResults=1)["nodegroups"], ["old"])
        token = self.eks.list_nodegroups(clusterName="demo", maxResults=1)["nextToken"]
        self.assertEqual(self.eks.list_nodegroups(clusterName="demo", nextToken=token)["nodegroups"], ["web"])
        self.refused("ResourceNotFoundException", self.eks.describe_cluster, name="a b")

    def test_temporary_credentials(self):
        key = {"secret": "s", "token": "session/token+=", "arn": "arn:aws:sts::111122223333:assumed-role/r/s"}
        self.settings(credentials={"ASIATEMPORARY0000001": key})
        options = {"key": "ASIATEMPORARY0000001", "secret": "s", "token": "session/token+="}
        self.assertEqual(self.bench.aws("sts", **options).get_caller_identity()["Arn"], key["arn"])
        self.settings(credentials={"ASIATEMPORARY0000001": {**key, "expired": True}})
        self.refused("ExpiredTokenException", self.bench.aws("eks", **options).list_clusters, status=403)
        self.refused("RequestExpired", self.bench.aws("ec2", **options).describe_vpcs)

    def test_a_role_to_take_on(self):
        made = self.sts.assume_role(RoleArn="arn:aws:iam::111122223333:role/reader", RoleSessionName="ci")[
            "Credentials"
        ]
        options = {"key": made["AccessKeyId"], "secret": made["SecretAccessKey"], "token": made["SessionToken"]}
        self.assertEqual(
            self.bench.aws("sts", **options).get_caller_identity()["Arn"],
            "arn:aws:sts::111122223333:assumed-role/reader/ci",
        )
        self.assertEqual(self.bench.aws("eks", **options).list_clusters()["clusters"], ["demo"])
        self.refused(
            "AccessDenied", self.sts.assume_role, RoleArn="arn:aws:iam::111122223333:role/denied", RoleSessionName="ci"
        )

    def test_the_journal_tells_what_was_asked(self):
        self.ec2.describe_subnets(SubnetIds=["subnet-0aa11111111111111"])
        self.new_version(KeyName="ops")
        self.refused("ResourceNotFoundException", self.eks.describe_cluster, name="nope")
        read, write, failed = self.control("GET", "journal")
        self.assertEqual(
            (read["service"], read["action"], read["mutating"], read["params"]),
            ("ec2", "DescribeSubnets", False, {"SubnetIds": ["subnet-0aa11111111111111"]}),
        )
        self.assertEqual(
            (write["mutating"], write["acted"], write["params"]["LaunchTemplateData"]), (True, True, {"KeyName": "ops"})
        )
        self.assertEqual((failed["status"], failed["code"], failed["acted"]), (404, "ResourceNotFoundException", False))
        self.assertEqual(self.control("GET", "journal?mutating=true"), [write])
