//! Certificates out of PEM text.

use base64::Engine as _;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The certificates of a PEM text in DER form; what is no certificate is passed over.
pub(super) fn certificates(pem: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(pem);
    text.split(BEGIN)
        .skip(1)
        .filter_map(|rest| rest.split_once(END))
        .filter_map(|(body, _)| {
            let body: String = body.split_whitespace().collect();
            base64::engine::general_purpose::STANDARD.decode(body).ok()
        })
        .filter(|der| !der.is_empty())
        .collect()
}

/// The certificates of `certificateAuthority.data`: base64 of PEM, with or without line breaks.
pub(super) fn certificates_in_base64(data: &str) -> Vec<Vec<u8>> {
    let compact: String = data.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(compact).map(|pem| certificates(&pem)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_found_between_their_markers_whatever_the_line_breaks() {
        let pem = format!("a comment\r\n{BEGIN}\r\nAQID\r\nBAU=\r\n{END}\r\n{BEGIN}\nBg==\n{END}\n");
        let expected = vec![vec![1, 2, 3, 4, 5], vec![6]];
        assert_eq!(certificates(pem.as_bytes()), expected);
        let mut base64 = base64::engine::general_purpose::STANDARD.encode(&pem);
        base64.insert(20, '\n');
        assert_eq!(certificates_in_base64(&base64), expected);
    }

    #[test]
    fn what_holds_no_certificate_gives_none() {
        for text in ["", "not PEM", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----"] {
            assert!(certificates(text.as_bytes()).is_empty(), "{text}");
        }
        assert!(certificates_in_base64("%%%").is_empty());
    }
}
