//! One apply against the bench, and what is left of the world after it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixture_config, tools};
use crate::reader::Reading;

/// A bench with one cluster, and a folder with its eniplan.yaml.
pub(crate) struct World {
    pub(crate) bench: Bench,
    pub(crate) folder: tempfile::TempDir,
    region: String,
    cluster: String,
}

impl World {
    /// A fixture as it is.
    pub(crate) fn of(name: &str) -> Self {
        Self::with(&fixture(name), &fixture_config(name))
    }

    /// A cluster and what is wanted of it.
    pub(crate) fn with(inventory: &Value, config: &str) -> Self {
        let world = Self::without_a_file(inventory);
        world.wish(config);
        world
    }

    /// A cluster of which nothing is wanted yet.
    pub(crate) fn without_a_file(inventory: &Value) -> Self {
        Self {
            bench: Bench::with(inventory),
            folder: tempfile::tempdir().unwrap(),
            region: inventory["region"].as_str().unwrap().to_owned(),
            cluster: inventory["cluster"]["name"].as_str().unwrap().to_owned(),
        }
    }

    /// Replaces eniplan.yaml.
    pub(crate) fn wish(&self, config: &str) {
        std::fs::write(self.path("eniplan.yaml"), config).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let environment: BTreeMap<String, String> =
            serde_json::from_value(self.bench.ports["environment"].clone()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_eniplan"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(environment)
            .env("AWS_CONFIG_FILE", "/nonexistent")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
            .env("AWS_REGION", &self.region)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::from(self.command(arguments).output().unwrap())
    }

    /// Applies without asking and without waiting.
    pub(crate) fn apply(&self, more: &[&str]) -> Run {
        self.run(&[&["apply", "--yes", "--poll-interval", "0.001"], more].concat())
    }

    pub(crate) fn start_apply(&self, more: &[&str]) -> Child {
        let arguments = [&["apply", "--yes", "--poll-interval", "0.001"], more].concat();
        self.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The calls that change something, as `service action`, since the last time.
    pub(crate) fn changing_calls(&self) -> Vec<String> {
        let calls = self.mutating();
        self.bench.forget_calls();
        calls
            .iter()
            .map(|call| format!("{} {}", call["service"].as_str().unwrap(), call["action"].as_str().unwrap()))
            .collect()
    }

    /// The calls that change something, whole.
    pub(crate) fn mutating(&self) -> Vec<Value> {
        self.bench.calls().into_iter().filter(|call| call["mutating"] == true).collect()
    }

    /// Calls AWS past the program.
    pub(crate) fn aws(&self, service: &str, operation: &str, parameters: &Value) {
        const CALL: &str =
            "import boto3, json, sys; getattr(boto3.client(sys.argv[1]), sys.argv[2])(**json.loads(sys.argv[3]))";
        let environment: BTreeMap<String, String> =
            serde_json::from_value(self.bench.ports["environment"].clone()).unwrap();
        let output = Command::new(tools().join("python/bin/python"))
            .args(["-c", CALL, service, operation, &parameters.to_string()])
            .envs(environment)
            .env("AWS_REGION", &self.region)
            .env("AWS_DEFAULT_REGION", &self.region)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Objects of a kind, as the API server holds them.
    pub(crate) fn objects(&self, kind: &str) -> Vec<Value> {
        let state = self.bench.control("GET", "state", &Value::Null);
        state["kubernetes"][kind].as_object().unwrap().values().cloned().collect()
    }

    /// The names of nodes by the ENIConfig that they name. The interface of the pods of each is in that ENIConfig's
    /// subnet and has its groups.
    pub(crate) fn nodes_by_eni_config(&self) -> BTreeMap<String, Vec<String>> {
        const KEYS: [&str; 3] =
            ["vpc.amazonaws.com/externalEniConfig", "k8s.amazonaws.com/eniConfig", "topology.kubernetes.io/zone"];
        let state = self.bench.control("GET", "state", &Value::Null);
        let eni_configs = self.objects("eniconfigs.crd.k8s.amazonaws.com");
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for node in self.objects("nodes") {
            let name = KEYS.iter().find_map(|key| node["metadata"]["labels"][*key].as_str()).unwrap();
            let eni_config = eni_configs.iter().find(|object| object["metadata"]["name"] == name);
            let eni_config = eni_config.unwrap_or_else(|| panic!("no ENIConfig {name} for {node:#}"));
            let instance = node["spec"]["providerID"].as_str().unwrap().rsplit('/').next().unwrap();
            let interfaces = state["regions"][&self.region]["network_interfaces"].as_object().unwrap().values();
            let of_pods: Vec<&Value> = interfaces
                .filter(|one| one["Attachment"]["InstanceId"] == instance && one["Attachment"]["DeviceIndex"] == 1)
                .collect();
            assert_eq!(of_pods.len(), 1, "{node:#}");
            assert_eq!(of_pods[0]["SubnetId"], eni_config["spec"]["subnet"], "{node:#}");
            assert_eq!(of_pods[0]["Groups"][0]["GroupId"], eni_config["spec"]["securityGroups"][0], "{node:#}");
            found.entry(name.to_owned()).or_default().push(node["metadata"]["name"].as_str().unwrap().to_owned());
        }
        found
    }

    /// What a reading of the world says, without what is another each time: ids, times, names of nodes.
    pub(crate) fn end_state(&self) -> Value {
        let read = Reading::of(&self.bench, &self.cluster)
            .with("region", self.region.as_str())
            .with("all_versions", true)
            .run();
        summary(read.value())
    }

    /// Puts a lock that nobody renews any more out of date.
    pub(crate) fn let_the_lock_run_out(&self) {
        let state = self.bench.control("GET", "state", &Value::Null);
        if !state.to_string().contains("holderIdentity") {
            return;
        }
        let old = "2020-01-01T00:00:00.000000Z";
        self.bench.control(
            "POST",
            "objects",
            &json!([{
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": { "name": "eniplan", "namespace": "kube-system" },
                "spec": { "holderIdentity": "gone", "leaseDurationSeconds": 30, "acquireTime": old, "renewTime": old },
            }]),
        );
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    pub(crate) fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "nothing about {text:?} in {all}");
        self
    }
}

/// Which candidate a node picks hangs on its instance id, which is another one each time.
fn one_of_several(name: &Value) -> String {
    let name = name.as_str().unwrap();
    match name.rsplit_once('-') {
        Some((set, number)) if number.parse::<u32>().is_ok() => format!("{set}-N"),
        _ => name.to_owned(),
    }
}

fn summary(inventory: &Value) -> Value {
    let list = |name: &str| inventory[name].as_array().cloned().unwrap_or_default();
    let templates: BTreeMap<String, Value> = list("launch_templates")
        .iter()
        .map(|template| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&template["launch_template_name"]),
                json!({
                    "default": template["default_version_number"], "latest": template["latest_version_number"],
                    "versions": template["versions"],
                }),
            )
        })
        .collect();
    let key_labels = |node: &Value| {
        let labels = node["labels"].as_object().unwrap().iter();
        let of_ours = labels.filter(|(key, _)| {
            key.contains("ENIConfig")
                || key.contains("eniConfig")
                || key.contains("EniConfig")
                || key.contains("example")
        });
        json!({
            "group": node["labels"]["eks.amazonaws.com/nodegroup"], "zone": node["labels"]["topology.kubernetes.io/zone"],
            "labels": of_ours.map(|(key, value)| (key.clone(), one_of_several(value))).collect::<BTreeMap<_, _>>(),
            "ready": node["ready"], "max_pods": node["max_pods"],
        })
        .to_string()
    };
    let mut nodes: Vec<String> = list("nodes").iter().map(key_labels).collect();
    nodes.sort();
    json!({
        "eni_configs": list("eni_configs").iter().map(|object| json!({
            "name": object["name"], "subnet": object["subnet"], "groups": object["security_groups"], "labels": object["labels"],
        })).collect::<Vec<_>>(),
        "launch_templates": templates,
        "node_groups": list("node_groups").iter().map(|group| json!({
            "name": group["name"], "status": group["status"], "version": group["launch_template"]["version"],
            "template": group["launch_template"]["name"], "release": group["release_version"],
        })).collect::<Vec<_>>(),
        "add_on": json!({ "status": inventory["add_on"]["status"], "values": inventory["add_on"]["configuration_values"] }),
        "env": inventory["aws_node"]["env"],
        "nodes": nodes,
    })
}
