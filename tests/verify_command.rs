//! `eniplan verify` as people and programs meet it: texts, formats, flags and exit codes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use eniplan::check::live::Standing;
use eniplan::config::Config;
use eniplan::finding::has_errors;
use eniplan::inventory::Inventory;
use eniplan::report::verify::changes;
use eniplan::verify::{Report, Selection, verify};
use serde_json::{Value, json};

const LABEL: &str = "k8s.amazonaws.com/eniConfig";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/verify/healthy")
}

fn healthy() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("inventory.json")).unwrap()).unwrap()
}

fn nodes_of<'a>(inventory: &'a mut Value, group: &str) -> Vec<&'a mut Value> {
    let of_group = |node: &&mut Value| node["labels"]["eks.amazonaws.com/nodegroup"] == group;
    inventory["nodes"].as_array_mut().unwrap().iter_mut().filter(of_group).collect()
}

/// A cluster in which each kind of thing went wrong: names that nobody knows, an annotation by hand, a pod from elsewhere, a
/// setting that is off.
fn unwell() -> Value {
    let mut inventory = healthy();
    for node in nodes_of(&mut inventory, "search") {
        node["labels"][LABEL] = "no\"such\u{1b}[31m\u{7}<&>\\one".into();
    }
    inventory["aws_node"]["env"]["AWS_VPC_CNI_NODE_PORT_SUPPORT"] = "false".into();
    nodes_of(&mut inventory, "apps")[0]["annotations"][LABEL] = "retail-set-2-a".into();
    let node = nodes_of(&mut inventory, "jobs")[0]["name"].clone();
    let pods = inventory["observed"]["pods"].as_array_mut().unwrap();
    let pod = pods.iter_mut().find(|pod| pod["node"] == node && pod["host_network"] != true).unwrap();
    pod["ip"] = "10.128.4.9".into();
    inventory
}

