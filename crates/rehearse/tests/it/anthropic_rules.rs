//! Each rule of the Messages wire, seen to fire.

use serde_json::{Value, json};

use crate::client::{ANTHROPIC, Call, ask, assistant, called, messages, one, rehearsal, result, says, user};

/// The rules that a request breaks, and the answer's message.
async fn broken(body: &Value) -> (Vec<&'static str>, String) {
    let model = rehearsal(&one(&json!([says("fine")])));
    let answer = ask(&model, body).await;
    let violations = model.violations();
    assert_eq!(answer.status, if violations.is_empty() { 200 } else { 400 });
    let told = answer.json();
    if !violations.is_empty() {
        assert_eq!(
            (&told["type"], &told["error"]["type"]),
            (&json!("error"), &json!("invalid_request_error"))
        );
        assert!(model.finish().is_err());
    }
    let message = told["error"]["message"].as_str().unwrap_or_default().to_owned();
    (violations.iter().map(|(_, violation)| violation.rule).collect(), message)
}

async fn rule(conversation: Value, expected: &str, says: &str) {
    let (rules, message) = broken(&messages(&conversation)).await;
    assert_eq!(rules, [expected], "{message}");
    assert!(message.contains(says), "{message}");
}

fn with(key: &str, value: Value) -> Value {
    let mut body = messages(&json!([user("hi")]));
    body[key] = value;
    body
}

