"""The kinds that the bench's API server knows."""


class Kind:
    """One kind. `custom`: of a CustomResourceDefinition, so it can be missing, its lists are flat and its writes
    are counted
    by `generation`. `always`: paths that an empty object of a built-in Go type has already, so that nobody is
    recorded as the one who
    set them."""

    def __init__(
        self, group, version, plural, kind, namespaced=False, custom=False, generation=False, always=(), no_status=False
    ):
        self.group = group
        self.version = version
        self.plural = plural
        self.kind = kind
        self.namespaced = namespaced
        self.custom = custom
        self.generation = generation or custom
        self.always = frozenset(always)
        # Whether `status` belongs to a subresource, which a write to the object itself does not touch.
        self.status_apart = not no_status

    @property
    def api_version(self):
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self):
        """`leases.coordination.k8s.io`, `nodes`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self):
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def key(self):
        return self.qualified


def _always(*paths):
    return [tuple(f"f:{part}" for part in path.split(".")) for path in paths]


ENI_CONFIG = Kind("crd.k8s.amazonaws.com", "v1alpha1", "eniconfigs", "ENIConfig", custom=True, no_status=True)
DAEMON_SET = Kind(
    "apps",
    "v1",
    "daemonsets",
    "DaemonSet",
    namespaced=True,
    generation=True,
    always=_always(
        "metadata",
        "spec",
        "spec.template",
        "spec.template.metadata",
        "spec.template.spec",
        "spec.template.spec.containers",
        "spec.updateStrategy",
    ),
)
NODE = Kind("", "v1", "nodes", "Node", always=_always("metadata", "spec"))
POD = Kind("", "v1", "pods", "Pod", namespaced=True, always=_always("metadata", "spec", "spec.containers"))
LEASE = Kind("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True, always=_always("metadata", "spec"))
CRD = Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", generation=True)

KINDS = {
    kind.key: kind
    for kind in (
        ENI_CONFIG,
        DAEMON_SET,
        NODE,
        POD,
        LEASE,
        CRD,
        Kind("vpcresources.k8s.aws", "v1alpha1", "cninodes", "CNINode", custom=True),
        Kind(
            "vpcresources.k8s.aws",
            "v1beta1",
            "securitygrouppolicies",
            "SecurityGroupPolicy",
            namespaced=True,
            custom=True,
        ),
        Kind("karpenter.sh", "v1", "nodepools", "NodePool", custom=True),
        Kind("karpenter.sh", "v1", "nodeclaims", "NodeClaim", custom=True),
        Kind("karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass", custom=True),
        Kind("eks.amazonaws.com", "v1", "nodeclasses", "NodeClass", custom=True),
        Kind("apps", "v1", "deployments", "Deployment", namespaced=True, generation=True),
        Kind("", "v1", "configmaps", "ConfigMap", namespaced=True),
        Kind("", "v1", "namespaces", "Namespace"),
        Kind("", "v1", "events", "Event", namespaced=True),
    )
}


def find(group, version, plural):
    """The kind of that path, or None."""
    for kind in KINDS.values():
        if (kind.group, kind.version, kind.plural) == (group, version, plural):
            return kind
    return None
