//! Replies on the Messages wire, streamed and not.

use serde_json::{Value, json};

use crate::client::{ANTHROPIC, Call, ask, messages, one, rehearsal, says, user};

fn everything() -> Value {
    json!([{ "reply": {
        "blocks": [
            { "thinking": { "text": "Let me think about this for a while.", "signature": "sig" } },
            { "redacted_thinking": "opaque" },
            { "text": "I will read both files, one after the other." },
            { "tool_call": { "name": "read", "input": { "path": "a rather long path to a file" } } },
            { "tool_call": { "name": "list", "input": {}, "id": "toolu_given" } }
        ],
        "usage": { "input_tokens": 10, "output_tokens": 20, "cache_read_tokens": 30, "cache_write_tokens": 4, "cache_write_1h_tokens": 5 }
    } }])
}

fn content() -> Value {
    json!([
        { "type": "thinking", "thinking": "Let me think about this for a while.", "signature": "sig" },
        { "type": "redacted_thinking", "data": "opaque" },
        { "type": "text", "text": "I will read both files, one after the other." },
        { "type": "tool_use", "id": "toolu_000001_03", "name": "read", "input": { "path": "a rather long path to a file" } },
        { "type": "tool_use", "id": "toolu_given", "name": "list", "input": {} }
    ])
}

/// Puts a stream together as a client does.
fn assemble(events: &[Value]) -> Value {
    let mut message = Value::Null;
    let mut partial = String::new();
    for event in events {
        let index = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = &mut message["content"][index];
                let delta = &event["delta"];
                for (kind, field) in
                    [("text_delta", "text"), ("thinking_delta", "thinking"), ("signature_delta", "signature")]
                {
                    if delta["type"] == kind {
                        let text = block[field].as_str().unwrap().to_owned() + delta[field].as_str().unwrap();
                        block[field] = text.into();
                    }
                }
                partial.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            "content_block_stop" => {
                if !partial.is_empty() {
                    message["content"][index]["input"] = serde_json::from_str(&partial).unwrap();
                    partial.clear();
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"]["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            "ping" | "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    message
}

#[tokio::test]
async fn a_whole_reply_has_every_block() {
    let model = rehearsal(&one(&everything()));
    let answer = ask(&model, &messages(&json!([user("hi")]))).await;
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("request-id: req_000001"), "{}", answer.headers);
    let message = answer.json();
    assert_eq!(message["content"], content());
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["cache_creation_input_tokens"], 9);
    assert_eq!(message["usage"]["cache_creation"]["ephemeral_1h_input_tokens"], 5);
    assert_eq!((&message["id"], &message["model"]), (&json!("msg_000001"), &json!("m")));
    model.finish().unwrap();
}

#[tokio::test]
async fn a_streamed_reply_is_the_same_message() {
    let model = rehearsal(&one(&json!([everything()[0], everything()[0]])));
    let whole = ask(&model, &messages(&json!([user("hi")]))).await.json();
    let mut body = messages(&json!([user("hi")]));
    body["stream"] = true.into();
    let answer = ask(&model, &body).await;
    assert!(answer.complete && answer.headers.contains("content-type: text/event-stream"));
    let kinds = answer.kinds();
    assert_eq!(kinds[..3], ["message_start", "ping", "content_block_start"]);
    assert_eq!(kinds[kinds.len() - 3..], ["content_block_stop", "message_delta", "message_stop"]);
    let mut streamed = assemble(&answer.events());
    streamed["id"] = whole["id"].clone();
    streamed["content"][3]["id"] = whole["content"][3]["id"].clone();
    assert_eq!(streamed, whole);
    // Each event is a chunk, and its name is its type.
    assert_eq!(answer.chunks.len(), kinds.len());
    for (chunk, kind) in answer.chunks.iter().zip(kinds) {
        assert!(chunk.starts_with(format!("event: {kind}\ndata: ").as_bytes()) && chunk.ends_with(b"\n\n"));
    }
}

#[tokio::test]
async fn malformed_arguments_are_streamed_as_they_are() {
    let call = json!({ "tool_call": { "name": "read", "input_text": "{\"path\": \"a\", oops" } });
    let model = rehearsal(&one(&json!([{ "reply": { "blocks": [call] } }])));
    let mut body = messages(&json!([user("hi")]));
    body["stream"] = true.into();
    let events = ask(&model, &body).await.events();
    let parts = events.iter().filter_map(|event| event["delta"]["partial_json"].as_str());
    assert_eq!(parts.collect::<String>(), "{\"path\": \"a\", oops");
}

#[tokio::test]
async fn every_stop_reason_is_told() {
    let reasons =
        ["end_turn", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded"];
    let turn = |reason: &&str| json!({ "reply": { "blocks": [{ "text": "x" }], "stop_reason": reason, "stop_sequence": "END" } });
    let turns: Vec<Value> = reasons.iter().map(turn).collect();
    let model = rehearsal(&one(&json!(turns)));
    for reason in reasons {
        let answer = ask(&model, &messages(&json!([user("hi")]))).await.json();
        assert_eq!((&answer["stop_reason"], &answer["stop_sequence"]), (&json!(reason), &json!("END")));
    }
}

#[tokio::test]
async fn usage_is_counted_when_the_script_does_not_say() {
    let model = rehearsal(&one(&json!([says("twelve bytes")])));
    let usage = ask(&model, &messages(&json!([user("hi")]))).await.json()["usage"].clone();
    assert_eq!(usage["output_tokens"], 3);
    assert!(usage["input_tokens"].as_u64().unwrap() > 5);
}

#[tokio::test]
async fn models_and_tokens_can_be_asked() {
    let model = rehearsal(&json!({ "conversations": [{ "turns": [says("x")] }], "models": ["a", "b"] }));
    let get = |path: &'static str, headers| Call::send(&model, "GET", path, headers, "");
    let list = get("/v1/models", ANTHROPIC).await.answer().await.json();
    assert_eq!((&list["data"][1]["id"], &list["last_id"]), (&json!("b"), &json!("b")));
    assert_eq!(get("/v1/models/a", ANTHROPIC).await.answer().await.json()["display_name"], "a");
    assert_eq!(get("/v1/models/z", ANTHROPIC).await.answer().await.status, 404);
    let list = get("/v1/models", &[]).await.answer().await.json();
    assert_eq!((&list["object"], &list["data"][0]["object"]), (&json!("list"), &json!("model")));
    let body = json!({ "model": "m", "messages": [user("hi")] });
    let mut counts = Vec::new();
    for body in [&body, &body, &json!({ "model": "m", "messages": [user("hi there, how are you?")] })] {
        let body = body.to_string();
        let call = Call::send(&model, "POST", "/v1/messages/count_tokens", ANTHROPIC, &body).await;
        counts.push(call.answer().await.json()["input_tokens"].as_u64().unwrap());
    }
    assert!(counts[0] == counts[1] && counts[1] < counts[2], "{counts:?}");
    let wrong = json!({ "model": "m", "messages": [user("")] }).to_string();
    let call = Call::send(&model, "POST", "/v1/messages/count_tokens", ANTHROPIC, &wrong).await;
    assert_eq!(call.answer().await.status, 400);
    // None of these was a turn.
    assert_eq!(model.requests().len(), 0);
}
