//! Prices, context windows and abilities of models, as data.
//!
//! The file `models.json` knows the current models of both vendors; the user's own entries come on top and
//! replace those of the same name. A model without an entry is an error: a guessed price is a wrong bill.

use std::collections::BTreeMap;

use mxd_core::money::Usd;
use mxd_core::prompt::{Effort, Reasoning};
use serde::Deserialize;

use crate::error::{Class, LlmError};

const BUILT_IN: &str = include_str!("models.json");

/// The version of the data file's format that this program reads.
const VERSION: u32 = 1;

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Model {
    /// Its name on the wire.
    pub name: String,
    /// Who makes it.
    pub vendor: String,
    /// Tokens it has before its eyes at most, its answer included.
    pub context_window: u64,
    /// Tokens it writes at most.
    pub max_output_tokens: u32,
    /// How it is told how hard to think.
    pub thinking: ThinkingStyle,
    /// Whether it sees images.
    pub images: bool,
    /// What its tokens cost.
    pub prices: Prices,
    /// What they cost in long requests.
    #[serde(default)]
    pub long_context: Option<LongContext>,
}

/// How a model is told how hard to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingStyle {
    /// It does not think.
    None,
    /// By effort; the Anthropic wire calls it adaptive.
    Adaptive,
    /// By effort.
    Effort,
    /// By a number of tokens.
    Budget,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prices {
    /// Read without the cache.
    pub input: Usd,
    /// Written.
    pub output: Usd,
    /// Read from the cache.
    pub cache_read: Usd,
    /// Put into the cache for five minutes, or for as long as the provider does by itself.
    #[serde(rename = "cacheWrite5m")]
    pub cache_write_5m: Usd,
    /// Put into the cache for an hour.
    #[serde(rename = "cacheWrite1h")]
    pub cache_write_1h: Usd,
    /// Thought, where that has a price of its own.
    #[serde(default)]
    pub reasoning: Option<Usd>,
}

/// The prices of requests with a long prompt; they hold for the whole request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LongContext {
    /// A prompt of more tokens than these is long.
    pub above_tokens: u64,
    /// What then holds.
    pub prices: Prices,
}

impl Model {
    /// The form in which this model is told to think that hard.
    ///
    /// A model that counts tokens gets a share of its answer, and always leaves half of it for the text.
    pub fn reasoning(&self, effort: Effort, max_output_tokens: u32) -> Reasoning {
        const SMALLEST_BUDGET: u32 = 1_024;
        match self.thinking {
            ThinkingStyle::None => Reasoning::Unset,
            ThinkingStyle::Adaptive | ThinkingStyle::Effort => Reasoning::Effort(effort),
            ThinkingStyle::Budget => {
                let share = match effort {
                    Effort::Low => max_output_tokens / 16,
                    Effort::Medium => max_output_tokens / 8,
                    Effort::High => max_output_tokens / 4,
                    Effort::Xhigh | Effort::Max => max_output_tokens / 2,
                };
                if share < SMALLEST_BUDGET { Reasoning::Unset } else { Reasoning::Budget(share) }
            }
        }
    }
}

/// All models that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    by_name: BTreeMap<String, Model>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(rename = "asOf")]
    _as_of: String,
    #[serde(rename = "unit")]
    _unit: String,
    models: Vec<Model>,
}

impl Models {
    /// The models of the data file.
    pub fn built_in() -> Result<Self, LlmError> {
        let failed = |reason: String| LlmError::new(Class::Config, format!("models.json: {reason}"));
        let file: File = serde_json::from_str(BUILT_IN).map_err(|error| failed(error.to_string()))?;
        if file.version != VERSION {
            return Err(failed(format!("version {}, and this program reads {VERSION}", file.version)));
        }
        Ok(Self { by_name: BTreeMap::new() }.with(file.models))
    }

    /// The same with these entries; an entry replaces the one of its name.
    #[must_use]
    pub fn with(mut self, overrides: impl IntoIterator<Item = Model>) -> Self {
        self.by_name.extend(overrides.into_iter().map(|model| (model.name.clone(), model)));
        self
    }

    /// Entries as a user writes them: a JSON list of the same objects that `models.json` holds.
    pub fn parse_overrides(json: &str) -> Result<Vec<Model>, LlmError> {
        serde_json::from_str(json)
            .map_err(|error| LlmError::new(Class::Config, format!("`models` in the configuration: {error}")))
    }

    /// The model of this name. A name with a date at its end, as providers write for a snapshot, finds the
    /// entry without it.
    pub fn get(&self, name: &str) -> Result<&Model, LlmError> {
        let found = self.by_name.get(name).or_else(|| self.by_name.get(without_date(name)?));
        found.ok_or_else(|| unknown(name))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.by_name.values()
    }
}

/// `claude-x-20251001` or `gpt-x-2026-09-29` without the date.
fn without_date(name: &str) -> Option<&str> {
    let digits = |text: &str, pattern: &[usize]| {
        let parts: Vec<&str> = text.split('-').collect();
        parts.len() == pattern.len()
            && parts
                .iter()
                .zip(pattern)
                .all(|(part, length)| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let cut = |length: usize| {
        Some((name.get(..name.len().checked_sub(length)?)?, name.get(name.len() - length..)?))
    };
    if let Some((base, date)) = cut(8)
        && digits(date, &[8])
    {
        return base.strip_suffix('-');
    }
    let (base, date) = cut(10)?;
    if digits(date, &[4, 2, 2]) { base.strip_suffix('-') } else { None }
}

fn unknown(name: &str) -> LlmError {
    let example = r#"{"name": "…", "vendor": "…", "contextWindow": 200000, "maxOutputTokens": 64000, "thinking": "none", "images": false, "prices": {"input": 1, "output": 5, "cacheRead": 0.1, "cacheWrite5m": 1.25, "cacheWrite1h": 2}}"#;
    let message = format!(
        "no prices and limits are known for the model `{name}`; an entry of `models` looks like {example}"
    );
    LlmError::new(Class::UnknownModel, message)
}
