//! The first line of a segment: which format, which segment, and the hash of the one before it.

use serde::{Deserialize, Serialize};

use crate::limits::SEQ_LIMIT;
use crate::line::{seal, unseal};

/// The line format this program writes.
pub(crate) const FORMAT: u32 = 1;

/// What stands in the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The major version of the line format.
    pub(crate) format: u32,
    /// The major version of the events inside, which only their owner understands.
    pub(crate) vocabulary: u32,
    /// The segment's own number.
    pub(crate) segment: u32,
    /// The number of its first commit.
    pub(crate) first: u64,
    /// The SHA-256 of the text of the segment before it; none for the first.
    pub(crate) previous: Option<String>,
}

impl Header {
    /// The line with its newline.
    pub(crate) fn line(&self) -> Vec<u8> {
        // Serialising plain fields into memory cannot fail; an empty header would be refused by every reader.
        let mut out = serde_json::to_vec(self).unwrap_or_default();
        out.pop();
        seal(&mut out, 0);
        out
    }

    /// Reads a line without its newline.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let mut body = unseal(line)?.to_vec();
        if !body.starts_with(b"{\"format\":") {
            return None;
        }
        body.push(b'}');
        serde_json::from_slice(&body).ok().filter(|header: &Self| (1..SEQ_LIMIT).contains(&header.first))
    }
}

/// The hash of a segment's text, as headers spell it.
pub(crate) fn spell_hash(digest: &[u8]) -> String {
    format!("sha256:{}", hex::encode(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_and_is_one_json_line() {
        let header =
            Header { format: 1, vocabulary: 1, segment: 2, first: 9, previous: Some(spell_hash(&[7; 32])) };
        let line = header.line();
        serde_json::from_slice::<serde_json::Value>(&line).unwrap();
        assert_eq!(Header::read(line.strip_suffix(b"\n").unwrap()), Some(header));
    }
}
