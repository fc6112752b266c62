"""A client of the bench for its own tests: starts it, speaks to its control requests, to AWS and to Kubernetes."""

import base64
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import boto3
from botocore.config import Config
from botocore.signers import RequestSigner

HERE = pathlib.Path(__file__).resolve().parent
REGION = "ap-southeast-1"


class Bench:
    """A bench of one's own, stopped with `stop`."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self._folder.name) / "ports.json"
        command = [sys.executable, str(HERE / "server.py"), "--port-file", str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)
        while not path.exists():
            if self.process.poll() is not None:
                raise RuntimeError(f"the bench ended with {self.process.returncode}")
            time.sleep(0.01)
        self.ports = json.loads(path.read_text())
        authority = base64.b64decode(self.ports["certificate_authority"]).decode()
        self.tls = ssl.create_default_context(cadata=authority)
        self._tokens = {}

    def stop(self):
        """Closes its input, which ends it."""
        self.process.stdin.close()
        self.process.wait(10)
        self._folder.cleanup()

    def control(self, method, name, body=None):
        """A control request; raises for a refusal."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.ports['control']}/{name}", method=method, data=data)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def session(self, region=REGION, key=None, secret=None, token=None):
        """A boto3 session for the bench."""
        return boto3.Session(
            aws_access_key_id=key or self.ports["access_key_id"],
            aws_secret_access_key=secret or self.ports["secret_access_key"],
            aws_session_token=token,
            region_name=region,
        )

    def aws(self, service, validate=True, attempts=1, **options):
        """A boto3 client. Without `validate` botocore lets wrong parameters through."""
        config = Config(parameter_validation=validate, retries={"total_max_attempts": attempts, "mode": "standard"})
        return self.session(**options).client(service, endpoint_url=self.ports["aws_endpoint_url"], config=config)

    def token(self, cluster="demo", region=REGION, expires=60, fresh=False):
        """A bearer token as `aws eks get-token` makes one."""
        key = (cluster, region, expires)
        if fresh or key not in self._tokens:
            self._tokens[key] = self._new_token(cluster, region, expires)
        return self._tokens[key]

    def _new_token(self, cluster, region, expires):
        session = self.session(region)
        client = session.client("sts")
        signer = RequestSigner(
            client.meta.service_model.service_id, region, "sts", "v4", session.get_credentials(), session.events
        )
        suffix = ".cn" if region.startswith("cn-") else ""
        request = {
            "method": "GET",
            "url": f"https://sts.{region}.amazonaws.com{suffix}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        }
        url = signer.generate_presigned_url(request, region_name=region, expires_in=expires, operation_name="")
        return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")

    def kube(self, method, path, body=None, content_type=None, accept="application/json", token=None, agent=None):
        """(status, content type, body) of a Kubernetes request; the body is parsed when it is JSON."""
        headers = {"Authorization": f"Bearer {token or self.token()}", "Accept": accept}
        if content_type:
            headers["Content-Type"] = content_type
        if agent:
            headers["User-Agent"] = agent
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.ports["kube_endpoint"] + path, method=method, data=data, headers=headers)
        try:
            answer = urllib.request.urlopen(request, context=self.tls)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            raw, kind = answer.read(), answer.headers["Content-Type"]
            return answer.status, kind, json.loads(raw) if kind == "application/json" else raw.decode()


def sample():
    """A small inventory."""
    return json.loads((HERE / "sample.json").read_text())


os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