#[tokio::test]
async fn what_the_service_allows_is_allowed() {
    let conversations = [
        json!([user("a"), user("b")]),
        json!([user("a"), { "role": "user", "content": [] }]),
        json!([user("a"), assistant(&json!("x")), assistant(&json!("y")), user("b")]),
        json!([user("a"), assistant(&json!([called("1"), called("2")])), { "role": "user", "content": [result("2", ""), result("1", "x"), { "type": "text", "text": "and" }] }]),
        json!([user("a"), assistant(&json!([called("1")])), { "role": "user", "content": [result("1", "x")] }, user("b")]),
        json!([user("a"), assistant(&json!([called("1"), called("2")])), { "role": "user", "content": [result("1", "x")] }, { "role": "user", "content": [result("2", "x")] }]),
        json!([
            user("a"),
            assistant(
                &json!([{ "type": "thinking", "thinking": "", "signature": "s" }, { "type": "text", "text": "x" }])
            ),
            user("b")
        ]),
        json!([{ "role": "user", "content": [{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AA==" } }] }]),
    ];
    for conversation in conversations {
        let (rules, message) = broken(&messages(&conversation)).await;
        assert!(rules.is_empty(), "{rules:?} {message} {conversation}");
    }
}

#[tokio::test]
async fn the_ends_of_a_conversation() {
    rule(json!([]), "no-messages", "at least one message is required").await;
    rule(
        json!([assistant(&json!("x")), user("a")]),
        "first-message",
        "first message must use the \"user\" role",
    )
    .await;
    rule(json!([user("a"), assistant(&json!("x"))]), "last-message", "must end with a user message").await;
}

#[tokio::test]
async fn calls_and_results_pair() {
    let orphan = json!([{ "role": "user", "content": [result("9", "x")] }]);
    rule(
        orphan,
        "orphan-result",
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: 9",
    )
    .await;
    let missing = json!([user("a"), assistant(&json!([called("1"), called("2")])), { "role": "user", "content": [result("1", "x")] }]);
    rule(
        missing,
        "missing-result",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: 2",
    )
    .await;
    let twice = json!([user("a"), assistant(&json!([called("1")])), { "role": "user", "content": [result("1", "x"), result("1", "y")] }]);
    rule(twice, "duplicate-result", "Found multiple `tool_result` blocks with id: 1").await;
    let late = json!([user("a"), assistant(&json!([called("1")])), user("wait"), assistant(&json!("ok")), { "role": "user", "content": [result("1", "x")] }]);
    let (rules, _) = broken(&messages(&late)).await;
    assert_eq!(rules, ["missing-result", "orphan-result"]);
    let behind = json!([user("a"), assistant(&json!([called("1")])), { "role": "user", "content": [{ "type": "text", "text": "so" }, result("1", "x")] }]);
    let (rules, _) = broken(&messages(&behind)).await;
    assert_eq!(rules, ["result-not-leading", "missing-result"]);
    let answers = json!({ "role": "user", "content": [result("1", "x")] });
    let reused = json!([
        user("a"),
        assistant(&json!([called("1")])),
        answers,
        assistant(&json!([called("1")])),
        answers
    ]);
    rule(reused, "duplicate-call", "`tool_use` ids must be unique").await;
    let unanswered = json!([user("a"), assistant(&json!([called("1")]))]);
    let (rules, _) = broken(&messages(&unanswered)).await;
    assert_eq!(rules, ["last-message", "missing-result"]);
}

#[tokio::test]
async fn blocks_say_something_and_stand_where_they_may() {
    rule(json!([user("")]), "empty-text", "text content blocks must be non-empty").await;
    rule(json!([user(" \n")]), "empty-text", "text content blocks must contain non-whitespace text").await;
    let thinking = json!({ "type": "thinking", "thinking": "x", "signature": "s" });
    let last = json!([user("a"), assistant(&json!([{ "type": "text", "text": "x" }, thinking])), user("b")]);
    rule(
        last,
        "thinking-last",
        "messages.1.content.1: The final block in an assistant message cannot be `thinking`",
    )
    .await;
    let unsigned = json!({ "type": "thinking", "thinking": "x", "signature": "" });
    let unsigned =
        json!([user("a"), assistant(&json!([unsigned, { "type": "text", "text": "x" }])), user("b")]);
    rule(unsigned, "thinking-signature", "Invalid `signature` in `thinking` block").await;
    rule(
        json!([{ "role": "user", "content": [thinking] }]),
        "block-role",
        "can only be in `assistant` messages",
    )
    .await;
    let image = json!({ "type": "image", "source": { "type": "url", "url": "u" } });
    let failed = json!({ "type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [image] });
    let failed =
        json!([user("a"), assistant(&json!([called("1")])), { "role": "user", "content": [failed] }]);
    rule(failed, "error-content", "all content must be type `text` if `is_error` is true").await;
}

#[tokio::test]
async fn only_known_fields_and_kinds() {
    let (rules, message) = broken(&with("foo", json!(1))).await;
    assert_eq!((rules, message.as_str()), (vec!["unknown-field"], "foo: Extra inputs are not permitted"));
    rule(
        json!([{ "role": "user", "content": "a", "id": "x" }]),
        "unknown-field",
        "messages.0.id: Extra inputs",
    )
    .await;
    let block = json!([{ "role": "user", "content": [{ "type": "text", "text": "a", "id": 1 }] }]);
    rule(block, "unknown-field", "messages.0.content.0.text.id: Extra inputs are not permitted").await;
    let kind = json!([{ "role": "user", "content": [{ "type": "input_text", "text": "a" }] }]);
    rule(kind, "unknown-kind", "messages.0.content.0: Input tag 'input_text' found using 'type'").await;
    rule(
        json!([{ "role": "tool", "content": "a" }]),
        "role",
        "messages.0.role: Input should be 'user' or 'assistant'",
    )
    .await;
    let (rules, _) = broken(&with("metadata", json!({ "user": "x" }))).await;
    assert_eq!(rules, ["unknown-field"]);
}

#[tokio::test]
async fn limits_tools_and_markers() {
    let mut body = messages(&json!([user("hi")]));
    body.as_object_mut().unwrap().remove("max_tokens");
    let (rules, message) = broken(&body).await;
    assert_eq!((rules, message.as_str()), (vec!["missing-field"], "max_tokens: Field required"));
    for wrong in [json!(0), json!(-1), json!("many")] {
        assert_eq!(broken(&with("max_tokens", wrong)).await.0, ["max-tokens"]);
    }
    let budget = with("thinking", json!({ "type": "enabled", "budget_tokens": 100 }));
    assert_eq!(broken(&budget).await.0, ["max-tokens"]);
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    let (rules, message) = broken(&with("tools", json!([tool("a.b")]))).await;
    assert_eq!(rules, ["tool-name"]);
    assert!(message.starts_with("tools.0.custom.name: String should match pattern"), "{message}");
    assert_eq!(broken(&with("tools", json!([tool("a"), tool("a")]))).await.0, ["tool-name"]);
    assert_eq!(broken(&with("tools", json!([{ "name": "a" }]))).await.0, ["missing-field"]);
    let marked = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
    assert_eq!(broken(&with("system", json!([marked, marked, marked, marked]))).await.0, [""; 0]);
    let (rules, message) = broken(&with("system", json!([marked, marked, marked, marked, marked]))).await;
    assert_eq!(rules, ["cache-markers"]);
    assert!(message.contains("Found 5."), "{message}");
}

#[tokio::test]
async fn headers_and_json() {
    let model = rehearsal(&one(&json!([says("fine")])));
    let body = messages(&json!([user("hi")])).to_string();
    let post = |headers, body| Call::send(&model, "POST", "/v1/messages", headers, body);
    let answer = post(&[("anthropic-version", "x")], &body).await.answer().await;
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (401, &json!("authentication_error")));
    let answer = post(&[("authorization", "Bearer x")], &body).await.answer().await;
    assert_eq!(answer.json()["error"]["message"], "anthropic-version: header is required");
    let answer = post(ANTHROPIC, "{\"model\": ").await.answer().await;
    assert_eq!(answer.status, 400);
    let rules: Vec<_> =
        model.violations().into_iter().map(|(number, violation)| (number, violation.rule)).collect();
    assert_eq!(rules, [(1, "authentication"), (2, "missing-header"), (3, "not-json")]);
}

#[tokio::test]
async fn thinking_comes_back_as_it_was_said() {
    for (text, signature, rules) in [
        ("so", "made", vec![]),
        ("So", "made", vec!["thinking-altered"]),
        // What this model never said cannot be judged.
        ("So", "elsewhere", vec![]),
    ] {
        let first = json!({ "reply": { "blocks": [{ "thinking": { "text": "so" } }, { "text": "x" }] } });
        let model = rehearsal(&one(&json!([first, says("fine")])));
        let answer = ask(&model, &messages(&json!([user("a")]))).await.json();
        let made = answer["content"][0]["signature"].as_str().unwrap();
        let signature = if signature == "made" { made } else { signature };
        let thinking = json!({ "type": "thinking", "thinking": text, "signature": signature });
        let content = json!([thinking, { "type": "text", "text": "x" }]);
        ask(&model, &messages(&json!([user("a"), assistant(&content), user("b")]))).await;
        let found: Vec<_> = model.violations().into_iter().map(|(_, violation)| violation.rule).collect();
        assert_eq!(found, rules);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let model = rehearsal(&one(&json!([says("fine")])));
    let large = " ".repeat(rehearse::limits::BODY_BYTES + 1);
    let answer = Call::send(&model, "POST", "/v1/messages", ANTHROPIC, &large).await.answer().await;
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (413, &json!("request_too_large")));
    assert_eq!(model.violations()[0].1.rule, "too-large");
}
