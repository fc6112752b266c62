//! A faulty file for each rule, and the same file with that fault repaired.

use base64::Engine as _;
use eniplan::config::AmiFamily;

use crate::{file, gzip};

pub(crate) struct Twin {
    pub(crate) rule: &'static str,
    pub(crate) family: Option<AmiFamily>,
    pub(crate) has_image: bool,
    pub(crate) faulty: Vec<u8>,
    pub(crate) repaired: Vec<u8>,
    /// The line of the finding, where it is shown to be the right one.
    pub(crate) line: Option<usize>,
}

/// Two parts as they should be.
const MIME: &str = "MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=\"//\"

--//
Content-Type: text/x-shellscript; charset=\"us-ascii\"

#!/bin/bash
echo one

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://example.eks.amazonaws.com
    certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
    cidr: 10.100.0.0/16
  kubelet:
    flags:
      - --node-labels=team=a

--//--
";

/// A script for AL2 that joins the node.
const CALL: &str = "#!/bin/bash
/etc/eks/bootstrap.sh demo --dns-cluster-ip 10.100.0.10 --kubelet-extra-args '--node-labels=team=a'
";

const SETTINGS: &str = "[settings.kubernetes]
max-pods = 58

[settings.kubernetes.node-labels]
team = \"a\"
";

/// A fault in a good text: `good` is replaced by `bad` at its first occurrence.
struct Fault {
    rule: &'static str,
    text: &'static str,
    has_image: bool,
    good: &'static str,
    bad: &'static str,
    line: Option<usize>,
}

const fn fault(rule: &'static str, text: &'static str, good: &'static str, bad: &'static str, line: usize) -> Fault {
    Fault { rule, text, has_image: true, good, bad, line: Some(line) }
}

const fn where_eks_merges(fault: Fault) -> Fault {
    Fault { has_image: false, ..fault }
}

