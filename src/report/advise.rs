//! Advice for people.

use super::style::{BOLD, DIM, styled};
use crate::advise::{Advice, Judgement, Step, Verdict};
use crate::error::Error;
use crate::plan::Plan;
use crate::render::shell_line;

/// The advice as text.
///
/// # Errors
/// As [`shell_line`].
pub fn text(plan: &Plan, advice: &Advice) -> Result<String, Error> {
    let mut text = format!("{} {} in {}\n", styled(BOLD, "Cluster"), plan.cluster, plan.region);
    text.push_str(&format!("  wanted  {}\n", advice.wanted.join("\n          ")));
    match &advice.in_use {
        Some(in_use) => text.push_str(&format!("  in use  {}: {}\n", in_use.mechanism.title(), in_use.because)),
        None => text.push_str("  in use  none that is known: pods use their node's subnet\n"),
    }
    for (index, judgement) in advice.mechanisms.iter().enumerate() {
        text.push_str(&mechanism(index + 1, judgement));
    }
    text.push_str(&choice(advice));
    text.push_str(&steps(&advice.steps)?);
    for note in &advice.notes {
        text.push_str(&format!("\n{} {note}\n", styled(BOLD, "Note")));
    }
    Ok(text)
}

fn mechanism(number: usize, judgement: &Judgement) -> String {
    let (verdict, mark) = match judgement.verdict {
        Verdict::InUse => ("fits, in use", "+"),
        Verdict::Fits => ("fits", "+"),
        Verdict::RuledOut => ("ruled out", "–"),
    };
    let head = format!("{number}. {}", judgement.mechanism.title());
    let mut text = format!("\n{} ({verdict})\n", styled(BOLD, &head));
    for reason in &judgement.reasons {
        text.push_str(&format!("   {mark} {reason}\n"));
    }
    // What a mechanism costs that cannot be had is of no use to anybody; the JSON has it.
    for cost in judgement.costs.iter().filter(|_| judgement.verdict != Verdict::RuledOut) {
        text.push_str(&styled(DIM, &format!("   cost: {cost}")));
        text.push('\n');
    }
    text
}

fn choice(advice: &Advice) -> String {
    let head = styled(BOLD, "Advice");
    let Some(choice) = advice.choice else {
        return format!("\n{head} none of them fits; what rules each out is said above\n");
    };
    let done = advice.steps.is_empty();
    let apply = match (advice.needs_apply, done) {
        (true, _) => "`eniplan apply` does it",
        (false, true) => "it is in place; this cluster does not need `eniplan apply`",
        (false, false) if advice.steps.iter().any(|step| matches!(step, Step::Run { .. })) => {
            "these commands are enough; this cluster does not need `eniplan apply`"
        }
        (false, false) => "this is enough; this cluster does not need `eniplan apply`",
    };
    format!("\n{head} {}: {apply}\n", choice.title())
}

fn steps(steps: &[Step]) -> Result<String, Error> {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        match step {
            Step::Run { command, only_if } => {
                if let Some(only_if) = only_if {
                    text.push_str(&format!("     only if {only_if}:\n"));
                }
                text.push_str(&format!("  {number}. {}\n", shell_line(command)?));
            }
            Step::Other { what } => text.push_str(&format!("  {number}. {what}\n")),
            Step::Write { file, text: content } => {
                text.push_str(&format!("  {number}. write {file}:\n\n"));
                for line in content.lines() {
                    text.push_str(format!("     {line}").trim_end());
                    text.push('\n');
                }
                text.push('\n');
            }
        }
    }
    Ok(text)
}