fn run(inventory: &Value, arguments: &[&str]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(["verify", "--inventory", "-", "--config", "eniplan.yaml"])
        .args(arguments)
        .current_dir(folder())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = inventory.to_string();
    let mut stdin = child.stdin.take().unwrap();
    // A run that refuses its arguments reads nothing.
    let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn page(inventory: &Value, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(inventory, arguments);
    format!("exit {code}\n{stdout}{stderr}")
}

fn report(inventory: &Value) -> Report {
    let inventory = Inventory::from_json(&inventory.to_string(), "inventory.json").unwrap();
    let text = std::fs::read_to_string(folder().join("eniplan.yaml")).unwrap();
    let config = Config::from_yaml(&text, "eniplan.yaml").unwrap();
    verify(&inventory, &config, Vec::new(), &Selection::default()).unwrap()
}

#[test]
fn a_cluster_that_is_right() {
    insta::assert_snapshot!("right", page(&healthy(), &[]));
    let quiet = "exit 0\nRight: 12 nodes: all right; 24 pods in their pod subnets\n";
    assert_eq!(page(&healthy(), &["--quiet"]), quiet);
}

#[test]
fn a_cluster_that_is_not() {
    insta::assert_snapshot!("wrong", page(&unwell(), &[]));
    insta::assert_snapshot!("wrong-quiet-all-evidence", page(&unwell(), &["-q", "-v"]));
    insta::assert_snapshot!("wrong-one-group", page(&unwell(), &["--node-group", "jobs"]));
    insta::assert_snapshot!("wrong-json", page(&unwell(), &["-o", "json", "--node-group", "jobs"]));
    insta::assert_snapshot!("wrong-sarif", page(&unwell(), &["-o", "sarif", "--severity", "error"]));
    insta::assert_snapshot!("wrong-junit", page(&unwell(), &["-o", "junit"]));
    insta::assert_snapshot!("wrong-openmetrics", page(&unwell(), &["-o", "openmetrics", "--node-group", "apps"]));
}

#[test]
fn labels_alone_prove_nothing() {
    let mut inventory = healthy();
    inventory.as_object_mut().unwrap().remove("observed");
    let (_, stdout, _) = run(&inventory, &[]);
    let headline = stdout.lines().next().unwrap();
    assert!(headline.starts_with("Cannot tell:"), "{headline}");
    assert!(headline.ends_with("pods and interfaces were not read"), "{headline}");
    assert!(!report(&inventory).is_right());
    assert!(report(&healthy()).is_right());
}

#[test]
fn flags_limit_what_is_looked_at() {
    let inventory = unwell();
    let rules = |arguments: &[&str]| -> Vec<String> {
        let (_, stdout, _) = run(&inventory, &[arguments, &["-o", "json"]].concat());
        let document: Value = serde_json::from_str(&stdout).unwrap();
        document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["rule"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = rules(&[]);
    assert!(all.len() > 3, "{all:?}");
    assert_eq!(rules(&["--only", "pod-outside-pod-subnet,nodes-outdated"]), ["pod-outside-pod-subnet"]);
    assert!(!rules(&["--skip", "pod-outside-pod-subnet"]).contains(&"pod-outside-pod-subnet".to_owned()));
    assert!(rules(&["--severity", "error"]).len() < all.len());
    assert_eq!(run(&inventory, &["--only", "nodes-outdated"]).0, 0);
}

/// A part of the inventory that was not read.
fn unread(inventory: &mut Value, source: &str, action: &str, field: &str) {
    let gap = json!({"source": source, "action": action, "code": "403", "message": format!("`{action}` is forbidden")});
    inventory["gaps"].as_array_mut().unwrap().push(gap);
    let field = inventory.pointer_mut(field).unwrap();
    *field = if field.is_array() { json!([]) } else { Value::Null };
}

/// Everything that can be denied.
fn denied() -> Value {
    let mut inventory = healthy();
    inventory["gaps"] = json!([]);
    for (source, action, field) in [
        ("subnets", "ec2:DescribeSubnets", "/subnets"),
        ("security_groups", "ec2:DescribeSecurityGroups", "/security_groups"),
        ("node_groups", "eks:ListNodegroups", "/node_groups"),
        ("launch_templates", "ec2:DescribeLaunchTemplates", "/launch_templates"),
        ("eni_configs", "list eniconfigs", "/eni_configs"),
        ("aws_node", "get daemonsets", "/aws_node"),
        ("nodes", "list nodes", "/nodes"),
        ("pods", "list pods", "/observed/pods"),
        ("cni_nodes", "list cninodes", "/observed/cni_nodes"),
        ("network_interfaces", "ec2:DescribeNetworkInterfaces", "/observed/network_interfaces"),
    ] {
        unread(&mut inventory, source, action, field);
    }
    inventory
}

#[test]
fn what_was_not_read_is_said_once_and_counts_as_nothing() {
    insta::assert_snapshot!("denied", page(&denied(), &[]));
    insta::assert_snapshot!("denied-skipped", page(&denied(), &["--skip", "read-failed,evidence-unread"]));
    let mut inventory = healthy();
    inventory["gaps"] = json!([]);
    unread(&mut inventory, "nodes", "list nodes", "/nodes");
    let report = report(&inventory);
    assert!(report.absent.is_empty() && !report.is_right(), "{report:#?}");
    let headline = page(&inventory, &["-q"]).lines().nth(1).unwrap().to_owned();
    assert!(headline.starts_with("Cannot tell: ") && headline.contains("nodes were not read"), "{headline}");
}

/// No check passes whose evidence was not read.
#[test]
fn checks_without_evidence_are_skipped() {
    let cases = |inventory: &Value| -> Vec<String> {
        let (_, stdout, _) = run(inventory, &["-o", "junit", "--skip", "read-failed,evidence-unread"]);
        let passed = |line: &&str| line.contains("<testcase ") && line.ends_with("/>");
        let name = |line: &str| line.split(" name=\"").nth(1).unwrap()[..2].to_owned();
        stdout.lines().filter(passed).map(name).collect()
    };
    assert_eq!(cases(&denied()), [""; 0]);
    let mut planning = healthy();
    planning.as_object_mut().unwrap().remove("observed");
    let passed = cases(&planning);
    for check in ["00", "11", "12", "13", "14", "18", "25", "26"] {
        assert!(!passed.contains(&check.to_owned()), "{passed:?}");
    }
    assert!(passed.contains(&"04".to_owned()), "{passed:?}");
}

/// What comes next finds the cluster and the wishes as the run did.
#[test]
fn commands_repeat_the_flags() {
    let commands = |arguments: &[&str]| -> Vec<String> {
        let (_, stdout, _) = run(&unwell(), &[arguments, &["-o", "json"]].concat());
        let document: Value = serde_json::from_str(&stdout).unwrap();
        let of_steps =
            document["next"].as_array().unwrap().iter().flat_map(|step| step["commands"].as_array().unwrap());
        let own = of_steps.map(|command| command.as_str().unwrap().to_owned());
        own.filter(|command| command.starts_with("eniplan ")).collect()
    };
    let explain = "eniplan explain ip-10-128-3-41.ec2.internal --inventory - --profile 'a b' --kube-context it --config eniplan.yaml";
    assert_eq!(commands(&["--profile", "a b", "--kube-context", "it"]), [explain]);
}

#[test]
fn nodes_that_are_awaited_are_the_next_step() {
    let mut inventory = healthy();
    let gone = nodes_of(&mut inventory, "jobs")[0]["name"].clone();
    inventory["nodes"].as_array_mut().unwrap().retain(|node| node["name"] != gone);
    insta::assert_snapshot!("awaited", page(&inventory, &[]));
}

#[test]
fn what_flags_hide_is_counted() {
    let (code, stdout, _) = run(&unwell(), &["--only", "nodes-outdated"]);
    assert_eq!((code, stdout.lines().nth(1).unwrap()), (0, "3 errors, 1 warning not shown: --only"));
    let (_, stdout, _) = run(&unwell(), &["--skip", "pod-outside-pod-subnet", "-q"]);
    assert_eq!(stdout.lines().nth(1).unwrap(), "1 error not shown: --skip");
    let nothing = page(&healthy(), &["--only", "nodes-outdated", "--skip", "nodes-outdated"]);
    insta::assert_snapshot!("no-rule-left", nothing);
    for source in [["--cluster", "demo"], ["--inventory", "inventory.json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eniplan"));
        let output = command.args(["verify", "--timeout", "5"]).args(source).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains("--timeout"), "{stderr}");
    }
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    insta::assert_snapshot!("no-such-rule", page(&healthy(), &["--skip", "annotation-decide"]));
    insta::assert_snapshot!("no-such-group", page(&healthy(), &["--node-group", "app"]));
    insta::assert_snapshot!("watch-of-a-file", page(&healthy(), &["--watch"]));
}

/// Whatever a node is labelled: it never stands wrong without an error that says so, and exit code 4 with it.
#[test]
fn wrong_nodes_come_with_errors() {
    let names = |node: usize| -> Vec<String> {
        let own = healthy()["nodes"][node]["labels"][LABEL].as_str().unwrap_or_default().to_owned();
        let all = healthy()["eni_configs"].as_array().unwrap().clone();
        let others = all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).filter(|name| *name != own);
        others.chain(["nobody".into(), String::new(), "eniplan-no-match".into()]).collect()
    };
    let mut seen: BTreeMap<Standing, usize> = BTreeMap::new();
    for at in 0..healthy()["nodes"].as_array().unwrap().len() {
        for name in names(at) {
            for field in ["labels", "annotations"] {
                let mut inventory = healthy();
                inventory["nodes"][at][field][LABEL] = json!(name);
                let report = report(&inventory);
                let wrong = report.nodes.iter().any(|node| node.standing == Standing::Wrong);
                assert!(!wrong || has_errors(&report.findings), "node {at}, {field} {name}: {report:#?}");
                report.standing().into_keys().for_each(|standing| *seen.entry(standing).or_default() += 1);
            }
        }
    }
    assert!(seen[&Standing::Wrong] > 100, "{seen:?}");
}

