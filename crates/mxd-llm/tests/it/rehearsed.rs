//! Our adapters before a server we did not write for them: the scripted model, which holds every request to the rules
//! of its wire.

use futures_util::StreamExt;
use mxd_core::prompt::{
    Block, Cache, CacheTtl, Head, OutputLimits, Reasoning, Request, ResultPart, Role, SystemText, Text,
    ToolResult, ToolSpec, Turn,
};
use mxd_core::raw::RawJson;
use mxd_llm::{Chunk, EncodedPrefix, EncodedRequest, Provider, ProviderConfig, Stop, Wire};
use rehearse::{Rehearsal, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::histories::{self, History};
use crate::rounds::seeds;

fn scripted(wire: Wire) -> rehearse::Wire {
    match wire {
        Wire::Anthropic => rehearse::Wire::Anthropic,
        Wire::Responses => rehearse::Wire::Responses,
        Wire::Chat => rehearse::Wire::Chat,
    }
}

/// Thinks, calls a tool, reads its result, answers.
fn script() -> Script {
    let script = json!({
        "conversations": [{
            "first_message": { "contains": "read the file" },
            "turns": [
                { "reply": { "blocks": [
                    { "text": "Let me look." },
                    { "tool_call": { "name": "mcp__mxd__read_file", "input": { "path": "a.txt" } } },
                ] } },
                { "expect": { "tool_results": [{ "contains": "forty-two" }] }, "reply": { "blocks": [{ "text": "It says 42." }] } },
            ],
        }],
    });
    Script::parse("script", &script.to_string()).unwrap()
}

fn head() -> Head {
    let schema = RawJson::parse(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#).unwrap();
    Head {
        model: "some-model".to_owned(),
        system: SystemText { stable: "You read files.".to_owned(), variable: String::new() },
        tools: vec![ToolSpec {
            name: "mcp__mxd__read_file".to_owned(),
            description: "Reads a file.".to_owned(),
            schema,
        }],
        limits: OutputLimits { max_output_tokens: 500, reasoning: Reasoning::Unset },
        cache: Cache { ttl: CacheTtl::FiveMinutes, key: None },
    }
}

/// Asks once; gives the finished blocks and why the model stopped.
async fn ask(provider: &Provider, request: EncodedRequest) -> (Vec<Block>, Stop) {
    let (mut blocks, mut stop) = (Vec::new(), None);
    let mut stream = provider.stream(request, CancellationToken::new());
    while let Some(chunk) = stream.next().await {
        match chunk.unwrap() {
            Chunk::Item(block) => blocks.push(block),
            Chunk::End { stop: end, .. } => stop = Some(end),
            Chunk::TextDelta(_) | Chunk::ThinkingDelta(_) | Chunk::Usage(_) => {}
            Chunk::Retrying(again) => panic!("{again:?}"),
        }
    }
    (blocks, stop.unwrap())
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_is_read_on_every_wire() {
    for wire in Wire::ALL {
        let model = Rehearsal::start(script()).unwrap();
        let mut config = ProviderConfig::new(wire, Some("sk-test".to_owned().into()));
        config.base_url = model.base_url(scripted(wire));
        let provider = Provider::new(config).unwrap();
        let mut live = EncodedPrefix::new(wire, &head()).unwrap();
        live.push(&Turn::user(vec![Block::text("Please read the file a.txt")])).unwrap();
        let (blocks, stop) = ask(&provider, live.request()).await;
        assert_eq!(stop, Stop::ToolUse, "{wire}");
        let calls: Vec<_> = blocks
            .iter()
            .filter_map(|block| if let Block::ToolCall(call) = block { Some(call.clone()) } else { None })
            .collect();
        assert_eq!(calls.len(), 1, "{wire}: {blocks:?}");
        assert_eq!(serde_json::from_str::<Value>(calls[0].input.get()).unwrap(), json!({"path": "a.txt"}));
        live.push(&Turn::assistant(blocks)).unwrap();
        let content = vec![ResultPart::Text(Text { text: "forty-two".to_owned() })];
        let result = ToolResult { call_id: calls[0].id.clone(), is_error: false, content };
        live.push(&Turn::user(vec![Block::ToolResult(result)])).unwrap();
        let (blocks, stop) = ask(&provider, live.request()).await;
        assert_eq!((blocks, stop), (vec![Block::text("It says 42.")], Stop::EndTurn), "{wire}");
        model.finish().unwrap_or_else(|report| panic!("{wire}: {report}"));
    }
}

/// Whether a turn of the user says anything; nobody asks a model with nothing.
fn asks(turn: &Turn) -> bool {
    turn.blocks.iter().any(|block| match block {
        Block::Text(text) => !text.text.trim().is_empty(),
        Block::ToolResult(_) | Block::Image(_) => true,
        Block::Thinking(_) | Block::RedactedThinking(_) | Block::ToolCall(_) | Block::Opaque(_) => false,
    })
}

/// Every request of every random conversation keeps the rules of its wire and extends the one before, also after a
/// restart, when the bytes are made anew from what was stored.
#[test]
fn random_conversations_break_no_rule_and_no_prefix() {
    let (mut count, mut requests, mut kinds) = (0, 0, Vec::new());
    for seed in seeds(1_000) {
        let history = History::new(seed);
        for wire in Wire::ALL {
            requests += hold(&history, wire, seed);
        }
        histories::add(&mut kinds, &history);
        count += 1;
    }
    println!(
        "{count} histories on {} wires, {requests} requests: no broken rule, no broken prefix",
        Wire::ALL.len()
    );
    for (kind, count) in kinds {
        println!("  {count} {kind}");
    }
}

/// Holds one conversation; gives the number of requests.
fn hold(history: &History, wire: Wire, seed: u64) -> usize {
    let Request { head, turns } = &history.request;
    let mut live = EncodedPrefix::new(wire, head).unwrap();
    let mut asked = 0;
    let mut before: Option<(Vec<u8>, Value)> = None;
    for (index, turn) in turns.iter().enumerate() {
        if history.restarts.contains(&index) {
            live = restarted(wire, &Request { head: head.clone(), turns: turns[..index].to_vec() });
        }
        live.push(turn).unwrap();
        if turn.role != Role::User || !asks(turn) {
            continue;
        }
        let place = format!("seed {seed}, {wire}, turn {index}");
        let body: Value = serde_json::from_slice(&live.request().body).unwrap();
        let seen = rehearse::inspect(scripted(wire), &body);
        assert_eq!(seen.violations, [], "{place}: {}", seen.shape.join("\n"));
        if let Some((stable, before)) = &before {
            assert!(live.stable().starts_with(stable), "{place}");
            assert_eq!(rehearse::prefix_break(scripted(wire), before, &body), None, "{place}");
        }
        before = Some((live.stable().to_vec(), body));
        asked += 1;
    }
    asked
}

/// The conversation as a program finds it that knows only what was stored.
fn restarted(wire: Wire, so_far: &Request) -> EncodedPrefix {
    let stored = serde_json::to_string(so_far).unwrap();
    EncodedPrefix::of(wire, &serde_json::from_str(&stored).unwrap()).unwrap()
}
