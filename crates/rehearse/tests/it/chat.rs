//! The Chat wire: replies, streamed and not, the habits of other servers, and each rule seen to fire.

use rehearse::Rehearsal;
use serde_json::{Value, json};

use crate::client::{Answer, Call, one, rehearsal, says};

async fn ask(model: &Rehearsal, body: &Value) -> Answer {
    Call::send(model, "POST", "/v1/chat/completions", &[], &body.to_string()).await.answer().await
}

fn request(messages: Value) -> Value {
    json!({ "model": "m", "messages": messages })
}

fn streamed(messages: Value) -> Value {
    json!({ "model": "m", "messages": messages, "stream": true, "stream_options": { "include_usage": true } })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({ "id": id, "type": "function", "function": { "name": "read", "arguments": "{}" } });
    json!({ "role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>() })
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "text" })
}

fn everything(quirks: &Value) -> Value {
    json!({ "reply": {
        "blocks": [
            { "thinking": { "text": "Let me think about this for a while." } },
            { "redacted_thinking": "opaque" },
            { "text": "I will read the file that you named, if I may." },
            { "tool_call": { "name": "read", "input": { "path": "a rather long path to a file" } } },
            { "tool_call": { "name": "list", "input": {}, "id": "given" } }
        ],
        "quirks": quirks,
        "usage": { "input_tokens": 10, "output_tokens": 20, "cache_read_tokens": 30, "reasoning_tokens": 7 }
    } })
}

/// The deltas of a stream put together: text, reasoning, and every call with id, name and arguments.
fn assemble(events: &[Value]) -> (String, String, Vec<[String; 3]>) {
    let (mut text, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for delta in events.iter().map(|event| &event["choices"][0]["delta"]) {
        text.push_str(delta["content"].as_str().unwrap_or_default());
        thought.push_str(delta["reasoning_content"].as_str().unwrap_or_default());
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
            if index == calls.len() {
                let name = piece["function"]["name"].as_str().unwrap().to_owned();
                calls.push([piece["id"].as_str().unwrap().to_owned(), name, String::new()]);
            }
            calls[index][2].push_str(piece["function"]["arguments"].as_str().unwrap());
        }
    }
    (text, thought, calls)
}

#[tokio::test]
async fn a_whole_completion_has_text_reasoning_and_calls() {
    let model = rehearsal(&one(&json!([everything(&json!([]))])));
    let completion = ask(&model, &request(json!([user("hi")]))).await.json();
    let choice = &completion["choices"][0];
    let function = json!({ "name": "read", "arguments": "{\"path\":\"a rather long path to a file\"}" });
    let expected = json!({
        "role": "assistant", "content": "I will read the file that you named, if I may.", "refusal": null,
        "reasoning_content": "Let me think about this for a while.",
        "tool_calls": [
            { "id": "call_000001_03", "type": "function", "function": function },
            { "id": "given", "type": "function", "function": { "name": "list", "arguments": "{}" } }
        ]
    });
    assert_eq!(choice["message"], expected);
    assert_eq!(
        (&choice["finish_reason"], &completion["object"]),
        (&json!("tool_calls"), &json!("chat.completion"))
    );
    let usage = &completion["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["total_tokens"]), (&json!(40), &json!(60)));
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 7);
    model.finish().unwrap();
}

