//! The layers around user data: base64 and gzip, peeled within bounds.

use std::borrow::Cow;
use std::io::Read as _;

use base64::Engine as _;

use super::kind::{Kind, sniff};
use super::mime;
use super::read::ReadError;

/// The most that is ever read or unpacked, in bytes. EC2 takes 16 KiB of user data; nothing larger can be real, even
/// unpacked, and the bound keeps a gzip bomb out of memory.
pub const MAX_BYTES: usize = 1 << 20;

/// How many layers of base64 are peeled: EC2 undoes one of its own, so a file of a launch template encoded twice has
/// two.
const MAX_BASE64: usize = 2;
/// How many layers of gzip are peeled.
const MAX_GZIP: usize = 2;

/// One layer around the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Base64, standard alphabet.
    Base64,
    /// Gzip.
    Gzip,
}

/// Peels all layers off, the outermost first.
pub(super) fn peel(bytes: &[u8]) -> Result<(Vec<Layer>, Cow<'_, [u8]>), ReadError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReadError::TooLarge { limit: MAX_BYTES });
    }
    let mut layers = Vec::new();
    let mut bytes = Cow::Borrowed(bytes);
    loop {
        let count = |layer| layers.iter().filter(|one| **one == layer).count();
        if bytes.starts_with(&[0x1f, 0x8b]) && count(Layer::Gzip) < MAX_GZIP {
            bytes = Cow::Owned(gunzip(&bytes)?);
            layers.push(Layer::Gzip);
            continue;
        }
        if count(Layer::Base64) < MAX_BASE64
            && let Some(decoded) = base64(&bytes)?
        {
            bytes = Cow::Owned(decoded);
            layers.push(Layer::Base64);
            continue;
        }
        return Ok((layers, bytes));
    }
}

fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    flate2::read::MultiGzDecoder::new(bytes)
        .take(limit)
        .read_to_end(&mut unpacked)
        .map_err(|source| ReadError::Gzip { source })?;
    if unpacked.len() > MAX_BYTES {
        return Err(ReadError::TooLarge { limit: MAX_BYTES });
    }
    Ok(unpacked)
}

/// The decoded bytes, where the text is base64 of something that is known or is again a layer.
fn base64(bytes: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    let compact: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_alphabet = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if compact.is_empty() || !compact.iter().all(is_alphabet) {
        return Ok(None);
    }
    match base64::engine::general_purpose::STANDARD.decode(&compact) {
        Ok(decoded) if is_known(&decoded) || looks_like_base64_of_known(&decoded) => Ok(Some(decoded)),
        Ok(_) => Ok(None),
        // Padding cut off: EC2 took such text in some Regions, and no instance can read it.
        Err(source) => {
            let unpadded = base64::engine::GeneralPurpose::new(
                &base64::alphabet::STANDARD,
                base64::engine::GeneralPurposeConfig::new()
                    .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
                    .with_decode_allow_trailing_bits(true),
            );
            match unpadded.decode(&compact) {
                Ok(decoded) if is_known(&decoded) => Err(ReadError::Base64 { length: compact.len(), source }),
                _ => Ok(None),
            }
        }
    }
}

fn is_known(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.starts_with(&[0x1f, 0x8b]) || mime::is_mime(bytes) || !matches!(sniff(bytes).0, Kind::Unknown | Kind::Empty)
}

fn looks_like_base64_of_known(bytes: &[u8]) -> bool {
    let compact: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    base64::engine::general_purpose::STANDARD.decode(&compact).is_ok_and(|decoded| is_known(&decoded))
}
