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