const FAULTS: &[Fault] = &[
    fault("mime-blank-lines-first", MIME, "MIME-Version", "\n\nMIME-Version", 1),
    fault("mime-without-version", MIME, "MIME-Version: 1.0\n", "", 1),
    fault("mime-headers-without-blank-line", MIME, "\"//\"\n\n--//", "\"//\"\n--//", 3),
    fault("mime-part-without-blank-line", MIME, "ascii\"\n\n#!", "ascii\"\n#!", 6),
    fault("mime-blank-line-with-spaces", MIME, "ascii\"\n\n#!", "ascii\"\n  \n#!", 6),
    fault("mime-boundary-without-quotes", MIME, "=\"//\"", "=//", 2),
    fault("mime-boundary-wrong", MIME, "=\"//\"", "=\"other\"", 2),
    fault("mime-without-terminator", MIME, "\n--//--\n", "\n", 23),
    fault("mime-text-on-terminator", MIME, "--//--", "--//--\\", 25),
    fault("mime-text-after-terminator", MIME, "--//--\n", "--//--\necho never\n", 26),
    fault("mime-text-before-first-part", MIME, "\n\n--//", "\n\nThis is a message.\n--//", 4),
    fault("mime-mixed-line-ends", MIME, "--//--\n", "--//--\r\n", 25),
    fault("mime-empty-part", MIME, "--//\nContent-Type: app", "--//\n\n--//\nContent-Type: app", 11),
    fault(
        "mime-part-without-type",
        MIME,
        "--//\nContent-Type: text/x-shellscript; charset=\"us-ascii\"\n",
        "--//\n",
        5,
    ),
    fault(
        "mime-part-with-two-types",
        MIME,
        "shellscript; charset=\"us-ascii\"",
        "shellscript\nContent-Type: charset=\"us-ascii\"",
        6,
    ),
    fault("mime-part-type-malformed", MIME, "charset=\"us-ascii\"", "charset", 5),
    fault("mime-part-header-malformed", MIME, "\n\n#!", "\nX-Name: gr\u{f6}\u{df}e\n\n#!", 6),
    fault("script-without-interpreter", MIME, "#!/bin/bash\n", "", 7),
    fault("script-with-carriage-returns", MIME, "echo one\n", "echo one\r\n", 8),
    fault("part-type-unknown", MIME, "\n--//--", "\n--//\nContent-Type: text/x-shellskript\n\n#!/bin/sh\n\n--//--", 26),
    fault("node-config-malformed", MIME, "kind: NodeConfig", "kind: NodeKonfig", 13),
    fault("node-config-field-unknown", MIME, "    flags:", "    maxPods: 20\n    flags:", 22),
    fault("node-config-flag-quoted", MIME, "- --node-labels=team=a", "- --node-labels='team=a'", 23),
    fault("node-config-not-expanded", MIME, "- --node-labels=team=a", "- --node-labels=team=$(hostname)", 23),
    fault("node-config-incomplete", MIME, "    cidr: 10.100.0.0/16\n", "", 1),
    fault("service-cidr-invalid", MIME, "10.100.0.0/16", "nope", 20),
    fault("certificate-authority-invalid", MIME, "LS0tLS1CRUdJTiBD", "LS0tLS1CRUdJTiBE", 19),
    fault("kubelet-refuses-label", MIME, "team=a", "node-role.kubernetes.io/worker=a", 23),
    fault("kubelet-label-malformed", MIME, "team=a", "team=a_", 23),
    fault(
        "kubelet-flag-removed",
        MIME,
        "- --node-labels=team=a",
        "- --node-labels=team=a\n      - --container-runtime=remote",
        24,
    ),
    fault("eks-owned-label-copied", MIME, "team=a", "eks.amazonaws.com/sourceLaunchTemplateVersion=1", 23),
    fault(
        "eniconfig-labels-compete",
        MIME,
        "team=a",
        "k8s.amazonaws.com/eniConfig=pod-1a,vpc.amazonaws.com/externalEniConfig=pod-1b",
        23,
    ),
    fault("bootstrap-on-al2023", MIME, "echo one", "/etc/eks/bootstrap.sh demo", 8),
    fault("nodeadm-called", MIME, "echo one", "nodeadm init", 8),
    fault(
        "script-imds-without-token",
        MIME,
        "echo one",
        "zone=$(curl -s http://169.254.169.254/latest/meta-data/placement/availability-zone)",
        8,
    ),
    fault("script-needs-ipcalc", MIME, "echo one", "low=$(ipcalc -n 10.0.0.0/8)", 8),
    fault(
        "script-map-unordered",
        MIME,
        "echo one",
        "declare -A map=([a]=b)\nfor key in \"${!map[@]}\"; do echo \"$key\"; done",
        9,
    ),
    where_eks_merges(fault("kubelet-touched", MIME, "echo one", "systemctl restart kubelet", 8)),
    where_eks_merges(fault("line-ends-part-of-eks", PACKAGES, "echo one", "cat <<END\n--//\nEND", 9)),
    fault("kubelet-extra-args-twice", CALL, " demo", " demo --kubelet-extra-args '--v=3'", 2),
    fault("max-pods-half-set", CALL, "team=a'", "team=a --max-pods=20'", 2),
    fault("max-pods-unset", CALL, "team=a'", "k8s.amazonaws.com/eniConfig=pod-1a'", 2),
    fault(
        "cluster-values-hand-written",
        CALL,
        "/etc/eks/bootstrap.sh demo --dns-cluster-ip 10.100.0.10",
        "DNS=10.100.0.10\n/etc/eks/bootstrap.sh demo --dns-cluster-ip $DNS",
        3,
    ),
    fault(
        "script-silent-without-match",
        CALL,
        "/etc",
        "if [ -e /x ]; then true; else exit 1; fi\nif [ -e /y ]; then\n/etc",
        3,
    ),
    fault("settings-malformed", SETTINGS, "team = \"a\"", "team = \"a\"\n[settings.kubernetes]", 6),
    fault("settings-max-pods-no-integer", SETTINGS, "58", "\"58\"", 2),
    where_eks_merges(fault(
        "settings-form-not-merged",
        SETTINGS,
        "\"a\"\n",
        "\"a\"\n[settings.kernel.sysctl.\"user.max_user_namespaces\"]\n",
        6,
    )),
    where_eks_merges(fault(
        "settings-form-not-merged",
        SETTINGS,
        "\"a\"\n",
        "\"a\"\n[settings.custom]\nx = \"a\\\"b\"\n",
        7,
    )),
    where_eks_merges(fault(
        "settings-form-not-merged",
        SETTINGS,
        "\"a\"\n",
        "\"a\"\n[settings.ntp]\ntime-servers = [\"a\", 1]\n",
        7,
    )),
];

