"""What a node makes of user data, family by family; without a server."""

import unittest

from machine import boot, cni

MACHINE = {
    "instance_id": "i-0123456789abcdef0",
    "mac": "06:00:00:00:00:01",
    "zone": "us-east-1a",
    "subnet_id": "subnet-0aaa",
    "subnet_cidr": "10.0.4.0/22",
    "ami_type": "AL2023_x86_64_STANDARD",
    "merged": True,
}
OWN = "#!/bin/bash\n# eniplan.dev/part: test\n"


def document(*parts):
    """A MIME document of (content type, text)."""
    text = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
    for kind, body in parts:
        text += f"--b\nContent-Type: {kind}\n\n{body}\n"
    return (text + "--b--\n").encode()


class Boot(unittest.TestCase):
    def boot(self, user_data, release=20251101, **machine):
        return boot.boot(user_data, {**MACHINE, **machine}, release, "demo")

    def test_the_image_decides_whether_the_folder_is_read(self):
        script = OWN + "systemctl cat nodeadm-run.service | grep -q nodeadm.d && echo folder || echo unit\n"
        self.assertEqual(self.boot(document(("text/x-shellscript", script))).console, "folder\n")
        self.assertEqual(self.boot(document(("text/x-shellscript", script)), release=20251022).console, "unit\n")
        self.assertEqual(self.boot(document(("text/x-shellscript", script)), release=0).console, "unit\n")

    def test_a_unit_of_kubelet_counts(self):
        script = OWN + (
            'mkdir -p "$ENIPLAN_ROOT/etc/systemd/system/kubelet.service.d"\n'
            "printf '[Service]\\nExecStart=\\nExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS "
            "--node-labels=k=v --max-pods=30\\n' "
            '>"$ENIPLAN_ROOT/etc/systemd/system/kubelet.service.d/zz.conf"\n'
        )
        outcome = self.boot(document(("text/x-shellscript", script)))
        self.assertEqual((outcome.labels, outcome.max_pods), ({"k": "v"}, 30))

    def test_a_node_config_and_the_folder_add_up(self):
        config = "spec:\n  kubelet:\n    config: {maxPods: 10}\n    flags: ['--node-labels=a=1,b=2']\n"
        script = OWN + (
            'mkdir -p "$ENIPLAN_ROOT/etc/eks/nodeadm.d"\n'
            "printf 'spec: {kubelet: {config: {maxPods: 20}, flags: [\"--node-labels=b=3\"]}}' "
            '>"$ENIPLAN_ROOT/etc/eks/nodeadm.d/zz.yaml"\n'
        )
        outcome = self.boot(
            document(("application/node.eks.aws", config), ("text/x-shellscript", script)), merged=False
        )
        self.assertEqual((outcome.labels, outcome.max_pods), ({"a": "1", "b": "3"}, 20))

    def test_a_wrapper_of_bootstrap_is_called_by_eks(self):
        script = OWN + (
            'cd "$ENIPLAN_ROOT/etc/eks" && mv bootstrap.sh original.sh\n'
            'printf \'#!/bin/bash\\nexec "$ENIPLAN_ROOT/etc/eks/original.sh" "$1" '
            '--kubelet-extra-args "$3 --node-labels=k=v"\\n\' >bootstrap.sh\n'
        )
        outcome = self.boot(document(("text/x-shellscript", script)), ami_type="AL2_x86_64")
        self.assertEqual(outcome.labels, {"eks.amazonaws.com/sourced-by": "eks", "k": "v"})

    def test_with_an_image_the_script_calls_bootstrap_itself(self):
        script = (
            OWN + '"$ENIPLAN_ROOT/etc/eks/bootstrap.sh" demo --kubelet-extra-args "--node-labels=k=v --max-pods=12"\n'
        )
        outcome = self.boot(document(("text/x-shellscript", script)), ami_type="AL2_x86_64", merged=False)
        self.assertEqual((outcome.labels, outcome.max_pods), ({"k": "v"}, 12))

    def test_bottlerocket(self):
        toml = b'[settings.kubernetes]\nmax-pods = 8\n[settings.kubernetes.node-labels]\n"k" = "v"\n'
        outcome = self.boot(toml, ami_type="BOTTLEROCKET_ARM_64")
        self.assertEqual((outcome.labels, outcome.max_pods), ({"k": "v"}, 8))

    def test_a_script_that_fails_leaves_what_it_left(self):
        outcome = self.boot(document(("text/x-shellscript", OWN + "echo gone >&2; exit 1\n")))
        self.assertEqual((outcome.labels, outcome.console), ({}, "gone\n"))


class Cni(unittest.TestCase):
    def test_the_order_of_the_names(self):
        key, zone = "k8s.amazonaws.com/eniConfig", {"ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone"}
        for env, labels, annotations, name in (
            ({}, {}, {}, "default"),
            ({}, {key: "a"}, {}, "a"),
            ({}, {key: "a"}, {key: "b"}, "b"),
            ({}, {key: "a", "vpc.amazonaws.com/externalEniConfig": "c"}, {key: "b"}, "c"),
            (zone, {key: "a", "topology.kubernetes.io/zone": "z"}, {}, "z"),
            (zone, {key: "a"}, {}, "default"),
            ({}, {key: ""}, {}, ""),
        ):
            self.assertEqual(cni.eni_config_name(env, labels, annotations), name)
