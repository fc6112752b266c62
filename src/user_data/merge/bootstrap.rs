//! A foreign call of `bootstrap.sh` folded into ours (AL2 with an image of its own): a node must be bootstrapped once,
//! with the arguments of both.

use super::amazon_linux::Entry;
use super::{MergeProblem, Note, Target};
use crate::user_data::bootstrap_call::{Call, calls};
use crate::user_data::mime::Part;
use crate::user_data::shell::{Word, commands};
use crate::user_data::{edits, kubelet_flags, labels};

/// Options whose value we know better: they come from the API.
const OURS: [&str; 3] = ["--apiserver-endpoint", "--b64-cluster-ca", "--service-ipv4-cidr"];

/// Folds the call of a foreign script into the call of our part; without either there is nothing to do.
pub(super) fn fold(entries: &mut Vec<Entry>, target: &Target<'_>) -> Result<Vec<Note>, MergeProblem> {
    let is_ours = |entry: &Entry| entry.number.is_none() && calls(&entry.part.body).len() == 1;
    let Some(our_index) = entries.iter().position(is_ours) else { return Ok(Vec::new()) };
    let mut found = entries.iter().enumerate().flat_map(|(index, entry)| {
        let number = entry.number.filter(|_| entry.part.is_script());
        number.into_iter().flat_map(move |number| {
            calls(&entry.part.body).into_iter().map(move |call| Foreign { index, number, call })
        })
    });
    let Some(foreign) = found.next() else { return Ok(Vec::new()) };
    if let Some(second) = found.next() {
        return Err(second.refuse("calls bootstrap.sh although an earlier call is there", "keep one of the calls"));
    }
    let Some(script) = entries.get(foreign.index).map(|entry| entry.part.clone()) else { return Ok(Vec::new()) };
    let Some(ours) = entries.get(our_index).map(|entry| entry.part.clone()) else { return Ok(Vec::new()) };
    foreign.check_place(&script)?;
    let (body, notes) = foreign.fold_into(&ours, target)?;

    let lines = edits::whole_lines(&script.body, foreign.call.range.clone());
    let mut without_call = script.body.clone();
    without_call.drain(lines);
    let edited = edits::marked(&script.body, &without_call);
    if let Some(entry) = entries.get_mut(foreign.index) {
        entry.part.body = edited;
    }
    // What the script does before its call must still be done before the call.
    let mut entry = entries.remove(our_index);
    entry.part.body = body;
    let after = if our_index < foreign.index { foreign.index } else { our_index };
    entries.insert(after, entry);
    Ok(notes)
}

/// A call in a foreign script.
struct Foreign {
    index: usize,
    number: usize,
    call: Call,
}

impl Foreign {
    fn refuse(&self, message: impl std::fmt::Display, help: &str) -> MergeProblem {
        MergeProblem {
            part: Some(self.number),
            line: None,
            message: format!("the script {message}"),
            help: help.into(),
        }
    }

    /// The call can be moved only from the end of a script that always gets there.
    fn check_place(&self, script: &Part) -> Result<(), MergeProblem> {
        let all = commands(&script.body);
        let follows = all.iter().find(|command| command.range.start >= self.call.range.end);
        if let Some(command) = follows {
            let text = String::from_utf8_lossy(script.body.get(command.range.clone()).unwrap_or_default());
            let first = text.lines().next().unwrap_or_default();
            return Err(self.refuse(
                format_args!("does something after it has called bootstrap.sh: `{first}`"),
                "move what follows the call into a part of its own, or take the call out: our part makes it",
            ));
        }
        let leaves = all
            .iter()
            .any(|command| command.words.iter().any(|word| matches!(word.literal.as_deref(), Some("exit" | "return"))));
        if !self.call.alone || leaves {
            return Err(self.refuse(
                "calls bootstrap.sh only under a condition",
                "take the call out of the script: our part makes it",
            ));
        }
        Ok(())
    }

