//! How far a reading has come: one line that changes on a terminal, one line a source elsewhere.

use super::style::{DIM, styled};

/// Goes back to the beginning of the line and clears it.
const ANEW: &str = "\r\u{1b}[K";

/// The lines of one reading.
#[derive(Debug)]
pub struct Reading {
    cluster: String,
    on_terminal: bool,
    quiet: bool,
    read: Vec<String>,
}

impl Reading {
    /// `on_terminal`: the last line may be written over.
    pub fn new(cluster: &str, on_terminal: bool, quiet: bool) -> Self {
        Self { cluster: cluster.into(), on_terminal, quiet, read: Vec::new() }
    }

    /// A part is there: what it is called, how many objects, and how many reads of it failed.
    pub fn source(&mut self, name: &str, count: usize, failed: usize) -> String {
        let failures = match failed {
            0 => String::new(),
            1 => ", 1 read failed".into(),
            more => format!(", {more} reads failed"),
        };
        if self.quiet {
            return String::new();
        }
        if !self.on_terminal {
            return format!("read {name}: {count}{failures}\n");
        }
        self.read.push(name.into());
        format!("{ANEW}Reading {} … {}", self.cluster, styled(DIM, &format!("{name}: {count}{failures}")))
    }

    /// A request was answered.
    pub fn call(&self, text: &str) -> String {
        format!("{}\n", styled(DIM, text))
    }

    /// Nothing more comes.
    pub fn end(&self) -> String {
        if self.read.is_empty() { String::new() } else { ANEW.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_source_where_lines_stay() {
        let mut reading = Reading::new("demo", false, false);
        let text = reading.source("subnets", 12, 0) + &reading.source("nodes", 0, 1) + &reading.end();
        assert_eq!(text, "read subnets: 12\nread nodes: 0, 1 read failed\n");
    }

    #[test]
    fn one_line_in_all_on_a_terminal_which_is_gone_in_the_end() {
        let mut reading = Reading::new("demo", true, false);
        let text = reading.source("subnets", 12, 0) + &reading.source("nodes", 6, 0) + &reading.end();
        assert!(!text.contains('\n'), "{text:?}");
        assert!(text.ends_with(ANEW), "{text:?}");
    }

    #[test]
    fn nothing_when_quiet() {
        let mut reading = Reading::new("demo", true, true);
        assert_eq!(reading.source("subnets", 12, 1) + &reading.end(), "");
    }
}
