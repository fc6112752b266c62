//! Errors for people: what happened, its causes once, and what to do.

use std::error::Error as _;

use super::style::{of, styled};
use crate::error::Error;
use crate::finding::Severity;

/// The text of an error.
pub fn text(error: &Error) -> String {
    let mut text = format!("{} {error}\n", styled(of(Severity::Error), "error:"));
    if let Error::Config { snippet, .. } = error {
        text.push_str(snippet);
        if !snippet.ends_with('\n') {
            text.push('\n');
        }
    }
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!("  caused by: {cause}\n"));
        source = cause.source();
    }
    text.push_str(&format!("{} {}\n", styled(of(Severity::Note), "help:"), error.help()));
    text
}
