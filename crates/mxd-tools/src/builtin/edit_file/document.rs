//! A file as text that can be edited and written back in its own encoding.

use crate::builtin::content::{Encoding, HEAD, Kind};

/// The text of a file.
#[derive(Debug)]
pub(super) struct Document {
    /// UTF-8 where the file is text; bytes that are not stay as they are.
    pub(super) text: Vec<u8>,
    encoding: Encoding,
}

/// Why a file cannot be edited.
#[derive(Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error("it is a binary file ({what})")]
    Binary { what: &'static str },
    #[error("it is not valid UTF-16")]
    Utf16,
}

impl Document {
    pub(super) fn read(content: &[u8]) -> Result<Self, DocumentError> {
        let encoding = match Kind::of(&content[..content.len().min(HEAD)]) {
            Kind::Text(encoding) => encoding,
            Kind::Picture(what) | Kind::Binary(what) => return Err(DocumentError::Binary { what }),
        };
        let body = &content[encoding.mark().len()..];
        let text = match encoding {
            Encoding::Utf8 | Encoding::Utf8WithMark => body.to_vec(),
            Encoding::Utf16Little | Encoding::Utf16Big => {
                let (pairs, odd) = body.as_chunks::<2>();
                let units = pairs.iter().map(|pair| encoding.unit(*pair));
                let text: Result<String, _> = char::decode_utf16(units).collect();
                match text {
                    Ok(text) if odd.is_empty() => text.into_bytes(),
                    Ok(_) | Err(_) => return Err(DocumentError::Utf16),
                }
            }
        };
        Ok(Self { text, encoding })
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        let mut content = self.encoding.mark().to_vec();
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8WithMark => content.extend(self.text),
            Encoding::Utf16Little | Encoding::Utf16Big => {
                let text = String::from_utf8_lossy(&self.text);
                content.extend(text.encode_utf16().flat_map(|unit| self.encoding.pair(unit)));
            }
        }
        content
    }
}
