//! The template engine: strict, unescaped, and only the helpers `json`, `toml` and `sh` put values into text.

use handlebars::{Context, Handlebars, Helper, HelperResult, Output, RenderContext, RenderError, RenderErrorReason};
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

fn fill_in(template: Template, values: &impl Serialize) -> Result<String, RenderError> {
    let mut registry = Handlebars::new();
    registry.set_strict_mode(true);
    registry.set_prevent_indent(true);
    registry.register_escape_fn(handlebars::no_escape);
    registry.register_helper("json", Box::new(json_helper));
    registry.register_helper("toml", Box::new(toml_helper));
    registry.register_helper("sh", Box::new(sh_helper));
    for partial in PARTIALS {
        registry.register_partial(partial.name, partial.source)?;
    }
    registry.register_template_string(template.name, template.source)?;
    registry.render(template.name, values)
}

/// A JSON literal, which is also a YAML flow scalar or sequence.
fn json_helper(
    helper: &Helper<'_>,
    _: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let value = argument(helper, "json")?;
    out.write(&value.to_string())?;
    Ok(())
}

/// A TOML literal on one line: a basic string, an integer, a boolean or an array of them.
fn toml_helper(
    helper: &Helper<'_>,
    _: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let value = argument(helper, "toml")?;
    if value.is_null() || value.is_object() {
        return Err(RenderErrorReason::InvalidParamType("a string, number, boolean or array").into());
    }
    // JSON strings are TOML basic strings, but for the one control character that JSON leaves bare (TOML 1.0, "String").
    out.write(&value.to_string().replace('\u{7f}', "\\u007f"))?;
    Ok(())
}

/// One word of shell text, in single quotes.
fn sh_helper(
    helper: &Helper<'_>,
    _: &Handlebars<'_>,
    _: &Context,
    _: &mut RenderContext<'_, '_>,
    out: &mut dyn Output,
) -> HelperResult {
    let Some(text) = argument(helper, "sh")?.as_str() else {
        return Err(RenderErrorReason::InvalidParamType("a string").into());
    };
    out.write(&single_quoted(text)?)?;
    Ok(())
}

pub(super) fn single_quoted(text: &str) -> Result<String, RenderError> {
    if text.contains(['\0', '\n', '\r']) {
        return Err(RenderErrorReason::Other(format!("{text:?} does not fit on one line of a shell script")).into());
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

fn argument<'a>(helper: &'a Helper<'_>, name: &'static str) -> Result<&'a Value, RenderError> {
    let argument = helper.param(0).ok_or(RenderErrorReason::ParamNotFoundForIndex(name, 0))?;
    if argument.is_value_missing() {
        return Err(RenderErrorReason::MissingVariable(argument.relative_path().cloned()).into());
    }
    Ok(argument.value())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Template, render};

    fn filled(source: &'static str, values: &Value) -> Result<String, String> {
        render(Template { name: "test", source }, values)
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
        fn toml_reads_back(text in any::<String>()) {
            let rendered = filled("key = {{toml text}}", &json!({"text": text})).expect("any text is TOML");
            let read: toml::Table = rendered.parse().expect("TOML");
            prop_assert_eq!(read["key"].as_str(), Some(text.as_str()));
        }
    }
}
