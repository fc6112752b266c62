//! Pods, interfaces and custom resources without names.
//!
//! Pods are called after all kinds of things. Their words are replaced here alone, or a pod `topology-updater` would
//! change what is said of the rest; what they share with names of the rest has the same pseudonym as there.

use std::collections::BTreeMap;

use super::{Names, is_kept_label, key};
use crate::inventory::{
    Attachment, CniNode, Ec2NodeClass, NetworkInterface, NodePool, Observed, Pod, Pseudonyms, SecurityGroupPolicy,
};

/// Namespaces that every cluster has.
const COMMON_NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Begins the descriptions that the CNI and the VPC resource controller write; only an instance id may follow.
/// Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`; amazon-vpc-resource-controller-k8s `pkg/config/type.go`.
const DESCRIPTIONS: [&str; 2] = ["aws-K8S-", "aws-k8s-"];

/// The same with pseudonyms for names and ids, and user data as `user_data` leaves it.
pub(super) fn redacted(observed: &Observed, pseudonyms: &Pseudonyms, user_data: impl Fn(&[u8]) -> Vec<u8>) -> Observed {
    let mut names = Names::default();
    names.of_observed(observed);
    let pseudonyms = pseudonyms.widened(&names.names);
    let redact = Redact { pseudonyms: &pseudonyms };
    Observed {
        pods: observed.pods.iter().map(|pod| redact.pod(pod)).collect(),
        network_interfaces: observed.network_interfaces.iter().map(|one| redact.network_interface(one)).collect(),
        cni_nodes: observed.cni_nodes.iter().map(|node| redact.cni_node(node)).collect(),
        security_group_policies: observed
            .security_group_policies
            .iter()
            .map(|policy| SecurityGroupPolicy {
                namespace: redact.namespace(&policy.namespace),
                name: redact.text(&policy.name),
                group_ids: redact.all(&policy.group_ids),
            })
            .collect(),
        node_pools: observed.node_pools.iter().map(|pool| redact.node_pool(pool)).collect(),
        ec2_node_classes: observed
            .ec2_node_classes
            .iter()
            .map(|class| Ec2NodeClass {
                name: redact.text(&class.name),
                user_data: class
                    .user_data
                    .as_ref()
                    .map(|text| String::from_utf8_lossy(&user_data(text.as_bytes())).into_owned()),
                max_pods: class.max_pods,
            })
            .collect(),
    }
}

struct Redact<'a> {
    pseudonyms: &'a Pseudonyms,
}

impl Redact<'_> {
    fn text(&self, text: &str) -> String {
        self.pseudonyms.text(text)
    }

    fn all(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn namespace(&self, name: &str) -> String {
        if COMMON_NAMESPACES.contains(&name) { name.to_owned() } else { self.text(name) }
    }

    fn pod(&self, pod: &Pod) -> Pod {
        let Pod { namespace, name, node, ip, host_network, phase, branch_interface } = pod;
        Pod {
            namespace: self.namespace(namespace),
            name: self.text(name),
            node: node.as_deref().map(|node| self.text(node)),
            ip: *ip,
            host_network: *host_network,
            phase: *phase,
            branch_interface: *branch_interface,
        }
    }

    fn network_interface(&self, interface: &NetworkInterface) -> NetworkInterface {
        NetworkInterface {
            network_interface_id: self.text(&interface.network_interface_id),
            interface_type: interface.interface_type.clone(),
            status: interface.status.clone(),
            description: interface.description.as_deref().map(|description| self.description(description)),
            subnet_id: self.text(&interface.subnet_id),
            groups: self.all(&interface.groups),
            attachment: interface
                .attachment
                .as_ref()
                .map(|at| Attachment { instance_id: at.instance_id.as_deref().map(|id| self.text(id)), ..at.clone() }),
            private_ip_address: interface.private_ip_address,
            secondary_private_ip_addresses: interface.secondary_private_ip_addresses,
            ipv4_prefixes: interface.ipv4_prefixes.clone(),
            tags: interface.tags.iter().map(|(name, value)| (key(name, self.pseudonyms), self.text(value))).collect(),
        }
    }

    fn description(&self, description: &str) -> String {
        let known = DESCRIPTIONS.iter().find_map(|prefix| Some((prefix, description.strip_prefix(prefix)?)));
        match known {
            Some((prefix, id)) if id.starts_with("i-") => format!("{prefix}{}", self.text(id)),
            Some(_) => description.to_owned(),
            None => self.text(description),
        }
    }

    fn cni_node(&self, node: &CniNode) -> CniNode {
        let features = node.features.iter().map(|(name, value)| (name.clone(), self.text(value)));
        CniNode { name: self.text(&node.name), features: features.collect() }
    }

    fn node_pool(&self, pool: &NodePool) -> NodePool {
        let labels: BTreeMap<String, String> = pool
            .labels
            .iter()
            .map(|(name, value)| {
                let value = if is_kept_label(name) { value.clone() } else { self.text(value) };
                (key(name, self.pseudonyms), value)
            })
            .collect();
        NodePool {
            name: self.text(&pool.name),
            labels,
            zones: pool.zones.clone(),
            node_class: pool.node_class.as_deref().map(|class| self.text(class)),
        }
    }
}

impl Names {
    fn of_observed(&mut self, observed: &Observed) {
        for pod in &observed.pods {
            self.namespace(&pod.namespace);
            self.add(&pod.name);
            self.add(pod.node.as_deref().unwrap_or_default());
        }
        for interface in &observed.network_interfaces {
            self.tags(&interface.tags);
            let description = interface.description.as_deref().unwrap_or_default();
            if !DESCRIPTIONS.iter().any(|known| description.starts_with(known)) {
                self.add(description);
            }
        }
        for node in &observed.cni_nodes {
            self.add(&node.name);
            node.features.values().for_each(|value| self.add(value));
        }
        for policy in &observed.security_group_policies {
            self.namespace(&policy.namespace);
            self.add(&policy.name);
        }
        for pool in &observed.node_pools {
            self.add(&pool.name);
            self.labels(&pool.labels);
            self.add(pool.node_class.as_deref().unwrap_or_default());
        }
        for class in &observed.ec2_node_classes {
            self.add(&class.name);
        }
    }

    fn namespace(&mut self, name: &str) {
        self.add(if COMMON_NAMESPACES.contains(&name) { "" } else { name });
    }
}
