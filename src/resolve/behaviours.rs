//! What releases of the VPC CNI do differently, where it matters for ENIConfigs.

use crate::inventory::CniVersion;

/// Something that some releases do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// What they do.
    pub what: &'static str,
    /// First release that does; `None` means all before.
    pub from: Option<CniVersion>,
    /// First release that does no longer; `None` means all since.
    pub until: Option<CniVersion>,
    /// Where that is said.
    pub source: &'static str,
}

impl Behaviour {
    /// Whether that release does it.
    pub fn of(&self, version: CniVersion) -> bool {
        self.from.is_none_or(|from| version >= from) && self.until.is_none_or(|until| version < until)
    }

    /// First release that does it.
    pub fn first(&self) -> CniVersion {
        self.from.unwrap_or(CniVersion(0, 0, 0))
    }
}

impl std::fmt::Display for Behaviour {
    /// The releases, as people write them: `before v1.11.0`, `v1.13.0 and later`, `v1.22.0 up to, not including, v1.23.2`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.from, self.until) {
            (Some(from), Some(until)) => write!(f, "{from} up to, not including, {until}"),
            (Some(from), None) => write!(f, "{from} and later"),
            (None, Some(until)) => write!(f, "before {until}"),
            (None, None) => write!(f, "all"),
        }
    }
}

/// The label that beats everything is looked at.
pub const LOOKS_AT_EXTERNAL_LABEL: Behaviour = Behaviour {
    what: "looks at the label vpc.amazonaws.com/externalEniConfig before anything else",
    from: Some(CniVersion(1, 11, 0)),
    until: None,
    source: "amazon-vpc-cni-k8s CHANGELOG, v1.11.0; pull request 1596",
};

/// The label that the CNI looks at is overwritten by the CNI itself.
pub const RELABELS_NODES: Behaviour = Behaviour {
    what: "writes the label of ENI_CONFIG_LABEL_DEF itself, over what kubelet has set",
    from: None,
    until: Some(CniVersion(1, 11, 0)),
    source: "amazon-vpc-cni-k8s issue 1593",
};

/// Nodes get a label for the VPC resource controller, which nothing updates later.
pub const LABELS_FOR_CONTROLLER: Behaviour = Behaviour {
    what: "writes the node label vpc.amazonaws.com/eniConfig for the VPC resource controller",
    from: None,
    until: Some(CniVersion(1, 15, 0)),
    source: "amazon-vpc-cni-k8s v1.14, pkg/ipamd/ipamd.go; CHANGELOG, v1.15.0",
};

/// A new node whose ENIConfig does not exist stays NotReady.
pub const MISSING_ENI_CONFIG_IS_FATAL: Behaviour = Behaviour {
    what: "keeps a new node NotReady whose ENIConfig does not exist; before, the node is Ready and its pods hang",
    from: Some(CniVersion(1, 13, 0)),
    until: None,
    source: "amazon-vpc-cni-k8s pull request 2354",
};

/// Interfaces of an ENIConfig without groups get the VPC's default group, and not those of the node.
pub const EMPTY_GROUPS_MEAN_VPC_DEFAULT: Behaviour = Behaviour {
    what: "puts interfaces of an ENIConfig without security groups into the VPC's default group",
    from: None,
    until: Some(CniVersion(1, 8, 0)),
    source: "amazon-vpc-cni-k8s pull request 1259",
};

/// Interfaces of an ENIConfig without groups cannot be made.
pub const EMPTY_GROUPS_FAIL: Behaviour = Behaviour {
    what: "makes no interface for an ENIConfig without security groups",
    from: Some(CniVersion(1, 13, 0)),
    until: Some(CniVersion(1, 13, 1)),
    source: "amazon-vpc-cni-k8s issue 2426, pull request 2427",
};

/// Tags of subnet discovery exclude interfaces of ENIConfigs as well, while discovery is on.
pub const APPLIES_EXCLUSION_TAGS: Behaviour = Behaviour {
    what: "gives pods no address from an ENIConfig whose subnet is tagged kubernetes.io/role/cni=0, and needs ec2:DescribeSubnets for that",
    from: Some(CniVersion(1, 22, 0)),
    until: Some(CniVersion(1, 23, 2)),
    source: "amazon-vpc-cni-k8s v1.22.0 to v1.23.1, pkg/ipamd/ipamd.go, excludedENIBasedOnSubnetTags; pull request 3843",
};

/// A further permission is needed at start, where custom networking is off.
pub const DESCRIBES_SECURITY_GROUPS: Behaviour = Behaviour {
    what: "needs ec2:DescribeSecurityGroups to start while custom networking is off",
    from: Some(CniVersion(1, 22, 1)),
    until: Some(CniVersion(1, 22, 2)),
    source: "terraform-aws-eks-pod-identity issues 60 and 61; amazon-vpc-cni-k8s CHANGELOG, v1.22.2",
};

/// All of them, for the docs.
pub const BEHAVIOURS: [Behaviour; 8] = [
    EMPTY_GROUPS_MEAN_VPC_DEFAULT,
    RELABELS_NODES,
    LOOKS_AT_EXTERNAL_LABEL,
    EMPTY_GROUPS_FAIL,
    MISSING_ENI_CONFIG_IS_FATAL,
    LABELS_FOR_CONTROLLER,
    APPLIES_EXCLUSION_TAGS,
    DESCRIBES_SECURITY_GROUPS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_behaviour_begins_with_its_first_release_and_ends_before_the_one_that_stopped() {
        for (version, does) in [
            (CniVersion(1, 21, 9), false),
            (CniVersion(1, 22, 0), true),
            (CniVersion(1, 23, 1), true),
            (CniVersion(1, 23, 2), false),
        ] {
            assert_eq!(APPLIES_EXCLUSION_TAGS.of(version), does, "{version}");
        }
        assert!(RELABELS_NODES.of(CniVersion(1, 10, 4)) && !RELABELS_NODES.of(CniVersion(1, 11, 0)));
        assert!(EMPTY_GROUPS_FAIL.of(CniVersion(1, 13, 0)) && !EMPTY_GROUPS_FAIL.of(CniVersion(1, 13, 2)));
    }
}