    /// The body of our part with the arguments of this call in its own.
    fn fold_into(&self, ours: &Part, target: &Target<'_>) -> Result<(Vec<u8>, Vec<Note>), MergeProblem> {
        let our_calls = calls(&ours.body);
        let Some(our_call) = our_calls.first() else { return Ok((ours.body.clone(), Vec::new())) };
        let mut notes = vec![
            "its call of bootstrap.sh is a comment now; our part makes the call, with its arguments and ours, also where \
             an earlier command of the script fails"
                .to_owned(),
        ];
        let raw = |word: &Word| ours.body.get(word.range.clone()).unwrap_or_default().to_vec();
        let mut replaced: Vec<(std::ops::Range<usize>, Vec<u8>)> = Vec::new();
        let mut added: Vec<u8> = Vec::new();

        let flags = self.flags(ours, our_call, target, &mut notes)?;
        if !flags.is_empty() {
            match our_call.option("--kubelet-extra-args") {
                Some(word) => {
                    replaced.push((word.range.clone(), [quoted(&format!("{flags} ")), raw(word)].concat()));
                }
                None => added.extend([b" --kubelet-extra-args ".as_slice(), &quoted(&flags)].concat()),
            }
        }
        for (name, word) in &self.call.options {
            if name == "--kubelet-extra-args" || OURS.contains(&name.as_str()) {
                continue;
            }
            let value = self.literal(name, word)?;
            match our_call.option(name) {
                // The user's DNS address may be that of a cache on the node.
                Some(word) if name == "--dns-cluster-ip" => {
                    if word.literal.as_deref() != Some(value) {
                        notes.push(format!("its --dns-cluster-ip {value} stays"));
                    }
                    replaced.push((word.range.clone(), quoted(value)));
                }
                Some(_) => {}
                None => added.extend([format!(" {name} ").as_bytes(), &quoted(value)].concat()),
            }
        }
        replaced.push((our_call.range.end..our_call.range.end, added));
        replaced.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut body = ours.body.clone();
        for (range, text) in replaced {
            body.splice(range, text);
        }
        let note = |message| Note { part: Some(self.number), message };
        Ok((body, notes.into_iter().map(note).collect()))
    }

    /// The flags of this call that go into ours, in their order.
    fn flags(
        &self,
        ours: &Part,
        our_call: &Call,
        target: &Target<'_>,
        notes: &mut Vec<String>,
    ) -> Result<String, MergeProblem> {
        let Some(word) = self.call.option("--kubelet-extra-args") else { return Ok(String::new()) };
        if self.call.times("--kubelet-extra-args") > 1 {
            notes.push("it gives --kubelet-extra-args more than once; bootstrap.sh takes the last".into());
        }
        let text = self.literal("--kubelet-extra-args", word)?;
        let our_flags = our_call.option("--kubelet-extra-args").map_or("".into(), |word| {
            String::from_utf8_lossy(ours.body.get(word.range.clone()).unwrap_or_default()).into_owned()
        });
        let (mut flags, dropped) = labels::without(text, |key| target.drops_label(key));
        if !dropped.is_empty() {
            notes.push(format!("its labels {} are taken out: ours or EKS's own take their place", dropped.join(", ")));
        }
        if our_flags.contains("--max-pods=")
            && let Some(theirs) = value_of(&flags, "--max-pods")
        {
            notes.push(format!("its --max-pods={theirs} gives way to ours"));
            flags = without_flag(&flags, "--max-pods");
        }
        if our_flags.contains("--register-with-taints=") && value_of(&flags, "--register-with-taints").is_some() {
            return Err(self.refuse(
                "registers taints, and so does the node group",
                "keep the taints in one place: in the node group, or in the script",
            ));
        }
        for (flag, since) in kubelet_flags::removed(&flags, target.kubernetes_minor) {
            notes.push(format!(
                "its flag {flag} is kept, but kubelet of Kubernetes 1.{since} and later does not start with it"
            ));
        }
        Ok(flags.trim().to_owned())
    }

    fn literal<'a>(&self, name: &str, word: &'a Word) -> Result<&'a str, MergeProblem> {
        let Some(text) = word.literal.as_deref() else {
            return Err(self.refuse(
                format_args!("gives {name} a value that the shell computes, which our part does not know"),
                "write the value itself, or take the call out: our part makes it",
            ));
        };
        // bootstrap.sh writes the text between single quotes of a systemd unit, on one line.
        if text.contains(['\'', '\n', '\r']) {
            return Err(self.refuse(
                format_args!(
                    "gives {name} a value with an apostrophe or a line end, which bootstrap.sh cannot pass on"
                ),
                "take the apostrophe or the line end out of the value",
            ));
        }
        Ok(text)
    }
}

/// The value of a flag of kubelet in a text of flags.
fn value_of<'a>(flags: &'a str, name: &str) -> Option<&'a str> {
    flags.split_whitespace().find_map(|token| token.strip_prefix(name)?.strip_prefix('='))
}

fn without_flag(flags: &str, name: &str) -> String {
    let is_it = |token: &&str| token.strip_prefix(name).is_none_or(|rest| !rest.starts_with('='));
    flags.split_whitespace().filter(is_it).collect::<Vec<_>>().join(" ")
}

/// Single quotes; the text holds none.
fn quoted(text: &str) -> Vec<u8> {
    format!("'{text}'").into_bytes()
}
