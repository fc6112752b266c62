//! What the live cluster says of a node: its standing, its template, its interfaces, its pods.

use super::super::style::{ADDED, BOLD, CHANGED, REMOVED, styled};
use super::super::table::table;
use super::super::verify::words;
use crate::check::live::Standing;
use crate::verify::{CloseUp, FromTemplate, InterfaceAt, PodAt, PodPlace, Role};

/// Pods that are shown, unless all are asked for.
const SHOWN: usize = 20;

/// The line below the head.
pub(super) fn standing(near: &CloseUp) -> String {
    let style = match near.standing {
        Standing::Right => ADDED,
        Standing::Wrong => REMOVED,
        Standing::Outdated | Standing::NeedsReplacement | Standing::CannotTell => CHANGED,
    };
    format!("  standing     {}: {}\n", styled(style.bold(), words(near.standing)), near.because)
}

/// Template, interfaces and pods.
pub(super) fn sections(near: &CloseUp, verbose: bool) -> String {
    let mut text = templates(near);
    if !near.evidence_read {
        text.push_str(&format!(
            "\n{}  not read: the inventory was made for planning, or a read failed; `eniplan inventory --for verify` makes one that has them\n",
            styled(BOLD, "Interfaces and pods")
        ));
        return text;
    }
    text.push_str(&interfaces(&near.interfaces));
    text.push_str(&pods(&near.pods, if verbose { usize::MAX } else { SHOWN }));
    text
}

fn templates(near: &CloseUp) -> String {
    let mut lines = Vec::new();
    if let Some(from) = &near.launched_from {
        lines.push(format!(
            "it was launched from version {} of {}, which {}",
            from.version,
            from.launch_template_id,
            gives(from)
        ));
    }
    match (&near.launched_from, &near.in_use) {
        (Some(from), Some(used))
            if (&from.launch_template_id, &from.version) == (&used.launch_template_id, &used.version) =>
        {
            lines.push("its group uses that version".into());
        }
        (_, Some(used)) => {
            lines.push(format!(
                "its group uses version {} of {}, which {}",
                used.version,
                used.launch_template_id,
                gives(used)
            ));
        }
        (_, None) => {}
    }
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "\n{}\n{}",
        styled(BOLD, "Its launch template"),
        lines.iter().map(|line| format!("  {line}\n")).collect::<String>()
    )
}

fn gives(from: &FromTemplate) -> String {
    match (from.read, from.gives.as_slice()) {
        (false, _) => "was not read".into(),
        (true, []) => "gives a node there no ENIConfig".into(),
        (true, [only]) => format!("gives it `{only}`"),
        (true, several) => format!("gives one of {} by the instance id", several.join(", ")),
    }
}

fn interfaces(interfaces: &[InterfaceAt]) -> String {
    if interfaces.is_empty() {
        return format!("\n{}  none was found\n", styled(BOLD, "Interfaces"));
    }
    // Groups are mostly the same, and a column of them makes lines too long for most terminals.
    let shared = interfaces.first().map(|first| &first.groups);
    let shared = shared.filter(|groups| interfaces.iter().all(|interface| interface.groups == **groups));
    let row = |interface: &InterfaceAt| {
        let role = match interface.role {
            Role::Primary => "the node's own",
            Role::Pods => "for pods",
            Role::Trunk => "trunk",
            Role::Other => "left alone by the CNI",
        };
        let verdict = match (interface.in_pod_subnet, interface.role, interface.addresses) {
            (Some(true), ..) => "right",
            (Some(false), ..) => "elsewhere",
            (None, ..) if interface.cidr.is_none() => "not in the VPC",
            (None, Role::Primary, 1..) => "holds addresses for pods",
            (None, ..) => "",
        };
        let mut row = vec![
            interface.network_interface_id.clone(),
            format!("{}/{}", interface.network_card_index, interface.device_index),
            role.into(),
            interface.subnet_id.clone(),
            interface.addresses.to_string(),
            verdict.into(),
        ];
        row.extend(shared.is_none().then(|| interface.groups.join(" ")));
        row
    };
    let mut heads = vec!["interface", "device", "", "subnet", "pod addresses", ""];
    heads.extend(shared.is_none().then_some("groups"));
    let title = match shared.map(Vec::as_slice) {
        None => styled(BOLD, "Interfaces"),
        Some([]) => format!("{}  without security groups", styled(BOLD, "Interfaces")),
        Some(groups) => format!("{}  with security groups {}", styled(BOLD, "Interfaces"), groups.join(", ")),
    };
    format!("\n{title}\n{}", table(&heads, interfaces.iter().map(row).collect()))
}

fn pods(pods: &[PodAt], shown: usize) -> String {
    let places = [
        (PodPlace::PodSubnet, "in the pod subnet"),
        (PodPlace::Elsewhere, "elsewhere"),
        (PodPlace::BranchInterface, "with branch interfaces"),
        (PodPlace::Unknown, "with an address that nothing is known of"),
        (PodPlace::HostNetwork, "on the host network"),
        (PodPlace::NoAddress, "without address"),
    ];
    let counted: Vec<String> = places
        .iter()
        .map(|(place, words)| (pods.iter().filter(|pod| pod.place == *place).count(), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if counted.is_empty() {
        return format!("\n{}  none\n", styled(BOLD, "Pods"));
    }
    let row = |pod: &PodAt| {
        let verdict = match pod.place {
            PodPlace::PodSubnet => "right",
            PodPlace::Elsewhere => "elsewhere",
            PodPlace::BranchInterface => "branch interface",
            PodPlace::Unknown => "cannot tell",
            PodPlace::HostNetwork => "host network",
            PodPlace::NoAddress => "",
        };
        vec![
            format!("{}/{}", pod.namespace, pod.name),
            pod.ip.map_or_else(|| "none".to_owned(), |ip| ip.to_string()),
            pod.subnet_id.clone().unwrap_or_default(),
            verdict.into(),
        ]
    };
    let rows: Vec<Vec<String>> = pods.iter().take(shown).map(row).collect();
    let mut text = format!(
        "\n{}  {}\n{}",
        styled(BOLD, "Pods"),
        counted.join(", "),
        table(&["pod", "address", "subnet", ""], rows)
    );
    let more = pods.len().saturating_sub(shown);
    if more > 0 {
        text.push_str(&format!("  and {more} more, which -v shows\n"));
    }
    text
}
