//! An apply for people: progress while it goes on, and a summary of what was done, what failed, what was not started.

use std::io::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::diff::sentence;
use super::style::{ADDED, BOLD, DIM, REMOVED, printable, styled};
use crate::diff::{Applied, Diff, Done, Event};
use crate::error::ExitStatus;
use crate::inventory::Inventory;

/// Shows progress: a bar on a terminal, a line for each change and one a minute elsewhere.
pub struct Progress<'a> {
    diff: &'a Diff,
    inventory: &'a Inventory,
    bar: Option<ProgressBar>,
    /// Seconds of the last line about a wait.
    said: Option<u64>,
}

/// Seconds between two lines about the same wait, where there is no bar.
const LINE_EVERY: u64 = 60;

impl<'a> Progress<'a> {
    /// For the changes of a diff. Without a terminal there is no bar.
    pub fn new(diff: &'a Diff, inventory: &'a Inventory, terminal: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { diff, inventory, bar, said: None }
    }

    /// Shows an event; `seconds` is the time since the beginning.
    pub fn show(&mut self, event: &Event, seconds: u64) {
        let sentence = |place: &usize| {
            self.diff.changes.get(*place).map(|change| sentence(change, self.inventory)).unwrap_or_default()
        };
        match event {
            Event::Started(place) => {
                self.said = None;
                match &self.bar {
                    Some(bar) => bar.set_message(sentence(place)),
                    None => say(&format!("{} …\n", sentence(place))),
                }
            }
            Event::Waiting { change: _, what, count } => match &self.bar {
                Some(bar) => {
                    bar.set_message(what.clone());
                    if let Some((done, total)) = count {
                        bar.set_length(*total);
                        bar.set_position(*done);
                    }
                }
                None if self.said.is_none_or(|said| said + LINE_EVERY <= seconds) => {
                    self.said = Some(seconds);
                    let count = count.map(|(done, total)| format!(": {done} of {total}")).unwrap_or_default();
                    say(&format!("  {what}{count}, {seconds} s\n"));
                }
                None => {}
            },
            Event::Done(done) => {
                let line = format!("  {}: {}\n", styled(ADDED, "done"), done.result);
                match &self.bar {
                    Some(bar) => bar.suspend(|| say(&format!("{}\n{line}", sentence(&done.change)))),
                    None => say(&line),
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Says something at once on standard error; nobody is left to be told when that fails.
pub fn say(text: &str) {
    let _ = anstream::AutoStream::auto(std::io::stderr().lock()).write_all(printable(text).as_bytes());
}

/// What was done, what failed, what was not started.
pub fn summary(diff: &Diff, inventory: &Inventory, applied: &Applied) -> String {
    let mut text = String::new();
    for done in &applied.done {
        if let Some(change) = diff.changes.get(done.change) {
            text.push_str(&format!("{} {}: {}\n", styled(ADDED, "✓"), sentence(change, inventory), done.result));
        }
    }
    for open in &applied.not_proved {
        if let Some(change) = diff.changes.get(open.change) {
            text.push_str(&format!("{} {}: {}\n", styled(DIM, "?"), sentence(change, inventory), open.result));
        }
    }
    if let Some(failed) = &applied.failed
        && let Some(change) = diff.changes.get(failed.change)
    {
        let is_interrupted = failed.error.exit_status() == ExitStatus::Interrupted;
        let how = if is_interrupted { "interrupted; an update that has begun goes on in EKS" } else { "failed" };
        text.push_str(&format!("{} {}: {how}\n", styled(REMOVED, "✗"), sentence(change, inventory)));
    }
    for change in not_started(diff, applied) {
        text.push_str(&format!("{}\n", styled(DIM, &format!("· {}: not started", sentence(change, inventory)))));
    }
    let failed = usize::from(applied.failed.is_some());
    let left = not_started(diff, applied).count();
    let open = match applied.not_proved.len() {
        0 => String::new(),
        open => format!(", {open} not proved"),
    };
    text.push_str(&styled(BOLD, &format!("{} done{open}, {failed} failed, {left} not started\n", applied.done.len())));
    text
}

fn not_started<'a>(diff: &'a Diff, applied: &'a Applied) -> impl Iterator<Item = &'a crate::diff::Change> {
    let failed = applied.failed.as_ref().map(|failed| failed.change);
    diff.changes
        .iter()
        .enumerate()
        .filter(move |(place, _)| {
            let known = applied.done.iter().chain(&applied.not_proved);
            Some(*place) != failed && known.into_iter().all(|done| done.change != *place)
        })
        .map(|(_, change)| change)
}

/// The same for programs.
pub fn json(diff: &Diff, inventory: &Inventory, applied: &Applied) -> Value {
    let results = |list: &[Done]| -> Vec<Value> {
        list.iter()
            .filter_map(|done| {
                let change = diff.changes.get(done.change)?;
                let sentence = sentence(change, inventory);
                Some(json!({ "subject": change.subject(), "sentence": sentence, "result": done.result }))
            })
            .collect()
    };
    let failed = applied.failed.as_ref().and_then(|failed| {
        let change = diff.changes.get(failed.change)?;
        Some(json!({
            "subject": change.subject(), "sentence": sentence(change, inventory), "error": failed.error.to_string(),
            "help": failed.error.help(),
        }))
    });
    let left: Vec<Value> = not_started(diff, applied)
        .map(|change| json!({ "subject": change.subject(), "sentence": sentence(change, inventory) }))
        .collect();
    json!({
        "done": results(&applied.done), "not_proved": results(&applied.not_proved), "failed": failed, "not_started": left,
        "awaiting": diff.awaiting,
        "stopped": applied.stopped.as_ref().map(ToString::to_string),
    })
}
