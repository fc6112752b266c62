//! Folders with a file too few, and with files that are not what their names say.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use eniplan::error::Error;
use eniplan::inventory::{AlsoRead, Inventory, from_documents};
use serde_json::json;

use crate::bench::source;
use crate::dump::Shell;
use crate::observed;
use crate::same::follow;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// All files of a cluster that has everything.
pub(crate) fn whole() -> Files {
    let mut seed = observed::seed();
    let image = "ami-0c553e14811e26b60";
    seed["images"] = json!([{"image_id": image, "name": "amazon-eks-node-al2023-x86_64-standard-1.33-v20251023"}]);
    seed["launch_templates"][0]["versions"][0]["launch_template_data"]["ImageId"] = image.into();
    let shell = Shell::start();
    let (dump, _) = shell.seed(&seed);
    follow(&shell, &dump, &source("fixtures/three-zones/eniplan.yaml"), "verify");
    let more = "kubectl get --raw /apis > api-groups.json
        aws eks list-addons --cluster-name $CLUSTER --output json > list-addons.json
        aws eks list-nodegroups --cluster-name $CLUSTER --output json > list-nodegroups.json";
    assert_eq!(shell.run(&dump, more), "");
    dump.names().into_iter().map(|name| (name.clone(), std::fs::read(dump.path().join(name)).unwrap())).collect()
}

pub(crate) fn read(files: &Files) -> Result<Inventory, Error> {
    from_documents(files, "dump", 1_767_225_600, &AlsoRead::default())
}

fn said(error: &Error) -> String {
    format!("{error}\n  help: {}", error.help())
}

fn with(files: &Files, name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    let mut files = files.clone();
    files.insert(name.into(), bytes.into());
    files
}

#[test]
fn a_file_that_is_missing_or_empty_is_a_gap_that_says_how_to_make_it() {
    let files = whole();
    let complete = read(&files).unwrap();
    assert_eq!(complete.gaps, []);
    let mut page = String::new();
    for name in files.keys() {
        let mut fewer = files.clone();
        fewer.remove(name);
        writeln!(page, "without {name}").unwrap();
        let without = read(&fewer);
        match &without {
            Ok(inventory) => inventory.gaps.iter().for_each(|gap| {
                writeln!(page, "  {}: {}", gap.action, gap.message).unwrap();
            }),
            Err(error) => writeln!(page, "  error: {}", said(error)).unwrap(),
        }
        // What a shell leaves of a command that failed.
        let empty = read(&with(&files, name, ""));
        assert_eq!(without.is_ok(), empty.is_ok(), "{name}");
        if let (Ok(without), Ok(empty)) = (without, empty) {
            let sources = |inventory: &Inventory| inventory.gaps.iter().map(|gap| gap.source).collect::<Vec<_>>();
            assert_eq!(sources(&without), sources(&empty), "{name}");
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_named_with_the_place() {
    let files = whole();
    let mut page = String::new();
    for (name, bytes) in &files {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let cut = &text[..text.len() / 2];
        let other = match name.as_str() {
            "nodes.json" | "describe-cluster.json" => "aws-node.json",
            _ if name.starts_with("describe-vpcs") => "describe-subnets.json",
            _ if name.starts_with("describe") || name == "eniconfigs.json" => "describe-vpcs.json",
            _ => "nodes.json",
        };
        for (what, bytes) in [
            ("text", "SUBNETS\tap-southeast-1a\n".as_bytes().to_vec()),
            ("a list", b"\n  []".to_vec()),
            ("nothing in it", b"{}".to_vec()),
            ("cut off", cut.into()),
            ("twice", [bytes.clone(), bytes.clone()].concat()),
            ("no text", b"{\n\"a\": \"\xff\"}".to_vec()),
            ("of another kind", files[other].clone()),
        ] {
            let error = read(&with(&files, name, bytes)).expect_err(name);
            let said = said(&error);
            assert!(said.starts_with(&format!("dump/{name}:")), "{said}");
            if name.starts_with("describe-subnets") || name.starts_with("nodes") || what == "of another kind" {
                writeln!(page, "{what}: {said}").unwrap();
            }
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_list_that_is_not_whole_is_refused() {
    let files = whole();
    let mut refused = 0;
    for (name, bytes) in &files {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let token = if name.starts_with("describe-") { "NextToken" } else { "nextToken" };
        let cut = if name.starts_with("describe-") || name.starts_with("list-") {
            text.replacen('{', &format!("{{\"{token}\": \"eyJ\","), 1)
        } else {
            text.replacen(
                "\"metadata\": {\n        \"resourceVersion\"",
                "\"metadata\": {\"continue\": \"eyJ\", \"resourceVersion\"",
                1,
            )
        };
        if let Err(error) = read(&with(&files, name, cut)) {
            assert!(error.to_string().contains("the list is not complete"), "{error}");
            refused += 1;
        }
    }
    // All but the answers that are about one object, and the list of groups.
    let single = files.keys().filter(|name| {
        ["describe-cluster", "describe-nodegroup", "describe-addon.", "api-groups"]
            .iter()
            .any(|one| name.starts_with(one))
    });
    assert_eq!(refused, files.len() - single.count());
}

/// As Windows PowerShell writes.
fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn whatever_shell_has_written_the_files_they_say_the_same() {
    let files = whole();
    let expected = read(&files).unwrap();
    let shells: [fn(&str) -> Vec<u8>; 3] = [
        |text| format!("\u{feff}{text}").into(),
        |text| text.replace('\n', "\r\n").into(),
        |text| utf16(&text.replace('\n', "\r\n")),
    ];
    for (what, shell) in ["with a mark", "with CRLF", "in UTF-16"].into_iter().zip(shells) {
        let written = files.iter().map(|(name, bytes)| (name.clone(), shell(std::str::from_utf8(bytes).unwrap())));
        assert_eq!(read(&written.collect()).unwrap(), expected, "{what}");
    }
}

#[test]
fn files_of_two_clusters_are_refused() {
    let files = whole();
    let mut page = String::new();
    for (name, bytes) in &files {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let other = text.replacen("\"clusterName\": \"", "\"clusterName\": \"other-", 1);
        if other != text {
            writeln!(page, "{}", said(&read(&with(&files, name, other)).unwrap_err())).unwrap();
        }
    }
    let group = files.keys().find(|name| name.starts_with("describe-nodegroup")).unwrap();
    let text = String::from_utf8(files[group].clone()).unwrap();
    for (name, text) in [
        ("describe-nodegroup-copy.json", text.clone()),
        ("describe-nodegroup-stale.json", text.replacen("\"nodegroupName\": \"", "\"nodegroupName\": \"old-", 1)),
        ("describe-subnet.json", "{}".into()),
        (
            "describe-addon.json",
            String::from_utf8(files["describe-addon.json"].clone()).unwrap().replace("vpc-cni", "coredns"),
        ),
    ] {
        writeln!(page, "{}", said(&read(&with(&files, name, text)).unwrap_err())).unwrap();
    }
    insta::assert_snapshot!(page);
}
