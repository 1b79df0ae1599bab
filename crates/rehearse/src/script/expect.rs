//! What a turn demands of its request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Words;

/// Demands on a request. Tool results and user texts are those the request adds since the last answered turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Demands on added tool results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ResultExpect>,
    /// How many tool results are added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result_count: Option<usize>,
    /// Demands on added user texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_texts: Vec<TextExpect>,
    /// How many user texts are added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_text_count: Option<usize>,
    /// How many images are added, alone or in tool results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_count: Option<usize>,
    /// Demands on the system text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<TextExpect>,
    /// Tools that the request must offer.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub offers_tools: Words,
    /// Tools that the request must not offer.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub lacks_tools: Words,
    /// The model that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Demands on a text. With `index` that one text must meet them; without it one of the texts must.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextExpect {
    /// Which of the texts, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Texts it contains.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub contains: Words,
    /// Texts it does not contain.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub not_contains: Words,
    /// Regular expressions that match somewhere in it.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub matches: Words,
}

/// Demands on a tool result. With `index` or `call` those results must meet them; with neither one of the results must.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResultExpect {
    /// Which of the added results, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The name of the tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Texts it contains.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub contains: Words,
    /// Texts it does not contain.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub not_contains: Words,
    /// Regular expressions that match somewhere in it.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub matches: Words,
    /// Whether it reports an error. Only the Anthropic wire can say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

impl ResultExpect {
    /// The part that is about the text.
    pub(crate) fn text(&self) -> TextExpect {
        TextExpect {
            index: None,
            contains: self.contains.clone(),
            not_contains: self.not_contains.clone(),
            matches: self.matches.clone(),
        }
    }
}
