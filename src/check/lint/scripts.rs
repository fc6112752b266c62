//! Guesses about shell scripts that choose something by the network of the node.

use super::{Input, line_in};
use crate::finding::Problem;
use crate::user_data::bootstrap_call::calls;
use crate::user_data::is_ours;
use crate::user_data::shell::{Command, commands};

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if !input.is_amazon_linux() {
        return;
    }
    for (number, part, place) in input.parts().filter(|(_, part, _)| part.is_script() && !is_ours(part)) {
        let content = part.content();
        let script = Script { content: &content, commands: commands(&content) };
        let mut add = |rule: fn(&Input<'_>, usize, usize) -> Problem, line: Option<usize>| {
            problems.extend(line.map(|line| rule(input, number, line_in(part, place, line))));
        };
        add(needs_ipcalc, script.line_with_word("ipcalc"));
        add(unordered_map, script.loop_over_map());
        add(nothing_when_no_match, script.conditional_bootstrap());
        add(imds_without_token, script.imds_without_token());
    }
}

fn needs_ipcalc(input: &Input<'_>, number: usize, line: usize) -> Problem {
    input.problem(
        "script-needs-ipcalc",
        line,
        format!("part {number} needs ipcalc, which the image need not have; without it every comparison fails"),
        "ask the instance metadata service for subnet-ipv4-cidr-block and compare for equality",
    )
}

fn unordered_map(input: &Input<'_>, number: usize, line: usize) -> Problem {
    input.problem(
        "script-map-unordered",
        line,
        format!("part {number} goes through the keys of an associative array, whose order is undefined: of two networks that match, chance decides"),
        "use `case`, or an indexed array with the longest prefix first",
    )
}

fn nothing_when_no_match(input: &Input<'_>, number: usize, line: usize) -> Problem {
    input.problem(
        "script-silent-without-match",
        line,
        format!("part {number} calls bootstrap.sh only under this condition; otherwise nothing happens and nothing is said, and the node never joins, or joins without the label"),
        "add an `else` that says why on the console and exits with an error",
    )
}

fn imds_without_token(input: &Input<'_>, number: usize, line: usize) -> Problem {
    input.problem(
        "script-imds-without-token",
        line,
        format!("part {number} asks the instance metadata service without a token; where HttpTokens is required it gets no answer, and goes on with an empty text"),
        "get a token from /latest/api/token first, and stop on an empty answer",
    )
}

struct Script<'a> {
    content: &'a [u8],
    commands: Vec<Command>,
}

impl Script<'_> {
    fn text(&self, range: std::ops::Range<usize>) -> String {
        String::from_utf8_lossy(self.content.get(range).unwrap_or_default()).into_owned()
    }

    /// The line of the first command that has a word in it, also inside of substitutions.
    fn line_with_word(&self, word: &str) -> Option<usize> {
        let has_word = |command: &&Command| {
            let text = self.text(command.range.clone());
            text.split(|one: char| !one.is_ascii_alphanumeric() && !matches!(one, '_' | '-' | '.'))
                .any(|one| one == word)
        };
        self.commands.iter().find(has_word).map(|command| command.line)
    }

    /// The line of a loop over the keys of a map.
    fn loop_over_map(&self) -> Option<usize> {
        let maps: Vec<String> =
            self.commands
                .iter()
                .filter(|command| matches!(command.word(0), "declare" | "local" | "typeset"))
                .filter(|command| {
                    command.words.iter().any(|word| {
                        word.literal.as_deref().is_some_and(|text| text.starts_with('-') && text.contains('A'))
                    })
                })
                .flat_map(|command| command.words.iter().skip(1))
                .map(|word| self.text(word.range.clone()))
                .filter(|text| !text.starts_with('-'))
                .map(|text| text.split('=').next().unwrap_or_default().to_owned())
                .collect();
        let loops = self.commands.iter().filter(|command| command.word(0) == "for");
        loops
            .filter(|command| {
                let text = self.text(command.range.clone());
                maps.iter().any(|map| text.contains(&format!("${{!{map}[")))
            })
            .map(|command| command.line)
            .next()
    }

    /// The line of an `if` without `else` in which bootstrap.sh is called.
    fn conditional_bootstrap(&self) -> Option<usize> {
        let calls = calls(self.content);
        let mut open: Vec<(usize, bool, bool)> = Vec::new();
        for command in &self.commands {
            let is_call = calls.iter().any(|call| call.range == command.range);
            if let Some(last) = open.last_mut() {
                last.1 |= is_call;
            }
            for word in &command.words {
                match word.literal.as_deref() {
                    Some("if") => open.push((command.line, is_call, false)),
                    Some("else") => {
                        if let Some(last) = open.last_mut() {
                            last.2 = true;
                        }
                    }
                    Some("fi") => {
                        let (line, calls, has_else) = open.pop()?;
                        if calls && !has_else {
                            return Some(line);
                        }
                    }
                    // Keywords stand first, or behind other keywords.
                    Some("then" | "do" | "elif" | "!" | "{") => {}
                    _ => break,
                }
            }
        }
        None
    }

    /// The line of a question to the metadata service in a script that knows no token.
    fn imds_without_token(&self) -> Option<usize> {
        let all = self.text(0..self.content.len());
        if all.contains("api/token") || all.contains("X-aws-ec2-metadata-token") {
            return None;
        }
        let asks = |command: &&Command| {
            let text = self.text(command.range.clone());
            text.contains("169.254.169.254") && (text.contains("curl") || text.contains("wget"))
        };
        self.commands.iter().find(asks).map(|command| command.line)
    }
}
