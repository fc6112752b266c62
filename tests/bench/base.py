"""What the tests of the bench have in common: one bench for all of them, reset and seeded with the sample before
each test."""

import atexit
import functools
import unittest

import botocore.exceptions

from client import Bench, sample

TEMPLATE = "lt-0123456789abcdef0"


@functools.cache
def shared_bench():
    """The bench of all tests in this process."""
    bench = Bench()
    atexit.register(bench.stop)
    return bench


@functools.cache
def client(service, validate=True):
    """A client of it. Making one takes longer than most tests."""
    return shared_bench().aws(service, validate=validate)


class BenchTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.bench = shared_bench()
        cls.ec2, cls.eks, cls.sts = (client(service) for service in ("ec2", "eks", "sts"))
        # Clients that let wrong parameters through.
        cls.loose_ec2, cls.loose_eks = (client(service, validate=False) for service in ("ec2", "eks"))

    def setUp(self):
        self.control("POST", "reset")
        self.control("POST", "seed", self.inventory())
        self.control("DELETE", "journal")

    def inventory(self):
        """What each test starts with."""
        return sample()

    def control(self, method, name, body=None):
        return self.bench.control(method, name, body)

    def settings(self, **changes):
        self.control("POST", "settings", changes)

    def faults(self, *rules):
        self.control("PUT", "faults", list(rules))

    def kube(self, method, path, body=None, content_type=None, **options):
        return self.bench.kube(method, path, body, content_type, **options)

    def refused(self, code, function, *args, status=None, says=None, **kwargs):
        """Asserts that a call is refused with this code; returns the message."""
        with self.assertRaises(botocore.exceptions.ClientError) as raised:
            function(*args, **kwargs)
        response = raised.exception.response
        self.assertEqual(response["Error"]["Code"], code, response["Error"]["Message"][:300])
        if status:
            self.assertEqual(response["ResponseMetadata"]["HTTPStatusCode"], status)
        if says:
            self.assertIn(says, response["Error"]["Message"])
        return response["Error"]["Message"]

    def version(self, number, template=TEMPLATE):
        """The data of one version."""
        found = self.ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=[str(number)])
        return found["LaunchTemplateVersions"][0]["LaunchTemplateData"]

    def new_version(self, template=TEMPLATE, **data):
        """The number of a new version that holds just this."""
        made = self.ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData=data)
        return made["LaunchTemplateVersion"]["VersionNumber"]
