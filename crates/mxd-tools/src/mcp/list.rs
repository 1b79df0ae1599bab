//! Lists of a server, page by page, as long as they have an end.

use std::collections::HashSet;

use mxd_core::raw::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::CallError;
use super::talk::{Ask, Talk};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow, alias = "tools", alias = "resources", alias = "resourceTemplates", alias = "prompts")]
    entries: Vec<&'a RawValue>,
    next_cursor: Option<String>,
}

/// All entries of a list, each as the server wrote it.
pub(super) async fn all(talk: &Talk, method: &'static str) -> Result<Vec<RawJson>, CallError> {
    let limits = talk.traffic.limits;
    let endless = |why: String| CallError::EndlessList { server: talk.server.clone(), why };
    let bad = |error: serde_json::Error| CallError::BadResult {
        server: talk.server.clone(),
        why: format!("{method}: {error}"),
    };
    let (mut entries, mut bytes, mut seen) = (Vec::new(), 0, HashSet::new());
    let mut params = Map::new();
    for _page in 0..limits.pages {
        let text = talk.ask(Ask::new(method, params.clone().into(), limits.question)).await?;
        bytes += text.len();
        if bytes > limits.list_bytes {
            return Err(endless(format!("it has more than {} bytes", limits.list_bytes)));
        }
        let page: Page<'_> = serde_json::from_str(&text).map_err(bad)?;
        for entry in page.entries {
            entries.push(RawJson::parse(entry.get()).map_err(bad)?);
        }
        if entries.len() > limits.entries {
            return Err(endless(format!("it has more than {} entries", limits.entries)));
        }
        let Some(cursor) = page.next_cursor else { return Ok(entries) };
        if !seen.insert(cursor.clone()) {
            return Err(endless("a page leads back to an earlier one".to_owned()));
        }
        params.insert("cursor".to_owned(), Value::String(cursor));
    }
    Err(endless(format!("it has more than {} pages", limits.pages)))
}
