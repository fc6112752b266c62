//! Percent-encoding of query values.

use std::fmt::Write as _;

/// Everything but the unreserved characters of RFC 3986 as `%XX`.
pub(super) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            other => {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::percent_encoded;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(percent_encoded("aZ0-._~"), "aZ0-._~");
        assert_eq!(percent_encoded("a b+c/d=é"), "a%20b%2Bc%2Fd%3D%C3%A9");
    }
}
