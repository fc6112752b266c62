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

/// A small change of a text at a place.
#[derive(Debug, Clone)]
enum Mutation {
    Replace(u8),
    Insert(u8),
    RemoveByte,
    RemoveLine,
    DoubleLine,
    Token(&'static str),
}

fn mutation() -> impl Strategy<Value = (prop::sample::Index, Mutation)> {
    let change = prop_oneof![
        any::<u8>().prop_map(Mutation::Replace),
        proptest::sample::select(b"\r\n \t\"'$=:;-#{}[]".to_vec()).prop_map(Mutation::Insert),
        Just(Mutation::RemoveByte),
        Just(Mutation::RemoveLine),
        Just(Mutation::DoubleLine),
        proptest::sample::select(vec![
            "\n--//\n",
            "\n--//--\n",
            "Content-Type: multipart/mixed; boundary=\"//\"\n",
            "# eniplan.dev/part: al2023-boot\n",
            "\n# was: x\n",
            "\n# eniplan.dev/edited: 1 old, 1 new\n",
            "/etc/eks/bootstrap.sh demo\n",
            "--node-labels=k8s.amazonaws.com/eniConfig=x,a=b",
            "\u{feff}",
        ])
        .prop_map(Mutation::Token),
    ];
    (any::<prop::sample::Index>(), change)
}

fn mutate(text: &mut Vec<u8>, at: &prop::sample::Index, mutation: &Mutation) {
    if text.is_empty() {
        return;
    }
    let at = at.index(text.len());
    let line_start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let line_end = text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |index| at + index + 1);
    match mutation {
        Mutation::Replace(byte) => text[at] = *byte,
        Mutation::Insert(byte) => text.insert(at, *byte),
        Mutation::RemoveByte => _ = text.remove(at),
        Mutation::RemoveLine => _ = text.drain(line_start..line_end),
        Mutation::DoubleLine => {
            let line = text[line_start..line_end].to_vec();
            text.splice(line_start..line_start, line);
        }
        Mutation::Token(token) => _ = text.splice(at..at, token.bytes()),
    }
}

/// Bytes that are shown as text.
#[derive(Clone)]
struct Damaged(Vec<u8>);

impl std::fmt::Debug for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

#[test]
fn damaged_documents_are_merged_by_the_same_laws_or_not_at_all() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/user_data/existing");
    let mut seeds: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    seeds.sort();
    let ours = |family| {
        match family {
        Family::Al2023 => Part::new("text/x-shellscript", "#!/bin/bash\n# eniplan.dev/part: al2023-boot\n".into()),
        Family::Al2 => Part::new(
            "text/x-shellscript",
            "#!/bin/bash\n# eniplan.dev/part: al2-bootstrap\n/etc/eks/bootstrap.sh demo --kubelet-extra-args \"--max-pods=$m\"\n".into(),
        ),
        Family::Bottlerocket => Part::new(
            "application/toml",
            "# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"k8s.amazonaws.com/eniConfig\" = \"pod-1a\"\nsettings.kubernetes.max-pods = 20\n".into(),
        ),
    }
    };
    let config = Config { cases: 3_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (proptest::sample::select(seeds), proptest::collection::vec(mutation(), 0..6)).prop_map(
        |(mut text, mutations)| {
            for (at, mutation) in &mutations {
                mutate(&mut text, at, mutation);
            }
            Damaged(text)
        },
    );
    let merges = RefCell::new(0);
    let result = runner.run(&strategy, |Damaged(text)| {
        let Ok(document) = read(&text) else { return Ok(()) };
        prop_assert!(equivalent(&document, &document));
        for family in [Family::Al2023, Family::Al2, Family::Bottlerocket] {
            let target = Target {
                family,
                eks_merges: family != Family::Al2,
                label_key: Some("k8s.amazonaws.com/eniConfig"),
                max_pods: Some(20),
                kubernetes_minor: Some(33),
            };
            let ours = [ours(family)];
            let Ok(merged) = merge(&document, &ours, &target) else { continue };
            *merges.borrow_mut() += 1;
            let again = read(&merged.text).unwrap();
            prop_assert_eq!(&again.parts, &merged.parts);
            let twice = merge(&again, &ours, &target).unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&twice.text), String::from_utf8_lossy(&merged.text));
            prop_assert!(without_ours(&again).is_ok());
            if family != Family::Bottlerocket {
                prop_assert!(go_multipart::read(&merged.text).is_ok());
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(merges.into_inner() > 2_000);
}