/// Nodes of a group register late, are labelled later, and one of another group goes.
#[test]
fn a_watch_says_what_changes() {
    let right = healthy();
    let mut without = right.clone();
    without["nodes"].as_array_mut().unwrap().retain(|node| node["labels"]["eks.amazonaws.com/nodegroup"] != "jobs");
    let mut unlabelled = right.clone();
    for node in nodes_of(&mut unlabelled, "jobs") {
        node["labels"].as_object_mut().unwrap().remove(LABEL);
    }
    let mut other = right.clone();
    let gone = nodes_of(&mut other, "search")[0]["name"].clone();
    other["nodes"].as_array_mut().unwrap().retain(|node| node["name"] != gone);

    let reports = [&without, &unlabelled, &right, &right, &other].map(report);
    let mut text = String::new();
    let mut before = None;
    for now in &reports {
        let lines = changes(before, now).join("\n");
        text.push_str(&format!("is right: {}\n{lines}\n\n", now.is_right()));
        before = Some(now);
    }
    insta::assert_snapshot!("watch", anstream::adapter::strip_str(&text).to_string());
}

/// The tools that `tests/setup` gets, beside the build unless `$ENIPLAN_TOOLS` says where.
fn python() -> PathBuf {
    let beside_the_build =
        || Path::new(env!("CARGO_BIN_EXE_eniplan")).ancestors().nth(2).unwrap().join("eniplan-tools");
    let folder = std::env::var_os("ENIPLAN_TOOLS").map_or_else(beside_the_build, PathBuf::from);
    folder.join("python/bin/python")
}

