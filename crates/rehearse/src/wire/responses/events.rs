//! The response object and the numbered events around it.

use serde_json::{Map, Value, json};

use crate::wire::Voice;
use crate::wire::pieces::event;

/// The moment at which everything is created: the same in every run.
const CREATED: u64 = 1_767_225_600;

/// The response without output.
pub(super) fn response(voice: &Voice<'_>, status: &str) -> Value {
    json!({
        "id": format!("resp_{:06}", voice.number),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": voice.view.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "service_tier": "default",
        "store": false,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

/// A stream under way: every event has a number.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<String>);

impl Events {
    /// An event of this type with these fields.
    pub(super) fn push(&mut self, kind: &str, fields: Value) {
        let mut data = Map::new();
        data.insert("type".to_owned(), kind.into());
        data.insert("sequence_number".to_owned(), self.0.len().into());
        if let Value::Object(fields) = fields {
            data.extend(fields);
        }
        self.0.push(event(kind, &Value::Object(data)));
    }

    pub(super) fn into_inner(self) -> Vec<String> {
        self.0
    }
}
