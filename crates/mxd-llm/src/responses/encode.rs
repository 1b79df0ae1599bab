//! From the neutral request to the bytes of this wire.
//!
//! Nothing is stored at the provider: its reasoning comes back to us sealed, and goes out again unchanged.
//! Thoughts of other providers mean nothing here and are left out.

use mxd_core::prompt::{self, Block, Image, ResultPart, Role, ToolResult, Turn};

use super::wire::{Content, Head, Item, Output, Reasoning, Tool};
use crate::error::{Class, LlmError};
use crate::prefix::{List, put_element, put_open_object, says_something};
use crate::wire::Wire;

pub(crate) fn encode_head(buffer: &mut Vec<u8>, head: &prompt::Head) -> Result<(), LlmError> {
    let fields = Head {
        model: &head.model,
        stream: true,
        store: false,
        include: ["reasoning.encrypted_content"],
        max_output_tokens: head.limits.max_output_tokens,
        reasoning: reasoning(head.limits.reasoning)?,
        prompt_cache_key: head.cache.key.as_deref(),
        tools: head.tools.iter().map(tool).collect(),
        instructions: system_text(&head.system),
    };
    put_open_object(buffer, &fields, "input")
}

pub(crate) fn encode_turn(buffer: &mut Vec<u8>, list: &mut List, turn: &Turn) -> Result<(), LlmError> {
    match turn.role {
        Role::User => encode_user(buffer, list, &turn.blocks),
        Role::Assistant => encode_assistant(buffer, list, &turn.blocks),
    }
}

/// Both parts of the system text as one.
pub(crate) fn system_text(system: &prompt::SystemText) -> Option<String> {
    let texts = [system.stable.as_str(), system.variable.as_str()];
    let said: Vec<_> = texts.into_iter().filter(|text| says_something(text)).collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}

/// The effort, which is all these wires understand.
pub(crate) fn effort(reasoning: prompt::Reasoning) -> Result<Option<&'static str>, LlmError> {
    match reasoning {
        prompt::Reasoning::Unset => Ok(None),
        prompt::Reasoning::Effort(effort) => Ok(Some(effort.word())),
        prompt::Reasoning::Budget(_) => {
            let message = "this wire knows no thinking budget in tokens, only an effort";
            Err(LlmError::new(Class::Config, message))
        }
    }
}

/// A picture as these wires take it.
pub(crate) fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, image.data)
}

/// The words of a result; these wires have no field that says that it is an error.
pub(crate) fn result_text(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text.text.as_str()),
        ResultPart::Image(_) => None,
    });
    let joined = texts.collect::<Vec<_>>().join("\n");
    if result.is_error { format!("Error: {joined}") } else { joined }
}

fn reasoning(reasoning: prompt::Reasoning) -> Result<Option<Reasoning>, LlmError> {
    Ok(effort(reasoning)?.map(|effort| Reasoning { effort, summary: "auto" }))
}

fn tool(spec: &prompt::ToolSpec) -> Tool<'_> {
    Tool {
        kind: "function",
        name: &spec.name,
        description: &spec.description,
        parameters: &spec.schema,
        strict: false,
    }
}

/// Results first, each an item of its own, then everything else as one message.
fn encode_user(buffer: &mut Vec<u8>, list: &mut List, blocks: &[Block]) -> Result<(), LlmError> {
    let mut content = Vec::new();
    for block in blocks {
        match block {
            Block::ToolResult(result) => {
                let item = Item::FunctionCallOutput { call_id: &result.call_id, output: output(result) };
                put_element(buffer, list, &item)?;
            }
            Block::Text(text) if says_something(&text.text) => {
                content.push(Content::InputText { text: &text.text });
            }
            Block::Image(image) => content.push(Content::InputImage { image_url: data_url(image) }),
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolCall(_)
            | Block::Opaque(_) => {}
        }
    }
    if content.is_empty() {
        return Ok(());
    }
    put_element(buffer, list, &Item::Message { role: "user", content })
}

/// Reasoning that nothing follows, as an interruption leaves it, is refused by the service and left out.
fn encode_assistant(buffer: &mut Vec<u8>, list: &mut List, blocks: &[Block]) -> Result<(), LlmError> {
    let goes_out = |block: &Block| match block {
        Block::Text(text) => says_something(&text.text),
        Block::ToolCall(_) => true,
        Block::Thinking(_)
        | Block::RedactedThinking(_)
        | Block::ToolResult(_)
        | Block::Image(_)
        | Block::Opaque(_) => false,
    };
    let end = blocks.iter().rposition(goes_out).map_or(0, |last| last + 1);
    for block in &blocks[..end] {
        match block {
            Block::Text(text) if says_something(&text.text) => {
                let content = vec![Content::OutputText { text: &text.text }];
                put_element(buffer, list, &Item::Message { role: "assistant", content })?;
            }
            Block::ToolCall(call) => {
                let arguments = call.input.get();
                let item = Item::FunctionCall { call_id: &call.id, name: &call.name, arguments };
                put_element(buffer, list, &item)?;
            }
            Block::Opaque(opaque) if opaque.wire == Wire::Responses.name() => {
                put_element(buffer, list, &opaque.json)?;
            }
            Block::Text(_)
            | Block::Thinking(_)
            | Block::RedactedThinking(_)
            | Block::ToolResult(_)
            | Block::Image(_)
            | Block::Opaque(_) => {}
        }
    }
    Ok(())
}

fn output(result: &ToolResult) -> Output<'_> {
    let images: Vec<_> = result.content.iter().filter(|part| matches!(part, ResultPart::Image(_))).collect();
    if images.is_empty() {
        return Output::Text(result_text(result));
    }
    let error = result.is_error.then_some(Content::InputText { text: "Error:" });
    let parts = result.content.iter().filter_map(|part| match part {
        ResultPart::Text(text) => {
            says_something(&text.text).then_some(Content::InputText { text: &text.text })
        }
        ResultPart::Image(image) => Some(Content::InputImage { image_url: data_url(image) }),
    });
    Output::Parts(error.into_iter().chain(parts).collect())
}
