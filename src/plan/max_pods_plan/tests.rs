//! Max pods of groups whose image EKS chooses (`general`) and whose launch template names one (`pinned`).

use serde_json::{Value, json};

use crate::config::Config;
use crate::inventory::Inventory;
use crate::plan::{MaxPodsPlan, Planned, plan};

/// Interfaces, addresses of each, vCPU, hypervisor; as `aws ec2 describe-instance-types` has them.
const TYPES: [(&str, u32, u32, u32, &str); 9] = [
    ("t3.small", 3, 4, 2, "nitro"),
    ("t3.medium", 3, 6, 2, "nitro"),
    ("m5.large", 3, 10, 2, "nitro"),
    ("m5.xlarge", 4, 15, 4, "nitro"),
    ("m4.xlarge", 4, 15, 4, "xen"),
    ("d3en.xlarge", 4, 3, 4, "nitro"),
    ("m5.8xlarge", 8, 30, 32, "nitro"),
    ("c5.7xlarge", 8, 30, 30, "nitro"),
    ("hpc6id.32xlarge", 1, 50, 64, "nitro"),
];

/// The cluster of three zones with other types, settings and CNI.
#[derive(Default)]
struct Case<'a> {
    types: &'a [&'a str],
    env: &'a [(&'a str, &'a str)],
    /// Settings that the file asks for.
    wanted: &'a [(&'a str, &'a str)],
    cni: Option<&'a str>,
    /// What nodes of `general` report.
    reported: Option<u32>,
    /// `maxPods` of both groups.
    max_pods: Option<&'a str>,
}

impl Case<'_> {
    fn planned(&self) -> Planned {
        let mut value: Value =
            serde_json::from_str(include_str!("../../../fixtures/three-zones/inventory.json")).unwrap();
        value["instance_types"] = TYPES
            .iter()
            .map(|(name, interfaces, addresses, v_cpus, hypervisor)| {
                json!({
                    "instance_type": name, "ipv4_addresses_per_interface": addresses,
                    "network_cards": [{ "network_card_index": 0, "maximum_network_interfaces": interfaces }],
                    "hypervisor": hypervisor, "default_v_cpus": v_cpus,
                })
            })
            .collect();
        for group in value["node_groups"].as_array_mut().unwrap() {
            group["instance_types"] = json!(self.types);
        }
        for (name, setting) in self.env {
            value["aws_node"]["env"][name] = json!(setting);
        }
        if let Some(cni) = self.cni {
            value["aws_node"]["image"] = json!(format!("amazon-k8s-cni:{cni}"));
        }
        for node in value["nodes"].as_array_mut().unwrap() {
            node["max_pods"] = json!(self.reported);
        }
        let inventory = Inventory::from_json(&value.to_string(), "inventory.json").unwrap();
        let mut text = include_str!("../../../fixtures/three-zones/eniplan.yaml").to_owned();
        if let Some(max_pods) = self.max_pods {
            text = text.replace("adopt: true", &format!("adopt: true, maxPods: {max_pods}"));
        }
        let wanted: Vec<String> = self.wanted.iter().map(|(name, setting)| format!("{name}: \"{setting}\"")).collect();
        let text = text.replace("spec:\n", &format!("spec:\n  cni: {{env: {{{}}}}}\n", wanted.join(", ")));
        plan(&inventory, &Config::from_yaml(&text, "eniplan.yaml").unwrap())
    }

    /// Written and by the formula, of one group.
    fn of(&self, group: &str) -> (Option<u32>, Option<u32>) {
        let MaxPodsPlan { written, formula } =
            self.planned().plan.node_groups.into_iter().find(|plan| plan.name == group).unwrap().max_pods;
        (written, formula)
    }

    fn rules(&self) -> Vec<(&'static str, String)> {
        let problems = self.planned().problems.into_iter().filter(|problem| problem.rule.contains("pod"));
        let mut rules: Vec<_> = problems.map(|problem| (problem.rule, problem.subject.to_string())).collect();
        rules.sort();
        rules
    }
}

