"""Replays what a real API server was asked and compares the answers: as recorded, and with everything renamed that can be.

With ENIPLAN_TEST_KUBECONFIG the same requests go to the server of that file instead, which proves the recording.
"""

import base64
import json
import re
import unittest

from client import HERE, Bench
from real_server import real_server

# Names in the recording and others that sort the same way. Longer ones first, so that none is replaced inside another.
NAMES = {
    "ip-172-31-25-222.ap-southeast-1.compute.internal": "ip-10-9-8-7.eu-west-1.compute.internal",
    "kubectl-client-side-apply": "stock-manifest",
    "kubectl-edit": "person-on-call",
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "ALPHA_SETTING",
    "ENABLE_PREFIX_DELEGATION": "BETA_SETTING",
    "ENI_CONFIG_LABEL_DEF": "GAMMA_SETTING",
    "WARM_ENI_TARGET": "DELTA_SETTING",
    "subnet-0aaa1111bbbb2222c": "subnet-0123456789abcdef0",
    "subnet-0ddd1111bbbb2222c": "subnet-0123456789abcdef1",
    "subnet-0eee1111bbbb2222c": "subnet-0123456789abcdef2",
    "subnet-0fff1111bbbb2222c": "subnet-0123456789abcdef3",
    "subnet-0999": "subnet-0777",
    "subnet-0aaa": "subnet-0bbb",
    "sg-0a": "sg-0d",
    "sg-0b": "sg-0e",
    "sg-0c": "sg-0f",
    "EniConfigName1": "BatchNetwork7",
    "pod-1": "web-9",
    '"p-': '"n-',
    "/p-": "/n-",
    "aws-node": "net-agent",
    "eniplan": "deployer",
    "helm": "gitops",
    '"eks"': '"vendor"',
    "=eks": "=vendor",
    "Python-urllib": "a-script",
    "viewer": "guest",
}


def recorded():
    """The recording."""
    return json.loads((HERE / "answers.json").read_text())


def renamed(cases):
    """The recording with other names; the definition, which the bench has from the recording itself, keeps its own."""
    crd = next(case for case in cases if case["case"] == "CRD")
    text = json.dumps(cases, ensure_ascii=False)
    for old, new in NAMES.items():
        text = text.replace(old, new)
    cases = json.loads(text)
    for case in cases:
        case["request"]["path"] = _with_tokens(case["request"]["path"])
        body = case["response"]["body"]
        if isinstance(body, dict) and body.get("metadata", {}).get("continue"):
            body["metadata"]["continue"] = _token(body["metadata"]["continue"])
    return [crd if case["case"] == "CRD" else case for case in cases]


def _with_tokens(path):
    return re.sub(r"continue=([\w-]{20,})", lambda found: f"continue={_token(found[1])}", path)


def _token(token):
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    return base64.urlsafe_b64encode(raw.replace('"/p-', '"/n-').encode()).decode().rstrip("=")


class Normal:
    """Takes out of an answer what differs between runs, consistently: the same uid becomes the same word."""

    def __init__(self):
        self.uids = {}

    def of(self, value, name=None):
        if isinstance(value, dict):
            return {key: self.of(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            items = [self.of(inner) for inner in value]
            # The order of a conflict's causes is that of a Go map over managers: none.
            return sorted(items, key=json.dumps) if name == "causes" else items
        if name == "uid":
            return self.uids.setdefault(value, f"uid {len(self.uids)}")
        if name in ("creationTimestamp", "time", "lastTransitionTime"):
            return "a time" if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value) else value
        return value


def _uids(value):
    """Every uid in an answer, in order."""
    if isinstance(value, dict):
        own = [value["uid"]] if isinstance(value.get("uid"), str) else []
        return own + [uid for key in sorted(value) for uid in _uids(value[key])]
    return [uid for inner in value for uid in _uids(inner)] if isinstance(value, list) else []


def _with_uids(value, uids):
    """A request that sends back what was read, with the uids of this run."""
    text = json.dumps(value)
    for old, new in uids.items():
        text = text.replace(old, new)
    return json.loads(text)


class Replay(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.stop)

    def replay(self, cases, names):
        bench = self.bench
        bench.control("POST", "reset")
        bench.control("POST", "settings", {"kube_user": names.get("viewer", "viewer")})
        # The recording began at these numbers; from there on they are compared, not smoothed over.
        bench.control("POST", "seed", {"cluster": "demo", "crd": {"has_schema": True}, "resource_version": 197})
        crd = bench.kube("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com")[2]
        wanted, got, uids = Normal(), Normal(), {}
        for case in cases:
            request, response = case["request"], case["response"]
            if case["case"] == "list page 1":
                self.make_five(bench, names)
            denied = case["case"].startswith("no right")
            bench.control("PUT", "faults", [{"service": "kube", "action": "*", "kind": "deny"}] if denied else [])
            token = "nonsense" if case["case"] == "bad token" else None
            answer = bench.kube(
                request["method"], request["path"], _with_uids(request["body"], uids), request["contentType"], request["accept"], token,
                f"{names.get('Python-urllib', 'Python-urllib')}/3.11",
            )
            uids.update(zip(_uids(response["body"]), _uids(answer[2]), strict=True))
            if case["case"] == "CRD":
                response["body"]["metadata"]["resourceVersion"] = crd["metadata"]["resourceVersion"]
            with self.subTest(case["case"]):
                expected = (response["status"], response["contentType"], wanted.of(response["body"]))
                self.assertEqual(expected, (answer[0], answer[1], got.of(answer[2])))

    def make_five(self, bench, names):
        """The recording leaves out how the objects of its pages came about."""
        prefix = "n" if names else "p"
        for at in range(5):
            body = {
                "apiVersion": "crd.k8s.amazonaws.com/v1alpha1", "kind": "ENIConfig", "metadata": {"name": f"{prefix}-{at}"},
                "spec": {"securityGroups": [names.get("sg-0a", "sg-0a")], "subnet": names.get("subnet-0aaa", "subnet-0aaa")},
            }
            manager = names.get("eniplan", "eniplan")
            path = f"/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs/{prefix}-{at}?fieldManager={manager}"
            self.assertEqual(bench.kube("PATCH", path, body, "application/apply-patch+yaml")[0], 201)

    def test_as_recorded(self):
        self.replay(recorded(), {})

    def test_renamed(self):
        self.replay(renamed(recorded()), NAMES)

    def test_renaming_leaves_no_name(self):
        text = json.dumps([case for case in renamed(recorded()) if case["case"] != "CRD"])
        for name in ("eniplan", "helm", "pod-1a", "aws-node", "sg-0a", "subnet-0aaa1111bbbb2222c", "kubectl-edit", "WARM_ENI_TARGET"):
            self.assertNotIn(name, text)


class RealServer(unittest.TestCase):
    """Only when one is given."""

    def test_recording(self):
        server = real_server()
        if server is None:
            return
        server.replay(self, recorded())