const COUNT_CASES: &str = "
import sys, xml.etree.ElementTree
root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
suite, = root
kinds = [child.tag for case in suite for child in case]
assert suite.attrib['failures'] == str(kinds.count('failure')) and suite.attrib['skipped'] == str(kinds.count('skipped'))
assert suite.attrib['tests'] == str(len(suite)), suite.attrib
print(len(suite), kinds.count('failure'), kinds.count('skipped'))
print(next(suite.iter('failure')).text)
";

#[test]
fn an_xml_parser_reads_the_junit_report() {
    let (_, stdout, _) = run(&unwell(), &["-o", "junit"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), stdout).unwrap();
    let output = Command::new(python()).args(["-c", COUNT_CASES]).arg(file.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("28 "), "{text}");
}

/// Each family once, its metadata ahead of its samples, label values quoted, the end marked.
#[test]
fn metrics_keep_to_the_format() {
    let (_, stdout, _) = run(&unwell(), &["-o", "openmetrics"]);
    let mut families: Vec<&str> = Vec::new();
    let mut series = std::collections::BTreeSet::new();
    let mut lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.pop(), Some("# EOF"));
    for line in lines {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            let name = family.strip_suffix(" gauge").unwrap();
            assert!(!families.contains(&name), "{name} twice");
            families.push(name);
        } else if let Some(rest) = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# UNIT ")) {
            assert!(rest.starts_with(&format!("{} ", families.last().unwrap())), "{line}");
        } else {
            let (of, value) = line.rsplit_once(' ').unwrap();
            assert!(of.starts_with(&format!("{}{{cluster=\"retail\"", families.last().unwrap())), "{line}");
            assert!(of.ends_with("\"}"), "{line}");
            assert!(value.parse::<i64>().is_ok(), "{line}");
            assert!(series.insert(of.to_owned()), "{of} twice");
        }
    }
    assert_eq!(families.len(), 8);
}
