//! Calls of `/etc/eks/bootstrap.sh` of the Amazon Linux 2 images: found in scripts, taken apart, written.

use std::ops::Range;

use super::shell::{Command, Separator, Word, commands};

/// Options of `bootstrap.sh` that take a value. Source: amazon-eks-ami, branch al2,
/// `templates/al2/runtime/bootstrap.sh`. `--help` is the only one that takes none.
const OPTIONS: [&str; 19] = [
    "--apiserver-endpoint",
    "--aws-api-retry-attempts",
    "--b64-cluster-ca",
    "--cluster-id",
    "--container-runtime",
    "--containerd-config-file",
    "--dns-cluster-ip",
    "--docker-config-json",
    "--enable-docker-bridge",
    "--enable-local-outpost",
    "--ip-family",
    "--kubelet-extra-args",
    "--local-disks",
    "--mount-bpf-fs",
    "--pause-container-account",
    "--pause-container-version",
    "--service-ipv4-cidr",
    "--service-ipv6-cidr",
    "--use-max-pods",
];

/// Words that may stand before the program of a command.
const PREFIXES: [&str; 12] =
    ["bash", "do", "else", "env", "exec", "if", "sh", "sudo", "then", "time", "until", "while"];

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Where it stands, from its first word to its last.
    pub range: Range<usize>,
    /// Its line, from 1.
    pub line: usize,
    /// The cluster name and whatever else is no option.
    pub positional: Vec<Word>,
    /// Options in their order, with their values.
    pub options: Vec<(String, Word)>,
    /// Whether it is a command of its own: nothing before it on its way, nothing joined to it.
    pub alone: bool,
}

impl Call {
    /// The value of an option; `bootstrap.sh` keeps the last one.
    pub fn option(&self, name: &str) -> Option<&Word> {
        self.options.iter().rev().find(|(one, _)| one == name).map(|(_, value)| value)
    }

    /// How often an option is given.
    pub fn times(&self, name: &str) -> usize {
        self.options.iter().filter(|(one, _)| one == name).count()
    }

    /// The text of `--kubelet-extra-args`; empty where it is not given, `None` where an expansion decides.
    pub fn extra_args(&self) -> Option<&str> {
        self.option("--kubelet-extra-args").map_or(Some(""), |word| word.literal.as_deref())
    }
}

/// The calls in a script, in order.
pub fn calls(script: &[u8]) -> Vec<Call> {
    commands(script).iter().filter_map(|command| call(script, command)).collect()
}

fn call(script: &[u8], command: &Command) -> Option<Call> {
    let raw = |word: &Word| String::from_utf8_lossy(script.get(word.range.clone()).unwrap_or_default()).into_owned();
    let is_prefix = |word: &Word| {
        let raw = raw(word);
        PREFIXES.contains(&raw.as_str()) || raw == "!" || raw == "{" || raw.starts_with('-') || is_assignment(&raw)
    };
    let program = command.words.iter().position(|word| !is_prefix(word))?;
    // The folder may be a variable.
    let name = command.words.get(program).map(raw)?.replace(['"', '\''], "");
    if name != "bootstrap.sh" && !name.ends_with("/bootstrap.sh") {
        return None;
    }
    let mut positional = Vec::new();
    let mut options = Vec::new();
    let mut words = command.words.iter().skip(program + 1);
    while let Some(word) = words.next() {
        match word.literal.as_deref() {
            Some(option) if OPTIONS.contains(&option) => match words.next() {
                Some(value) => options.push((option.to_owned(), value.clone())),
                None => positional.push(word.clone()),
            },
            _ => positional.push(word.clone()),
        }
    }
    let alone = program == 0 && command.after == Separator::End && command.then == Separator::End;
    Some(Call { range: command.range.clone(), line: command.line, positional, options, alone })
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_what_they_say() {
        let script = b"#!/bin/bash\nset -ex\n# /etc/eks/bootstrap.sh commented\n/etc/eks/bootstrap.sh demo \\\n  --b64-cluster-ca $CA \\\n  --kubelet-extra-args '--node-labels=role=web,team=a --v=3' --use-max-pods false\n";
        let found = calls(script);
        let [call] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((call.line, call.alone), (4, true));
        assert_eq!(call.positional[0].literal.as_deref(), Some("demo"));
        assert_eq!(call.extra_args(), Some("--node-labels=role=web,team=a --v=3"));
        assert_eq!(call.option("--b64-cluster-ca").unwrap().literal, None);
        assert_eq!(call.option("--use-max-pods").unwrap().literal.as_deref(), Some("false"));
    }

    #[test]
    fn where_calls_are_and_are_not() {
        for (script, count, alone) in [
            ("exec /etc/eks/bootstrap.sh demo", 1, false),
            ("sudo -E /etc/eks/bootstrap.sh demo", 1, false),
            ("if /etc/eks/bootstrap.sh demo; then a; fi", 1, false),
            ("x && /etc/eks/bootstrap.sh demo", 1, false),
            ("A=b bootstrap.sh demo", 1, false),
            ("./bootstrap.sh demo", 1, true),
            ("\"$folder/bootstrap.sh\" demo", 1, true),
            ("bootstrap=$folder/bootstrap.sh", 0, false),
            ("bootstrap() {\n  /etc/eks/bootstrap.sh demo\n}\n", 1, true),
            ("cat /etc/eks/bootstrap.sh", 0, false),
            ("sed -i s/a/b/ /etc/eks/bootstrap.sh", 0, false),
            ("cat <<EOF\n/etc/eks/bootstrap.sh demo\nEOF\n", 0, false),
            ("echo '/etc/eks/bootstrap.sh demo'", 0, false),
        ] {
            let found = calls(script.as_bytes());
            assert_eq!(found.len(), count, "{script}");
            assert_eq!(found.first().is_some_and(|call| call.alone), alone, "{script}");
        }
    }
}
