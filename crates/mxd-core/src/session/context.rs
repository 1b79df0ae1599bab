//! How much of a model's window a conversation fills.

use serde::{Deserialize, Serialize};

/// What the model counted last, and what came since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Context {
    /// Tokens of the last request and its answer, as its provider counted them for the bill.
    pub tokens: u64,
    /// What was added since.
    pub new: Load,
    /// What was counted since then without being asked about, to see how full the window is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// Answers since the conversation was last summarised.
    pub answers: u64,
}

/// Something to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Load {
    /// Bytes of texts.
    pub bytes: u64,
    /// Pictures.
    pub pictures: u64,
}

/// A count, and how much of what is new it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    /// The tokens.
    pub tokens: u64,
    /// What was new when it was counted.
    pub covers: Load,
}

/// Bytes of ordinary text and code per token.
const USUAL_BYTES_PER_TOKEN: u64 = 4;
/// Tokens of a picture as people send them.
const USUAL_PICTURE_TOKENS: u64 = 1_600;
/// More than any provider takes for one picture, whatever its size.
const MOST_PICTURE_TOKENS: u64 = 12_000;

impl Load {
    /// Nothing.
    pub const NONE: Self = Self { bytes: 0, pictures: 0 };

    /// So many bytes of text.
    pub fn text(bytes: usize) -> Self {
        Self { bytes: u64::try_from(bytes).unwrap_or(u64::MAX), pictures: 0 }
    }

    /// The same with so many pictures.
    #[must_use]
    pub fn with_pictures(self, pictures: usize) -> Self {
        Self { pictures: u64::try_from(pictures).unwrap_or(u64::MAX), ..self }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let bytes = self.bytes.saturating_add(other.bytes);
        Self { bytes, pictures: self.pictures.saturating_add(other.pictures) }
    }

    /// What is more in this one.
    fn beyond(self, other: Self) -> Self {
        let bytes = self.bytes.saturating_sub(other.bytes);
        Self { bytes, pictures: self.pictures.saturating_sub(other.pictures) }
    }

    /// Its tokens, as they usually are.
    fn usual(self) -> u64 {
        let pictures = self.pictures.saturating_mul(USUAL_PICTURE_TOKENS);
        self.bytes.div_ceil(USUAL_BYTES_PER_TOKEN).saturating_add(pictures)
    }

    /// Its tokens at the very most: no tokenizer makes more of a text than its bytes.
    pub(crate) fn most(self) -> u64 {
        self.bytes.saturating_add(self.pictures.saturating_mul(MOST_PICTURE_TOKENS))
    }
}

impl Context {
    /// Nothing.
    pub const EMPTY: Self = Self { tokens: 0, new: Load::NONE, counted: None, answers: 0 };

    /// The tokens of the next request, as they usually are.
    pub fn estimate(&self) -> u64 {
        let (tokens, since) = self.known();
        tokens.saturating_add(since.usual())
    }

    /// Whether some of that was not counted.
    pub fn is_estimated(&self) -> bool {
        self.known().1 != Load::NONE
    }

    /// The tokens of the next request at the very most.
    pub fn worst(&self) -> u64 {
        self.tokens.saturating_add(self.new.most())
    }

    /// What was counted, and what came since.
    pub(crate) fn known(&self) -> (u64, Load) {
        match self.counted {
            Some(counted) => (counted.tokens, self.new.beyond(counted.covers)),
            None => (self.tokens, self.new),
        }
    }

    pub(crate) fn add(&mut self, load: Load) {
        self.new = self.new.and(load);
    }

    /// The provider told for the bill how much it was.
    pub(crate) fn bill(&mut self, tokens: u64) {
        (self.tokens, self.new, self.counted) = (tokens, Load::NONE, None);
    }

    /// Somebody looked how much it is.
    pub(crate) fn count(&mut self, tokens: u64) {
        self.counted = Some(Counted { tokens, covers: self.new });
    }
}
