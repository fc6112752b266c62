//! The template engine: strict, unescaped, and values get into text through quoting helpers only: `json`, `toml`,
//! `sh`, and, where people read the text, `plain` (YAML), `word` (shell) and `comment`.

use std::sync::{LazyLock, Mutex, PoisonError};

use handlebars::{
    Context, Handlebars, Helper, HelperDef, HelperResult, Output, RenderContext, RenderError, RenderErrorReason,
};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

/// A template of `templates/`, with the name that errors give.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Template {
    /// File name.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// Pieces that several templates include, by the name under which they do.
const PARTIALS: [Template; 2] = [
    Template { name: "imds", source: include_str!("../../templates/imds.sh.hbs") },
    Template { name: "choice", source: include_str!("../../templates/choice.sh.hbs") },
];

/// Fills `template` in with `values`.
///
/// # Errors
/// [`Error::Template`] when the template names something that `values` lacks, or when a value cannot be quoted.
pub(crate) fn render(template: Template, values: &impl Serialize) -> Result<String, Error> {
    fill_in(template, values)
        .map_err(|source| Error::Template { template: template.name.into(), source: Box::new(source) })
}

/// Templates that were used before: parsing one takes far longer than filling it in.
static PARSED: LazyLock<Mutex<Handlebars<'static>>> = LazyLock::new(|| {
    let mut registry = Handlebars::new();
    registry.set_strict_mode(true);
    registry.set_prevent_indent(true);
    registry.register_escape_fn(handlebars::no_escape);
    for quoting in QUOTING {
        registry.register_helper(quoting.name, Box::new(quoting));
    }
    Mutex::new(registry)
});

fn fill_in(template: Template, values: &impl Serialize) -> Result<String, RenderError> {
    let mut registry = PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let included =
        PARTIALS.into_iter().filter(|partial| template.source.contains(&format!("{{{{> {}}}}}", partial.name)));
    for needed in included.chain([template]) {
        if !registry.has_template(needed.name) {
            registry.register_template_string(needed.name, needed.source)?;
        }
    }
    registry.render(template.name, values)
}

/// A helper that writes its one argument, quoted.
#[derive(Clone, Copy)]
struct Quoting {
    name: &'static str,
    quoted: fn(&Value) -> Result<String, RenderError>,
}

const QUOTING: [Quoting; 6] = [
    Quoting { name: "json", quoted: |value| Ok(value.to_string()) },
    Quoting { name: "toml", quoted: toml },
    Quoting { name: "sh", quoted: |value| single_quoted(text(value)?) },
    Quoting { name: "plain", quoted: |value| Ok(yaml_scalar(text(value)?)) },
    Quoting { name: "word", quoted: |value| shell_word(text(value)?) },
    Quoting { name: "comment", quoted: |value| Ok(comment(text(value)?)) },
];

impl HelperDef for Quoting {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        _: &'rc Context,
        _: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let argument = helper.param(0).ok_or(RenderErrorReason::ParamNotFoundForIndex(self.name, 0))?;
        if argument.is_value_missing() {
            return Err(RenderErrorReason::MissingVariable(argument.relative_path().cloned()).into());
        }
        out.write(&(self.quoted)(argument.value())?)?;
        Ok(())
    }
}

fn text(value: &Value) -> Result<&str, RenderError> {
    value.as_str().ok_or_else(|| RenderErrorReason::InvalidParamType("a string").into())
}

/// A TOML literal on one line: a basic string, an integer, a boolean or an array of them.
fn toml(value: &Value) -> Result<String, RenderError> {
    if value.is_null() || value.is_object() {
        return Err(RenderErrorReason::InvalidParamType("a string, number, boolean or array").into());
    }
    // JSON strings are TOML basic strings, but for the one control character that JSON leaves bare (TOML 1.0, "String").
    Ok(value.to_string().replace('\u{7f}', "\\u007f"))
}

