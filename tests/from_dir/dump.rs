//! A process that runs commands over the bench, as a shell with `aws` and `kubectl` would.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::bench::{Bench, source, tools};

/// A bench, with the commands beside it.
pub(crate) struct Shell {
    pub(crate) bench: Bench,
    child: Child,
    /// What bash knows `aws` and `kubectl` by.
    functions: String,
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

impl Shell {
    pub(crate) fn start() -> Self {
        let bench = Bench::start();
        let ports = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(ports.path(), bench.ports.to_string()).unwrap();
        let mut child = Command::new(tools().join("python/bin/python"))
            .arg(source("tests/from_dir/commands.py"))
            .arg(ports.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let functions = format!(
            r#"
            ask() {{
              exec 3<>/dev/tcp/127.0.0.1/{port}
              printf '%s\0' "$AWS_REGION" "$CLUSTER" "$@" "" >&3
              local status
              read -r status <&3
              if [[ $status == 0 ]]; then cat <&3; else cat <&3 >&2; fi
              exec 3>&-
              return "$status"
            }}
            aws() {{ ask aws "$@"; }}
            kubectl() {{ ask kubectl "$@"; }}
            "#,
            port = port.trim()
        );
        Self { bench, child, functions }
    }

    /// Seeds the bench and makes an empty folder; answers what reading the cluster must give, too.
    pub(crate) fn seed(&self, inventory: &Value) -> (Dump, Value) {
        self.bench.control("POST", "reset", &Value::Null);
        let expected = self.bench.seed(&json!({"inventory": inventory}));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (region, cluster) = (text(&inventory["region"]), text(&inventory["cluster"]["name"]));
        (Dump { folder: tempfile::tempdir().unwrap(), region, cluster }, expected)
    }

    /// Lets bash run commands in the folder; answers what they say on standard error.
    pub(crate) fn run(&self, dump: &Dump, script: &str) -> String {
        let output = Command::new("bash")
            .args(["-uc", &format!("{}\n{script}", self.functions)])
            .current_dir(dump.path())
            .env("AWS_REGION", &dump.region)
            .env("CLUSTER", &dump.cluster)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
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
