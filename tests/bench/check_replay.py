"""Replays what a real API server was asked and compares the answers: as recorded, and with everything renamed that
can be.

With ENIPLAN_TEST_KUBECONFIG the same requests go to the server of that file instead, which proves the recording.
"""

import base64
import json
import pathlib
import re
import tempfile
import unittest

from client import HERE, Bench
from real_server import RealServer, real_server

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
    """Takes out of an answer what differs between runs, consistently: the same uid becomes the same word. Between
    servers
    resourceVersions differ too."""

    def __init__(self, exact):
        self.words = {}
        self.exact = exact

    def word(self, kind, value):
        return self.words.setdefault((kind, value), f"{kind} {len(self.words)}")

    def of(self, value, name=None):
        if isinstance(value, dict):
            return {key: self.of(value[key], key) for key in sorted(value)}
        if isinstance(value, list):
            items = [self.of(inner) for inner in value]
            # The order of a conflict's causes is that of a Go map over managers: none.
            return sorted(items, key=json.dumps) if name == "causes" else items
        if name == "uid":
            return self.word(name, value)
        if name in ("creationTimestamp", "time", "lastTransitionTime"):
            return "a time" if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value) else value
        if not self.exact and name == "resourceVersion":
            return self.word(name, value)
        if not self.exact and name == "continue" and value:
            return json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))["start"]
        if not self.exact and name == "message":
            return re.sub(r"in record \(\d+\)", "in record (N)", value)
        return value


def _uids(value):
    """Every uid in an answer, in order."""
    if isinstance(value, dict):
        own = [value["uid"]] if isinstance(value.get("uid"), str) else []
        return own + [uid for key in sorted(value) for uid in _uids(value[key])]
    return [uid for inner in value for uid in _uids(inner)] if isinstance(value, list) else []


def _versions(value):
    """Every resourceVersion and token of a page in an answer, in order."""
    if isinstance(value, dict):
        own = [value[name] for name in ("resourceVersion", "continue") if isinstance(value.get(name), str)]
        return own + [one for key in sorted(value) for one in _versions(value[key])]
    return [one for inner in value for one in _versions(inner)] if isinstance(value, list) else []


def _with(value, replaced):
    """A request that sends back what was read, with the words of this run."""
    text = json.dumps(value)
    for old, new in replaced.items():
        text = text.replace(json.dumps(old), json.dumps(new)).replace(f"continue={old}", f"continue={new}")
    return json.loads(text)


class Replaying(unittest.TestCase):
    """Asks what was asked, in its order, and compares each answer."""

    maxDiff = None

    def replay(self, server, cases, names, exact=True):
        wanted, got, replaced = Normal(exact), Normal(exact), {}
        agent = f"{names.get('Python-urllib', 'Python-urllib')}/3.11"
        for case in cases:
            request, response = _with(case["request"], replaced), case["response"]
            if case["case"] == "list page 1":
                self.make_five(server, names)
            answer = self.ask(server, case["case"], request, agent)
            replaced.update(zip(_uids(response["body"]), _uids(answer[2]), strict=True))
            if not exact:
                replaced.update(zip(_versions(response["body"]), _versions(answer[2]), strict=True))
            if case["case"] == "CRD":
                response["body"]["metadata"]["resourceVersion"] = answer[2]["metadata"]["resourceVersion"]
            with self.subTest(case["case"]):
                expected = (response["status"], response["contentType"], wanted.of(response["body"]))
                self.assertEqual(expected, (answer[0], answer[1], got.of(answer[2])))

    def ask(self, server, case, request, agent):
        token = "nonsense" if case == "bad token" else None
        return server.kube(
            request["method"], request["path"], request["body"], request["contentType"], request["accept"], token, agent
        )

    def make_five(self, server, names):
        """The recording leaves out how the objects of its pages came about."""
        prefix = "n" if names else "p"
        for at in range(5):
            body = {
                "apiVersion": "crd.k8s.amazonaws.com/v1alpha1",
                "kind": "ENIConfig",
                "metadata": {"name": f"{prefix}-{at}"},
                "spec": {
                    "securityGroups": [names.get("sg-0a", "sg-0a")],
                    "subnet": names.get("subnet-0aaa", "subnet-0aaa"),
                },
            }
            manager = names.get("eniplan", "eniplan")
            path = f"/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs/{prefix}-{at}?fieldManager={manager}"
            self.assertEqual(server.kube("PATCH", path, body, "application/apply-patch+yaml")[0], 201)


