//! The bench as a process, and its control requests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A bench of one's own; it ends when this does.
pub(crate) struct Bench {
    child: Child,
    pub(crate) ports: Value,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port_file = folder.path().join("ports.json");
        let mut child = Command::new(tools().join("python/bin/python"))
            .arg(source("tests/bench/server.py"))
            .arg("--port-file")
            .arg(&port_file)
            .stdin(Stdio::piped())
            .spawn()
            .expect("the bench starts");
        let ports = loop {
            if let Ok(text) = std::fs::read_to_string(&port_file) {
                break serde_json::from_str(&text).unwrap();
            }
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the bench ended: {status}");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        Self { child, ports, _folder: folder }
    }

    /// A bench that holds one cluster.
    pub(crate) fn with(inventory: &Value) -> Self {
        let bench = Self::start();
        bench.seed(&json!({"inventory": inventory}));
        bench
    }

    /// Fills the world; answers what reading the cluster must give.
    pub(crate) fn seed(&self, body: &Value) -> Value {
        self.control("POST", "seed", body)["inventory"].take()
    }

    pub(crate) fn settings(&self, settings: &Value) {
        self.control("POST", "settings", settings);
    }

    /// Gives the caller another ARN.
    pub(crate) fn call_as(&self, arn: &str) {
        let mut credentials = self.control("GET", "settings", &Value::Null)["credentials"].take();
        credentials[self.ports["access_key_id"].as_str().unwrap()]["arn"] = arn.into();
        self.settings(&json!({"credentials": credentials}));
    }

    /// Replaces all fault rules.
    pub(crate) fn faults(&self, rules: &Value) {
        self.control("PUT", "faults", rules);
    }

    /// Every call since the start or the last [`Self::forget_calls`].
    pub(crate) fn calls(&self) -> Vec<Value> {
        serde_json::from_value(self.control("GET", "journal", &Value::Null)).unwrap()
    }

    pub(crate) fn forget_calls(&self) {
        self.control("DELETE", "journal", &Value::Null);
    }

    pub(crate) fn control(&self, method: &str, what: &str, body: &Value) -> Value {
        let port = self.ports["aws_port"].as_u64().unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).unwrap())).unwrap();
        write!(
            stream,
            "{method} /bench/{what} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{method} /bench/{what}: {answer}");
        serde_json::from_str(body).unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// The folder of the tools that `tests/setup` fills: `$ENIPLAN_TOOLS`, else beside the build.
pub(crate) fn tools() -> PathBuf {
    let folder = std::env::var_os("ENIPLAN_TOOLS")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("eniplan-tools"), PathBuf::from);
    assert!(folder.join("complete").is_file(), "no tools in {}: run tests/setup", folder.display());
    folder
}

/// A file of this repository.
pub(crate) fn source(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The inventory of a fixture.
pub(crate) fn fixture(name: &str) -> Value {
    let path = source("fixtures").join(name).join("inventory.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The `eniplan.yaml` of a fixture.
pub(crate) fn fixture_config(name: &str) -> String {
    std::fs::read_to_string(source("fixtures").join(name).join("eniplan.yaml")).unwrap()
}

/// The names of all fixtures.
pub(crate) fn fixtures() -> Vec<String> {
    let entries = std::fs::read_dir(source("fixtures")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("inventory.json").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
