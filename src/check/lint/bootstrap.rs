//! Calls of `bootstrap.sh` and of nodeadm in scripts.

use super::{Input, line_in};
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::user_data::bootstrap_call::{Call, calls};
use crate::user_data::shell::{Command, commands};
use crate::user_data::{Part, Place, is_ours};

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if !input.is_amazon_linux() {
        return;
    }
    let mut earlier: Option<usize> = None;
    for (number, part, place) in input.parts().filter(|(_, part, _)| part.is_script()) {
        let content = part.content();
        let found = calls(&content);
        for call in &found {
            let line = line_in(part, place, call.line);
            where_it_is_called(input, number, line, earlier, problems);
            arguments(input, &content, call, line, problems);
        }
        if !found.is_empty() {
            earlier = earlier.or(Some(number));
        }
        if !is_ours(part) {
            for command in commands(&content) {
                other_commands(input, number, part, place, &command, problems);
            }
        }
    }
}

fn where_it_is_called(
    input: &Input<'_>,
    number: usize,
    line: usize,
    earlier: Option<usize>,
    problems: &mut Vec<Problem>,
) {
    if input.family == AmiFamily::Al2023 {
        problems.push(input.problem(
            "bootstrap-on-al2023",
            line,
            format!("part {number} calls bootstrap.sh, which on AL2023 only prints an error"),
            "say in a NodeConfig what the call says, or name the family with --family",
        ));
        return;
    }
    if input.eks_merges {
        problems.push(input.problem(
            "bootstrap-called-twice",
            line,
            format!(
                "part {number} calls bootstrap.sh, and without an image in the launch template EKS adds a call of its own: kubelet registers with the first, its files keep the second"
            ),
            "take the call out, or name an image in the launch template (ImageId)",
        ));
    } else if let Some(earlier) = earlier {
        problems.push(input.problem(
            "bootstrap-called-twice",
            line,
            format!("part {number} calls bootstrap.sh, and so does part {earlier}: kubelet registers with the first, its files keep the second"),
            "keep one of the calls",
        ));
    }
}

fn arguments(input: &Input<'_>, script: &[u8], call: &Call, line: usize, problems: &mut Vec<Problem>) {
    if input.family == AmiFamily::Al2023 {
        return;
    }
    if call.times("--kubelet-extra-args") > 1 {
        problems.push(input.problem(
            "kubelet-extra-args-twice",
            line,
            "it gives --kubelet-extra-args more than once; bootstrap.sh takes the last and forgets the others",
            "put all flags into one --kubelet-extra-args",
        ));
    }
    let extra_args = call
        .option("--kubelet-extra-args")
        .map(|word| String::from_utf8_lossy(script.get(word.range.clone()).unwrap_or_default()).into_owned())
        .unwrap_or_default();
    let sets_max_pods = extra_args.contains("--max-pods");
    let use_max_pods = call.option("--use-max-pods").and_then(|word| word.literal.as_deref());
    if sets_max_pods != (use_max_pods == Some("false")) {
        let (has, lacks) = if sets_max_pods {
            ("--max-pods", "`--use-max-pods false`")
        } else {
            ("`--use-max-pods false`", "--max-pods in --kubelet-extra-args")
        };
        problems.push(input.problem(
            "max-pods-half-set",
            line,
            format!("it gives {has} without {lacks}: max pods is then not what it seems to be"),
            "give both `--use-max-pods false` and --max-pods inside --kubelet-extra-args",
        ));
    }
    let chooses_eni_config = extra_args.contains("eniConfig") || extra_args.contains("externalEniConfig");
    if chooses_eni_config && !sets_max_pods && use_max_pods.is_none() {
        problems.push(input.problem(
            "max-pods-unset",
            line,
            "it chooses an ENIConfig and leaves max pods at the image's table, which counts the primary interface: one interface too many",
            "give `--use-max-pods false` and --max-pods=N; `eniplan plan` computes N",
        ));
    }
    hand_written(input, script, call, line, problems);
}

/// Values of the cluster that stand in shell variables were copied from somewhere.
fn hand_written(input: &Input<'_>, script: &[u8], call: &Call, line: usize, problems: &mut Vec<Problem>) {
    let all = commands(script);
    let assigned = |name: &str| {
        all.iter().flat_map(|command| &command.words).any(|word| {
            word.literal
                .as_deref()
                .and_then(|text| text.strip_prefix(name)?.strip_prefix('='))
                .is_some_and(|value| !value.is_empty())
        })
    };
    let copied: Vec<&str> = ["--b64-cluster-ca", "--apiserver-endpoint", "--dns-cluster-ip"]
        .into_iter()
        .filter(|option| {
            call.option(option).is_some_and(|word| {
                let raw = String::from_utf8_lossy(script.get(word.range.clone()).unwrap_or_default());
                let variable =
                    raw.trim_matches('"').trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
                word.literal.is_none() && assigned(variable)
            })
        })
        .collect();
    if !copied.is_empty() {
        problems.push(input.problem(
            "cluster-values-hand-written",
            line,
            format!("the values of {} are written into the script by hand; a slip keeps the node out, and nothing updates them", copied.join(", ")),
            "let a program take them from eks:DescribeCluster, as `eniplan generate` does",
        ));
    }
}

fn other_commands(
    input: &Input<'_>,
    number: usize,
    part: &Part,
    place: Place,
    command: &Command,
    problems: &mut Vec<Problem>,
) {
    let words: Vec<&str> = command.words.iter().filter_map(|word| word.literal.as_deref()).collect();
    let line = line_in(part, place, command.line);
    let program = words.iter().find(|word| !matches!(**word, "sudo" | "exec" | "if" | "then" | "else" | "do" | "!"));
    let program = program.copied().unwrap_or_default();
    if matches!(program, "nodeadm" | "/usr/bin/nodeadm") && words.contains(&"init") {
        problems.push(input.problem(
            "nodeadm-called",
            line,
            format!(
                "part {number} calls nodeadm; the image does that by itself, and a second run starts the CNI too early"
            ),
            "write a NodeConfig instead; nodeadm reads it from the user data or from /etc/eks/nodeadm.d",
        ));
    }
    let is_systemctl = matches!(program, "systemctl" | "/bin/systemctl" | "/usr/bin/systemctl" | "service");
    let starts = words.iter().any(|word| matches!(*word, "start" | "restart" | "stop"));
    let kubelet = words.iter().any(|word| matches!(*word, "kubelet" | "kubelet.service"));
    if input.eks_merges && is_systemctl && starts && kubelet {
        problems.push(input.problem(
            "kubelet-touched",
            line,
            format!(
                "part {number} starts or stops kubelet, which is EKS's to do where the launch template names no image"
            ),
            "change kubelet's settings instead, before it is started",
        ));
    }
}
