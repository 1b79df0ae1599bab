//! What the model says, on the wire it was asked on.

use serde_json::{Value, json};

/// What a tool result looks like in a request of any wire.
pub(crate) const RESULTS: &str =
    "\"type\":\"tool_result\"|\"type\":\"function_call_output\"|\"role\":\"tool\"";

/// Ours.
const OURS: &str = "mcp__mxd__bash";

/// A tool that runs a command, as a client calls it.
struct Shell {
    tool: &'static str,
    input: fn(&str) -> Value,
}

const SHELLS: &[Shell] = &[
    Shell { tool: OURS, input: |command| json!({ "command": command }) },
    Shell { tool: "Bash", input: |command| json!({ "command": command, "description": "says a number" }) },
    Shell { tool: "exec_command", input: |command| json!({ "cmd": command }) },
    Shell { tool: "shell_command", input: |command| json!({ "command": command }) },
    Shell { tool: "shell", input: |command| json!({ "command": ["bash", "-c", command] }) },
    Shell { tool: "bash", input: |command| json!({ "command": command }) },
];

/// Where a conversation is.
pub(crate) struct Turn<'a> {
    pub(crate) name: &'a str,
    pub(crate) turn: usize,
    /// Whether its work is over.
    pub(crate) over: bool,
}

/// What is said next: a call, or a few words.
enum Said {
    Call { id: String, tool: &'static str, input: Value },
    Words,
}

/// A call of the client's shell, or the end of the work.
pub(crate) fn reply(path: &str, body: &[u8], turn: &Turn<'_>) -> String {
    let said = said(body, turn);
    match path.rsplit('/').next() {
        Some("messages") => anthropic(&said, turn),
        Some("responses") => responses(&said, turn),
        Some("completions") => chat(&said, turn),
        // Clients ask for lists of models and count tokens; none of them needs an answer.
        _ => json!({ "data": [], "input_tokens": 1 }).to_string(),
    }
}

fn said(body: &[u8], turn: &Turn<'_>) -> Said {
    let offers = |tool: &str| {
        let name = format!("\"name\":\"{tool}\"");
        body.windows(name.len()).any(|window| window == name.as_bytes())
    };
    let id = format!("toolu_{}_{}", turn.name, turn.turn);
    // The bare loop offers no tools and needs none.
    let shell = match body.starts_with(FLOOR) {
        true => SHELLS.last(),
        false => SHELLS.iter().find(|shell| offers(shell.tool)),
    };
    match shell {
        Some(Shell { tool, input }) if !turn.over => {
            Said::Call { id, tool, input: input(&format!("echo {}", turn.turn)) }
        }
        Some(shell) if shell.tool == OURS => Said::Call { id, tool: "mcp__mxd__yield", input: json!({}) },
        Some(_) | None => Said::Words,
    }
}

/// How requests of the bare loop begin.
pub(crate) const FLOOR: &[u8] = b"{\"model\":\"floor\"";

fn stream(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn anthropic(said: &Said, turn: &Turn<'_>) -> String {
    let usage = json!({ "input_tokens": 100, "output_tokens": 20 });
    let (block, delta, stop) = match said {
        Said::Call { id, tool, input } => (
            json!({ "type": "tool_use", "id": id, "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
        Said::Words => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "Done." }),
            "end_turn",
        ),
    };
    stream(&[
        json!({ "type": "message_start", "message": {
            "id": format!("msg_{}_{}", turn.name, turn.turn), "type": "message", "role": "assistant", "model": "m",
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
        } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ])
}

fn responses(said: &Said, turn: &Turn<'_>) -> String {
    let id = format!("resp_{}_{}", turn.name, turn.turn);
    let item = match said {
        Said::Call { id, tool, input } => json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": tool,
            "arguments": input.to_string(), "status": "completed",
        }),
        Said::Words => json!({
            "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "Done.", "annotations": [] }],
        }),
    };
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 20,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
    });
    stream(&[
        json!({ "type": "response.created", "response": { "id": id, "status": "in_progress", "output": [] } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": {
            "id": id, "status": "completed", "output": [item], "usage": usage,
        } }),
    ])
}

fn chat(said: &Said, turn: &Turn<'_>) -> String {
    let (delta, stop) = match said {
        Said::Call { id, tool, input } => (
            json!({ "role": "assistant", "tool_calls": [{
                "index": 0, "id": id, "type": "function", "function": { "name": tool, "arguments": input.to_string() },
            }] }),
            "tool_calls",
        ),
        Said::Words => (json!({ "role": "assistant", "content": "Done." }), "stop"),
    };
    let id = format!("chatcmpl-{}-{}", turn.name, turn.turn);
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    let said = chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null);
    let ends = chunk(json!([{ "index": 0, "delta": {}, "finish_reason": stop }]), Value::Null);
    said + &ends + &chunk(json!([]), usage) + "data: [DONE]\n\n"
}