/// Parts for a document with a boundary of its own.
const PACKAGES: &str = "MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=\"b\"

--b
Content-Type: text/x-shellscript

#!/bin/bash
echo one

--b
Content-Type: text/cloud-config

#cloud-config
packages: [jq]

--b--
";

fn from_faults() -> impl Iterator<Item = Twin> {
    FAULTS.iter().map(|fault| {
        assert!(fault.text.contains(fault.good), "{}: {}", fault.rule, fault.good);
        let mut faulty = fault.text.replacen(fault.good, fault.bad, 1);
        if fault.rule == "script-silent-without-match" {
            faulty.push_str("fi\n");
        }
        Twin {
            rule: fault.rule,
            family: None,
            has_image: fault.has_image,
            faulty: faulty.into_bytes(),
            repaired: fault.text.as_bytes().to_vec(),
            line: fault.line,
        }
    })
}

/// Repairs of the first article's own user data.
fn from_the_article() -> impl Iterator<Item = Twin> {
    const REPAIRS: &[(&str, &str, &str)] = &[
        ("mime-part-without-blank-line", "\n#!/bin/bash", "\n\n#!/bin/bash"),
        ("script-needs-ipcalc", "ipcalc -mbn", "network_and_broadcast"),
        ("script-map-unordered", "${!pod_subnet_of[*]}", "172.31.0.0/20 172.31.16.0/20 172.31.32.0/20"),
        ("script-silent-without-match", "IP\nfi\n", "IP\nelse\n  echo 'no ENIConfig' >&2; exit 1\nfi\n"),
        ("max-pods-unset", "nodegroup=$node_group\"", "nodegroup=$node_group --max-pods=44\" --use-max-pods false"),
        (
            "cluster-values-hand-written",
            "\nB64_CLUSTER_CA=LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\nAPI_SERVER_URL=https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com\nK8S_CLUSTER_DNS_IP=10.100.0.10\n",
            "\n. /etc/cluster-values\n",
        ),
    ];
    let article = String::from_utf8(file("article-a.mime")).unwrap();
    REPAIRS.iter().map(move |(rule, bad, good)| {
        assert!(article.contains(bad), "{rule}");
        Twin {
            rule,
            family: None,
            has_image: false,
            faulty: article.clone().into_bytes(),
            repaired: article.replace(bad, good).into_bytes(),
            line: None,
        }
    })
}

