//! What `eniplan generate` writes for every fixture, booted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use eniplan::choose::choose;
use eniplan::config::AmiFamily;
use eniplan::plan::{Bootstrap, DropIn, NodeGroupPlan, Plan};
use eniplan::render::bottlerocket;
use eniplan::user_data;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::boot::instance_id;
use crate::imds::{Imds, answers};
use crate::machine::Machine;
use crate::{al2, images, mime, nodeadm, tools};

/// Nodes that every fixture boots, over all of its groups and their subnets.
const NODES: usize = 20;

/// A fixture whose plan has no error findings, generated.
struct Generated {
    name: String,
    folder: TempDir,
    plan: Plan,
}

impl Generated {
    /// `None` when the plan has error findings.
    fn from(fixture: &Path) -> Option<Self> {
        let folder = TempDir::new().expect("a folder");
        let output = Command::new(env!("CARGO_BIN_EXE_eniplan"))
            .arg("generate")
            .arg("--inventory")
            .arg(fixture.join("inventory.json"))
            .arg("--config")
            .arg(fixture.join("eniplan.yaml"))
            .arg("--out-dir")
            .arg(folder.path().join("out"))
            .output()
            .expect("eniplan starts");
        let name = fixture.file_name().expect("a name").to_string_lossy().into_owned();
        match output.status.code() {
            Some(0) => {}
            Some(4) => return None,
            code => panic!("{name}: exit {code:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
        let written: Value =
            serde_json::from_slice(&fs::read(folder.path().join("out/plan.json")).expect("a plan")).expect("JSON");
        let plan = serde_json::from_value(written["plan"].clone()).expect("a plan");
        Some(Self { name, folder, plan })
    }

    fn user_data(&self, group: &NodeGroupPlan, file: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.path().join("out/node-groups").join(&group.name).join(file)).ok()
    }

    /// Groups with a MIME document, the document, and our script out of it.
    fn scripts(&self) -> Vec<(&NodeGroupPlan, Vec<u8>, String)> {
        let of = |group| {
            let document = self.user_data(group, "user-data.mime")?;
            let read = user_data::read(&document).expect("what we write can be read");
            let ours: Vec<_> = read.parts.iter().filter(|part| part.is_script() && user_data::is_ours(part)).collect();
            let [ours] = ours.as_slice() else { return None };
            let script = String::from_utf8(ours.body.clone()).expect("text");
            Some((group, document, script))
        };
        self.plan.node_groups.iter().filter_map(of).collect()
    }
}

fn generated() -> Vec<Generated> {
    let mut folders: Vec<PathBuf> = fs::read_dir(tools::source("fixtures"))
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("inventory.json").is_file() && path.join("eniplan.yaml").is_file())
        .collect();
    folders.sort();
    let generated: Vec<_> = folders.iter().filter_map(|folder| Generated::from(folder)).collect();
    assert!(generated.len() >= 12, "only {} fixtures of {} could be generated", generated.len(), folders.len());
    generated
}

/// The flags that kubelet gets from our part on one node, and max pods where they are not a flag.
fn booted(
    name: &str,
    group: &NodeGroupPlan,
    script: &str,
    answers: &Value,
    old_image: bool,
) -> (Vec<String>, Option<u64>) {
    let imds = Imds::serve(name, answers, &json!([]));
    let machine = Machine::new(&imds.url);
    let machine = match group.family {
        AmiFamily::Al2 => al2::with_bootstrap(machine),
        _ if old_image => machine.old_image(),
        _ => machine.current_image(),
    };
    let run = machine.run(script);
    assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
    assert!(imds.requests().len() <= 4, "{name}: {:?}", imds.requests());
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    if group.family == AmiFamily::Al2 {
        let arguments = match group.bootstrap {
            Bootstrap::Eks => al2::eks_calls(&machine, &["demo"]),
            Bootstrap::UserData(_) => machine.log(),
        };
        return (words(&al2::extra_args(&arguments).0), None);
    }
    if let Some(unit) = machine.kubelet_unit() {
        return (images::kubelet_arguments(&unit).into_iter().map(str::to_owned).collect(), None);
    }
    let config = nodeadm::merge(&nodeadm::folder(&machine.root().join("etc/eks/nodeadm.d")).expect("it is read"));
    let flags = config["spec"]["kubelet"]["flags"].as_array().expect("flags");
    let flags = flags.iter().map(|flag| flag.as_str().expect("text").to_owned()).collect();
    (flags, config["spec"]["kubelet"]["config"]["maxPods"].as_u64())
}

