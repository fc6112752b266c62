//! User data of every form that is met in the field: read, merged, merged again, and ours taken out again.

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

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use eniplan::user_data::{
    Document, Family, Kind, Layer, MergeProblem, Merged, OddityKind, Part, Target, is_ours, merge, read, without_ours,
};

#[path = "node/go_multipart.rs"]
mod go_multipart;
#[path = "node/tools.rs"]
#[allow(dead_code, reason = "tests of scripts use more of them")]
mod tools;

const SHELL: &str = "#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho ours\n";
const CALL: &str = r#"#!/bin/bash
# eniplan.dev/part: al2-bootstrap
set -u
node_labels='eks.amazonaws.com/nodegroup=web'
max_pods=20
folder=${ENIPLAN_ROOT:-}/etc/eks
bootstrap() {
  "$folder/bootstrap.sh" 'demo' \
    --apiserver-endpoint 'https://example' \
    --b64-cluster-ca 'LS0t' \
    --dns-cluster-ip '10.100.0.10' \
    --use-max-pods false \
    --kubelet-extra-args "--node-labels=$node_labels --max-pods=$max_pods"
}
main() {
  node_labels=${node_labels:+$node_labels,}k8s.amazonaws.com/eniConfig=pod-1a
  bootstrap
}
main
"#;
const SETTINGS: &str = "# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"k8s.amazonaws.com/eniConfig\" = \"pod-1a\"\nsettings.kubernetes.max-pods = 20\n";

fn existing(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/user_data/existing").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn target(family: Family, eks_merges: bool) -> Target<'static> {
    Target {
        family,
        eks_merges,
        label_key: Some("k8s.amazonaws.com/eniConfig"),
        max_pods: Some(20),
        kubernetes_minor: Some(31),
    }
}

