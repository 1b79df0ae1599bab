//! The frozen start of a request.

use serde::{Deserialize, Serialize};

use crate::raw::RawJson;

/// What stays the same in every request of a session; a change of it breaks the provider's cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    /// The model, in the provider's spelling.
    pub model: String,
    /// The system text.
    #[serde(default)]
    pub system: SystemText,
    /// The tools the model may call, in the order in which it sees them.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// How much it may write and think.
    pub limits: OutputLimits,
    /// How the provider should keep the prefix.
    #[serde(default)]
    pub cache: Cache,
}

/// The system text in two parts, so that tasks can share the cached first one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SystemText {
    /// The part that is the same for all tasks.
    #[serde(default)]
    pub stable: String,
    /// The part that is this task's.
    #[serde(default)]
    pub variable: String,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolSpec {
    /// The name it is called by.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// The JSON Schema of its arguments, byte for byte.
    pub schema: RawJson,
}

/// How much the model may write and think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputLimits {
    /// Tokens of the answer, thinking included.
    pub max_output_tokens: u32,
    /// How hard to think.
    #[serde(default)]
    pub reasoning: Reasoning,
}

/// How hard a model should think. Which form a model takes is part of its data sheet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// As the model does when nobody says anything.
    #[default]
    Unset,
    /// The model finds its own measure around this one.
    Effort(Effort),
    /// At most so many tokens, for models that know no effort.
    Budget(u32),
}

/// A measure of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// The word all wires use for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// How the provider should keep the prefix of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cache {
    /// For how long. It is part of what the provider looks up, so it belongs to the session.
    #[serde(default)]
    pub ttl: CacheTtl,
    /// A name that sends requests of one conversation to the same cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// For how long a prefix is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheTtl {
    /// Five minutes.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour.
    #[serde(rename = "1h")]
    OneHour,
}
