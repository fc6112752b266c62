//! Commands as text that a shell reads back as the same words.

use super::registry::single_quoted;
use crate::error::Error;

/// The words as one line; those with characters that mean something to a shell are quoted.
///
/// # Errors
/// [`Error::Template`] when a word does not fit on one line; a defect of the program.
pub fn shell_line(words: &[String]) -> Result<String, Error> {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c));
    let words: Result<Vec<String>, _> =
        words.iter().map(|word| if plain(word) { Ok(word.clone()) } else { single_quoted(word) }).collect();
    words
        .map(|words| words.join(" "))
        .map_err(|source| Error::Template { template: "command".into(), source: Box::new(source) })
}

#[cfg(test)]
mod tests {
    use super::shell_line;

    #[test]
    fn words_survive_a_shell() {
        let words = ["aws", "--labels", "addOrUpdateLabels={k8s.io/a=b}", "it's", "", "$(id)"].map(String::from);
        assert_eq!(
            shell_line(&words).ok(),
            Some(r"aws --labels 'addOrUpdateLabels={k8s.io/a=b}' 'it'\''s' '' '$(id)'".into())
        );
        assert!(shell_line(&["a\nb".into()]).is_err());
    }
}