/// Twins that are no replacement in a text.
fn others() -> Vec<Twin> {
    let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes).into_bytes();
    let twin = |rule, has_image, faulty: Vec<u8>, repaired: Vec<u8>| Twin {
        rule,
        family: None,
        has_image,
        faulty,
        repaired,
        line: None,
    };
    let packages = PACKAGES.as_bytes().to_vec();
    let alone = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n";
    let two_configs = PACKAGES
        .replace("text/x-shellscript", "text/cloud-config")
        .replace("#!/bin/bash\necho one", "#cloud-config\nruncmd: []");
    let inner = |boundary: &str| {
        format!(
            "{alone}\n--b\nContent-Type: multipart/mixed; boundary=\"{boundary}\"\n\n--{boundary}\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n\n--{boundary}--\n\n--b--\n"
        )
    };
    let flat = format!("{alone}\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n\n--b--\n");
    let with_call = format!("{alone}/etc/eks/bootstrap.sh demo\n\n--b--\n");
    let without_call = format!("{alone}\n--b--\n");
    let two_calls = with_call.replace(
        "\n--b--",
        "\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n/etc/eks/bootstrap.sh demo\n\n--b--",
    );
    let encoded = PACKAGES
        .replace("text/cloud-config\n", "text/cloud-config\nContent-Transfer-Encoding: base64\n")
        .replace("#cloud-config\npackages: [jq]\n", "I2Nsb3VkLWNvbmZpZwpwYWNrYWdlczogW2pxXQo=\n");
    let latin: Vec<u8> =
        PACKAGES.replace("one", "on\u{1}").bytes().map(|byte| if byte == 1 { 0xe9 } else { byte }).collect();
    let large = |size: usize| {
        let filler = "#".repeat(size - PACKAGES.len() - 1);
        PACKAGES.replace("echo one", &format!("echo one\n{filler}")).into_bytes()
    };
    let mut twins = vec![
        twin("user-data-format-unknown", true, b"echo one\n".to_vec(), MIME.into()),
        twin("user-data-not-mime", false, b"#!/bin/bash\necho one\n".to_vec(), packages.clone()),
        twin("user-data-encoded-twice", false, base64(&base64(&packages)), base64(&packages)),
        twin("user-data-gzip", false, gzip(&packages), packages.clone()),
        twin("byte-order-mark", false, [b"\xef\xbb\xbf", packages.as_slice()].concat(), packages.clone()),
        twin("mime-not-utf8", false, latin, packages.clone()),
        twin("mime-encoded-part", false, encoded.into_bytes(), packages.clone()),
        twin("cloud-config-twice", false, two_configs.clone().into_bytes(), packages.clone()),
        twin("cloud-config-malformed", false, PACKAGES.replace("[jq]", "[jq").into_bytes(), packages.clone()),
        twin("mime-nested", false, inner("inner").into_bytes(), flat.clone().into_bytes()),
        twin("mime-nested-with-same-boundary", false, inner("b").into_bytes(), flat.into_bytes()),
        twin("user-data-near-limit", false, large(12_289), large(12_288)),
        twin("user-data-near-limit", true, large(14_747), large(14_746)),
        twin("user-data-too-large", false, large(13_313), large(12_288)),
        twin("user-data-too-large", true, large(16_385), large(14_746)),
        twin("node-config-missing", true, packages.clone(), MIME.into()),
        Twin {
            family: Some(AmiFamily::Al2),
            ..twin("bootstrap-called-twice", false, with_call.clone().into_bytes(), without_call.into_bytes())
        },
        twin("bootstrap-called-twice", true, two_calls.into_bytes(), with_call.into_bytes()),
        Twin { family: Some(AmiFamily::Al2), ..twin("node-config-on-al2", false, MIME.into(), packages.clone()) },
        Twin {
            family: Some(AmiFamily::Al2),
            ..twin("script-after-blank-lines", true, format!("\n{CALL}").into_bytes(), CALL.into())
        },
        Twin {
            family: Some(AmiFamily::Bottlerocket),
            ..twin("user-data-format-of-other-family", true, packages.clone(), SETTINGS.into())
        },
        Twin {
            family: Some(AmiFamily::Al2),
            ..twin("user-data-format-of-other-family", true, SETTINGS.into(), CALL.into())
        },
    ];
    for twin in &mut twins {
        if matches!(twin.rule, "user-data-near-limit" | "user-data-too-large") && twin.has_image {
            // Without a NodeConfig nothing would join; AL2 needs none.
            twin.family = Some(AmiFamily::Al2);
        }
    }
    twins
}

pub(crate) fn twins() -> Vec<Twin> {
    from_faults().chain(from_the_article()).chain(others()).collect()
}
