//! A node as far as a script can tell: a scratch root, a metadata service and a `PATH`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Run {
    /// Exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Machine {
    folder: TempDir,
    imds: String,
}

impl Machine {
    /// A machine whose metadata service is at this address. It never rests: its `sleep` only takes notes.
    pub(crate) fn new(imds: &str) -> Self {
        let machine = Self { folder: TempDir::new().expect("a folder"), imds: imds.into() };
        fs::create_dir_all(machine.root()).expect("a root");
        fs::create_dir_all(machine.folder.path().join("bin")).expect("a folder for programs");
        // Whatever proxy or curl settings the image has must not come between the script and the metadata service.
        fs::write(machine.folder.path().join(".curlrc"), "proxy = http://127.0.0.1:9\n").expect("written");
        machine.install("sleep", "#!/bin/bash\necho \"sleep $*\" >>\"$MACHINE/log\"\n");
        machine
    }

    /// An AL2023 image of today: the folder is there, and nodeadm-run reads it.
    pub(crate) fn current_image(self) -> Self {
        fs::create_dir_all(self.root().join("etc/eks/nodeadm.d")).expect("a folder");
        self.systemctl("ExecStart=/usr/bin/nodeadm init --skip config --config-source imds://user-data --config-source file:///etc/eks/nodeadm.d/")
    }

    /// An AL2023 image from before v20251023.
    pub(crate) fn old_image(self) -> Self {
        self.systemctl("ExecStart=/usr/bin/nodeadm init --skip config")
    }

    /// `systemctl` that shows this line of nodeadm-run.service and takes notes of the rest.
    fn systemctl(self, unit: &str) -> Self {
        let script = format!(
            "#!/bin/bash\necho \"systemctl $*\" >>\"$MACHINE/log\"\n[[ $* != 'cat nodeadm-run.service' ]] || echo '{unit}'\n"
        );
        self.install("systemctl", &script);
        self
    }

    /// Puts a program first in `PATH`.
    pub(crate) fn install(&self, name: &str, script: &str) {
        write_program(&self.folder.path().join("bin").join(name), script);
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// What the installed programs noted.
    pub(crate) fn log(&self) -> Vec<String> {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default().lines().map(Into::into).collect()
    }

    /// Writes a file under the scratch root.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("has a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    /// Puts a new program under the scratch root.
    pub(crate) fn write_program(&self, path: &str, script: &str) {
        let _ = fs::remove_file(self.root().join(path));
        self.write(path, script);
        write_program(&self.root().join(path), script);
    }

    /// A file under the scratch root.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    /// The drop-in that nodeadm reads.
    pub(crate) fn drop_in(&self) -> Option<Value> {
        let text = self.read("etc/eks/nodeadm.d/zz-eniplan.yaml")?;
        Some(serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{text:?} is no YAML: {error}")))
    }

    /// The drop-in that systemd reads.
    pub(crate) fn kubelet_unit(&self) -> Option<String> {
        self.read("etc/systemd/system/kubelet.service.d/zz-eniplan.conf")
    }

    /// Saves a script as cloud-init does: an executable file of its own.
    pub(crate) fn save(&self, script: &str) -> PathBuf {
        let path = self.folder.path().join("part-001");
        write_program(&path, script);
        path
    }

    /// Runs a script as cloud-init does: by its path, with an environment that is not ours.
    pub(crate) fn run(&self, script: &str) -> Run {
        self.finish(Command::new(self.save(script)))
    }

    /// Runs these commands of our own in one bash that has first read `script`.
    pub(crate) fn source(&self, script: &str, commands: &str) -> Run {
        let mut bash = Command::new("/bin/bash");
        bash.arg("-c").arg(format!("source \"$1\"; {commands}")).arg("bash").arg(self.save(script));
        self.finish(bash)
    }

    /// Runs a command in this machine's environment.
    pub(crate) fn finish(&self, mut command: Command) -> Run {
        let output = self.dress(&mut command).output().expect("it starts");
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// Gives a command this machine's environment.
    pub(crate) fn dress<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let folder = self.folder.path();
        command
            .env_clear()
            .current_dir("/")
            .env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.join("bin").display()))
            .env("HOME", folder)
            .env("MACHINE", folder)
            .env("http_proxy", "http://127.0.0.1:9")
            .env("ALL_PROXY", "http://127.0.0.1:9")
            .env("ENIPLAN_ROOT", self.root())
            .env("ENIPLAN_IMDS", &self.imds)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Written by a process of its own: tests run side by side, and a process that another one has just forked would hold a
/// file that this one has open for writing, which then cannot be executed ("Text file busy").
fn write_program(path: &Path, script: &str) {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", r#"cat >"$1" && chmod 755 "$1""#, "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = shell.stdin.take().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("written");
    drop(stdin);
    assert!(shell.wait().expect("it ends").success());
}
