//! How much of a model's window a conversation fills.

use serde::{Deserialize, Serialize};

/// What the model counted last, and what came since.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Context {
    /// Tokens of the last request and its answer, as its provider counted them.
    pub tokens: u64,
    /// Bytes that were added since.
    pub new_bytes: u64,
    /// Answers since the conversation was last summarised.
    pub answers: u64,
}

/// Bytes of ordinary text and code per token.
const USUAL_BYTES_PER_TOKEN: u64 = 4;

impl Context {
    /// Nothing.
    pub const EMPTY: Self = Self { tokens: 0, new_bytes: 0, answers: 0 };

    /// The tokens of the next request, as they usually are.
    pub fn estimate(&self) -> u64 {
        self.tokens.saturating_add(self.new_bytes.div_ceil(USUAL_BYTES_PER_TOKEN))
    }

    /// The tokens of the next request at the very most: no tokenizer makes more of a text than its bytes.
    pub fn worst(&self) -> u64 {
        self.tokens.saturating_add(self.new_bytes)
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.new_bytes = self.new_bytes.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}