#[tokio::test]
async fn a_stream_tells_the_same_in_pieces() {
    for quirks in [json!([]), json!(["whole_tool_calls"]), json!(["repeat_ids"])] {
        let model = rehearsal(&one(&json!([everything(&quirks)])));
        let answer = ask(&model, &streamed(json!([user("hi")]))).await;
        assert!(answer.text().ends_with("data: [DONE]\n\n"));
        let events = answer.events();
        assert_eq!(events[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
        let (text, thought, calls) = assemble(&events);
        assert_eq!(text, "I will read the file that you named, if I may.");
        assert_eq!(thought, "Let me think about this for a while.");
        assert_eq!(calls[0], ["call_000001_03", "read", "{\"path\":\"a rather long path to a file\"}"]);
        assert_eq!(calls[1], ["given", "list", "{}"]);
        let [.., end, last] = &events[..] else { panic!("{events:?}") };
        assert_eq!(end["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!((&last["choices"], &last["usage"]["completion_tokens"]), (&json!([]), &json!(20)));
        let pieces = events.iter().filter(|event| event["choices"][0]["delta"]["tool_calls"].is_array());
        let pieces: Vec<&Value> =
            pieces.map(|event| &event["choices"][0]["delta"]["tool_calls"][0]).collect();
        assert_eq!(pieces.len() == 2, quirks == json!(["whole_tool_calls"]));
        assert_eq!(pieces.iter().all(|piece| piece["id"].is_string()), quirks != json!([]));
    }
}

#[tokio::test]
async fn usage_comes_when_asked_for_and_the_server_can() {
    let model = rehearsal(&one(&json!([
        everything(&json!([])),
        everything(&json!(["no_usage"])),
        everything(&json!(["no_usage"]))
    ])));
    let mut body = streamed(json!([user("hi")]));
    body.as_object_mut().unwrap().remove("stream_options");
    assert!(!ask(&model, &body).await.text().contains("\"usage\""));
    assert!(!ask(&model, &streamed(json!([user("hi")]))).await.text().contains("\"usage\""));
    assert!(!ask(&model, &request(json!([user("hi")]))).await.text().contains("\"usage\""));
}

#[tokio::test]
async fn every_ending_has_its_name() {
    for (reason, expected) in [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ] {
        let turn = json!({ "reply": { "blocks": [{ "text": "x" }], "stop_reason": reason } });
        let model = rehearsal(&one(&json!([turn])));
        let completion = ask(&model, &request(json!([user("hi")]))).await.json();
        assert_eq!(completion["choices"][0]["finish_reason"], expected);
    }
}

#[tokio::test]
async fn errors_have_the_form_of_the_wire() {
    let turn = |what: Value| json!({ "reply": { "blocks": [{ "text": "x" }] }, "fault": { "what": what, "ends_turn": true } });
    let overloaded = turn(json!({ "status": { "status": 503, "message": "Busy" } }));
    let broken =
        turn(json!({ "stream_error": { "after_chunks": 1, "kind": "server_error", "message": "Oh no" } }));
    let model = rehearsal(&one(&json!([overloaded, broken])));
    let answer = ask(&model, &streamed(json!([user("hi")]))).await;
    let expected = json!({ "message": "Busy", "type": "service_unavailable_error", "param": null, "code": "server_is_overloaded" });
    assert_eq!((answer.status, &answer.json()["error"]), (503, &expected));
    let events = ask(&model, &streamed(json!([user("hi")]))).await.events();
    assert_eq!((events.len(), &events[1]["error"]["message"]), (2, &json!("Oh no")));
}

async fn broken(body: &Value) -> (Vec<&'static str>, Value) {
    let model = rehearsal(&one(&json!([says("fine")])));
    let answer = ask(&model, body).await;
    let violations = model.violations();
    assert_eq!(answer.status, if violations.is_empty() { 200 } else { 400 });
    (violations.iter().map(|(_, violation)| violation.rule).collect(), answer.json()["error"].clone())
}

async fn rule(messages: Value, expected: &[&str], says: &str) {
    let (rules, error) = broken(&request(messages)).await;
    assert_eq!(rules, expected, "{error}");
    assert!(error["message"].as_str().unwrap().contains(says), "{error}");
}

#[tokio::test]
async fn what_servers_allow_is_allowed() {
    let thinks = json!({ "role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": calls(&["1"])["tool_calls"] });
    for messages in [
        json!([{ "role": "system", "content": "Be brief." }, user("a"), user("b")]),
        json!([user("a"), calls(&["1", "2"]), result("2"), result("1"), user("b")]),
        json!([user("a"), thinks, result("1")]),
        json!([user("a"), calls(&["1"]), result("1"), calls(&["1"]), result("1")]),
        json!([{ "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } }] }]),
    ] {
        let (rules, error) = broken(&request(messages.clone())).await;
        assert!(rules.is_empty(), "{rules:?} {error} {messages}");
    }
}

#[tokio::test]
async fn calls_and_results_pair() {
    rule(
        json!([user("a"), result("9")]),
        &["orphan-result"],
        "must be a response to a preceeding message with 'tool_calls'",
    )
    .await;
    rule(
        json!([user("a"), calls(&["1"]), result("1"), result("9")]),
        &["orphan-result"],
        "'tool_call_id' of '9' not found",
    )
    .await;
    rule(
        json!([user("a"), calls(&["1", "2"]), result("1"), user("b")]),
        &["missing-result"],
        "did not have response messages: 2",
    )
    .await;
    rule(json!([user("a"), calls(&["1"]), user("b"), result("1")]), &["missing-result", "orphan-result"], "")
        .await;
    rule(
        json!([user("a"), calls(&["1"]), result("1"), result("1")]),
        &["duplicate-result"],
        "Duplicate value",
    )
    .await;
    rule(json!([user("a"), calls(&["1", "1"]), result("1")]), &["duplicate-call"], "Duplicate value").await;
    rule(json!([user("a"), calls(&["1"])]), &["last-message", "missing-result"], "").await;
    let again = json!([user("a"), calls(&["1"]), result("1"), user("b"), result("1")]);
    rule(again, &["orphan-result"], "must be a response to a preceeding message").await;
}

#[tokio::test]
async fn fields_kinds_and_ends() {
    let mut body = request(json!([user("a")]));
    body["max_output_tokens"] = 5.into();
    let (rules, error) = broken(&body).await;
    assert_eq!((rules, &error["param"]), (vec!["unknown-field"], &json!("max_output_tokens")));
    rule(json!([{ "role": "user", "content": "x", "id": "n" }]), &["unknown-field"], "'messages[0].id'")
        .await;
    rule(
        json!([{ "role": "user", "content": [{ "type": "input_text", "text": "x" }] }]),
        &["unknown-kind"],
        "'input_text'",
    )
    .await;
    rule(json!([{ "role": "user", "content": null }]), &["missing-content"], "expected a string, got null")
        .await;
    rule(json!([{ "role": "robot", "content": "x" }]), &["role"], "'robot'").await;
    rule(
        json!([user("a"), { "role": "assistant", "content": "x", "tool_calls": [] }, user("b")]),
        &["empty-calls"],
        "empty array",
    )
    .await;
    rule(json!([{ "role": "system", "content": "x" }]), &["no-messages"], "").await;
    rule(json!([{ "role": "assistant", "content": "x" }, user("a")]), &["first-message"], "").await;
    rule(json!([user("a"), { "role": "assistant", "content": "x" }]), &["last-message"], "").await;
    let function = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": {} } });
    for (key, value, expected) in [
        ("max_tokens", json!(0), "max-tokens"),
        ("tools", json!([]), "empty-tools"),
        ("tools", json!([function("a b")]), "tool-name"),
        ("tools", json!([function("a"), function("a")]), "tool-name"),
        ("tools", json!([{ "type": "function", "name": "a", "function": { "name": "a" } }]), "unknown-field"),
        ("stream_options", json!({ "include_usage": true }), "stream-options"),
    ] {
        let mut body = request(json!([user("a")]));
        body[key] = value;
        assert_eq!(broken(&body).await.0, [expected], "{body}");
    }
}

#[tokio::test]
async fn a_conversation_is_named_and_its_prefix_is_held() {
    let call_turn =
        json!({ "reply": { "blocks": [{ "tool_call": { "name": "read", "input": {}, "id": "1" } }] } });
    let mut turn = says("two");
    turn["expect"] = json!({ "tool_results": [{ "call": "read", "contains": "text" }], "system": { "contains": "brief" } });
    let model =
        rehearsal(&json!({ "conversations": [{ "id": "c", "turns": [call_turn, turn, says("three")] }] }));
    let system = |text: &str| json!({ "role": "system", "content": text });
    let named = |messages: Value| {
        let mut body = request(messages);
        body["user"] = "c".into();
        body
    };
    assert_eq!(ask(&model, &named(json!([system("Be brief."), user("a")]))).await.status, 200);
    let answer =
        ask(&model, &named(json!([system("Be brief."), user("a"), calls(&["1"]), result("1")]))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let changed = named(json!([system("Be long."), user("a"), calls(&["1"]), result("1")]));
    assert_eq!(ask(&model, &changed).await.status, 400);
    assert!(model.violations()[0].1.message.contains("messages[0] changed"));
    let shape =
        ["system \"Be brief.\"", "user text \"a\"", "assistant call #1 read {}", "tool result #1 \"text\""];
    assert_eq!(model.requests()[1].shape, shape);
}
