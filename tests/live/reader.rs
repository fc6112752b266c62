//! Reads a cluster in a process of its own, because the AWS configuration is the environment's.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use eniplan::config::Config;
use eniplan::inventory::{AlsoRead, Inventory};
use eniplan::live::{CollectOptions, Progress, Timing, collect};
use serde_json::{Value, json};

use crate::bench::Bench;

const REQUEST: &str = "ENIPLAN_TEST_READING";
const MARK: &str = "\nreading: ";

/// A reading to be made.
pub(crate) struct Reading {
    request: Value,
    environment: BTreeMap<String, String>,
}

/// What came of it.
pub(crate) struct Outcome {
    /// The inventory, where there is one.
    pub(crate) inventory: Option<Value>,
    /// Error, its sources and its help, as they are printed.
    pub(crate) error: Option<String>,
    /// A line for each part that was read.
    pub(crate) sources: Vec<String>,
    /// A line for each request.
    pub(crate) calls: Vec<String>,
    /// Begin and end of each request, in seconds.
    pub(crate) times: Vec<(f64, f64)>,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Reading {
    /// Of that cluster, with the environment that the bench wants and short pauses.
    pub(crate) fn of(bench: &Bench, cluster: &str) -> Self {
        let mut environment: BTreeMap<String, String> =
            serde_json::from_value(bench.ports["environment"].clone()).unwrap();
        for name in ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"] {
            environment.insert(name.into(), "/nonexistent".into());
        }
        Self { request: json!({"cluster": cluster}), environment }
    }

    /// Of the cluster and region that a seed holds.
    pub(crate) fn of_seed(bench: &Bench, inventory: &Value) -> Self {
        Self::of(bench, inventory["cluster"]["name"].as_str().unwrap())
            .with("region", inventory["region"].as_str().unwrap())
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.request[key] = value.into();
        self
    }

    pub(crate) fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    pub(crate) fn without_environment(mut self, name: &str) -> Self {
        self.environment.remove(name);
        self
    }

    pub(crate) fn run(&self) -> Outcome {
        understood(self.command().output().unwrap())
    }

    /// Interrupts the reading as Ctrl-C does, once `ready` returns.
    pub(crate) fn interrupted_when(&self, ready: impl FnOnce()) -> Outcome {
        let reader = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        ready();
        let killed = Command::new("kill").args(["-INT", &reader.id().to_string()]).status().unwrap();
        assert!(killed.success());
        understood(reader.wait_with_output().unwrap())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "reader::reads_what_its_parent_asks_for", "--nocapture"])
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(&self.environment)
            .env(REQUEST, self.request.to_string())
            .stdin(Stdio::null());
        command
    }
}

fn understood(output: Output) -> Outcome {
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let (_, answer) = text.split_once(MARK).unwrap_or_else(|| panic!("the reader said: {text}\n{error}"));
    let answer: Value = serde_json::from_str(answer.lines().next().unwrap()).unwrap();
    let lines = |key: &str| serde_json::from_value(answer[key].clone()).unwrap();
    Outcome {
        inventory: Some(answer["inventory"].clone()).filter(|inventory| !inventory.is_null()),
        error: answer["error"].as_str().map(str::to_owned),
        sources: lines("sources"),
        calls: lines("calls"),
        times: serde_json::from_value(answer["times"].clone()).unwrap(),
        took: Duration::from_secs_f64(answer["took"].as_f64().unwrap()),
    }
}

impl Outcome {
    /// The inventory; fails with the error when there is none.
    pub(crate) fn value(&self) -> &Value {
        self.inventory.as_ref().unwrap_or_else(|| panic!("no inventory: {}", self.error.as_deref().unwrap_or("?")))
    }

    pub(crate) fn inventory(&self) -> Inventory {
        serde_json::from_value(self.value().clone()).unwrap()
    }

    pub(crate) fn error(&self) -> &str {
        self.error.as_deref().expect("an error")
    }
}

/// The other half of [`Reading::run`]; without a request there is nothing to read.
#[test]
fn reads_what_its_parent_asks_for() {
    let Ok(request) = std::env::var(REQUEST) else { return };
    let request: Value = serde_json::from_str(&request).unwrap();
    let text = |key: &str| request[key].as_str().map(str::to_owned);
    let seconds = |key: &str, default: f64| Duration::from_secs_f64(request[key].as_f64().unwrap_or(default));
    let options = CollectOptions {
        region: text("region"),
        profile: text("profile"),
        kube_context: text("kube_context"),
        also: AlsoRead {
            all_versions: request["all_versions"].as_bool().unwrap_or_default(),
            verification: request["verification"].as_bool().unwrap_or_default(),
            ..text("config")
                .map(|yaml| AlsoRead::named_in(&Config::from_yaml(&yaml, "eniplan.yaml").unwrap()))
                .unwrap_or_default()
        },
        timing: Timing {
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_secs(2),
            attempt: seconds("attempt", 10.0),
            call: seconds("call", 20.0),
            list: seconds("list", 60.0),
            kubernetes: seconds("kubernetes", 10.0),
            token: seconds("token", 600.0),
            ..Timing::default()
        },
        ..CollectOptions::new(text("cluster").unwrap())
    };
    let mut sources = Vec::new();
    let mut calls = Vec::new();
    let mut times = Vec::new();
    let began = std::time::Instant::now();
    let result = collect(&options, |progress| match progress {
        Progress::Source(read) => sources.push(format!("{}: {} read, {} failed", read.name, read.count, read.failed)),
        Progress::Change(_) => {}
        Progress::Call(call) => {
            calls.push(call.to_string());
            times.push((call.at.as_secs_f64(), (call.at + call.took).as_secs_f64()));
        }
    });
    let took = began.elapsed().as_secs_f64();
    let (inventory, error) = match result {
        Ok(inventory) => (serde_json::to_value(inventory).unwrap(), None),
        Err(error) => (Value::Null, Some(in_words(&error))),
    };
    let answer = json!({
        "inventory": inventory, "error": error, "sources": sources, "calls": calls, "times": times, "took": took,
    });
    println!("{MARK}{answer}");
}

fn in_words(error: &eniplan::error::Error) -> String {
    let mut text = format!("error: {error}");
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text.push_str(&format!("\n  caused by: {source}"));
        next = source.source();
    }
    format!("{text}\nhelp: {}", error.help())
}
