//! The Responses wire: replies, streamed and not, and each rule seen to fire.

use rehearse::Rehearsal;
use serde_json::{Value, json};

use crate::client::{Answer, Call, one, rehearsal, says};

const KEY: &[(&str, &str)] = &[("authorization", "Bearer k")];

async fn ask(model: &Rehearsal, body: &Value) -> Answer {
    Call::send(model, "POST", "/v1/responses", KEY, &body.to_string()).await.answer().await
}

fn request(input: Value) -> Value {
    json!({ "model": "m", "store": false, "include": ["reasoning.encrypted_content"], "input": input })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn call(id: &str) -> Value {
    json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": "{}" })
}

fn output(id: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": "text" })
}

fn said(text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
}

fn thought(seal: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{seal}"), "summary": [], "encrypted_content": seal })
}

fn everything() -> Value {
    json!({ "reply": {
        "blocks": [
            { "thinking": { "text": "Let me think about this for a while.", "signature": "sealed" } },
            { "redacted_thinking": "opaque" },
            { "text": "I will read the file that you named, if I may." },
            { "tool_call": { "name": "read", "input": { "path": "a rather long path to a file" } } }
        ],
        "usage": { "input_tokens": 10, "output_tokens": 20, "cache_read_tokens": 30, "reasoning_tokens": 7 }
    } })
}

#[tokio::test]
async fn a_whole_response_has_every_item() {
    let model = rehearsal(&one(&json!([everything()])));
    let answer = ask(&model, &request(json!([user("hi")]))).await;
    assert!(answer.headers.contains("x-request-id: req_000001"), "{}", answer.headers);
    let response = answer.json();
    let expected = json!([
        { "id": "rs_000001_00", "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Let me think about this for a while." }], "encrypted_content": "sealed" },
        { "id": "rs_000001_01", "type": "reasoning", "summary": [], "encrypted_content": "opaque" },
        { "id": "msg_000001_02", "type": "message", "status": "completed", "role": "assistant", "content": [{ "type": "output_text", "text": "I will read the file that you named, if I may.", "annotations": [], "logprobs": [] }] },
        { "id": "fc_000001_03", "type": "function_call", "status": "completed", "call_id": "call_000001_03", "name": "read", "arguments": "{\"path\":\"a rather long path to a file\"}" }
    ]);
    assert_eq!(response["output"], expected);
    assert_eq!((&response["status"], &response["object"]), (&json!("completed"), &json!("response")));
    let usage = &response["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["input_tokens_details"]["cached_tokens"]),
        (&json!(40), &json!(30))
    );
    assert_eq!(
        (&usage["output_tokens_details"]["reasoning_tokens"], &usage["total_tokens"]),
        (&json!(7), &json!(60))
    );
    model.finish().unwrap();
}

#[tokio::test]
async fn a_stream_tells_the_same_items_step_by_step() {
    let model = rehearsal(&one(&json!([everything()])));
    let mut body = request(json!("hi"));
    body["stream"] = true.into();
    let answer = ask(&model, &body).await;
    let events = answer.events();
    assert!(events.iter().enumerate().all(|(number, event)| event["sequence_number"] == number));
    let kinds = answer.kinds();
    assert_eq!(kinds[..3], ["response.created", "response.in_progress", "response.output_item.added"]);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    let items: Vec<Value> = done.map(|event| event["item"].clone()).collect();
    assert_eq!(json!(items), last["response"]["output"]);
    for (kind, expected) in [
        ("response.output_text.delta", "I will read the file that you named, if I may."),
        ("response.reasoning_summary_text.delta", "Let me think about this for a while."),
        ("response.function_call_arguments.delta", "{\"path\":\"a rather long path to a file\"}"),
    ] {
        let deltas: Vec<&str> = events
            .iter()
            .filter(|event| event["type"] == kind)
            .filter_map(|event| event["delta"].as_str())
            .collect();
        assert!(deltas.len() > 1, "{kind}");
        assert_eq!(deltas.concat(), expected);
    }
    let begun = events.iter().find(|event| event["item"]["type"] == "function_call").unwrap();
    assert_eq!((&begun["item"]["arguments"], &begun["item"]["status"]), (&json!(""), &json!("in_progress")));
}

