//! What linters say of the scripts and templates: nothing.

use std::fs;
use std::process::Command;

use eniplan::render::boot_script::{
    AL2_BOOTSTRAP_MARKER, AL2_WRAPPER_MARKER, AL2023_MARKER, NODE_CONFIG_MARKER, al2_shell_part, al2023_shell_part,
    node_config_part,
};
use eniplan::render::bottlerocket;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{plans, tools};

/// Every script that we render, by name.
fn scripts() -> Vec<(String, String)> {
    let al2023 = plans::al2023().into_iter().map(|(name, group)| (format!("al2023-{name}"), al2023_shell_part(&group)));
    let wrapped = plans::al2_wrapped().into_iter().map(|(name, group)| (format!("al2-{name}"), al2_shell_part(&group)));
    let with_image =
        plans::al2_with_image().into_iter().map(|(name, group)| (format!("al2-image-{name}"), al2_shell_part(&group)));
    al2023.chain(wrapped).chain(with_image).map(|(name, script)| (name, script.expect("renders"))).collect()
}

#[test]
fn shellcheck_and_bash_have_nothing_to_say() {
    let folder = TempDir::new().expect("a folder");
    let mut shellcheck = tools::shellcheck();
    shellcheck.args(["--norc", "--severity=style", "--shell=bash"]);
    for (name, script) in scripts() {
        let path = folder.path().join(format!("{name}.sh"));
        fs::write(&path, script).expect("written");
        let bash = Command::new("bash").arg("-n").arg(&path).output().expect("bash starts");
        assert!(bash.status.success() && bash.stderr.is_empty(), "{}", String::from_utf8_lossy(&bash.stderr));
        shellcheck.arg(path);
    }
    let output = shellcheck.output().expect("shellcheck starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn parts_are_marked_and_say_the_same_every_time() {
    for (group, marker, render) in [
        (plans::article(), AL2023_MARKER, al2023_shell_part as fn(&_) -> _),
        (plans::with_image(plans::article()), NODE_CONFIG_MARKER, node_config_part),
        (plans::article(), AL2_WRAPPER_MARKER, al2_shell_part),
        (plans::with_image(plans::article()), AL2_BOOTSTRAP_MARKER, al2_shell_part),
        (plans::one_eni_config(), bottlerocket::MARKER, bottlerocket::settings),
    ] {
        let text = render(&group).expect("renders");
        assert_eq!(text.lines().filter(|line| *line == marker).count(), 1, "{text}");
        assert_eq!(text, render(&group).expect("renders"));
        assert!(text.is_ascii() && text.ends_with('\n') && !text.contains('\r'), "{text}");
    }
}

#[test]
fn templates_interpolate_through_quoting_helpers_alone() {
    let mut seen = 0;
    for entry in fs::read_dir(tools::source("templates")).expect("templates") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("text");
        for tag in text.split("{{").skip(1) {
            let tag = tag.split("}}").next().expect("split gives one");
            let quoted = ["#", "/", "else", "> ", "json ", "sh ", "toml ", "plain ", "word ", "comment "]
                .iter()
                .any(|start| tag.starts_with(start));
            assert!(quoted, "{}: {{{{{tag}}}}}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} tags");
}

#[test]
fn names_that_are_no_labels_are_refused_before_they_reach_a_script() {
    for name in ["", "a b", "a'b", "a\nb", "-a", "a$(reboot)", &"a".repeat(64)] {
        let mut group = plans::article();
        group.assignments[0].candidates[0].eni_config = name.into();
        assert!(al2023_shell_part(&group).is_err(), "{name:?}");
    }
    for key in ["", "a\"b", "a/b/c d", "k8s.amazonaws.com/", "/eniConfig", "a b/c"] {
        let mut group = plans::article();
        group.label_key = Some(key.into());
        assert!(al2023_shell_part(&group).is_err(), "{key:?}");
    }
    let mut group = plans::article();
    group.name = "two\nlines".into();
    assert!(al2023_shell_part(&group).is_err());
}

#[test]
fn a_plan_that_leaves_something_to_choose_is_refused() {
    let mut group = plans::hashed();
    group.strategy = eniplan::config::Strategy::Pinned;
    assert!(al2023_shell_part(&group).is_err(), "several candidates and no strategy");
    for bounds in [vec![], vec![0], vec![3, 2], vec![1, u64::MAX]] {
        let mut group = plans::hashed();
        let template = group.assignments[0].candidates[0].clone();
        group.assignments[0].candidates =
            bounds.iter().map(|bound| eniplan::plan::Candidate { bound: *bound, ..template.clone() }).collect();
        assert!(al2023_shell_part(&group).is_err(), "{bounds:?}");
    }
    let mut group = plans::article();
    group.label_key = None;
    assert!(al2023_shell_part(&group).is_err(), "nothing to do");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Group names of self-managed groups are the user's own text.
    #[test]
    fn bash_reads_back_whatever_the_script_quotes(name in "[^\0\n\r]{0,40}") {
        let group = eniplan::plan::NodeGroupPlan { name, ..plans::article() };
        let script = al2023_shell_part(&group).expect("one line");
        let quoted = script.lines().find_map(|line| line.split_once("of node group ")).expect("named").1;
        let quoted = quoted.strip_suffix(". cloud-init runs this once, before kubelet starts:").expect("the sentence ends");
        let bash = Command::new("bash").arg("-c").arg(format!("printf %s {quoted}")).output().expect("bash starts");
        prop_assert_eq!(String::from_utf8(bash.stdout).expect("text"), group.name);
    }
}
