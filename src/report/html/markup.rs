//! Markup that cannot be broken from inside: every text and every attribute is escaped on its way in.

/// HTML text under construction.
#[derive(Debug, Default)]
pub(super) struct Markup {
    text: String,
}

/// Name and value.
pub(super) type Attribute<'a> = (&'a str, &'a str);

impl Markup {
    /// An element with what `inside` puts into it.
    pub(super) fn within(&mut self, tag: &str, attributes: &[Attribute<'_>], inside: impl FnOnce(&mut Self)) {
        self.start(tag, attributes);
        inside(self);
        self.text.push_str(&format!("</{tag}>\n"));
    }

    /// An element with text in it.
    pub(super) fn element(&mut self, tag: &str, attributes: &[Attribute<'_>], text: &str) {
        self.start(tag, attributes);
        self.text.push_str(&escaped(text));
        self.text.push_str(&format!("</{tag}>\n"));
    }

    /// An element that has no content: a shape, a `meta`.
    pub(super) fn empty(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.text.push('\n');
    }

    /// A shape of a graphic, which must be closed.
    pub(super) fn shape(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.text.push_str(&format!("</{tag}>\n"));
    }

    /// Markup of our own that needs no escaping, such as the style sheet.
    pub(super) fn own(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn start(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.text.push_str(&format!("<{tag}"));
        for (name, value) in attributes {
            self.text.push_str(&format!(" {name}=\"{}\"", escaped(value)));
        }
        self.text.push('>');
    }
}

/// Characters that mean something to HTML, as references. Source: HTML standard, "Character references".
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn nothing_gets_out_of_text_or_attribute() {
        let mut markup = Markup::default();
        let evil = "\"><script>alert('1')</script>&";
        markup.element("td", &[("title", evil)], evil);
        let escaped = "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;";
        assert_eq!(markup.finish(), format!("<td title=\"{escaped}\">{escaped}</td>\n"));
    }
}