#[tokio::test]
async fn every_ending_has_its_event() {
    for (reason, kind, status) in [
        ("end_turn", "response.completed", "completed"),
        ("max_tokens", "response.incomplete", "incomplete"),
        ("model_context_window_exceeded", "response.failed", "failed"),
        ("refusal", "response.completed", "completed"),
    ] {
        let turn = json!({ "reply": { "blocks": [{ "text": "no" }], "stop_reason": reason } });
        let model = rehearsal(&one(&json!([turn, turn])));
        let whole = ask(&model, &request(json!("hi"))).await.json();
        let mut body = request(json!("hi"));
        body["stream"] = true.into();
        let answer = ask(&model, &body).await;
        let last = answer.events().pop().unwrap();
        assert_eq!((&last["type"], &last["response"]["status"]), (&json!(kind), &json!(status)));
        assert_eq!(
            (&whole["status"], &whole["error"], &whole["incomplete_details"]),
            (
                &last["response"]["status"],
                &last["response"]["error"],
                &last["response"]["incomplete_details"]
            )
        );
        assert_eq!(answer.kinds().contains(&"response.refusal.delta".to_owned()), reason == "refusal");
    }
}

#[tokio::test]
async fn errors_have_the_form_of_the_wire() {
    let status = json!({ "status": { "status": 429, "retry_after": "1" } });
    let failed = json!({ "stream_error": { "after_chunks": 2, "kind": "server_error", "message": "Oh no" } });
    let turn = |what: &Value| json!({ "reply": { "blocks": [{ "text": "x" }] }, "fault": { "what": what, "ends_turn": true } });
    let model = rehearsal(&one(&json!([turn(&status), turn(&failed)])));
    let mut body = request(json!("hi"));
    body["stream"] = true.into();
    let answer = ask(&model, &body).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (429, &json!("rate_limit_exceeded")));
    let answer = ask(&model, &body).await;
    let last = answer.events().pop().unwrap();
    assert_eq!((answer.chunks.len(), &last["type"]), (3, &json!("response.failed")));
    assert_eq!(last["response"]["error"], json!({ "code": "server_error", "message": "Oh no" }));
    model.finish().unwrap();
}

/// The rules that a request breaks.
async fn broken(body: &Value) -> (Vec<&'static str>, String) {
    let model = rehearsal(&one(&json!([says("fine")])));
    let answer = ask(&model, body).await;
    let violations = model.violations();
    assert_eq!(answer.status, if violations.is_empty() { 200 } else { 400 });
    let told = answer.json();
    if !violations.is_empty() {
        assert_eq!(told["error"]["type"], "invalid_request_error");
    }
    let message = told["error"]["message"].as_str().unwrap_or_default().to_owned();
    (violations.iter().map(|(_, violation)| violation.rule).collect(), message)
}

async fn rule(input: Value, expected: &[&str], says: &str) {
    let (rules, message) = broken(&request(input)).await;
    assert_eq!(rules, expected, "{message}");
    assert!(message.contains(says), "{message}");
}

#[tokio::test]
async fn what_the_service_allows_is_allowed() {
    for input in [
        json!("hi"),
        json!([{ "role": "developer", "content": "Be brief." }, user("hi")]),
        json!([user("a"), thought("x"), said("y"), user("b")]),
        json!([
            user("a"),
            thought("x"),
            call("1"),
            thought("y"),
            call("2"),
            output("2"),
            output("1"),
            user("b")
        ]),
        json!([user("a"), call("1"), output("1"), call("2"), output("2")]),
        json!([user("a"), said("x"), call("1"), output("1")]),
        json!([{ "role": "user", "content": [{ "type": "input_text", "text": "" }, { "type": "input_image", "image_url": "data:image/png;base64,AA==" }] }]),
    ] {
        let (rules, message) = broken(&request(input.clone())).await;
        assert!(rules.is_empty(), "{rules:?} {message} {input}");
    }
}

#[tokio::test]
async fn calls_and_outputs_pair() {
    rule(
        json!([user("a"), output("9")]),
        &["orphan-result"],
        "No tool call found for function call output with call_id 9.",
    )
    .await;
    rule(
        json!([user("a"), call("1"), user("b")]),
        &["missing-result"],
        "No tool output found for function call 1.",
    )
    .await;
    rule(
        json!([user("a"), call("1"), call("2"), output("1"), said("x"), user("b")]),
        &["missing-result"],
        "function call 2.",
    )
    .await;
    rule(json!([user("a"), call("1"), output("1"), output("1")]), &["duplicate-result"], "call_id 1").await;
    rule(
        json!([user("a"), call("1"), output("1"), call("1"), output("1")]),
        &["duplicate-call", "duplicate-result"],
        "call_id 1",
    )
    .await;
    rule(json!([user("a"), call("1")]), &["last-message", "missing-result"], "").await;
    let late = json!([user("a"), call("1"), user("b"), output("1")]);
    rule(late, &["result-not-leading"], "rehearse: the output of function call 1 does not follow it").await;
    let apart = json!([user("a"), call("1"), call("2"), output("1"), said("x"), output("2")]);
    rule(apart, &["result-not-leading"], "function call 2").await;
}