#[test]
fn twenty_nodes_of_every_fixture_take_what_its_plan_says() {
    let mut booted_nodes = 0;
    for fixture in generated() {
        let scripts = fixture.scripts();
        for number in 0..NODES * usize::from(!scripts.is_empty()) {
            let (group, _, script) = &scripts[number % scripts.len()];
            let row = &group.assignments[number / scripts.len() % group.assignments.len()];
            let id = instance_id(u64::try_from(number).expect("small"));
            let name = format!("{}-{number}", fixture.name);
            let old_image = group.drop_in == DropIn::DecideAtBoot && number % 2 == 0;
            let (flags, config_max_pods) =
                booted(&name, group, script, &answers(&row.cidr.to_string(), &id), old_image);
            let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
            let expected = group.label_key.as_ref().map(|key| {
                let chosen = &row.candidates[choose(&bounds, &id).expect("there are candidates")];
                format!("{key}={}", chosen.eni_config)
            });
            let ours = |flag: &&String| expected.as_ref().is_none_or(|label| flag.ends_with(label.as_str()));
            let labels: Vec<&String> = flags.iter().filter(|flag| flag.starts_with("--node-labels=")).collect();
            assert_eq!(labels.len(), usize::from(expected.is_some()), "{name}: {flags:?}");
            assert!(labels.iter().all(ours), "{name}: {flags:?} for {expected:?}");
            let flag_max_pods = flags.iter().find_map(|flag| flag.strip_prefix("--max-pods=")?.parse().ok());
            assert_eq!(config_max_pods.or(flag_max_pods), group.max_pods.written.map(u64::from), "{name}");
            booted_nodes += 1;
        }
    }
    assert!(booted_nodes >= 12 * NODES, "only {booted_nodes} nodes were booted");
}

#[test]
fn the_quickstart_labels_the_first_articles_node_as_the_article_does() {
    let fixture = Generated::from(&tools::source("fixtures/quickstart")).expect("no error findings");
    let scripts = fixture.scripts();
    let [(group, _, script)] = scripts.as_slice() else { panic!("{} groups", scripts.len()) };
    for (cidr, name) in [
        ("172.31.16.0/20", "pod-1a-subnet-3"),
        ("172.31.32.0/20", "pod-1b-subnet-3"),
        ("172.31.0.0/20", "pod-1c-subnet-3"),
    ] {
        let (flags, _) = booted(name, group, script, &answers(cidr, "i-0123456789abcdef0"), false);
        let key = group.label_key.as_ref().expect("a label");
        assert_eq!(flags, [format!("--node-labels={key}={name}")]);
    }
}

#[test]
fn cloud_init_and_the_strict_reader_cut_our_script_out_to_the_byte() {
    let fixtures = generated();
    let cases: Vec<_> = fixtures
        .iter()
        .flat_map(|fixture| fixture.scripts().into_iter().map(|case| (fixture.name.as_str(), case)))
        .collect();
    let documents: Vec<_> = cases.iter().map(|(_, (_, document, _))| document.as_slice()).collect();
    for ((fixture, (group, document, script)), split) in cases.iter().zip(mime::cloud_init(&documents)) {
        let name = format!("{fixture}/{}", group.name);
        assert!(split.scripts.iter().any(|cut| cut == script.as_bytes()), "{name}: cloud-init lost our script");
        mime::assert_read_alike(&name, document, &split);
        nodeadm::user_data(document).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn linters_have_nothing_to_say_of_our_scripts() {
    let folder = TempDir::new().expect("a folder");
    let mut shellcheck = tools::shellcheck();
    shellcheck.args(["--norc", "--severity=style", "--shell=bash"]);
    for fixture in generated() {
        for (group, _, script) in fixture.scripts() {
            let path = folder.path().join(format!("{}-{}.sh", fixture.name, group.name));
            fs::write(&path, script).expect("written");
            shellcheck.arg(path);
        }
    }
    let output = shellcheck.output().expect("shellcheck starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn settings_of_bottlerocket_groups_are_toml_that_names_the_one_eni_config() {
    for fixture in generated() {
        for group in fixture.plan.node_groups.iter().filter(|group| group.family == AmiFamily::Bottlerocket) {
            let Some(settings) = fixture.user_data(group, "user-data.toml") else { continue };
            let settings: toml::Table = String::from_utf8(settings).expect("text").parse().expect("TOML");
            let ours: toml::Table = bottlerocket::settings(group).expect("renders").parse().expect("TOML");
            let label = |table: &toml::Table| {
                let key = group.label_key.as_ref()?;
                table["settings"]["kubernetes"]["node-labels"].get(key).cloned()
            };
            assert_eq!(label(&settings), label(&ours), "{}/{}", fixture.name, group.name);
        }
    }
}
