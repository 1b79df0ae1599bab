//! What a server has beside its tools: resources, templates of them, and prompts, as it says, cleaned.
//!
//! Nothing here is fetched by its address: whatever scheme it has, only the server that names it is ever asked for it.

use mxd_core::tool::{CleanText, is_hidden};
use serde::Serialize;
use serde_json::Value;

/// Bytes of a URI, or of a template of URIs.
pub(super) const MAX_URI_BYTES: usize = 2_048;
/// Bytes of a name, a title or a media type.
const NAME_BYTES: usize = 200;
/// Bytes of a description.
const DESCRIPTION_BYTES: usize = 500;
/// Arguments of one prompt.
const ARGUMENTS: usize = 32;

/// The resources of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// Those it names.
    pub resources: Vec<Resource>,
    /// Forms of URIs that it can fill.
    pub templates: Vec<Resource>,
    /// How many entries are none: nobody could ask for them by what they say.
    pub left_out: usize,
}

/// A resource, or a template of resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// What it is asked for by, or the form of that.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// Its media type, when the server says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its bytes, when the server says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// The prompts of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Prompts {
    /// Those it names.
    pub prompts: Vec<Prompt>,
    /// How many entries are none.
    pub left_out: usize,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// What it takes.
    pub arguments: Vec<Argument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// What it is called.
    pub name: String,
    /// Whether it has to be given.
    pub required: bool,
}

impl Resources {
    pub(super) fn read(resources: &[Value], templates: &[Value]) -> Self {
        let all = resources.len() + templates.len();
        let resources: Vec<Resource> =
            resources.iter().filter_map(|entry| Resource::read(entry, "uri")).collect();
        let templates: Vec<Resource> =
            templates.iter().filter_map(|entry| Resource::read(entry, "uriTemplate")).collect();
        let left_out = all - resources.len() - templates.len();
        Self { resources, templates, left_out }
    }
}

impl Resource {
    fn read(entry: &Value, address: &str) -> Option<Self> {
        let uri = entry.get(address)?.as_str().filter(|uri| is_address(uri))?;
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        Some(Self {
            uri: uri.to_owned(),
            name: line(text("title").or_else(|| text("name")).unwrap_or_default(), NAME_BYTES),
            description: line(text("description").unwrap_or_default(), DESCRIPTION_BYTES),
            mime_type: text("mimeType").map(|kind| line(kind, NAME_BYTES)),
            size: entry.get("size").and_then(Value::as_u64),
        })
    }
}

impl Prompts {
    pub(super) fn read(entries: &[Value]) -> Self {
        let prompts: Vec<Prompt> = entries.iter().filter_map(Prompt::read).collect();
        let left_out = entries.len() - prompts.len();
        Self { prompts, left_out }
    }
}

impl Prompt {
    fn read(entry: &Value) -> Option<Self> {
        let name = entry.get("name")?.as_str().filter(|name| is_plain(name, NAME_BYTES))?;
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let arguments = entry.get("arguments").and_then(Value::as_array).map(Vec::as_slice);
        let argument = |entry: &Value| {
            let name = entry.get("name")?.as_str().filter(|name| is_plain(name, NAME_BYTES))?;
            let required = entry.get("required").and_then(Value::as_bool).unwrap_or(false);
            Some(Argument { name: name.to_owned(), required })
        };
        Some(Self {
            name: name.to_owned(),
            description: line(
                text("description").or_else(|| text("title")).unwrap_or_default(),
                DESCRIPTION_BYTES,
            ),
            arguments: arguments.unwrap_or_default().iter().take(ARGUMENTS).filter_map(argument).collect(),
        })
    }
}

/// Whether somebody could ask for something by this, and means what is seen of it.
pub(super) fn is_address(uri: &str) -> bool {
    is_plain(uri, MAX_URI_BYTES) && !uri.contains(char::is_whitespace)
}

/// Whether a text is short and has no character that is not seen.
fn is_plain(text: &str, max_bytes: usize) -> bool {
    !text.is_empty() && text.len() <= max_bytes && !text.chars().any(|c| c.is_control() || is_hidden(c))
}

/// Words of a server in one line.
fn line(words: &str, max_bytes: usize) -> String {
    let clean = CleanText::clean(words, max_bytes);
    clean.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_asked_for_is_left_out_and_counted() {
        let bad = [
            json!({ "name": "no address" }),
            json!({ "uri": 7 }),
            json!({ "uri": "" }),
            json!({ "uri": "a://b\u{1b}[2J" }),
            json!({ "uri": "a://b\u{200b}c" }),
            json!({ "uri": "a://b\nmxd://c" }),
            json!({ "uri": format!("a://{}", "x".repeat(MAX_URI_BYTES)) }),
            json!("a://b"),
        ];
        let good =
            json!({ "uri": "a://b", "name": "n", "title": "The\u{202e} n\n", "size": -1, "mimeType": "t/x" });
        let read = Resources::read(&[&bad[..], &[good]].concat(), &[json!({ "uri": "a://not-a-template" })]);
        let only = Resource {
            uri: "a://b".to_owned(),
            name: "The n".to_owned(),
            description: String::new(),
            mime_type: Some("t/x".to_owned()),
            size: None,
        };
        assert_eq!(read, Resources { resources: vec![only], templates: Vec::new(), left_out: 9 });
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_short_and_seen(uri in ".*", name in ".*", words in ".*") {
            let entry = json!({ "uri": uri, "uriTemplate": uri, "name": name, "description": words });
            let read = Resources::read(std::slice::from_ref(&entry), std::slice::from_ref(&entry));
            prop_assert_eq!(read.resources.len() + read.templates.len() + read.left_out, 2);
            let prompts = Prompts::read(std::slice::from_ref(&entry));
            let resources = read.resources.iter().chain(&read.templates);
            let texts = resources.flat_map(|one| [&one.uri, &one.name, &one.description]);
            for text in texts.chain(prompts.prompts.iter().flat_map(|one| [&one.name, &one.description])) {
                prop_assert!(text.is_empty() || is_plain(text, MAX_URI_BYTES), "{:?}", text);
            }
        }
    }
}