#[tokio::test]
async fn reasoning_stands_before_what_came_of_it_and_is_carried() {
    rule(
        json!([user("a"), thought("x"), user("b")]),
        &["reasoning-alone"],
        "without its required following item",
    )
    .await;
    let mut bare = thought("x");
    bare.as_object_mut().unwrap().remove("encrypted_content");
    let input = json!([user("a"), bare, said("y"), user("b")]);
    rule(input.clone(), &["reasoning-content"], "Items are not persisted when `store` is set to false").await;
    let mut body = request(input);
    body["store"] = true.into();
    assert_eq!(broken(&body).await.0, [""; 0]);
    rule(
        json!([user("a"), thought("x"), said("y"), thought("x"), said("z"), user("b")]),
        &["duplicate-item"],
        "id rs_x",
    )
    .await;
}

#[tokio::test]
async fn fields_kinds_ends_and_headers() {
    let mut body = request(json!("hi"));
    body["max_tokens"] = 5.into();
    let (rules, message) = broken(&body).await;
    assert_eq!((rules, message.as_str()), (vec!["unknown-field"], "Unknown parameter: 'max_tokens'."));
    rule(json!([{ "role": "user", "content": "x", "name": "n" }]), &["unknown-field"], "'input[0].name'")
        .await;
    rule(
        json!([{ "role": "user", "content": [{ "type": "output_text", "text": "x" }] }]),
        &["unknown-kind"],
        "input[0].content[0].type",
    )
    .await;
    rule(json!([{ "role": "user", "content": "x", "id": "xyz" }]), &["item-id"], "begins with 'msg'").await;
    rule(json!([{ "type": "function", "name": "x" }]), &["unknown-kind"], "'function'").await;
    rule(json!([]), &["no-messages"], "").await;
    rule(json!([said("x"), user("a")]), &["first-message"], "").await;
    rule(json!([user("a"), said("x")]), &["last-message"], "").await;
    for (key, value, expected) in [
        ("max_output_tokens", json!(0), "max-tokens"),
        ("previous_response_id", json!("resp_1"), "stored-state"),
        ("tools", json!([{ "type": "function", "name": "a b", "parameters": {} }]), "tool-name"),
        (
            "tools",
            json!([{ "type": "function", "name": "a" }, { "type": "function", "name": "a" }]),
            "tool-name",
        ),
        ("tools", json!([{ "type": "function", "function": { "name": "a" }, "name": "a" }]), "unknown-field"),
        ("input", json!(7), "wrong-type"),
    ] {
        let mut body = request(json!("hi"));
        body[key] = value;
        assert_eq!(broken(&body).await.0[0], expected, "{body}");
    }
    let model = rehearsal(&one(&json!([says("x")])));
    let answer = Call::send(&model, "POST", "/v1/responses", &[], &request(json!("hi")).to_string())
        .await
        .answer()
        .await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (401, &json!("invalid_api_key")));
}

#[tokio::test]
async fn a_conversation_is_named_by_its_cache_key_and_its_prefix_is_held() {
    let mut turn = says("two");
    turn["expect"] = json!({ "tool_results": [{ "call": "read", "contains": "text" }], "system": { "contains": "brief" } });
    let call_turn =
        json!({ "reply": { "blocks": [{ "tool_call": { "name": "read", "input": {}, "id": "1" } }] } });
    let model =
        rehearsal(&json!({ "conversations": [{ "id": "c", "turns": [call_turn, turn, says("three")] }] }));
    let keyed = |input: Value| {
        let mut body = request(input);
        body["instructions"] = "Be brief.".into();
        body["prompt_cache_key"] = "c".into();
        body
    };
    assert_eq!(ask(&model, &keyed(json!([user("a")]))).await.status, 200);
    let input = json!([user("a"), call("1"), output("1")]);
    let answer = ask(&model, &keyed(input.clone())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut changed = keyed(input);
    changed["instructions"] = "Be long.".into();
    assert_eq!(ask(&model, &changed).await.status, 400);
    assert!(model.violations()[0].1.message.contains("instructions changed"));
    assert_eq!(
        model.requests()[1].shape,
        ["system \"Be brief.\"", "user text \"a\"", "assistant call #1 read {}", "tool result #1 \"text\""]
    );
}
