//! Generated user data with every oddity that is met in the field: it is read for what it is, merged without loss,
//! merged twice as if once, and given back when ours is taken out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::use_debug,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs
)]

use std::cell::RefCell;
use std::collections::BTreeMap;

use eniplan::user_data::compare::equivalent;
use eniplan::user_data::{Family, Kind, Part, Target, is_ours, merge, read, without_ours};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[path = "user_data/drawn.rs"]
mod drawn;
#[path = "node/go_multipart.rs"]
mod go_multipart;
#[path = "user_data/settings.rs"]
mod settings;
#[path = "user_data/written.rs"]
mod written;

use drawn::{Content, Drawn, PartHeaders, drawn};
use settings::settings;
use written::Built;

const CASES: u32 = 10_000;
/// Every oddity is drawn at least so often.
const AT_LEAST: usize = 150;

/// Scripts lose their CRs, where cloud-init would take them out.
fn as_kept(media_type: &str, body: &[u8]) -> Vec<u8> {
    if media_type == "application/octet-stream" || !media_type.starts_with("text/") {
        return body.to_vec();
    }
    String::from_utf8_lossy(body).replace("\r\n", "\n").into_bytes()
}

fn check(drawn: &Drawn) -> Result<Vec<&'static str>, TestCaseError> {
    let built = Built::new(drawn);
    let document = read(&built.text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let found: Vec<(String, Vec<u8>)> =
        document.parts.iter().map(|part| (part.media_type().to_owned(), part.content().into_owned())).collect();
    prop_assert_eq!(&found, &built.expected);
    prop_assert_eq!(document.kind == Kind::Mime, !drawn.is_plain);
    prop_assert_eq!(document.places.len(), document.parts.len());

    let target = Target {
        family: Family::Al2023,
        eks_merges: true,
        label_key: Some("k8s.amazonaws.com/eniConfig"),
        max_pods: None,
        kubernetes_minor: Some(33),
    };
    let ours = [Part::new("text/x-shellscript", b"#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho new\n".to_vec())];
    let merged = merge(&document, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;

    let like_nodeadm = go_multipart::read(&merged.text).map_err(TestCaseError::fail)?.unwrap_or_default();
    let bodies: Vec<&[u8]> = merged.parts.iter().map(|part| part.body.as_slice()).collect();
    prop_assert_eq!(like_nodeadm.iter().map(|part| part.body.as_slice()).collect::<Vec<_>>(), bodies);

    let again = read(&merged.text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again.parts, &merged.parts);
    prop_assert_eq!(again.parts.iter().filter(|part| is_ours(part)).collect::<Vec<_>>(), [&ours[0]]);
    let twice = merge(&again, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
    prop_assert_eq!(&twice.text, &merged.text);

    let is_foreign = |(_, body): &&(String, Vec<u8>)| !body.windows(16).any(|window| window == b"eniplan.dev/part");
    let expected: Vec<Vec<u8>> =
        built.expected.iter().filter(is_foreign).map(|(media_type, body)| as_kept(media_type, body)).collect();
    let rest = read(&without_ours(&again).unwrap()).unwrap();
    let given_back: Vec<Vec<u8>> = rest.parts.iter().map(|part| as_kept(part.media_type(), &part.content())).collect();
    prop_assert_eq!(given_back, expected);
    if !drawn.is_plain
        && drawn.parts.iter().all(|part| part.content != Content::Ours && part.headers != PartHeaders::BadContentType)
    {
        prop_assert!(equivalent(&document, &rest));
    }
    Ok(built.odd)
}

#[test]
fn documents_with_every_oddity() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    // The same documents on every machine.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let counts: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    let result = runner.run(&drawn(), |drawn| {
        let mut odd = check(&drawn)?;
        odd.sort_unstable();
        odd.dedup();
        for name in odd.into_iter().filter(|name| !name.is_empty()) {
            *counts.borrow_mut().entry(name).or_default() += 1;
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    for (name, count) in &counts {
        println!("{count:>6}  {name}");
    }
    assert_eq!(counts.len(), 41, "every oddity is drawn");
    let rare: Vec<_> = counts.iter().filter(|(_, count)| **count < AT_LEAST).collect();
    assert!(rare.is_empty(), "drawn too seldom: {rare:?}");
}

#[test]
fn settings_in_every_form() {
    let target = Target {
        family: Family::Bottlerocket,
        eks_merges: true,
        label_key: Some("k8s.amazonaws.com/eniConfig"),
        max_pods: Some(20),
        kubernetes_minor: Some(33),
    };
    let ours = [Part::new(
        "application/toml",
        b"# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"k8s.amazonaws.com/eniConfig\" = \"pod-1a\"\nsettings.kubernetes.max-pods = 20\n".to_vec(),
    )];
    let config = Config { cases: 1_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let forms: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    let result = runner.run(&settings(), |(text, form)| {
        *forms.borrow_mut().entry(form).or_default() += 1;
        let document = read(text.as_bytes()).unwrap();
        prop_assert_eq!(document.kind, Kind::Toml);
        let merged =
            merge(&document, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
        let merged_text = String::from_utf8(merged.text.clone()).unwrap();

        let value: toml::Table =
            merged_text.parse().map_err(|error| TestCaseError::fail(format!("{error}\n{merged_text}")))?;
        let kubernetes = &value["settings"]["kubernetes"];
        let labels = kubernetes["node-labels"].as_table().unwrap();
        prop_assert_eq!(labels["k8s.amazonaws.com/eniConfig"].as_str(), Some("pod-1a"));
        prop_assert!(!labels.contains_key("eks.amazonaws.com/sourceLaunchTemplateVersion"));
        prop_assert_eq!(labels.contains_key("team"), text.contains("team"));
        prop_assert_eq!(labels.contains_key("eks.amazonaws.com/nodegroup"), text.contains("/nodegroup"));
        let kept_lower = text.contains("max-pods = 8") || text.contains("max-pods=8");
        prop_assert_eq!(kubernetes["max-pods"].as_integer(), Some(if kept_lower { 8 } else { 20 }));

        let again = read(&merged.text).unwrap();
        prop_assert_eq!(&merge(&again, &ours, &target).unwrap().text, &merged.text);
        let given_back = String::from_utf8(without_ours(&again).unwrap()).unwrap();
        prop_assert_eq!(given_back, text);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let forms = forms.into_inner();
    assert!(forms.len() == 6 && forms.values().all(|count| *count >= 100), "{forms:?}");
}
