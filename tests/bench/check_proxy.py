"""Ways to the bench other than AWS_ENDPOINT_URL: over TLS, and through it as a proxy under AWS's own host names."""

import tempfile

import botocore.config
import botocore.exceptions

from base import BenchTest


class Proxy(BenchTest):
    def setUp(self):
        super().setUp()
        self.authority = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".pem"))
        self.authority.write(self.bench.ports["certificate_authority_pem"])
        self.authority.flush()

    def client(self, service, region, **options):
        return self.bench.session(region).client(service, **options)

    def test_over_tls(self):
        url = self.bench.ports["aws_tls_endpoint_url"]
        eks = self.client("eks", "ap-southeast-1", endpoint_url=url, verify=self.authority.name)
        self.assertEqual(eks.list_clusters()["clusters"], ["demo"])
        with self.assertRaises(botocore.exceptions.SSLError):
            self.client("eks", "ap-southeast-1", endpoint_url=url).list_clusters()

    def test_every_partition_by_its_own_names(self):
        proxied = botocore.config.Config(proxies={"https": self.bench.ports["proxy"]})
        for region, host in (
            ("ap-southeast-1", "ec2.ap-southeast-1.amazonaws.com"),
            ("cn-northwest-1", "ec2.cn-northwest-1.amazonaws.com.cn"),
            ("us-gov-west-1", "ec2.us-gov-west-1.amazonaws.com"),
        ):
            self.control("DELETE", "journal")
            ec2 = self.client("ec2", region, verify=self.authority.name, config=proxied)
            ec2.describe_vpcs()
            ec2.describe_subnets()
            entries = self.control("GET", "journal")
            self.assertEqual([(entry["region"], entry["host"]) for entry in entries], [(region, host)] * 2)

    def test_what_the_bench_does_not_know_it_does_not_pretend(self):
        self.refused("BenchDoesNotKnow", self.eks.list_insights, clusterName="demo", status=501)
        self.refused("BenchDoesNotKnow", self.ec2.run_instances, MinCount=1, MaxCount=1)
