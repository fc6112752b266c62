//! Just enough of the shell's grammar to find commands, their words and where they stand.
//!
//! This is no shell: it knows quotes, substitutions, comments, here-documents and operators, and takes everything else
//! for words. What it finds is used where a mistake leads to a warning or a refusal, never to a silent change.

use std::ops::Range;

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it says after quotes are removed; `None` where an expansion decides.
    pub literal: Option<String>,
}

/// What follows a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// A line end, `;` or `&`.
    End,
    /// `&&`, `||`, `|` or a parenthesis: the next command belongs to it.
    Joins,
}

/// One simple command: words up to an operator or a line end. Keywords such as `if` count as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The words, at least one.
    pub words: Vec<Word>,
    /// Where it stands, from its first word to its last.
    pub range: Range<usize>,
    /// The line of its first word, from 1.
    pub line: usize,
    /// What comes before it.
    pub after: Separator,
    /// What follows it.
    pub then: Separator,
}

impl Command {
    /// The literal text of a word; empty where there is none.
    pub fn word(&self, index: usize) -> &str {
        self.words.get(index).and_then(|word| word.literal.as_deref()).unwrap_or_default()
    }
}

/// The commands of a script in order. Bodies of here-documents and of command substitutions are not looked into.
pub fn commands(script: &[u8]) -> Vec<Command> {
    let mut scanner = Scanner { script, at: 0, line: 1, here_documents: Vec::new() };
    let mut commands: Vec<Command> = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut first_line = 1;
    let mut after = Separator::End;
    loop {
        let token = scanner.next();
        match token {
            Token::Word(word, line) => {
                if words.is_empty() {
                    first_line = line;
                }
                words.push(word);
            }
            Token::Redirection => {}
            Token::Operator(then) => {
                push(&mut commands, &mut words, first_line, after, then);
                after = then;
            }
            Token::End => {
                push(&mut commands, &mut words, first_line, after, Separator::End);
                return commands;
            }
        }
    }
}

fn push(commands: &mut Vec<Command>, words: &mut Vec<Word>, line: usize, after: Separator, then: Separator) {
    let words = std::mem::take(words);
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        let range = first.range.start..last.range.end;
        commands.push(Command { words, range, line, after, then });
    }
}

enum Token {
    Word(Word, usize),
    Redirection,
    Operator(Separator),
    End,
}

