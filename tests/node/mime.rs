//! User data as a whole: split by cloud-init, read by a reader as strict as nodeadm's, merged as nodeadm merges.

use std::fs;
use std::path::Path;

use base64::Engine;
use eniplan::plan::{Bootstrap, NodeGroupPlan};
use eniplan::render::boot_script::{al2023_shell_part, node_config_part};
use eniplan::user_data::mime::{self, Part};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::imds::{Imds, answers};
use crate::machine::Machine;
use crate::plans::{self, LABEL_KEY};
use crate::{go_multipart, nodeadm, tools};

/// The parts that our user data of a group holds.
fn parts(group: &NodeGroupPlan) -> Vec<Part> {
    let mut parts = vec![Part::new(
        "text/x-shellscript; charset=\"us-ascii\"",
        al2023_shell_part(group).expect("renders").into_bytes(),
    )];
    if matches!(group.bootstrap, Bootstrap::UserData(_)) {
        parts.push(node_config(&node_config_part(group).expect("renders")));
    }
    parts
}

fn node_config(text: &str) -> Part {
    Part::new("application/node.eks.aws", text.as_bytes().to_vec())
}

/// What cloud-init makes of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    /// The scripts, in order.
    pub(crate) scripts: Vec<Vec<u8>>,
    /// The types of the parts that it leaves alone.
    pub(crate) ignored: Vec<String>,
}

