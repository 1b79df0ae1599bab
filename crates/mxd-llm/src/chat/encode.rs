//! From the neutral request to the bytes of this wire.
//!
//! The answer's limit is `max_tokens`, the name every compatible server knows. A tool message holds only text
//! here, so pictures of tools follow in a message of the user.

use mxd_core::prompt::{self, Block, ResultPart, Role, ToolResult, Turn};

use super::wire::{
    Call, CalledFunction, Function, Head, ImageUrl, Message, Part, StreamOptions, Tool, UserContent,
};
use crate::error::LlmError;
use crate::prefix::{List, put_element, put_open_object, says_something};
use crate::responses::{data_url, effort, result_text, system_text};

pub(crate) fn encode_head(
    buffer: &mut Vec<u8>,
    head: &prompt::Head,
    list: &mut List,
) -> Result<(), LlmError> {
    let fields = Head {
        model: &head.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: head.limits.max_output_tokens,
        reasoning_effort: effort(head.limits.reasoning)?,
        prompt_cache_key: head.cache.key.as_deref(),
        tools: head.tools.iter().map(tool).collect(),
    };
    put_open_object(buffer, &fields, "messages")?;
    match system_text(&head.system) {
        Some(text) => put_element(buffer, list, &Message::System { content: &text }),
        None => Ok(()),
    }
}

pub(crate) fn encode_turn(buffer: &mut Vec<u8>, list: &mut List, turn: &Turn) -> Result<(), LlmError> {
    match turn.role {
        Role::User => encode_user(buffer, list, &turn.blocks),
        Role::Assistant => encode_assistant(buffer, list, &turn.blocks),
    }
}

fn tool(spec: &prompt::ToolSpec) -> Tool<'_> {
    let prompt::ToolSpec { name, description, schema } = spec;
    Tool { kind: "function", function: Function { name, description, parameters: schema } }
}

fn encode_user(buffer: &mut Vec<u8>, list: &mut List, blocks: &[Block]) -> Result<(), LlmError> {
    let mut parts = Vec::new();
    for block in blocks {
        if let Block::ToolResult(result) = block {
            let content = result_text(result);
            put_element(buffer, list, &Message::Tool { tool_call_id: &result.call_id, content })?;
            parts.extend(pictures(result));
        }
    }
    for block in blocks {
        match block {
            Block::Text(text) if says_something(&text.text) => parts.push(Part::Text { text: &text.text }),
            Block::Image(image) => parts.push(picture(image)),
            Block::Text(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolCall(_)
            | Block::Opaque(_) => {}
        }
    }
    if parts.is_empty() {
        return Ok(());
    }
    let content = match parts.as_slice() {
        [Part::Text { text }] => UserContent::Text((*text).to_owned()),
        _ => UserContent::Parts(parts),
    };
    put_element(buffer, list, &Message::User { content })
}

/// The pictures of a result, said to be its.
fn pictures(result: &ToolResult) -> Vec<Part<'_>> {
    let images = result.content.iter().filter_map(|part| match part {
        ResultPart::Image(image) => Some(picture(image)),
        ResultPart::Text(_) => None,
    });
    let mut parts: Vec<_> = images.collect();
    if !parts.is_empty() {
        parts.insert(0, Part::Text { text: "Images of the tool result:" });
    }
    parts
}

fn picture(image: &prompt::Image) -> Part<'_> {
    Part::ImageUrl { image_url: ImageUrl { url: data_url(image) } }
}

/// One message, because servers expect the calls beside the words.
fn encode_assistant(buffer: &mut Vec<u8>, list: &mut List, blocks: &[Block]) -> Result<(), LlmError> {
    let (mut texts, mut thoughts, mut tool_calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text(text) if says_something(&text.text) => texts.push(text.text.as_str()),
            // A signed thought belongs to another provider.
            Block::Thinking(thought) if thought.signature.is_none() => thoughts.push(thought.text.as_str()),
            Block::ToolCall(call) => {
                let function = CalledFunction { name: &call.name, arguments: call.input.get() };
                tool_calls.push(Call { id: &call.id, kind: "function", function });
            }
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolResult(_)
            | Block::Image(_)
            | Block::Opaque(_) => {}
        }
    }
    if texts.is_empty() && tool_calls.is_empty() {
        return Ok(());
    }
    let joined = |texts: Vec<&str>| (!texts.is_empty()).then(|| texts.join("\n\n"));
    let message =
        Message::Assistant { content: joined(texts), reasoning_content: joined(thoughts), tool_calls };
    put_element(buffer, list, &message)
}
