//! What the two OpenAI wires have in common.

use serde_json::{Map, Value, json};

use super::Trouble;
use super::fields::Fields;
use crate::script::is_tool_name;

/// Ids by which the client may have named its conversation.
pub(super) fn names(map: &Map<String, Value>) -> Vec<String> {
    let keys = ["prompt_cache_key", "safety_identifier", "user"].into_iter();
    keys.filter_map(|key| map.get(key)?.as_str().map(str::to_owned)).collect()
}

/// A limit of tokens that may be missing but not zero.
pub(super) fn limit(map: &Map<String, Value>, key: &str, fields: &mut Fields) {
    if let Some(value) = map.get(key).filter(|value| !value.is_null())
        && value.as_u64().is_none_or(|limit| limit == 0)
    {
        fields.say(
            "max-tokens",
            format!("Invalid '{key}': integer below minimum value. Expected a value >= 1."),
        );
    }
}

/// The name of a function, which may not be taken.
pub(super) fn tool(tool: &Map<String, Value>, path: &str, names: &mut Vec<String>, fields: &mut Fields) {
    let Some(name) = fields.text(tool, path, "name") else { return };
    if !is_tool_name(&name) {
        let pattern = "^[a-zA-Z0-9_-]+$";
        let message = format!(
            "Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern '{pattern}'."
        );
        fields.say("tool-name", message);
    }
    if names.contains(&name) {
        fields.say("tool-name", format!("Invalid '{path}.name': the tool '{name}' is given twice."));
    }
    names.push(name);
}

/// An item may carry the id it was given, which begins with its kind.
pub(super) fn item_id(map: &Map<String, Value>, path: &str, prefix: &str, fields: &mut Fields) {
    let id = fields.optional_text(map, path, "id");
    if let Some(id) = id.filter(|id| !id.starts_with(prefix)) {
        let message = format!("Invalid '{path}.id': '{id}'. Expected an ID that begins with '{prefix}'.");
        fields.say("item-id", message);
    }
}

/// The media type of a data URL, else `url`.
pub(super) fn image_kind(url: Option<&Value>) -> String {
    let url = url.and_then(Value::as_str).unwrap_or_default();
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once([';', ',']));
    data.map_or("url", |(kind, _)| kind).to_owned()
}

/// The body of an error response.
pub(super) fn error_body(trouble: &Trouble) -> Value {
    json!({ "error": error(trouble) })
}

/// The inside of an error.
pub(super) fn error(trouble: &Trouble) -> Value {
    let (kind, code) = kind_of(trouble);
    json!({ "message": trouble.message, "type": kind, "param": param(&trouble.message), "code": code })
}

/// Type and code of an error. A kind of the script stands for both.
fn kind_of(trouble: &Trouble) -> (String, Option<String>) {
    if let Some(kind) = &trouble.kind {
        return (kind.clone(), Some(kind.clone()));
    }
    let (kind, code) = match trouble.status {
        401 => ("invalid_request_error", Some("invalid_api_key")),
        404 => ("invalid_request_error", Some("model_not_found")),
        429 => ("requests", Some("rate_limit_exceeded")),
        503 => ("service_unavailable_error", Some("server_is_overloaded")),
        500..=599 => ("server_error", Some("server_error")),
        _ => ("invalid_request_error", None),
    };
    (kind.to_owned(), code.map(str::to_owned))
}

/// The parameter that a message names in quotes.
fn param(message: &str) -> Option<&str> {
    let begins = ["Unknown parameter: ", "Missing required parameter: ", "Invalid type for ", "Invalid "];
    let rest = begins.iter().find_map(|begin| message.strip_prefix(begin))?;
    rest.strip_prefix('\'')?.split('\'').next()
}
