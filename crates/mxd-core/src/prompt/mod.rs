//! What a model is asked, in words that belong to no provider.
//!
//! A [`Request`] is a frozen [`Head`] and a list of turns that only grows. Providers turn it into their own
//! bytes; because the head stays and turns are appended, the bytes of the next request extend those of the
//! last one.

mod block;
mod head;
mod project;
pub mod text;

pub use block::{Block, Image, Opaque, RedactedThinking, ResultPart, Text, Thinking, ToolCall, ToolResult};
pub use head::{Cache, CacheTtl, Effort, Head, OutputLimits, Reasoning, SystemText, ToolSpec};
pub use project::{Pictures, Projection, effective};

use serde::{Deserialize, Serialize};

/// One question to a model: the whole conversation so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// What stays the same in every request of a session.
    pub head: Head,
    /// The conversation, oldest first.
    pub turns: Vec<Turn>,
}

/// What one side said at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What, in order.
    pub blocks: Vec<Block>,
}

impl Turn {
    /// A turn of the user, who also speaks for the tools.
    pub fn user(blocks: Vec<Block>) -> Self {
        Self { role: Role::User, blocks }
    }

    /// A turn of the model.
    pub fn assistant(blocks: Vec<Block>) -> Self {
        Self { role: Role::Assistant, blocks }
    }

    /// The same for a model that sees no pictures: a line of text stands for each. Without it, the model would take
    /// what it reads for complete.
    #[must_use]
    pub fn for_text_only_model(&self) -> Self {
        let block = |block: &Block| match block {
            Block::Image(image) => Block::text(image.placeholder()),
            Block::ToolResult(result) => Block::ToolResult(result.for_text_only_model()),
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolCall(_)
            | Block::Opaque(_) => block.clone(),
        };
        Self { role: self.role, blocks: self.blocks.iter().map(block).collect() }
    }
}

/// The two sides of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, and the results of tools.
    User,
    /// The model.
    Assistant,
}
