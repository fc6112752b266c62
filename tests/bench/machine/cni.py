"""How the CNI gives a node's pods their interface: which ENIConfig it takes, and what happens when there is none.

Source: amazon-vpc-cni-k8s `pkg/eniconfig/eniconfig.go` (order of label, annotation, label, `default`),
`pkg/ipamd/ipamd.go` (no interface: the
node never gets Ready, since v1.13).
"""

from kube import kinds


def settings(store):
    """The environment of aws-node; None without aws-node."""
    live = store.objects[kinds.DAEMON_SET.key].get(("kube-system", "aws-node"))
    if live is None:
        return None
    for container in live["spec"]["template"]["spec"]["containers"]:
        if container["name"] == "aws-node":
            return {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}
    return None


def _is_on(env, name):
    return env.get(name, "") in ("1", "t", "T", "true", "TRUE", "True")


def eni_config_name(env, labels, annotations):
    """The name that the CNI looks for; presence counts, so an empty value wins."""
    default_key = "k8s.amazonaws.com/eniConfig"
    for values, key in (
        (labels, "vpc.amazonaws.com/externalEniConfig"),
        (annotations, env.get("ENI_CONFIG_ANNOTATION_DEF") or default_key),
        (labels, env.get("ENI_CONFIG_LABEL_DEF") or default_key),
    ):
        if key in values:
            return values[key]
    return "default"


def pod_place(store, labels, annotations, node_subnet, node_groups):
    """(subnet, security groups, ready) of a new node's pods. Without custom networking they share the node's subnet."""
    env = settings(store)
    if env is None:
        return None, [], False
    if not _is_on(env, "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"):
        return node_subnet, node_groups, True
    config = store.objects[kinds.ENI_CONFIG.key].get(("", eni_config_name(env, labels, annotations)))
    if config is None:
        return None, [], False
    spec = config.get("spec", {})
    return spec.get("subnet"), spec.get("securityGroups") or node_groups, True


def _default_card(kind):
    """(interfaces of the default card, addresses of one)."""
    network = kind["NetworkInfo"]
    index = network.get("DefaultNetworkCardIndex", 0)
    cards = {card["NetworkCardIndex"]: card["MaximumNetworkInterfaces"] for card in network["NetworkCards"]}
    return cards[index], network["Ipv4AddressesPerInterface"]


def max_pods_of_image(kind):
    """What nodeadm takes when nobody says otherwise. Source: amazon-eks-ami
    `nodeadm/internal/kubelet/eni_max_pods.go`: without regard to
    custom networking or prefixes, and without a cap."""
    interfaces, addresses = _default_card(kind)
    return interfaces * (addresses - 1) + 2


def max_pods_of_eks(store, kinds_of_group):
    """What EKS writes into its own part for a group without an image: the least over its types, by the calculator.
    Source: EKS User Guide,
    "Create a managed node group"; amazon-eks-ami `files/max-pods-calculator.sh`."""
    env = settings(store) or {}
    return min(_calculated(env, kind) for kind in kinds_of_group)


def _calculated(env, kind):
    interfaces, addresses = _default_card(kind)
    if _is_on(env, "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"):
        interfaces -= 1
    slots = addresses - 1
    if _is_on(env, "ENABLE_PREFIX_DELEGATION") and (kind.get("Hypervisor") == "nitro" or kind.get("BareMetal")):
        slots *= 16
    cap = 250 if kind["VCpuInfo"]["DefaultVCpus"] > 30 else 110
    return min(interfaces * slots + 2, cap)
