//! `eniplan lint`: each rule finds its fault, and a twin of the file with that fault repaired loses that finding only.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::use_debug,
    clippy::disallowed_methods,
    missing_docs
)]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use eniplan::check::lint::{Context, LINT_RULES, lint};
use eniplan::config::AmiFamily;
use eniplan::finding::Problem;

#[path = "lint/twins.rs"]
mod twins;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn problems(bytes: &[u8], family: Option<AmiFamily>, has_image: bool) -> Vec<Problem> {
    let context = Context { file: "user-data", family, has_image, kubernetes_minor: Some(33) };
    let mut problems = lint(bytes, &context).problems;
    problems.sort_by(|a, b| (a.line, a.rule).cmp(&(b.line, b.rule)));
    problems
}

fn rules(problems: &[Problem]) -> BTreeSet<&'static str> {
    problems.iter().map(|problem| problem.rule).collect()
}

fn shown(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|one| format!("{}: {}\n  {}\n  help: {}\n", one.line.unwrap_or_default(), one.rule, one.message, one.help))
        .collect()
}

#[test]
fn the_first_article() {
    insta::assert_snapshot!(shown(&problems(&file("article-a.mime"), None, false)));
}

#[test]
fn ordinary_files_have_no_findings() {
    for (name, has_image) in [
        ("ordinary/al2023-packages.mime", false),
        ("ordinary/al2023-with-image.mime", true),
        ("ordinary/al2-with-image.sh", true),
        ("ordinary/bottlerocket.toml", false),
        ("ordinary/ask-imds.sh", true),
    ] {
        let mut found = problems(&file(name), None, has_image);
        if name.ends_with("ask-imds.sh") {
            // The script alone is right; that no NodeConfig comes with it is another matter.
            found.retain(|problem| problem.rule != "node-config-missing");
        }
        assert_eq!(shown(&found), "", "{name}");
    }
}

#[test]
fn every_rule_has_a_twin() {
    let twins = twins::twins();
    let mut wrong = String::new();
    for twin in &twins {
        let faulty = problems(&twin.faulty, twin.family, twin.has_image);
        let repaired = problems(&twin.repaired, twin.family, twin.has_image);
        let lines: Vec<_> = faulty.iter().filter(|one| one.rule == twin.rule).map(|one| one.line).collect();
        let mut expected = rules(&faulty);
        expected.remove(twin.rule);
        let is_at_its_line = twin.line.is_none_or(|line| lines == [Some(line)]);
        if lines.is_empty() || !is_at_its_line || rules(&repaired) != expected {
            let (faulty, repaired) = (shown(&faulty), shown(&repaired));
            wrong.push_str(&format!("== {} {:?}\nfaulty\n{faulty}repaired\n{repaired}", twin.rule, twin.line));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let shown: BTreeSet<&str> = twins.iter().map(|twin| twin.rule).collect();
    let missing: Vec<&str> = LINT_RULES.iter().map(|rule| rule.id).filter(|id| !shown.contains(id)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_cannot_be_read_is_one_finding() {
    let found = problems(b"\x1f\x8b\x08\x00broken", None, true);
    assert_eq!(rules(&found), BTreeSet::from(["user-data-unreadable"]));
}

#[test]
fn user_data_in_base64_is_the_user_data() {
    let text = file("article-a.mime");
    let encoded = base64::engine::general_purpose::STANDARD.encode(&text);
    assert_eq!(problems(encoded.as_bytes(), None, false), problems(&text, None, false));
}

/// Every user-data file that `generate` writes for the fixtures, with the family and whether an image is named.
fn generated() -> Vec<(PathBuf, Vec<u8>, AmiFamily, bool)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut found = Vec::new();
    for fixture in std::fs::read_dir(fixtures).unwrap() {
        let fixture = fixture.unwrap().path();
        let out = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_eniplan"))
            .arg("generate")
            .arg("--inventory")
            .arg(fixture.join("inventory.json"))
            .arg("--config")
            .arg(fixture.join("eniplan.yaml"))
            .arg("--out-dir")
            .arg(out.path().join("out"))
            .env_clear()
            .output()
            .unwrap();
        if !output.status.success() {
            continue;
        }
        let plan = std::fs::read(out.path().join("out/plan.json")).unwrap();
        let plan: serde_json::Value = serde_json::from_slice(&plan).unwrap();
        let plan = plan.get("plan").unwrap_or(&plan);
        for group in plan["node_groups"].as_array().unwrap() {
            let folder = out.path().join("out/node-groups").join(group["name"].as_str().unwrap());
            for name in ["user-data.mime", "user-data.toml"] {
                let Ok(bytes) = std::fs::read(folder.join(name)) else { continue };
                let family: AmiFamily = serde_json::from_value(group["family"].clone()).unwrap();
                let has_image = group["bootstrap"]["by"] != "eks";
                found.push((fixture.join(group["name"].as_str().unwrap()), bytes, family, has_image));
            }
        }
    }
    found
}

#[test]
fn what_generate_writes_has_no_findings() {
    let files = generated();
    assert!(files.len() >= 10, "{}", files.len());
    for (path, bytes, family, has_image) in files {
        assert_eq!(shown(&problems(&bytes, Some(family), has_image)), "", "{}", path.display());
        assert_eq!(shown(&problems(&bytes, None, has_image)), "", "{}, without --family", path.display());
    }
}

#[test]
fn what_nodeadm_will_make_of_it() {
    let text = file("ordinary/al2023-with-image.mime");
    let context = Context { file: "user-data", family: None, has_image: true, kubernetes_minor: Some(33) };
    let prediction = lint(&text, &context).prediction.unwrap();
    let flags: Vec<&str> = prediction.flags.iter().map(|flag| flag.value.as_str()).collect();
    assert_eq!(
        flags,
        [
            "--node-labels=team=payments,eks.amazonaws.com/nodegroup=web",
            "--register-with-taints=dedicated=payments:NoSchedule"
        ]
    );
    assert_eq!(prediction.max_pods, None);
    assert_eq!(prediction.missing, [""; 0]);
    for (path, bytes, family, _) in generated().into_iter().filter(|(_, _, family, _)| *family == AmiFamily::Al2023) {
        let context = Context { file: "user-data", family: Some(family), has_image: false, kubernetes_minor: None };
        let prediction = lint(&bytes, &context).prediction.unwrap();
        let chosen: Vec<&str> = prediction
            .labels
            .values()
            .filter(|origin| origin.from == "/etc/eks/nodeadm.d/zz-eniplan.yaml")
            .map(|origin| origin.value.as_str())
            .collect();
        assert!(
            chosen == ["CHOSEN-AT-BOOT"] || prediction.max_pods.is_some() || chosen.is_empty(),
            "{}",
            path.display()
        );
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
