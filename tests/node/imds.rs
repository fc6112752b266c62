//! The stand-in for the instance metadata service: one process for all tests of this file.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

use crate::tools;

struct Server {
    port: u64,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _process: Child,
}

static SERVER: OnceLock<Mutex<Server>> = OnceLock::new();

fn start() -> Mutex<Server> {
    let mut process = tools::python()
        .arg(tools::source("tests/bench/imds.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let input = process.stdin.take().expect("piped");
    let mut output = BufReader::new(process.stdout.take().expect("piped"));
    let port = read_line(&mut output)["port"].as_u64().expect("a port");
    Mutex::new(Server { port, input, output, _process: process })
}

fn read_line(output: &mut impl BufRead) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).expect("the stand-in answers");
    serde_json::from_str(&line).expect("a line of JSON")
}

fn call(request: &Value) -> (u64, Value) {
    let mut server = SERVER.get_or_init(start).lock().expect("no test died in here");
    writeln!(server.input, "{request}").expect("the stand-in lives");
    let reply = read_line(&mut server.output);
    (server.port, reply)
}

/// One request that a node made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u64,
}

/// What the metadata service says to one node.
pub(crate) struct Imds {
    name: String,
    pub(crate) url: String,
}

/// MAC address of every node here.
pub(crate) const MAC: &str = "0a:1b:2c:3d:4e:5f";

/// What a node in this subnet is told.
pub(crate) fn answers(cidr: &str, instance_id: &str) -> Value {
    json!({
        "mac": MAC,
        "instance-id": instance_id,
        "placement/availability-zone": "ap-southeast-1a",
        subnet_path(): cidr,
    })
}

pub(crate) fn subnet_path() -> String {
    format!("network/interfaces/macs/{MAC}/subnet-ipv4-cidr-block")
}

impl Imds {
    /// Serves a node of this name; a test that uses a name again starts from an empty log.
    pub(crate) fn serve(name: &str, answers: &Value, faults: &Value) -> Self {
        let (port, _) = call(&json!({"node": name, "answers": answers, "faults": faults}));
        Self { name: name.into(), url: format!("http://127.0.0.1:{port}/{name}") }
    }

    /// What the node asked, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let (_, log) = call(&json!({"log": self.name}));
        let entries: Vec<(String, String, u64)> = serde_json::from_value(log).expect("a log");
        entries.into_iter().map(|(method, path, status)| Request { method, path, status }).collect()
    }

    /// The paths that the node asked for, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}
