//! Whatever the text, the answer is a configuration or an error with a place; never a panic.

use proptest::prelude::*;

use super::{DESCRIBED, EXAMPLE};
use crate::config::Config;
use crate::error::Error;

/// Pieces that make a document go wrong in more ways than random bytes do.
const PIECES: [&str; 24] = [
    "", " ", "\n", "\t", ":", "- ", "[", "]", "{", "}", "\"", "'", "&a ", "*a", "!!str ", "| ", "---\n", "#", "~",
    "0x1F", "\u{feff}", "ü", "\r", "<<: ",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(
        document in prop::sample::select(vec![EXAMPLE, DESCRIBED]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, prop::sample::select(PIECES.to_vec())), 1..6),
    ) {
        let mut characters: Vec<char> = document.chars().collect();
        for (at, removed, piece) in edits {
            let start = at.index(characters.len() + 1);
            let end = (start + removed).min(characters.len());
            characters.splice(start..end, piece.chars());
        }
        let text: String = characters.into_iter().collect();
        if let Err(error) = Config::from_yaml(&text, "eniplan.yaml") {
            let Error::Config { position, snippet, help, .. } = &error else { panic!("{error}") };
            prop_assert!(position.line >= 1 && position.line <= text.matches(['\n', '\r']).count() + 1, "{error}");
            prop_assert!(position.column >= 1, "{error}");
            prop_assert!(snippet.contains('^') && !help.is_empty());
        }
    }

    #[test]
    fn no_bytes_make_the_parser_panic(text in "\\PC{0,200}") {
        prop_assert!(Config::from_yaml(&text, "eniplan.yaml").is_err());
    }
}
