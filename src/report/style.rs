//! Colours.

use anstyle::{AnsiColor, Style};

use crate::finding::Severity;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();

pub(super) const ADDED: Style = AnsiColor::Green.on_default();
pub(super) const CHANGED: Style = AnsiColor::Yellow.on_default();
pub(super) const REMOVED: Style = AnsiColor::Red.on_default();

/// The colour of a severity.
pub(super) fn of(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Note => AnsiColor::Cyan.on_default().bold(),
    }
}

/// Text in a style.
pub(super) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Text for a terminal: line ends, tabs and our own colours stay; other control characters, which names and messages from
/// elsewhere could hold, become dots.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|character: char| character.is_control() && !matches!(character, '\n' | '\t')) {
        let (before, from) = rest.split_at(at);
        printable.push_str(before);
        let length = colour(from);
        let taken = length.or_else(|| from.chars().next().map(char::len_utf8)).unwrap_or_default();
        let (control, after) = from.split_at(taken);
        printable.push_str(if length.is_some() { control } else { "·" });
        rest = after;
    }
    printable.push_str(rest);
    printable
}

/// Length of the escape sequence that `text` begins with, where it is one that the styles above are made of.
fn colour(text: &str) -> Option<usize> {
    let parameter = text.strip_prefix("\u{1b}[")?.split('m').next()?;
    let ours = ["0", "1", "2", "31", "32", "33", "36"].contains(&parameter);
    ours.then(|| "\u{1b}[m".len() + parameter.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_stay_and_other_escape_sequences_do_not() {
        let ours = format!("{}\n\t{}", styled(of(Severity::Error), "error:"), styled(DIM, "dim"));
        assert_eq!(printable(&ours), ours);
        let theirs = "a\u{1b}]0;title\u{7}b\u{1b}[8mc\u{1b}[2Jd\re\u{9b}f\u{1b}";
        assert_eq!(printable(theirs), "a·]0;title·b·[8mc·[2Jd·e·f·");
    }
}