const PREFIXES: (&str, &str) = ("ENABLE_PREFIX_DELEGATION", "true");
const OFF: (&str, &str) = ("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "false");
const POD_ENI: (&str, &str) = ("ENABLE_POD_ENI", "true");

#[test]
fn with_an_image_the_formula_is_written() {
    for (types, env, cni, expected) in [
        (&["t3.small"][..], &[][..], None, 8),
        (&["t3.medium"], &[], None, 12),
        (&["m5.large"], &[], None, 20),
        (&["m5.xlarge"], &[], None, 44),
        // The least over the types.
        (&["m5.large", "d3en.xlarge"], &[], None, 8),
        // Prefixes: capped by vCPU; a type that cannot have them counts single addresses.
        (&["m5.large"], &[PREFIXES], None, 110),
        (&["c5.7xlarge"], &[PREFIXES], None, 110),
        (&["m5.8xlarge"], &[PREFIXES], None, 250),
        (&["m5.xlarge", "m4.xlarge"], &[PREFIXES], None, 44),
        (&["m5.large"], &[PREFIXES], Some("v1.8.0"), 20),
        // MAX_ENI counts the primary interface; what is no number above zero is unset.
        (&["m5.large"], &[("MAX_ENI", "2")], None, 11),
        (&["m5.large"], &[("MAX_ENI", "9")], None, 20),
        (&["m5.large"], &[("MAX_ENI", "0")], None, 20),
        (&["m5.large"], &[("MAX_ENI", "many")], None, 20),
        // The trunk of security groups for pods takes one more.
        (&["m5.large"], &[POD_ENI], None, 11),
        (&["m5.xlarge"], &[POD_ENI, ("MAX_ENI", "3")], None, 16),
        (&["m5.xlarge"], &[POD_ENI, PREFIXES], None, 110),
    ] {
        let case = Case { types, env, cni, ..Case::default() };
        assert_eq!(case.of("pinned"), (Some(expected), Some(expected)), "{types:?} {env:?}");
    }
}

#[test]
fn without_an_image_it_is_left_to_eks_unless_that_would_be_wrong() {
    let right = Case { types: &["m5.large"], reported: Some(20), ..Case::default() };
    assert_eq!(right.of("general"), (None, Some(20)));
    let several = Case { types: &["m5.large", "d3en.xlarge"], reported: Some(8), ..Case::default() };
    assert_eq!(several.of("general"), (None, Some(8)));
    let above = Case { types: &["m5.large"], reported: Some(29), ..Case::default() };
    assert_eq!(above.of("general"), (Some(20), Some(20)));
    let off = Case { types: &["m5.large"], env: &[OFF], reported: Some(20), ..Case::default() };
    assert_eq!(off.of("general"), (Some(20), Some(20)));
}

/// The settings that count are those of the plan, not those in force.
#[test]
fn prefixes_that_the_file_turns_off_or_on() {
    let off = Case {
        types: &["m5.large"],
        env: &[PREFIXES],
        wanted: &[("ENABLE_PREFIX_DELEGATION", "false")],
        reported: Some(110),
        ..Case::default()
    };
    assert_eq!(off.of("general"), (Some(20), Some(20)));
    let on = Case { types: &["m5.large"], wanted: &[PREFIXES], reported: Some(20), ..Case::default() };
    assert_eq!(on.of("general"), (None, Some(110)));
    assert_eq!(on.of("pinned"), (Some(110), Some(110)));
}

#[test]
fn a_number_is_written_as_it_is_and_compared_with_the_formula() {
    let fits = Case { types: &["m5.large"], reported: Some(20), max_pods: Some("20"), ..Case::default() };
    assert_eq!(fits.of("general"), (Some(20), Some(20)));
    assert_eq!(fits.rules(), []);
    let above = Case { types: &["m5.large"], reported: Some(20), max_pods: Some("29"), ..Case::default() };
    assert_eq!(above.of("pinned"), (Some(29), Some(20)));
    let rule = |group: &str| ("max-pods-above-formula", format!("node group {group}"));
    assert_eq!(above.rules(), [rule("general"), rule("pinned")]);
}

#[test]
fn left_to_eks_means_to_the_image_where_there_is_one() {
    let case = Case { types: &["m5.large"], reported: Some(29), max_pods: Some("eks"), ..Case::default() };
    assert_eq!(case.of("general"), (None, Some(20)));
    assert_eq!(case.of("pinned"), (None, Some(20)));
    assert_eq!(case.rules(), [("max-pods-left-to-image", "node group pinned".to_owned())]);
}

#[test]
fn what_cannot_be_computed_is_said_once_for_each_group_that_needs_it() {
    let unknown = Case { types: &["m5.large", "x9.large"], reported: Some(20), ..Case::default() };
    assert_eq!(unknown.of("general"), (None, None));
    assert_eq!(unknown.rules(), [("max-pods-undecidable", "node group pinned".to_owned())]);
    let nowhere = Case { types: &["hpc6id.32xlarge"], reported: Some(20), ..Case::default() };
    assert!(
        nowhere.rules().contains(&("instance-type-without-pod-interface", "instance type hpc6id.32xlarge".to_owned()))
    );
}

#[test]
fn the_trunk_is_an_estimate_and_the_plan_says_so() {
    let planned = Case { types: &["m5.large"], env: &[POD_ENI], ..Case::default() }.planned();
    let said = planned.plan.decisions.iter().any(|decision| decision.because.contains("an estimate"));
    assert!(said, "{:#?}", planned.plan.decisions);
}
