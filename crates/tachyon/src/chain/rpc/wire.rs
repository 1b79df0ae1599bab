//! JSON-RPC over HTTP: one question, one answer, both within limits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alloy_primitives::Bytes;
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::guard::Place;
use crate::limits;

/// The connection to one node.
pub(super) struct Wire {
    client: Client,
    url: reqwest::Url,
    next: AtomicU64,
    patience: Duration,
}

/// Why there is no answer. It never repeats the URL.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("the node did not answer: {0}")]
    Silent(String),
    #[error("the node answered with HTTP status {0}")]
    Status(u16),
    #[error("the node's answer cannot be read: {0}")]
    Nonsense(String),
    #[error("{0}")]
    Answer(AnswerError),
}

/// An error in the node's own words.
#[derive(Debug, Clone, Deserialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub(super) struct AnswerError {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) data: Value,
}

#[derive(Deserialize)]
struct Answer {
    id: Value,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<AnswerError>,
}

impl Wire {
    pub(super) fn new(place: Place, patience: Duration) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .timeout(patience)
            // The host was judged by the addresses it had; it must not get others by now, nor send us elsewhere.
            .resolve_to_addrs(&place.host, &place.addresses)
            .redirect(Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self { client, url: place.url, next: AtomicU64::new(1), patience })
    }

    pub(super) async fn ask(&self, method: &str, params: Value) -> Result<Box<RawValue>, WireError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let silent = |error: reqwest::Error| WireError::Silent(said(&error, self.patience));
        let post = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        let mut response = post.body(question.to_string()).send().await.map_err(silent)?;
        let status = response.status();
        let mut text = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(silent)? {
            if text.len() + chunk.len() > limits::RPC_ANSWER_BYTES {
                return Err(WireError::Nonsense(format!(
                    "it has more than {} bytes",
                    limits::RPC_ANSWER_BYTES
                )));
            }
            text.extend_from_slice(&chunk);
        }
        let answer: Answer = match serde_json::from_slice(&text) {
            Ok(answer) => answer,
            Err(_) if !status.is_success() => return Err(WireError::Status(status.as_u16())),
            Err(error) => return Err(WireError::Nonsense(error.to_string())),
        };
        if answer.id != json!(id) {
            return Err(WireError::Nonsense("it answers another question".into()));
        }
        match answer.error {
            Some(error) => Err(WireError::Answer(error)),
            // `null` is an answer too: there is no such receipt.
            None => Ok(answer.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
        }
    }
}

/// The innermost reason; outer ones repeat the URL.
fn said(error: &reqwest::Error, patience: Duration) -> String {
    if error.is_timeout() {
        return format!("nothing came within {} seconds", patience.as_secs());
    }
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

impl AnswerError {
    /// What the contract said, wherever this kind of node puts it.
    pub(super) fn revert_data(&self) -> Option<Bytes> {
        match &self.data {
            Value::String(text) => hexadecimal(text),
            Value::Object(fields) => {
                let named = ["data", "result", "return"].iter().filter_map(|name| fields.get(*name));
                let nested = fields.values().filter_map(|value| value.get("return"));
                named.chain(nested).filter_map(Value::as_str).find_map(hexadecimal)
            }
            _ => None,
        }
    }

    /// Whether the node has the transaction already.
    pub(super) fn says_known(&self) -> bool {
        let message = self.message.to_lowercase();
        ["already known", "known transaction", "already imported", "already in mempool", "already exists"]
            .iter()
            .any(|words| message.contains(words))
    }
}

fn hexadecimal(text: &str) -> Option<Bytes> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("Reverted 0x"))?;
    hex::decode(digits).ok().map(Bytes::from)
}
