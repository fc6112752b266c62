//! `Content-Type` values: read with tolerance, written by the grammar of RFC 2045, section 5.1.

/// A `Content-Type` value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentType {
    /// `type/subtype`, in lower case; `None` where the value has none that is well-formed.
    pub media_type: Option<String>,
    /// Parameters in their order, names in lower case, values without quotes.
    pub parameters: Vec<(String, String)>,
    /// Whether the value obeys the grammar, so that Go's and Python's readers take it.
    pub strict: bool,
}

impl ContentType {
    /// Reads a value. Never fails: what cannot be understood is left out, and [`ContentType::strict`] is then false.
    pub fn parse(value: &str) -> Self {
        let mut fields = split_outside_quotes(value).into_iter();
        let first = fields.next().unwrap_or_default().trim();
        let mut parameters = Vec::new();
        let mut strict = true;
        let media_type = if is_media_type(first) {
            Some(first.to_ascii_lowercase())
        } else {
            strict = false;
            // A header that holds nothing but a parameter, such as `charset="us-ascii"`.
            if let Some((parameter, _)) = parameter(first) {
                parameters.push(parameter);
            }
            None
        };
        let mut fields = fields.peekable();
        while let Some(field) = fields.next() {
            // One semicolon at the end is forgiven by both readers.
            if field.trim().is_empty() && fields.peek().is_none() {
                continue;
            }
            match parameter(field) {
                Some((parameter, is_strict)) => {
                    strict &= is_strict && !parameters.iter().any(|(name, _)| *name == parameter.0);
                    parameters.push(parameter);
                }
                None => strict = false,
            }
        }
        Self { media_type, parameters, strict }
    }

    /// The first parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is `multipart/…`.
    pub fn is_multipart(&self) -> bool {
        self.media_type.as_deref().is_some_and(|media_type| media_type.starts_with("multipart/"))
    }

    /// The value by the grammar; `None` without a media type.
    pub fn to_strict(&self) -> Option<String> {
        let mut text = self.media_type.clone()?;
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &self.parameters {
            // What would need escapes is damaged text, not a value.
            let is_plain =
                value.bytes().all(|byte| byte == b' ' || (byte.is_ascii_graphic() && !b"\"\\".contains(&byte)));
            if seen.contains(&name.as_str()) || !is_token(name) || !is_plain {
                continue;
            }
            seen.push(name);
            text.push_str(&format!("; {name}=\"{value}\""));
        }
        Some(text)
    }
}

/// `name=value`, with whether it obeys the grammar.
fn parameter(field: &str) -> Option<((String, String), bool)> {
    let (name, value) = field.split_once('=')?;
    let (trimmed_name, trimmed) = (name.trim(), value.trim());
    if !is_token(trimmed_name) {
        return None;
    }
    let blanks_around_equals = name.trim_start() != trimmed_name || value.trim_end() != trimmed;
    let (value, strict) = match trimmed.strip_prefix('"') {
        Some(quoted) => unquote(quoted),
        None => (trimmed.to_owned(), is_token(trimmed)),
    };
    Some(((trimmed_name.to_ascii_lowercase(), value), strict && !blanks_around_equals))
}

/// The text of a quoted string after its opening quote, and whether the closing one is there and last.
fn unquote(quoted: &str) -> (String, bool) {
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return (value, characters.as_str().is_empty()),
            '\\' => value.extend(characters.next()),
            other => value.push(other),
        }
    }
    (value, false)
}

fn split_outside_quotes(value: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (index, byte) in value.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => {
                fields.push(value.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    fields.push(value.get(start..).unwrap_or_default());
    fields
}

fn is_media_type(text: &str) -> bool {
    text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// A token of RFC 2045: printable ASCII without blanks and without `()<>@,;:\"/[]?=`.
pub(in crate::user_data) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_whether_they_are_strict() {
        for (value, strict, written) in [
            ("text/x-shellscript; charset=\"us-ascii\"", true, Some("text/x-shellscript; charset=\"us-ascii\"")),
            ("text/x-shellscript; charset=us-ascii", true, Some("text/x-shellscript; charset=\"us-ascii\"")),
            ("Text/Cloud-Config", true, Some("text/cloud-config")),
            ("text/plain;", true, Some("text/plain")),
            ("multipart/mixed; boundary=//", false, Some("multipart/mixed; boundary=\"//\"")),
            ("multipart/mixed; boundary=\"a;b\"", true, Some("multipart/mixed; boundary=\"a;b\"")),
            ("multipart/mixed; boundary=\"a\\\"b\"", true, Some("multipart/mixed")),
            ("text/plain; charset", false, Some("text/plain")),
            ("text/plain; charset=", false, Some("text/plain; charset=\"\"")),
            ("text/plain; =x", false, Some("text/plain")),
            ("text/plain; a=\"b", false, Some("text/plain; a=\"b\"")),
            ("text/plain; a=1; a=2", false, Some("text/plain; a=\"1\"")),
            ("charset=\"us-ascii\"", false, None),
            ("text", false, None),
            ("", false, None),
        ] {
            let content_type = ContentType::parse(value);
            assert_eq!(content_type.strict, strict, "{value}");
            assert_eq!(content_type.to_strict().as_deref(), written, "{value}");
        }
        assert_eq!(ContentType::parse("charset=\"us-ascii\"").parameter("charset"), Some("us-ascii"));
        assert_eq!(ContentType::parse("multipart/mixed; Boundary=//").parameter("boundary"), Some("//"));
    }
}
