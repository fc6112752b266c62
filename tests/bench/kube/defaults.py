"""What the API server fills in by itself, as recorded in answers.json."""

from kube import kinds


def apply(kind, value, is_new):
    """Fills in what a kind has by default."""
    if kind is kinds.DAEMON_SET:
        daemon_set(value)
    elif kind is kinds.NODE and is_new:
        node(value)
    elif kind is kinds.LEASE:
        value.setdefault("spec", {})
    elif kind is kinds.POD and is_new:
        value.setdefault("status", {"phase": "Pending"})


def daemon_set(value):
    """Source: kubernetes `pkg/apis/apps/v1/defaults.go` and `pkg/apis/core/v1/defaults.go`."""
    spec = value["spec"]
    pod = spec["template"]["spec"]
    for container in pod.get("containers", []) + pod.get("initContainers", []):
        container.setdefault("resources", {})
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
        tag = container.get("image", "").rpartition(":")[2]
        latest = tag == "latest" or ":" not in container.get("image", "").rpartition("/")[2]
        container.setdefault("imagePullPolicy", "Always" if latest else "IfNotPresent")
    pod.setdefault("restartPolicy", "Always")
    pod.setdefault("terminationGracePeriodSeconds", 30)
    pod.setdefault("dnsPolicy", "ClusterFirst")
    pod.setdefault("securityContext", {})
    pod.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})
    spec.setdefault("revisionHistoryLimit", 10)
    value.setdefault(
        "status",
        {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0},
    )


def node(value):
    """A new node is not ready; what its kubelet reports comes later."""
    value.setdefault("spec", {}).setdefault("taints", [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    names = (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    )
    value.setdefault(
        "status",
        {
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
            "nodeInfo": dict.fromkeys(names, ""),
        },
    )