fn ours(family: Family) -> Vec<Part> {
    match family {
        Family::Al2023 => vec![Part::new("text/x-shellscript; charset=\"us-ascii\"", SHELL.into())],
        Family::Al2 => vec![Part::new("text/x-shellscript; charset=\"us-ascii\"", CALL.into())],
        Family::Bottlerocket => vec![Part::new("application/toml", SETTINGS.into())],
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.encode(bytes).into_bytes()
}

/// Merging twice changes nothing, and taking ours out gives back the parts that were there.
fn check_laws(name: &str, document: &Document, merged: &Merged, target: &Target<'_>) {
    let again = read(&merged.text).unwrap();
    assert_eq!(again.parts, merged.parts, "{name}: the text is read back as the parts");
    if again.kind == Kind::Mime {
        // An encoded part stays encoded; everything else that is odd is repaired.
        let odd: Vec<_> = again.oddities.iter().filter(|odd| odd.kind != OddityKind::TransferEncoding).collect();
        assert!(odd.is_empty(), "{name}: what is written is odd: {odd:?}");
    }
    let twice = merge(&again, &ours(target.family), target).unwrap();
    assert_eq!(String::from_utf8_lossy(&twice.text), String::from_utf8_lossy(&merged.text), "{name}: twice is once");

    let rest = read(&without_ours(&again).unwrap()).unwrap();
    let bodies = |document: &Document| -> Vec<String> {
        let foreign = document.parts.iter().filter(|part| !is_ours(part));
        foreign.map(|part| String::from_utf8_lossy(&part.content()).replace("\r\n", "\n")).collect()
    };
    assert_eq!(bodies(&rest), bodies(document), "{name}: taking ours out gives back the parts");
}

fn outcome(name: &str, bytes: &[u8], target: &Target<'_>) -> String {
    let mut text = String::new();
    let document = match read(bytes) {
        Ok(document) => document,
        Err(error) => return format!("cannot be read: {error}\nhelp: {}\n", error.help()),
    };
    writeln!(text, "{} {:?}", document.kind.word(), document.layers).unwrap();
    for oddity in &document.oddities {
        let part = oddity.part.map(|part| format!(", part {part}")).unwrap_or_default();
        writeln!(text, "  line {}{part}: {}", oddity.line, oddity.kind.describe()).unwrap();
    }
    match merge(&document, &ours(target.family), target) {
        Ok(merged) => {
            check_laws(name, &document, &merged, target);
            for note in &merged.notes {
                writeln!(text, "note: {note}").unwrap();
            }
            writeln!(
                text,
                "----\n{}",
                String::from_utf8_lossy(&merged.text).escape_debug().to_string().replace("\\n", "\n")
            )
            .unwrap();
        }
        Err(problems) => {
            for problem in &problems {
                writeln!(text, "refused: {problem}\n  help: {}", problem.help).unwrap();
            }
        }
    }
    text.replace("\\\"", "\"").replace("\\'", "'")
}

#[test]
fn al2023_where_eks_merges() {
    let target = target(Family::Al2023, true);
    for name in [
        "plain-shell.sh",
        "eks-made-without-blank-line.mime",
        "delimiter-right-after-headers.mime",
        "one-cloud-config.mime",
        "nested-same-boundary.mime",
        "nested-other-boundary.mime",
        "no-terminator.mime",
        "backslash-on-terminator.mime",
        "last-delimiter-opens.mime",
        "header-order-and-extra-part-headers.mime",
        "two-content-types.mime",
        "crlf-everywhere.mime",
        "crlf-structure-lf-bodies.mime",
        "lf-then-crlf.mime",
        "shell-without-last-line-end.sh",
        "cloud-config.yaml",
        "two-cloud-configs.mime",
        "unquoted-boundary.mime",
        "blank-lines-first.mime",
        "byte-order-mark.sh",
        "bytes-that-are-no-text.mime",
        "node-config.yaml",
        "bootstrap-and-node-config.mime",
        "multipart-without-parts.mime",
        "much-is-odd.mime",
        "single-part.mime",
        "several-carriage-returns.sh",
        "headers-of-a-node-config.mime",
        "script-of-malformed-type.mime",
        "toml-tables.toml",
    ] {
        insta::assert_snapshot!(format!("al2023 {name}"), outcome(name, &existing(name), &target));
    }
}

#[test]
fn al2() {
    for name in ["al2-call-with-labels.sh", "bootstrap-and-node-config.mime", "plain-shell.sh"] {
        let with_image = outcome(name, &existing(name), &target(Family::Al2, false));
        insta::assert_snapshot!(format!("al2 with an image {name}"), with_image);
    }
    let without_image = outcome("", &existing("al2-call-with-labels.sh"), &target(Family::Al2, true));
    insta::assert_snapshot!("al2 where EKS merges", without_image);
}

#[test]
fn bottlerocket() {
    let target = target(Family::Bottlerocket, true);
    for name in [
        "toml-tables.toml",
        "toml-dotted.toml",
        "toml-inline.toml",
        "toml-of-another-key.toml",
        "toml-without-kubernetes.toml",
        "toml-crlf-label-table-only.toml",
        "one-cloud-config.mime",
    ] {
        insta::assert_snapshot!(format!("bottlerocket {name}"), outcome(name, &existing(name), &target));
    }
    let merged = merge(&read(b"").unwrap(), &ours(Family::Bottlerocket), &target).unwrap();
    assert_eq!(String::from_utf8(merged.text).unwrap(), SETTINGS);
}

#[test]
fn layers_are_peeled() {
    let mime = existing("one-cloud-config.mime");
    let plain = read(&mime).unwrap();
    for (bytes, layers) in [
        (gzip(&mime), vec![Layer::Gzip]),
        (base64(&mime), vec![Layer::Base64]),
        (base64(&gzip(&mime)), vec![Layer::Base64, Layer::Gzip]),
        (base64(&base64(&mime)), vec![Layer::Base64, Layer::Base64]),
        (base64(&base64(&gzip(&mime))), vec![Layer::Base64, Layer::Base64, Layer::Gzip]),
    ] {
        let document = read(&bytes).unwrap();
        assert_eq!((document.layers, document.parts), (layers, plain.parts.clone()));
    }
    let lines: Vec<u8> = base64(&mime).chunks(76).flat_map(|line| [line, b"\n"].concat()).collect();
    assert_eq!(read(&lines).unwrap().parts, plain.parts);
    // A third layer is left alone, and text that only looks like base64 is text.
    assert_eq!(read(&base64(&base64(&base64(&mime)))).unwrap().kind, Kind::Unknown);
    assert_eq!(read(b"YWJjZGVm").unwrap().kind, Kind::Unknown);

    let merged = merge(&read(&gzip(&mime)).unwrap(), &ours(Family::Al2023), &target(Family::Al2023, true)).unwrap();
    assert!(merged.text.starts_with(b"MIME-Version: 1.0\n"));
    assert_eq!(merged.parts[0], plain.parts[0]);
}

#[test]
fn damaged_layers_say_so() {
    for (bytes, message) in [
        (b"IyEvYmluL2I".to_vec(), "user data looks like base64 and is not: 11 characters, not a multiple of four"),
        (b"\x1f\x8b\x08\x00broken".to_vec(), "user data starts as gzip and cannot be unpacked"),
    ] {
        assert_eq!(read(&bytes).unwrap_err().to_string(), message);
    }
}

#[test]
fn reading_is_bounded() {
    let bomb = gzip(&vec![b'a'; 32 << 20]);
    assert!(bomb.len() < 40_000);
    assert_eq!(read(&bomb).unwrap_err().to_string(), "user data is larger than 1048576 bytes");
    assert_eq!(read(&base64(&gzip(&bomb))).unwrap_err().to_string(), "user data is larger than 1048576 bytes");

    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b\"\n\n";
    let parts = "--b\nContent-Type: text/plain\n\nx\n".repeat(1000);
    assert_eq!(
        read(format!("{head}{parts}--b--\n").as_bytes()).unwrap_err().to_string(),
        "user data has more than 256 parts"
    );

    for (length, message) in [
        (10 << 20, "user data is larger than 1048576 bytes"),
        (100_000, "user data has a boundary of 100000 characters"),
    ] {
        let boundary = "b".repeat(length);
        let text =
            format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n--{boundary}--\n");
        assert_eq!(read(text.as_bytes()).unwrap_err().to_string(), message);
    }

    let mut nested = String::from("MIME-Version: 1.0\n");
    for depth in 0..100 {
        nested.push_str(&format!("Content-Type: multipart/mixed; boundary=\"b{depth}\"\n\n--b{depth}\n"));
    }
    assert_eq!(read(nested.as_bytes()).unwrap_err().to_string(), "user data has multiparts nested more than 8 deep");
}

#[test]
fn two_foreign_calls_or_a_call_that_cannot_move_are_refused() {
    let target = target(Family::Al2, false);
    for (script, message) in [
        ("/etc/eks/bootstrap.sh a\n/etc/eks/bootstrap.sh b\n", "calls bootstrap.sh although an earlier call is there"),
        ("/etc/eks/bootstrap.sh a\necho done\n", "does something after it has called bootstrap.sh: `echo done`"),
        ("if [ -e /x ]; then\n/etc/eks/bootstrap.sh a\nfi\n", "does something after it has called bootstrap.sh: `fi`"),
        ("[ -e /x ] && /etc/eks/bootstrap.sh a\n", "calls bootstrap.sh only under a condition"),
        ("[ -e /x ] || exit 0\n/etc/eks/bootstrap.sh a\n", "calls bootstrap.sh only under a condition"),
        (
            "/etc/eks/bootstrap.sh a --kubelet-extra-args \"--v=$V\"\n",
            "gives --kubelet-extra-args a value that the shell computes",
        ),
        ("/etc/eks/bootstrap.sh a --kubelet-extra-args \"--x='y'\"\n", "with an apostrophe or a line end"),
    ] {
        let document = read(format!("#!/bin/bash\n{script}").as_bytes()).unwrap();
        let problems = merge(&document, &ours(Family::Al2), &target).unwrap_err();
        let [MergeProblem { part: Some(1), message: found, .. }] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(found.contains(message), "{script}: {found}");
    }
}

/// What `bootstrap.sh` is called with, by running the script against a stand-in.
fn arguments(script: &[u8]) -> Vec<String> {
    let script = String::from_utf8(script.to_vec()).unwrap().replace("\"$folder/bootstrap.sh\"", "stand_in");
    let script = format!("stand_in() {{ printf '%s\\0' \"$@\"; }}\n{script}");
    let output = std::process::Command::new("bash").args(["-euc", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn the_folded_call_is_one_call_with_one_argument_for_kubelet() {
    let document = read(&existing("al2-call-with-labels.sh")).unwrap();
    let merged = merge(&document, &ours(Family::Al2), &target(Family::Al2, false)).unwrap();
    let foreign = String::from_utf8(merged.parts[0].body.clone()).unwrap().replace("yum ", "true ");
    assert_eq!(arguments(foreign.as_bytes()), [""; 0]);
    assert_eq!(
        arguments(&merged.parts[1].body),
        [
            "demo",
            "--apiserver-endpoint",
            "https://example",
            "--b64-cluster-ca",
            "LS0t",
            "--dns-cluster-ip",
            "169.254.20.10",
            "--use-max-pods",
            "false",
            "--kubelet-extra-args",
            "--node-labels=role=web,team=a --register-with-taints=dedicated=web:NoSchedule \
             --eviction-hard=memory.available<5% --image-pull-progress-deadline=30m --v=3 \
             --node-labels=eks.amazonaws.com/nodegroup=web,k8s.amazonaws.com/eniConfig=pod-1a --max-pods=20",
            "--container-runtime",
            "containerd",
        ]
    );
}

#[test]
fn our_part_is_replaced_where_it_stands() {
    let target = target(Family::Al2023, true);
    let foreign = |body: &str| Part::new("text/x-shellscript", body.as_bytes().to_vec());
    let old = foreign("#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho old\n");
    let parts = [foreign("#!/bin/sh\necho a\n"), old.clone(), foreign("#!/bin/sh\necho b\n"), old];
    let document = read(&eniplan::user_data::mime::write(&parts).unwrap()).unwrap();
    let merged = merge(&document, &ours(Family::Al2023), &target).unwrap();
    assert_eq!(merged.parts, [parts[0].clone(), ours(Family::Al2023)[0].clone(), parts[2].clone()]);

    let without = merge(&read(&merged.text).unwrap(), &[], &target).unwrap();
    assert_eq!(without.parts, [parts[0].clone(), parts[2].clone()]);
}

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/user_data/existing");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_oddity_is_met_by_a_fixture() {
    let met: Vec<OddityKind> =
        fixtures().iter().flat_map(|name| read(&existing(name)).unwrap().oddities).map(|oddity| oddity.kind).collect();
    let missing: Vec<OddityKind> = OddityKind::ALL.into_iter().filter(|kind| !met.contains(kind)).collect();
    assert_eq!(missing, []);
}

/// A part as another program saw it: its media type and its body.
type Seen = Vec<(String, Vec<u8>)>;

/// What Python's strict mail reader and cloud-init find in documents.
fn seen_by_others(documents: &[&[u8]]) -> Vec<(Seen, Seen)> {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..documents.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (file, document) in files.iter().zip(documents) {
        std::fs::write(file, document).unwrap();
    }
    let readers = tools::source("tests/user_data/readers.py");
    let run = tools::cloud_init().arg(readers).args(&files).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let parts = |value: &serde_json::Value| -> Seen {
        let bytes = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        let part = |part: &serde_json::Value| (part[0].as_str().unwrap().to_owned(), bytes(part[1].as_str().unwrap()));
        value.as_array().unwrap().iter().map(part).collect()
    };
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| (parts(&line["strict"]), parts(&line["cloud-init"])))
        .collect()
}

#[test]
fn what_is_written_is_read_alike_by_cloud_init_and_by_strict_readers() {
    let target = target(Family::Al2023, true);
    let merged: Vec<(String, Merged)> = fixtures()
        .into_iter()
        .filter_map(|name| {
            let merged = merge(&read(&existing(&name)).unwrap(), &ours(Family::Al2023), &target).ok()?;
            Some((name, merged))
        })
        .collect();
    assert!(merged.len() > 15, "{}", merged.len());
    let documents: Vec<&[u8]> = merged.iter().map(|(_, merged)| merged.text.as_slice()).collect();
    for ((name, merged), (strict, cloud_init)) in merged.iter().zip(seen_by_others(&documents)) {
        let expected: Seen =
            merged.parts.iter().map(|part| (part.media_type().to_owned(), part.content().into_owned())).collect();
        assert_eq!(strict, expected, "{name}");
        assert_eq!(cloud_init, expected, "{name}");
        let like_nodeadm = go_multipart::read(&merged.text).unwrap().unwrap();
        let like_nodeadm: Seen = like_nodeadm.into_iter().map(|part| (part.media_type, part.body)).collect();
        let raw: Seen = merged.parts.iter().map(|part| (part.media_type().to_owned(), part.body.clone())).collect();
        assert_eq!(like_nodeadm, raw, "{name}");
    }
}

#[test]
fn lines_of_ours_among_the_users_settings_are_replaced() {
    let target = target(Family::Bottlerocket, true);
    let old = SETTINGS.replace("pod-1a", "pod-old");
    for theirs in ["\n[settings.motd]\nx = 1\n", "enabled = false\n"] {
        let document = read(format!("{old}{theirs}").as_bytes()).unwrap();
        assert!(!is_ours(&document.parts[0]));
        let merged = merge(&document, &ours(Family::Bottlerocket), &target).unwrap();
        let again = read(&merged.text).unwrap();
        assert_eq!(again.parts, merged.parts);
        assert!(!String::from_utf8_lossy(&merged.text).contains("pod-old"));
        assert_eq!(without_ours(&again).unwrap(), theirs.as_bytes());
    }
    assert!(is_ours(&read(old.as_bytes()).unwrap().parts[0]));
}
