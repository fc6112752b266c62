//! Who completes a group's user data, and what it then has to say: cluster access, labels, taints.

use std::collections::BTreeMap;

use base64::Engine as _;

use super::group_facts::GroupFacts;
use super::notes::{Notes, list};
use super::{Bootstrap, ClusterAccess};
use crate::finding::Subject;
use crate::inventory::Inventory;
use crate::net::{cluster_dns_address, parse_ipv4_cidr};

/// Decides who completes the user data. `None` when it is us and the cluster does not say what a node needs.
pub(super) fn bootstrap(inventory: &Inventory, group: &GroupFacts<'_>, notes: &mut Notes) -> Option<Bootstrap> {
    if group.managed && group.image_id.is_none() {
        notes.decision(
            group.subject(),
            "EKS completes the user data",
            "the group is managed and its launch template names no image",
        );
        return Some(Bootstrap::Eks);
    }
    let because = match &group.image_id {
        Some(image_id) => format!("its launch template names image {image_id}, and then EKS merges nothing"),
        None => "the group is not managed".to_owned(),
    };
    notes.decision(group.subject(), "our user data joins the node to the cluster", because);
    cluster_access(inventory, notes).map(Bootstrap::UserData)
}

fn cluster_access(inventory: &Inventory, notes: &mut Notes) -> Option<ClusterAccess> {
    let cluster = &inventory.cluster;
    let subject = || Subject::Cluster(cluster.name.clone());
    // What is missing is stated by the rule `cluster-not-ready`, which looks at every cluster.
    let (Some(endpoint), Some(authority), Some(service_cidr)) =
        (&cluster.endpoint, &cluster.certificate_authority, &cluster.service_ipv4_cidr)
    else {
        return None;
    };
    let certificate_authority: String = authority.split_whitespace().collect();
    let pem = base64::engine::general_purpose::STANDARD.decode(&certificate_authority);
    if !pem.is_ok_and(|pem| pem.starts_with(b"-----BEGIN CERTIFICATE-----")) {
        notes.problem(
            "certificate-authority-invalid",
            subject(),
            "its certificate authority is not base64 of a PEM certificate; kubelet could not join with it",
            "read the inventory again; the value is `certificateAuthority.data` of `aws eks describe-cluster`",
        );
        return None;
    }
    let service = parse_ipv4_cidr(service_cidr).ok().and_then(|cidr| Some((cidr, cluster_dns_address(cidr)?)));
    let Some((service_ipv4_cidr, dns_address)) = service else {
        notes.problem(
            "service-cidr-invalid",
            subject(),
            format!("its service CIDR `{service_cidr}` is not an IPv4 network with a tenth address for DNS"),
            "read the inventory again; the value is `kubernetesNetworkConfig.serviceIpv4Cidr` of `aws eks describe-cluster`",
        );
        return None;
    };
    Some(ClusterAccess {
        name: cluster.name.clone(),
        endpoint: endpoint.clone(),
        certificate_authority,
        service_ipv4_cidr,
        dns_address,
        outpost_cluster_id: cluster.outpost_config.is_some().then(|| cluster.id.clone()).flatten(),
    })
}

/// Labels that our user data hands to kubelet, where EKS merges nothing.
///
/// A managed group's own labels are set by EKS through the API as well; those that kubelet refuses to set on itself
/// would keep it from starting and are left out with a finding.
pub(super) fn labels(group: &GroupFacts<'_>, bootstrap: &Bootstrap, notes: &mut Notes) -> BTreeMap<String, String> {
    if matches!(bootstrap, Bootstrap::Eks) {
        return BTreeMap::new();
    }
    let (mut allowed, refused): (BTreeMap<_, _>, BTreeMap<_, _>) =
        group.labels.clone().into_iter().partition(|(key, _)| kubelet_may_set(key));
    if !refused.is_empty() {
        let who_sets =
            if group.managed { "EKS sets them on the node through the API" } else { "nobody else sets them" };
        notes.problem(
            "label-kubelet-refuses",
            group.subject(),
            format!(
                "kubelet may not set {} on its own node; left out of the user data, {who_sets}",
                list(refused.keys())
            ),
            "use a label outside kubernetes.io and k8s.io, or set it on the nodes after they have joined",
        );
    }
    if group.managed {
        allowed.insert("eks.amazonaws.com/nodegroup".into(), group.name.into());
    }
    allowed
}

/// Whether kubelet accepts a label key in `--node-labels`.
///
/// Source: Kubernetes `cmd/kubelet/app/options/options.go` (`ValidateKubeletFlags`) and
/// `staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go`.
pub(crate) fn kubelet_may_set(key: &str) -> bool {
    const ALLOWED_KEYS: [&str; 12] = [
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.kubernetes.io/zone",
    ];
    const ALLOWED_NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
    let Some((namespace, _)) = key.split_once('/') else { return true };
    let is_under = |domain: &str| namespace == domain || namespace.ends_with(&format!(".{domain}"));
    if !is_under("kubernetes.io") && !is_under("k8s.io") {
        return true;
    }
    ALLOWED_KEYS.contains(&key) || ALLOWED_NAMESPACES.into_iter().any(is_under)
}

#[cfg(test)]
mod tests {
    use super::kubelet_may_set;

    #[test]
    fn label_keys_that_kubelet_accepts() {
        for key in [
            "role",
            "team.example.com/role",
            "k8s.amazonaws.com/eniConfig",
            "vpc.amazonaws.com/externalEniConfig",
            "node.kubernetes.io/pool",
            "topology.kubernetes.io/zone",
            "eks.amazonaws.com/nodegroup",
            "mykubernetes.io/x",
        ] {
            assert!(kubelet_may_set(key), "{key}");
        }
        for key in [
            "node-role.kubernetes.io/worker",
            "kubernetes.io/role",
            "x.k8s.io/y",
            "k8s.io/y",
            "node-restriction.kubernetes.io/x",
        ] {
            assert!(!kubelet_may_set(key), "{key}");
        }
    }
}
