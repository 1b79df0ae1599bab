//! What tools return, in all its shapes, as one [`Outcome`].
//!
//! Servers answer with a list of content blocks, with one text, with a bare value. Texts are joined with line
//! breaks, pictures are kept, structured content is kept beside them, and what nobody knows is shown as JSON:
//! a model can read that, and nothing is lost.

use serde_json::{Map, Value};

use crate::outcome::{Outcome, Part};

/// Content blocks of one result that are looked at.
pub const MAX_BLOCKS: usize = 1_000;
/// Pictures of one result.
pub const MAX_IMAGES: usize = 16;
/// Characters of one picture, base64.
pub const MAX_IMAGE_CHARS: usize = 7 << 20;
/// The kinds of pictures that models take.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Reads a result, whatever shape it has.
pub fn outcome(result: Value) -> Outcome {
    match result {
        Value::Object(members) => of_object(members),
        Value::Array(blocks) if blocks.iter().all(is_block) => of_blocks(&blocks),
        other => Outcome::text(words(&other)),
    }
}

fn of_object(mut members: Map<String, Value>) -> Outcome {
    let is_error = members.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured = members.remove("structuredContent").filter(|value| !value.is_null());
    let shown = match (members.get("content"), &structured) {
        (Some(Value::Array(blocks)), Some(structured)) if blocks.is_empty() => {
            Outcome::text(words(structured))
        }
        (Some(Value::Array(blocks)), _) => of_blocks(blocks),
        (Some(content), _) => Outcome::text(words(content)),
        (None, Some(structured)) => Outcome::text(words(structured)),
        (None, None) => of_single(members),
    };
    Outcome { is_error, structured, ..shown }
}

/// An object without content: a lone block, a text, a result, or just data.
fn of_single(members: Map<String, Value>) -> Outcome {
    for name in ["text", "result"] {
        if let Some(Value::String(text)) = members.get(name) {
            return Outcome::text(text.clone());
        }
    }
    if let Some(result) = members.get("result") {
        return Outcome::text(words(result));
    }
    let single = Value::Object(members);
    if is_block(&single) { of_blocks(&[single]) } else { Outcome::text(words(&single)) }
}

fn is_block(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
}

fn of_blocks(blocks: &[Value]) -> Outcome {
    let mut parts: Vec<Part> = Vec::new();
    for block in blocks.iter().take(MAX_BLOCKS) {
        let images = parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
        match (read(block), parts.last_mut()) {
            (Part::Image { .. }, _) if images >= MAX_IMAGES => {
                parts.push(Part::Text(format!(
                    "[a picture is left out: a result shows at most {MAX_IMAGES}]"
                )));
            }
            (Part::Text(text), Some(Part::Text(before))) => {
                before.push('\n');
                before.push_str(&text);
            }
            (part, _) => parts.push(part),
        }
    }
    if blocks.len() > MAX_BLOCKS {
        parts.push(Part::Text(format!("[{} more pieces are left out]", blocks.len() - MAX_BLOCKS)));
    }
    Outcome { parts, ..Outcome::default() }
}

/// One block. What it lacks of its kind makes it an odd one.
fn read(block: &Value) -> Part {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    let known = match text("type") {
        Some("text") => text("text").map(|text| Part::Text(text.to_owned())),
        Some("image") => text("data").zip(text("mimeType")).map(|(data, kind)| image(kind, data)),
        Some("audio") => {
            text("data").zip(text("mimeType")).map(|(data, kind)| not_shown("audio", kind, data))
        }
        Some("resource") => block.get("resource").and_then(resource),
        Some("resource_link") => text("uri").map(|uri| link(uri, text("name"), text("description"))),
        Some(_) | None => None,
    };
    known.unwrap_or_else(|| Part::Text(block.to_string()))
}

/// A picture that models take, or a line about one that they do not.
pub(crate) fn image(kind: &str, data: &str) -> Part {
    if IMAGE_TYPES.contains(&kind) && data.len() <= MAX_IMAGE_CHARS && is_base64(data) {
        return Part::Image { media_type: kind.to_owned(), data: data.to_owned() };
    }
    not_shown("a picture", kind, data)
}

fn is_base64(data: &str) -> bool {
    use base64::Engine as _;
    !data.is_empty() && base64::engine::general_purpose::STANDARD.decode(data).is_ok()
}

/// A line about bytes that nobody can show.
pub(crate) fn not_shown(what: &str, kind: &str, data: &str) -> Part {
    let bytes = data.len() / 4 * 3;
    Part::Text(format!("[{what} of type {}, about {bytes} bytes, which cannot be shown]", Value::from(kind)))
}

fn resource(resource: &Value) -> Option<Part> {
    let text = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = text("uri")?;
    let kind = text("mimeType").unwrap_or("application/octet-stream");
    match (text("text"), text("blob")) {
        (Some(words), _) => Some(Part::Text(format!("[resource {uri}]\n{words}"))),
        (None, Some(blob)) if kind.starts_with("image/") => Some(image(kind, blob)),
        (None, Some(blob)) => Some(not_shown(&format!("resource {uri}"), kind, blob)),
        (None, None) => None,
    }
}

fn link(uri: &str, name: Option<&str>, description: Option<&str>) -> Part {
    let words = [name, description].into_iter().flatten().collect::<Vec<_>>().join(": ");
    Part::Text(if words.is_empty() {
        format!("[link to {uri}]")
    } else {
        format!("[link to {uri}: {words}]")
    })
}

/// A value in words: a text as it is, nothing as nothing, the rest as JSON.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
