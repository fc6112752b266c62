//! A process that runs commands over the bench, as a shell with `aws` and `kubectl` would.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::bench::{Bench, source};

/// A bench with the commands beside it.
pub(crate) struct Shell {
    pub(crate) bench: Bench,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ports: tempfile::NamedTempFile,
}

/// A folder that is filled, and of which cluster.
pub(crate) struct Dump {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) region: String,
    pub(crate) cluster: String,
}

impl Dump {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn text(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// The names of its files.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn python() -> PathBuf {
    crate::bench::tools().join("python/bin/python")
}

impl Shell {
    pub(crate) fn start() -> Self {
        let bench = Bench::start();
        let ports = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(ports.path(), bench.ports.to_string()).unwrap();
        let mut child = Command::new(python())
            .arg(source("tests/from_dir/commands.py"))
            .arg(ports.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { bench, child, input, output, ports }
    }

    /// Seeds the bench and makes an empty folder; answers what reading the cluster must give, too.
    pub(crate) fn seed(&self, inventory: &Value) -> (Dump, Value) {
        self.bench.control("POST", "reset", &Value::Null);
        let expected = self.bench.seed(&json!({"inventory": inventory}));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (region, cluster) = (text(&inventory["region"]), text(&inventory["cluster"]["name"]));
        (Dump { folder: tempfile::tempdir().unwrap(), region, cluster }, expected)
    }

    /// Runs a command with its redirection; answers what it says when it fails.
    pub(crate) fn run(&mut self, dump: &Dump, command: &str) -> String {
        let line = json!({
            "folder": dump.path(), "region": dump.region, "cluster": dump.cluster, "command": command,
        });
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{command} broke"));
        answer["said"].as_str().unwrap().to_owned()
    }

    /// Lets bash run a script, in which `aws` and `kubectl` are ours.
    pub(crate) fn script(&self, dump: &Dump, script: &str) -> Output {
        let (python, commands) = (python(), source("tests/from_dir/commands.py"));
        let program = |name: &str| {
            format!(
                "{name}() {{ '{}' '{}' '{}' {name} \"$@\"; }}\n",
                python.display(),
                commands.display(),
                self.ports.path().display()
            )
        };
        Command::new("bash")
            .args(["-uc", &(program("aws") + &program("kubectl") + script)])
            .current_dir(dump.path())
            .env("AWS_REGION", &dump.region)
            .env("CLUSTER", &dump.cluster)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().unwrap();
    }
}

/// The program, without anything of the caller's environment.
pub(crate) fn eniplan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap()
}