struct Scanner<'a> {
    script: &'a [u8],
    at: usize,
    line: usize,
    /// Delimiters of here-documents whose bodies begin at the next line; with whether tabs are stripped.
    here_documents: Vec<(Vec<u8>, bool)>,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.script.get(self.at + ahead).copied()
    }

    fn advance(&mut self) -> Option<u8> {
        let byte = self.peek(0)?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    fn next(&mut self) -> Token {
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Token::End,
                (Some(b' ' | b'\t' | b'\r'), _) => _ = self.advance(),
                (Some(b'\\'), Some(b'\n')) => {
                    self.advance();
                    self.advance();
                }
                (Some(b'#'), _) => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.advance();
                    }
                }
                (Some(b'\n'), _) => {
                    self.advance();
                    self.skip_here_documents();
                    return Token::Operator(Separator::End);
                }
                (Some(b'<'), Some(b'<')) if self.peek(2) != Some(b'<') => {
                    self.here_document();
                    return Token::Redirection;
                }
                (Some(b'<' | b'>'), Some(b'(')) => return self.word(),
                (Some(b'<' | b'>'), _) => {
                    while matches!(self.peek(0), Some(b'<' | b'>' | b'&' | b'|')) {
                        self.advance();
                    }
                    self.skip_blanks();
                    if self.peek(0).is_some_and(|byte| !is_break(byte)) {
                        self.word();
                    }
                    return Token::Redirection;
                }
                (Some(b'&'), Some(b'>')) => {
                    self.advance();
                }
                (Some(b'&' | b'|'), _) => {
                    let joins = self.peek(0) == Some(b'|') || self.peek(1) == Some(b'&');
                    while matches!(self.peek(0), Some(b'&' | b'|')) {
                        self.advance();
                    }
                    return Token::Operator(if joins { Separator::Joins } else { Separator::End });
                }
                (Some(b';'), _) => {
                    while self.peek(0) == Some(b';') {
                        self.advance();
                    }
                    return Token::Operator(Separator::End);
                }
                (Some(b'(' | b')'), _) => {
                    self.advance();
                    return Token::Operator(Separator::Joins);
                }
                _ => return self.word(),
            }
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.advance();
        }
    }

    fn word(&mut self) -> Token {
        let (start, line) = (self.at, self.line);
        let mut literal: Vec<u8> = Vec::new();
        let mut expands = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => {
                    self.advance();
                    while let Some(byte) = self.advance() {
                        if byte == b'\'' {
                            break;
                        }
                        literal.push(byte);
                    }
                }
                b'"' => {
                    self.advance();
                    expands |= self.double_quoted(&mut literal);
                }
                b'\\' => {
                    self.advance();
                    match self.advance() {
                        Some(b'\n') | None => {}
                        Some(byte) => literal.push(byte),
                    }
                }
                b'$' | b'`' => {
                    expands |= self.expansion(&mut literal);
                }
                b'(' if literal.ends_with(b"=") && !expands => {
                    // An array: `name=( … )`.
                    expands = true;
                    self.balanced(b'(', b')');
                }
                b'<' | b'>' if self.peek(1) == Some(b'(') && self.at == start => {
                    expands = true;
                    self.advance();
                    self.balanced(b'(', b')');
                }
                byte if is_break(byte) => break,
                byte => {
                    literal.push(byte);
                    self.advance();
                }
            }
        }
        if self.at == start {
            self.advance();
        }
        let literal = (!expands).then(|| String::from_utf8_lossy(&literal).into_owned());
        Token::Word(Word { range: start..self.at, literal }, line)
    }

    /// Reads up to the closing double quote; whether anything in it is expanded.
    fn double_quoted(&mut self, literal: &mut Vec<u8>) -> bool {
        let mut expands = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' => {
                    self.advance();
                    return expands;
                }
                b'\\' => {
                    self.advance();
                    match self.advance() {
                        Some(b'\n') | None => {}
                        Some(byte @ (b'"' | b'\\' | b'$' | b'`')) => literal.push(byte),
                        Some(byte) => literal.extend_from_slice(&[b'\\', byte]),
                    }
                }
                b'$' | b'`' => expands |= self.expansion(literal),
                byte => {
                    literal.push(byte);
                    self.advance();
                }
            }
        }
        expands
    }

    /// Reads `$name`, `${…}`, `$(…)` or a text between backticks; false for a dollar sign that expands nothing.
    fn expansion(&mut self, literal: &mut Vec<u8>) -> bool {
        if self.advance() == Some(b'`') {
            while let Some(byte) = self.advance() {
                match byte {
                    b'\\' => _ = self.advance(),
                    b'`' => break,
                    _ => {}
                }
            }
            return true;
        }
        match self.peek(0) {
            Some(b'(') => self.balanced(b'(', b')'),
            Some(b'{') => self.balanced(b'{', b'}'),
            Some(byte) if byte.is_ascii_alphanumeric() || b"_@*#?$!-".contains(&byte) => {
                self.advance();
                while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    self.advance();
                }
            }
            Some(b'\'' | b'"') => return true,
            _ => {
                literal.push(b'$');
                return false;
            }
        }
        true
    }

    /// Skips from an opening to its closing bracket, with quotes in between.
    fn balanced(&mut self, open: u8, close: u8) {
        let mut depth = 0_usize;
        let mut quote: Option<u8> = None;
        while let Some(byte) = self.advance() {
            match (quote, byte) {
                (None | Some(b'"'), b'\\') => _ = self.advance(),
                (Some(one), byte) if one == byte => quote = None,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => quote = Some(byte),
                (None, byte) if byte == open => depth += 1,
                (None, byte) if byte == close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn here_document(&mut self) {
        self.advance();
        self.advance();
        let strips_tabs = self.peek(0) == Some(b'-');
        if strips_tabs {
            self.advance();
        }
        self.skip_blanks();
        if let Token::Word(Word { range, literal }, _) = self.word() {
            let raw = self.script.get(range).unwrap_or_default();
            self.here_documents.push((literal.map_or(raw.to_vec(), String::into_bytes), strips_tabs));
        }
    }

    fn skip_here_documents(&mut self) {
        for (delimiter, strips_tabs) in std::mem::take(&mut self.here_documents) {
            loop {
                let start = self.at;
                while self.peek(0).is_some_and(|byte| byte != b'\n') {
                    self.advance();
                }
                let line = self.script.get(start..self.at).unwrap_or_default();
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let tabs = if strips_tabs { line.iter().take_while(|byte| **byte == b'\t').count() } else { 0 };
                let is_delimiter = line.get(tabs..) == Some(delimiter.as_slice());
                if self.advance().is_none() || is_delimiter {
                    break;
                }
            }
        }
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<Vec<String>> {
        commands(script.as_bytes())
            .iter()
            .map(|command| {
                let text = |word: &Word| match &word.literal {
                    Some(literal) => literal.clone(),
                    None => format!("<{}>", &script[word.range.clone()]),
                };
                command.words.iter().map(text).collect()
            })
            .collect()
    }

    #[test]
    fn commands_and_their_words() {
        for (script, expected) in [
            ("a b  c", vec![vec!["a", "b", "c"]]),
            ("a 'b c' \"d e\"'f'", vec![vec!["a", "b c", "d ef"]]),
            ("a \\\n  b\nc", vec![vec!["a", "b"], vec!["c"]]),
            ("a # b\nc#d", vec![vec!["a"], vec!["c#d"]]),
            ("a && b || c | d; e & f", vec![vec!["a"], vec!["b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"]]),
            ("x=$(a \"b)\" | c) d", vec![vec!["<x=$(a \"b)\" | c)>", "d"]]),
            ("x=`a b` y=\"$z\"", vec![vec!["<x=`a b`>", "<y=\"$z\">"]]),
            ("m=([a]=b [c]=d) e", vec![vec!["<m=([a]=b [c]=d)>", "e"]]),
            ("cat <<EOF >f\na b\nEOF\nc", vec![vec!["cat"], vec!["c"]]),
            ("cat <<-'E F'\n\ta\n\tE F\nc", vec![vec!["cat"], vec!["c"]]),
            ("a 2>&1 >/dev/null b", vec![vec!["a", "2", "b"]]),
            ("a '$b' \\$c \"\\$d\"", vec![vec!["a", "$b", "$c", "$d"]]),
            ("a \"b\nc\" d", vec![vec!["a", "b\nc", "d"]]),
            ("a 'unclosed\n", vec![vec!["a", "unclosed\n"]]),
            ("", vec![]),
        ] {
            assert_eq!(words(script), expected, "{script:?}");
        }
    }

    #[test]
    fn lines_and_separators() {
        let found = commands(b"#!/bin/bash\n\na \\\n b\nif c && d; then\n  e\nfi\n");
        let lines: Vec<(usize, Separator, Separator)> =
            found.iter().map(|one| (one.line, one.after, one.then)).collect();
        use Separator::{End, Joins};
        assert_eq!(
            lines,
            [(3, End, End), (5, End, Joins), (5, Joins, End), (5, End, End), (7 - 1, End, End), (7, End, End)]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_come_to_an_end(script in proptest::collection::vec(proptest::sample::select(b"ab \n\\'\"$`(){}<>&|;#-=".to_vec()), 0..60)) {
            for command in commands(&script) {
                proptest::prop_assert!(script.get(command.range).is_some());
            }
        }
    }
}
