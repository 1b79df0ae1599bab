//! Headers that repeat what a message says, for those who pass it on without reading it.

use std::collections::{BTreeMap, HashSet};

use base64::Engine as _;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

const ANNOTATION: &str = "x-mcp-header";
/// How deep arguments are looked for that are repeated in headers.
const DEPTH: usize = 8;

/// Which arguments of a tool are repeated in which headers.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Repeated(Vec<(Vec<String>, String)>);

/// Reads which arguments a tool wants repeated, or why it cannot be called at all.
pub(super) fn repeated(schema: &Value) -> Result<Repeated, String> {
    let mut found = Repeated::default();
    collect(schema, &mut Vec::new(), &mut found)?;
    let mut names = HashSet::new();
    for (path, name) in &found.0 {
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(format!("two arguments want the header {name}, one of them {}", path.join(".")));
        }
    }
    Ok(found)
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Repeated) -> Result<(), String> {
    let Value::Object(members) = schema else { return Ok(()) };
    if let Some(header) = members.get(ANNOTATION) {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let name = header.as_str().filter(|name| !name.is_empty() && name.chars().all(is_token));
        let kind = members.get("type").and_then(Value::as_str);
        match (name, kind) {
            (Some(name), Some("string" | "integer" | "boolean")) if !path.is_empty() => {
                found.0.push((path.clone(), name.to_owned()));
            }
            _ => return Err(format!("the header of its argument `{}` is none", path.join("."))),
        }
    }
    if path.len() >= DEPTH {
        return Ok(());
    }
    if let Some(Value::Object(properties)) = members.get("properties") {
        for (name, schema) in properties {
            path.push(name.clone());
            collect(schema, path, found)?;
            path.pop();
        }
    }
    let elsewhere = members
        .iter()
        .filter(|(name, _)| !["properties", "default", "const", "enum", "examples"].contains(&name.as_str()));
    for (name, schema) in elsewhere {
        if mentions(schema, DEPTH) {
            return Err(format!("an argument below `{name}` cannot have a header"));
        }
    }
    Ok(())
}

fn mentions(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(members) if depth > 0 => {
            members.contains_key(ANNOTATION) || members.values().any(|value| mentions(value, depth - 1))
        }
        Value::Array(values) if depth > 0 => values.iter().any(|value| mentions(value, depth - 1)),
        _ => false,
    }
}

/// The headers that repeat what a message says.
pub(super) fn of(message: &Value, tools: &BTreeMap<String, Repeated>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let Some(method) = message.get("method").and_then(Value::as_str) else { return headers };
    put(&mut headers, "mcp-method", method);
    let params = message.get("params");
    let text = |name: &str| params.and_then(|params| params.get(name)).and_then(Value::as_str);
    match method {
        "tools/call" | "prompts/get" => {
            text("name").into_iter().for_each(|name| put(&mut headers, "mcp-name", name))
        }
        "resources/read" => text("uri").into_iter().for_each(|uri| put(&mut headers, "mcp-name", uri)),
        _ => {}
    }
    if method == "tools/call"
        && let Some(Repeated(arguments)) = text("name").and_then(|name| tools.get(name))
    {
        for (path, name) in arguments {
            let start = params.and_then(|params| params.get("arguments"));
            let value = path.iter().fold(start, |value, step| value.and_then(|value| value.get(step)));
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
                _ => continue,
            };
            put(&mut headers, &format!("mcp-param-{name}"), &value);
        }
    }
    headers
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let is_plain = value.chars().all(|c| (' '..='~').contains(&c))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    let value = match is_plain {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value)),
    };
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_repeated() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "N" } } },
        } });
        let tools = BTreeMap::from([("t".to_owned(), repeated(&schema).unwrap())]);
        let message = json!({ "method": "tools/call", "params": {
            "name": "t", "arguments": { "region": "zürich", "deep": { "n": 7 } },
        } });
        let headers = of(&message, &tools);
        let text = |name: &str| headers[name].to_str().unwrap().to_owned();
        assert_eq!((text("mcp-method"), text("mcp-name")), ("tools/call".to_owned(), "t".to_owned()));
        assert_eq!(
            (text("mcp-param-region"), text("mcp-param-n")),
            ("=?base64?esO8cmljaA==?=".to_owned(), "7".to_owned())
        );
    }

    #[test]
    fn bad_annotations_are_refused() {
        for schema in [
            json!({ "x-mcp-header": "Root" }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "with space" } } }),
            json!({ "properties": { "a": { "type": "object", "x-mcp-header": "A" } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" } } }),
            json!({ "items": { "type": "string", "x-mcp-header": "A" } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "" } } }),
        ] {
            assert!(repeated(&schema).is_err(), "{schema}");
        }
    }
}