class OfTheBench(Replaying):
    @classmethod
    def setUpClass(cls):
        cls.bench = Bench()
        cls.addClassCleanup(cls.bench.stop)

    def ask(self, server, case, request, agent):
        self.bench.control(
            "PUT", "faults", [{"service": "kube", "action": "*", "kind": "deny"}] if case.startswith("no right") else []
        )
        return super().ask(server, case, request, agent)

    def empty(self, names):
        """The recording began at these numbers; from there on they are compared, not smoothed over."""
        self.bench.control("POST", "reset")
        self.bench.control("POST", "settings", {"kube_user": names.get("viewer", "viewer")})
        self.bench.control("POST", "seed", {"cluster": "demo", "crd": {"has_schema": True}, "resource_version": 197})

    def test_as_recorded(self):
        self.empty({})
        self.replay(self.bench, recorded(), {})

    def test_renamed(self):
        self.empty(NAMES)
        self.replay(self.bench, renamed(recorded()), NAMES)

    def test_renaming_leaves_no_name(self):
        text = json.dumps([case for case in renamed(recorded()) if case["case"] != "CRD"])
        for name in (
            "eniplan",
            "helm",
            "pod-1a",
            "aws-node",
            "sg-0a",
            "subnet-0aaa1111bbbb2222c",
            "kubectl-edit",
            "WARM_ENI_TARGET",
        ):
            self.assertNotIn(name, text)

    def test_an_answer_that_differs_is_seen(self):
        self.empty({})
        cases = recorded()[:1]
        cases[0]["response"]["body"]["metadata"]["generation"] = 2
        bench = self.bench

        class Probe(Replaying):
            def runTest(self):
                self.replay(bench, cases, {})

        result = unittest.TestResult()
        Probe().run(result)
        self.assertEqual(len(result.failures), 1)


class OfARealServer(Replaying):
    """With a server given; the recording is that of the bench's class, the numbers are the server's own. Without,
    the bench itself is
    asked in this way, by a kubeconfig, so that this path does not rot."""

    def server(self):
        given = real_server()
        if given:
            return given
        bench = Bench()
        self.addCleanup(bench.stop)
        bench.control("POST", "seed", {"cluster": "demo", "crd": {"has_schema": True}, "resource_version": 1_000})
        bench.control("POST", "settings", {"kube_user": "viewer"})
        bench.control("PUT", "plain-tokens", ["a-token"])
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": "a-token"}}],
            "clusters": [
                {
                    "name": "c",
                    "cluster": {
                        "server": bench.ports["kube_endpoint"],
                        "certificate-authority-data": bench.ports["certificate_authority"],
                    },
                }
            ],
        }
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "kubeconfig"
        path.write_text(json.dumps(config))
        return RealServer(path)

    def ask(self, server, case, request, agent):
        if not case.startswith("no right"):
            return super().ask(server, case, request, agent)
        return server.kube(
            request["method"],
            request["path"],
            request["body"],
            request["contentType"],
            request["accept"],
            None,
            agent,
            user="viewer",
        )

    def test_as_recorded_on_another_server(self):
        server = self.server()
        nodes = server.kube("GET", "/api/v1/nodes")[2]["items"]
        self.assertEqual(nodes, [], "this server has nodes: the replay is not for a cluster that somebody uses")
        cases = [case for case in recorded() if case["case"] != "CRD"]
        self.replay(server, cases, {}, exact=False)
