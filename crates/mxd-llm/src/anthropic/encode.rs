//! From the neutral request to the bytes of this wire.
//!
//! What the service refuses is left out the same way every time, so that the bytes stay the same: blank texts,
//! thoughts without a signature, and thoughts at the end of a turn. Tool results lead their turn, because the
//! service looks for them only there.

use mxd_core::prompt::{self, Block, CacheTtl, Effort, Image, Reasoning, ResultPart, Role, ToolResult, Turn};

use super::wire::{
    CacheControl, Content, Head, ImageSource, OutputConfig, SystemBlock, ThinkingConfig, Tool,
};
use crate::error::LlmError;
use crate::prefix::{List, put, put_open_object, says_something};

/// What a body is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An answer, streamed.
    Answer,
    /// The number of tokens.
    Count,
}

pub(crate) fn encode_head(
    buffer: &mut Vec<u8>,
    head: &prompt::Head,
    purpose: Purpose,
) -> Result<(), LlmError> {
    let mark = CacheControl { kind: "ephemeral", ttl: ttl(head.cache.ttl) };
    let (thinking, output_config) = thinking(head.limits.reasoning);
    let answer = purpose == Purpose::Answer;
    let fields = Head {
        model: &head.model,
        max_tokens: answer.then_some(head.limits.max_output_tokens),
        stream: answer.then_some(true),
        thinking,
        output_config,
        tools: tools(head, mark),
        system: system(head, mark),
    };
    put_open_object(buffer, &fields, "messages")
}

/// The mark that is put in at the end of a block.
pub(crate) fn cache_mark(ttl: CacheTtl) -> &'static str {
    match ttl {
        CacheTtl::FiveMinutes => r#","cache_control":{"type":"ephemeral","ttl":"5m"}"#,
        CacheTtl::OneHour => r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    }
}

pub(crate) fn encode_turn(buffer: &mut Vec<u8>, list: &mut List, turn: &Turn) -> Result<(), LlmError> {
    let contents = match turn.role {
        Role::User => user_contents(&turn.blocks),
        Role::Assistant => assistant_contents(&turn.blocks),
    };
    if contents.is_empty() {
        return Ok(());
    }
    if list.filled {
        buffer.push(b',');
    }
    list.filled = true;
    buffer.extend_from_slice(match turn.role {
        Role::User => br#"{"role":"user","content":["#,
        Role::Assistant => br#"{"role":"assistant","content":["#,
    });
    for (index, content) in contents.iter().enumerate() {
        if index > 0 {
            buffer.push(b',');
        }
        put(buffer, content)?;
    }
    if turn.role == Role::User {
        // Before the brace that ends the last block.
        list.marks = [list.marks[1], Some(buffer.len() - 1)];
    }
    buffer.extend_from_slice(b"]}");
    Ok(())
}

fn ttl(ttl: CacheTtl) -> &'static str {
    match ttl {
        CacheTtl::FiveMinutes => "5m",
        CacheTtl::OneHour => "1h",
    }
}

/// Thoughts are asked for in a readable form; without that, newer models send them empty.
fn thinking(reasoning: Reasoning) -> (Option<ThinkingConfig>, Option<OutputConfig>) {
    let adaptive = |effort: Effort| {
        let thinking = ThinkingConfig::Adaptive { display: "summarized" };
        (Some(thinking), Some(OutputConfig { effort: effort.word() }))
    };
    match reasoning {
        Reasoning::Unset => (None, None),
        Reasoning::Effort(effort) => adaptive(effort),
        Reasoning::Budget(budget_tokens) => (Some(ThinkingConfig::Enabled { budget_tokens }), None),
    }
}

fn tools(head: &prompt::Head, mark: CacheControl) -> Vec<Tool<'_>> {
    let mut tools: Vec<_> = head.tools.iter().map(tool).collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(mark);
    }
    tools
}

fn tool(spec: &prompt::ToolSpec) -> Tool<'_> {
    let prompt::ToolSpec { name, description, schema } = spec;
    Tool { name, description, input_schema: schema, cache_control: None }
}

fn system(head: &prompt::Head, mark: CacheControl) -> Vec<SystemBlock<'_>> {
    let texts = [head.system.stable.as_str(), head.system.variable.as_str()];
    let block = |text| SystemBlock { kind: "text", text, cache_control: None };
    let mut blocks: Vec<_> = texts.into_iter().filter(|text| says_something(text)).map(block).collect();
    if let Some(last) = blocks.last_mut() {
        last.cache_control = Some(mark);
    }
    blocks
}

fn user_contents(blocks: &[Block]) -> Vec<Content<'_>> {
    let results = blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(tool_result(result)),
        Block::Text(_)
        | Block::Image(_)
        | Block::Thinking(_)
        | Block::RedactedThinking(_)
        | Block::ToolCall(_)
        | Block::Opaque(_) => None,
    });
    let others = blocks.iter().flat_map(|block| match block {
        Block::Text(text) => text_content(&text.text).into_iter().collect(),
        Block::Image(image) => vec![image_content(image)],
        Block::ToolResult(result) => images_of_error(result),
        Block::Thinking(_) | Block::RedactedThinking(_) | Block::ToolCall(_) | Block::Opaque(_) => Vec::new(),
    });
    results.chain(others).collect()
}

/// The service takes nothing but text in the result of a failed call, so its pictures follow behind the results.
fn images_of_error(result: &ToolResult) -> Vec<Content<'_>> {
    let images = result.content.iter().filter_map(|part| match part {
        ResultPart::Image(image) if result.is_error => Some(image_content(image)),
        ResultPart::Image(_) | ResultPart::Text(_) => None,
    });
    images.collect()
}

fn assistant_contents(blocks: &[Block]) -> Vec<Content<'_>> {
    let mut contents: Vec<_> = blocks.iter().filter_map(assistant_content).collect();
    let is_thought = |content: &Content<'_>| {
        matches!(content, Content::Thinking { .. } | Content::RedactedThinking { .. })
    };
    while contents.last().is_some_and(is_thought) {
        contents.pop();
    }
    contents
}

fn assistant_content(block: &Block) -> Option<Content<'_>> {
    match block {
        Block::Text(text) => text_content(&text.text),
        Block::Thinking(thought) => {
            let signature = thought.signature.as_deref()?;
            Some(Content::Thinking { thinking: &thought.text, signature })
        }
        Block::RedactedThinking(thought) => Some(Content::RedactedThinking { data: &thought.data }),
        Block::ToolCall(call) => {
            Some(Content::ToolUse { id: &call.id, name: &call.name, input: &call.input })
        }
        Block::ToolResult(_) | Block::Image(_) | Block::Opaque(_) => None,
    }
}

fn text_content(text: &str) -> Option<Content<'_>> {
    says_something(text).then_some(Content::Text { text })
}

fn image_content(image: &Image) -> Content<'_> {
    let source = ImageSource { kind: "base64", media_type: &image.media_type, data: &image.data };
    Content::Image { source }
}

fn tool_result(result: &ToolResult) -> Content<'_> {
    let parts = result.content.iter().filter_map(|part| match part {
        ResultPart::Text(text) => text_content(&text.text),
        ResultPart::Image(image) if !result.is_error => Some(image_content(image)),
        ResultPart::Image(_) => None,
    });
    let mut content: Vec<_> = parts.collect();
    if content.is_empty() && result.is_error {
        // The service refuses an error that says nothing.
        content.push(Content::Text { text: "The tool failed without a message." });
    }
    Content::ToolResult { tool_use_id: &result.call_id, content, is_error: result.is_error }
}