/// One word of shell text, in single quotes.
pub(super) fn single_quoted(text: &str) -> Result<String, RenderError> {
    if text.contains(['\0', '\n', '\r']) {
        return Err(RenderErrorReason::Other(format!("{text:?} does not fit on one line of a shell script")).into());
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

/// A text as a YAML scalar, also inside flow collections: plain where it can be nothing but this text, else a JSON literal.
///
/// Words that some YAML reader takes for a boolean or for nothing are quoted. Source: YAML 1.1 types `bool` and `null`.
pub(super) fn yaml_scalar(text: &str) -> String {
    const WORDS: [&str; 13] =
        ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"];
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.ends_with(|last: char| last.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}

/// One word of a command that people read: bare where the shell leaves it alone, else in single quotes.
fn shell_word(text: &str) -> Result<String, RenderError> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:".contains(&byte));
    if is_bare { Ok(text.to_owned()) } else { single_quoted(text) }
}

/// One line of comment, in YAML and in shell text. What would end the line becomes a blank.
fn comment(text: &str) -> String {
    // Line and paragraph separators end a line in YAML 1.1.
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    format!("# {}", text.replace(ends_line, " ")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Template, render};

    fn filled(source: &'static str, values: &Value) -> Result<String, String> {
        render(Template { name: source, source }, values)
            .map_err(|error| std::error::Error::source(&error).expect("a template error has a source").to_string())
    }

    #[test]
    fn a_missing_value_is_an_error_in_every_helper() {
        for source in ["{{json nobody}}", "{{toml nobody}}", "{{sh nobody}}", "{{#each nobody}}x{{/each}}"] {
            let error = filled(source, &json!({})).expect_err(source);
            assert!(error.contains("nobody"), "{error}");
        }
    }

    #[test]
    fn nothing_is_escaped_for_html() {
        assert_eq!(filled("{{json ca}}", &json!({"ca": "LS0t<&>=="})), Ok("\"LS0t<&>==\"".into()));
    }

    #[test]
    fn a_text_of_several_lines_never_becomes_a_shell_word() {
        for text in ["a\nb", "a\rb", "a\0b"] {
            let error = filled("{{sh text}}", &json!({"text": text})).expect_err(text);
            assert!(error.contains("does not fit on one line"), "{error}");
        }
    }

    #[test]
    fn words_of_commands_are_quoted_where_the_shell_would_change_them() {
        for (text, word) in
            [("10.0.0.0/16", "10.0.0.0/16"), ("", "''"), ("a b", "'a b'"), ("[{}]", "'[{}]'"), ("~", "'~'")]
        {
            assert_eq!(filled("{{word text}}", &json!({"text": text})), Ok(word.into()));
        }
    }

    #[test]
    fn a_shell_word_survives_its_own_quotes() {
        let words = [("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("'", r"''\'''"), ("$(x)`", "'$(x)`'")];
        for (text, word) in words {
            assert_eq!(filled("{{sh text}}", &json!({"text": text})), Ok(word.into()));
        }
    }

    proptest! {
        #[test]
        fn json_reads_back_as_yaml(text in any::<String>()) {
            let rendered = filled("{{json text}}", &json!({"text": text})).expect("any text is JSON");
            let read: String = serde_saphyr::from_str(&rendered).expect("JSON is YAML");
            prop_assert_eq!(read, text);
        }

        #[test]
        fn plain_reads_back_as_yaml(text in "[a-z0-9./_:#-]{0,8}|(yes|No|null|on|1e3|0x1f|nan|\\.inf|~|true)|\\PC{0,6}") {
            let rendered = filled("[{{plain text}}, {{plain text}}]", &json!({"text": text})).expect("any text is a scalar");
            let read: Vec<Value> = serde_saphyr::from_str(&rendered).expect("YAML");
            prop_assert_eq!(read, vec![Value::from(text.clone()), Value::from(text)]);
        }

        #[test]
        fn a_comment_stays_on_its_line(text in any::<String>()) {
            let rendered = filled("{{comment text}}\nkey: value\n", &json!({"text": text})).expect("any text is a comment");
            let read: Value = serde_saphyr::from_str(&rendered).expect("YAML");
            prop_assert_eq!(read, json!({"key": "value"}));
        }

        #[test]
        fn toml_reads_back(text in any::<String>()) {
            let rendered = filled("key = {{toml text}}", &json!({"text": text})).expect("any text is TOML");
            let read: toml::Table = rendered.parse().expect("TOML");
            prop_assert_eq!(read["key"].as_str(), Some(text.as_str()));
        }
    }
}
