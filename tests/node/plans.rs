//! Node group plans, written by hand.

use std::collections::BTreeMap;

use eniplan::config::{AmiFamily, OnNoMatch, Strategy};
use eniplan::inventory::Taint;
use eniplan::plan::{Assignment, Bootstrap, Candidate, ClusterAccess, DropIn, MaxPodsPlan, NodeGroupPlan};

pub(crate) const LABEL_KEY: &str = "k8s.amazonaws.com/eniConfig";

/// A managed AL2023 group on an image that reads the folder, pinned, with these rows.
pub(crate) fn group(name: &str, rows: &[(&str, &[(&str, u64)])]) -> NodeGroupPlan {
    NodeGroupPlan {
        name: name.into(),
        managed: true,
        exists: true,
        family: AmiFamily::Al2023,
        bootstrap: Bootstrap::Eks,
        drop_in: DropIn::NodeadmFolder,
        label_key: Some(LABEL_KEY.into()),
        strategy: Strategy::Pinned,
        on_no_match: OnNoMatch::Fail,
        assignments: rows.iter().enumerate().map(|(at, (cidr, candidates))| assignment(at, cidr, candidates)).collect(),
        max_pods: MaxPodsPlan { written: None, formula: Some(29) },
        labels: BTreeMap::new(),
        taints: Vec::new(),
        launch_template: None,
        create: None,
    }
}

fn assignment(at: usize, cidr: &str, candidates: &[(&str, u64)]) -> Assignment {
    let zone = ["a", "b", "c"][at % 3];
    let mut bound = 0;
    Assignment {
        cidr: cidr.parse().expect("a CIDR"),
        subnet_id: format!("subnet-{at:017x}"),
        availability_zone: format!("ap-southeast-1{zone}"),
        availability_zone_id: format!("apse1-az{}", at % 3 + 1),
        candidates: candidates
            .iter()
            .map(|(name, weight)| {
                bound += weight;
                Candidate { eni_config: (*name).into(), weight: *weight, bound }
            })
            .collect(),
    }
}

/// The first article's map.
pub(crate) fn article() -> NodeGroupPlan {
    group(
        "ngNameXXX",
        &[
            ("172.31.0.0/20", &[("pod-1c-subnet-3", 1)]),
            ("172.31.16.0/20", &[("pod-1a-subnet-3", 1)]),
            ("172.31.32.0/20", &[("pod-1b-subnet-3", 1)]),
        ],
    )
}

/// Several candidates a row, with uneven weights.
pub(crate) fn hashed() -> NodeGroupPlan {
    NodeGroupPlan {
        strategy: Strategy::Hash,
        ..group(
            "batch",
            &[
                ("10.0.0.0/20", &[("pod-a-1", 20), ("pod-a-2", 20), ("pod-a-3", 5)]),
                ("10.0.16.0/20", &[("pod-b-1", 1), ("pod-b-2", 4093)]),
                ("10.0.32.0/20", &[("pod-c-1", 7)]),
            ],
        )
    }
}

/// A pinned group with this many node subnets.
pub(crate) fn wide(rows: u8) -> NodeGroupPlan {
    let rows: Vec<(String, String)> =
        (0..rows).map(|at| (format!("10.1.{at}.0/24"), format!("pod-subnet-{at}"))).collect();
    let candidates: Vec<[(&str, u64); 1]> = rows.iter().map(|(_, name)| [(name.as_str(), 1)]).collect();
    let table: Vec<(&str, &[(&str, u64)])> =
        rows.iter().zip(&candidates).map(|((cidr, _), row)| (cidr.as_str(), row.as_slice())).collect();
    group("wide", &table)
}

pub(crate) fn zone(group: NodeGroupPlan) -> NodeGroupPlan {
    NodeGroupPlan { on_no_match: OnNoMatch::Zone, ..group }
}

pub(crate) fn decides_at_boot(group: NodeGroupPlan) -> NodeGroupPlan {
    NodeGroupPlan { drop_in: DropIn::DecideAtBoot, ..group }
}

pub(crate) fn with_max_pods(pods: u32, group: NodeGroupPlan) -> NodeGroupPlan {
    NodeGroupPlan { max_pods: MaxPodsPlan { written: Some(pods), formula: Some(pods) }, ..group }
}

/// The zone design: nothing but max pods to leave.
pub(crate) fn only_max_pods(group: NodeGroupPlan) -> NodeGroupPlan {
    with_max_pods(29, NodeGroupPlan { label_key: None, ..group })
}

pub(crate) fn access() -> ClusterAccess {
    ClusterAccess {
        name: "demo".into(),
        endpoint: "https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com".into(),
        certificate_authority: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==".into(),
        service_ipv4_cidr: "10.100.0.0/16".parse().expect("a CIDR"),
        dns_address: "10.100.0.10".parse().expect("an address"),
        outpost_cluster_id: None,
    }
}

/// The same group on an image of its user's own: EKS merges nothing.
pub(crate) fn with_image(group: NodeGroupPlan) -> NodeGroupPlan {
    let labels = [("eks.amazonaws.com/nodegroup", group.name.as_str()), ("team", "a")];
    NodeGroupPlan {
        bootstrap: Bootstrap::UserData(access()),
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        taints: vec![
            Taint { key: "dedicated".into(), value: "web".into(), effect: "NO_SCHEDULE".into() },
            Taint { key: "spot".into(), value: String::new(), effect: "PREFER_NO_SCHEDULE".into() },
        ],
        ..group
    }
}

/// Every shape of the AL2023 shell part, by name.
pub(crate) fn al2023() -> Vec<(&'static str, NodeGroupPlan)> {
    vec![
        ("article", article()),
        ("article-zone", zone(article())),
        ("article-max-pods", with_max_pods(29, article())),
        ("hashed", hashed()),
        ("hashed-zone-max-pods", zone(with_max_pods(110, hashed()))),
        ("decide", decides_at_boot(with_max_pods(29, article()))),
        ("decide-hashed-zone", decides_at_boot(zone(hashed()))),
        ("only-max-pods", only_max_pods(article())),
        ("only-max-pods-decide", decides_at_boot(only_max_pods(article()))),
        ("wide-40", wide(40)),
    ]
}

/// Every shape of the AL2 shell part where EKS calls `bootstrap.sh`, by name.
pub(crate) fn al2_wrapped() -> Vec<(&'static str, NodeGroupPlan)> {
    let shapes = vec![
        ("article", article()),
        ("max-pods-zone", zone(with_max_pods(29, article()))),
        ("hashed", hashed()),
        ("only-max-pods", only_max_pods(article())),
    ];
    shapes.into_iter().map(|(name, group)| (name, NodeGroupPlan { family: AmiFamily::Al2, ..group })).collect()
}

/// Every shape of the AL2 shell part that calls `bootstrap.sh`, by name.
pub(crate) fn al2_with_image() -> Vec<(&'static str, NodeGroupPlan)> {
    al2_wrapped().into_iter().map(|(name, group)| (name, with_image(group))).collect()
}

/// A group whose node subnets all come down to one ENIConfig.
pub(crate) fn one_eni_config() -> NodeGroupPlan {
    let rows: [(&str, &[(&str, u64)]); 2] = [("10.0.0.0/20", &[("pod-a-1", 1)]), ("10.0.48.0/20", &[("pod-a-1", 1)])];
    NodeGroupPlan { family: AmiFamily::Bottlerocket, ..group("rocket", &rows) }
}