/// Hands documents to cloud-init, all to one process.
pub(crate) fn cloud_init(documents: &[&[u8]]) -> Vec<Split> {
    let folder = TempDir::new().expect("a folder");
    let files: Vec<_> = (0..documents.len()).map(|number| folder.path().join(number.to_string())).collect();
    for (file, document) in files.iter().zip(documents) {
        fs::write(file, document).expect("written");
    }
    let mut python = tools::cloud_init();
    let run = python.arg(tools::source("tests/bench/split_mime.py")).args(&files).output().expect("python starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let seen: Vec<Value> = String::from_utf8(run.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    files.iter().map(|file| split(file, &seen)).collect()
}

fn split(file: &Path, seen: &[Value]) -> Split {
    let ignored = seen
        .iter()
        .filter(|part| part["file"].as_str().map(Path::new) == Some(file) && part["taken"] == false)
        .map(|part| part["type"].as_str().expect("a type").to_owned())
        .collect();
    let mut scripts: Vec<_> = fs::read_dir(file.with_extension("parts").join("scripts"))
        .map(|entries| entries.map(|entry| entry.expect("an entry").path()).collect())
        .unwrap_or_default();
    scripts.sort();
    Split { scripts: scripts.iter().map(|path| fs::read(path).expect("a script")).collect(), ignored }
}

/// The strict reader cuts the same scripts out of a document as cloud-init, which leaves only nodeadm's parts alone.
pub(crate) fn assert_read_alike(name: &str, document: &[u8], split: &Split) {
    assert!(split.ignored.iter().all(|media_type| media_type == "application/node.eks.aws"), "{name}: {split:?}");
    let parts = go_multipart::read(document).unwrap_or_else(|error| panic!("{name}: {error}")).expect("a multipart");
    let scripts: Vec<Vec<u8>> =
        parts.into_iter().filter(|part| part.media_type == "text/x-shellscript").map(|part| part.body).collect();
    assert_eq!(scripts, split.scripts, "{name}");
}

#[test]
fn the_shell_part_comes_out_of_user_data_to_the_byte() {
    let with_and_without_image =
        |(name, group): (&'static str, NodeGroupPlan)| [(name, group.clone()), (name, plans::with_image(group))];
    let groups: Vec<_> = plans::al2023().into_iter().flat_map(with_and_without_image).collect();
    let documents: Vec<_> =
        groups.iter().map(|(_, group)| mime::write(&parts(group)).expect("the parts are well-formed")).collect();
    let splits = cloud_init(&documents.iter().map(Vec::as_slice).collect::<Vec<_>>());
    for (((name, group), document), split) in groups.iter().zip(&documents).zip(&splits) {
        assert_eq!(split.scripts, [parts(group)[0].body.clone()], "{name}");
        assert_read_alike(name, document, split);
    }
}

#[test]
fn documents_known_to_be_bad_are_seen_to_be_ignored() {
    let document = mime::write(&parts(&plans::article())).expect("the parts are well-formed");
    let blank_line_first = [b"\n".as_slice(), &document].concat();
    let encoded_twice = base64::engine::general_purpose::STANDARD.encode(&document).into_bytes();
    for (split, seen_as) in
        cloud_init(&[&blank_line_first, &encoded_twice]).into_iter().zip(["text/plain", "text/x-not-multipart"])
    {
        assert_eq!(split, Split { scripts: Vec::new(), ignored: vec![seen_as.to_owned()] });
    }
    for bad in [&blank_line_first, &encoded_twice] {
        assert_eq!(go_multipart::read(bad), Ok(None));
    }
}

/// What EKS adds to the user data of a managed group whose template names no image.
const EKS_PART: &str = "\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    apiServerEndpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com
    certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
    cidr: 10.100.0.0/16
    name: demo
  kubelet:
    config:
      clusterDNS: [10.100.0.10]
      maxPods: 35
    flags:
      - --node-labels=eks.amazonaws.com/nodegroup=web,eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0
";

/// The `NodeConfig` that nodeadm ends with on a node of this group that was given this user data.
fn joined(name: &str, group: &NodeGroupPlan, document: &[u8]) -> Value {
    let imds = Imds::serve(name, &answers("172.31.16.0/20", "i-0123456789abcdef0"), &json!([]));
    let machine = Machine::new(&imds.url).current_image();
    for script in cloud_init(&[document]).remove(0).scripts {
        let run = machine.run(&String::from_utf8(script).expect("text"));
        assert_eq!(run.code, Some(0), "{}: {}", group.name, run.stderr);
    }
    let mut configs = nodeadm::user_data(document).expect("nodeadm reads the user data");
    configs.extend(nodeadm::folder(&machine.root().join("etc/eks/nodeadm.d")).expect("nodeadm reads the folder"));
    let merged = nodeadm::merge(&configs);
    nodeadm::validate(&merged).expect("nodeadm has what it needs");
    merged
}

#[test]
fn the_labels_of_eks_and_ours_survive_wherever_eks_puts_its_part_and_our_max_pods_win() {
    let group = plans::with_max_pods(29, plans::article());
    let ours = parts(&group);
    let eks = vec![node_config(EKS_PART)];
    for (name, parts) in [("eks-first", [eks.clone(), ours.clone()]), ("eks-last", [ours.clone(), eks.clone()])] {
        let document = mime::write(&parts.concat()).expect("the parts are well-formed");
        let merged = joined(name, &group, &document);
        assert_eq!(
            nodeadm::node_labels(&merged),
            [
                ("eks.amazonaws.com/nodegroup", "web"),
                ("eks.amazonaws.com/nodegroup-image", "ami-0123456789abcdef0"),
                (LABEL_KEY, "pod-1a-subnet-3"),
            ]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        assert_eq!(merged["spec"]["kubelet"]["config"], json!({"clusterDNS": ["10.100.0.10"], "maxPods": 29}));
    }
}

#[test]
fn with_an_image_the_user_data_alone_is_enough_to_join() {
    let group = plans::with_max_pods(29, plans::with_image(plans::article()));
    let document = mime::write(&parts(&group)).expect("the parts are well-formed");
    let merged = joined("image", &group, &document);
    assert_eq!(
        nodeadm::node_labels(&merged),
        [("eks.amazonaws.com/nodegroup", "ngNameXXX"), (LABEL_KEY, "pod-1a-subnet-3"), ("team", "a")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
    let flags = merged["spec"]["kubelet"]["flags"].as_array().expect("flags");
    assert!(
        flags.contains(&json!("--register-with-taints=dedicated=web:NoSchedule,spot:PreferNoSchedule")),
        "{flags:?}"
    );
    assert_eq!(
        merged["spec"]["cluster"],
        json!({
            "name": "demo",
            "apiServerEndpoint": "https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com",
            "certificateAuthority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
            "cidr": "10.100.0.0/16",
        })
    );
    assert_eq!(merged["spec"]["kubelet"]["config"], json!({"maxPods": 29}));
}

#[test]
fn a_local_cluster_on_outposts_is_named_by_its_id() {
    let mut access = plans::access();
    access.outpost_cluster_id = Some("0123abcd-4567".into());
    let group = NodeGroupPlan { bootstrap: Bootstrap::UserData(access), ..plans::article() };
    let config: Value = serde_saphyr::from_str(&node_config_part(&group).expect("renders")).expect("YAML");
    assert_eq!(config["spec"]["cluster"]["enableOutpost"], true);
    assert_eq!(config["spec"]["cluster"]["id"], "0123abcd-4567");
    assert_eq!(config["spec"].get("kubelet"), None, "nothing to tell kubelet");
}
