//! Which conversation a request belongs to, what its turn expects and captures, and what is noted.

use rehearse::{CONVERSATION_HEADER, Outcome};
use serde_json::{Value, json};

use crate::client::{
    ANTHROPIC, Call, ask, assistant, called, calls, messages, one, rehearsal, result, says, user,
};

fn named(text: &str, name: &str) -> Value {
    let mut body = messages(&json!([user(text)]));
    body["metadata"] = json!({ "user_id": name });
    body
}

#[tokio::test]
async fn conversations_interleave_by_id_and_by_first_message() {
    let script = json!({ "conversations": [
        { "id": "a", "turns": [says("a1"), says("a2")] },
        { "first_message": { "matches": "^Fix (the|a) bug" }, "turns": [says("b1"), says("b2")] },
        { "first_message": { "contains": "bug" }, "turns": [says("c1")] },
        { "turns": [says("d1")] }
    ] });
    let model = rehearsal(&script);
    let requests = [
        (named("Fix the bug", "a"), "a1"),
        (named("Fix the bug", "other"), "b1"),
        (messages(&json!([user("a bug")])), "c1"),
        (named("Fix the bug", "a"), "a2"),
        (messages(&json!([user("anything")])), "d1"),
        (messages(&json!([user("Fix the bug")])), "b2"),
    ];
    for (body, expected) in requests {
        assert!(ask(&model, &body).await.text().contains(expected), "{expected}");
    }
    let order: Vec<_> = model.requests().into_iter().filter_map(|request| request.conversation).collect();
    assert_eq!(order, ["a", "#2", "#3", "a", "#4", "#2"]);
    model.finish().unwrap();
}

#[tokio::test]
async fn a_header_names_the_conversation() {
    let model = rehearsal(
        &json!({ "conversations": [{ "id": "a", "turns": [says("a1")] }, { "turns": [says("b1")] }] }),
    );
    let body = messages(&json!([user("x")])).to_string();
    for (name, status) in [("a", 200), ("z", 400)] {
        let headers = [ANTHROPIC, &[(CONVERSATION_HEADER, name)]].concat();
        let answer = Call::send(&model, "POST", "/v1/messages", &headers, &body).await.answer().await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(model.violations()[0].1.rule, "unknown-conversation");
}

#[tokio::test]
async fn without_a_turn_there_is_the_default_reply_or_a_failure() {
    let mut script = json!({ "conversations": [{ "id": "a", "turns": [says("one")] }] });
    let model = rehearsal(&script);
    assert_eq!(ask(&model, &named("x", "a")).await.status, 200);
    let answer = ask(&model, &named("x", "a")).await.json();
    assert_eq!(answer["error"]["message"], "rehearse: conversation `a` has no turn left");
    let answer = ask(&model, &named("x", "b")).await.json();
    assert_eq!(answer["error"]["message"], "rehearse: no conversation fits; the first message is \"x\"");
    assert_eq!(model.finish().unwrap_err().violations.len(), 2);

    script["default_reply"] = json!({ "blocks": [{ "text": "Acknowledged." }] });
    let model = rehearsal(&script);
    assert!(ask(&model, &named("x", "a")).await.text().contains("one"));
    for name in ["a", "b", "a"] {
        assert!(ask(&model, &named("x", name)).await.text().contains("Acknowledged."));
    }
    model.finish().unwrap();
}

#[tokio::test]
async fn turns_left_over_fail_the_rehearsal() {
    let model = rehearsal(&json!({ "conversations": [{ "id": "a", "turns": [says("one"), says("two")] }] }));
    ask(&model, &named("x", "a")).await;
    let report = model.finish().unwrap_err();
    assert_eq!(report.left_over, ["conversation `a`: 1 of 2 turns were played"]);
}

fn after_a_call(results: &Value) -> Value {
    let calls = json!([called("1"), { "type": "tool_use", "id": "2", "name": "list", "input": {} }]);
    messages(&json!([user("hi"), assistant(&calls), { "role": "user", "content": results }]))
}

/// What a turn that expects this says about two results and a text.
async fn unmet(expect: Value) -> Option<String> {
    let mut turn = says("fine");
    turn["expect"] = expect;
    let model = rehearsal(&one(&json!([calls("read", "1"), turn])));
    assert_eq!(ask(&model, &messages(&json!([user("hi")]))).await.status, 200);
    let mut failed = result("2", "no such folder");
    failed["is_error"] = true.into();
    let body = after_a_call(&json!([result("1", "alpha beta"), failed, { "type": "text", "text": "hurry" }]));
    ask(&model, &body).await;
    model.violations().first().map(|(number, violation)| {
        assert_eq!((*number, violation.rule), (2, "expect"));
        violation.message.clone()
    })
}

#[tokio::test]
async fn expectations_that_are_met() {
    for expect in [
        json!({}),
        json!({ "tool_result_count": 2, "user_text_count": 1, "image_count": 0, "model": "m" }),
        json!({ "tool_results": [{ "index": 0, "contains": ["alpha", "beta"], "not_contains": "gamma", "is_error": false }] }),
        json!({ "tool_results": [{ "call": "list", "matches": "^no such", "is_error": true }, { "contains": "beta" }] }),
        json!({ "user_texts": [{ "contains": "hurry" }, { "index": 0, "matches": "y$" }] }),
        json!({ "lacks_tools": "write" }),
    ] {
        assert_eq!(unmet(expect.clone()).await, None, "{expect}");
    }
}

#[tokio::test]
async fn expectations_that_are_not_met() {
    for (expect, told) in [
        (json!({ "tool_result_count": 1 }), "expected 1 tool results, found 2"),
        (json!({ "user_text_count": 2 }), "expected 2 user texts, found 1"),
        (json!({ "image_count": 1 }), "expected 1 images, found 0"),
        (json!({ "model": "n" }), "expected the model `n`, found `m`"),
        (json!({ "offers_tools": "read" }), "expected the tool `read` to be offered"),
        (
            json!({ "tool_results": [{ "index": 0, "contains": "gamma" }] }),
            "tool result 0 does not contain \"gamma\": \"alpha beta\"",
        ),
        (
            json!({ "tool_results": [{ "index": 0, "not_contains": "beta" }] }),
            "tool result 0 contains \"beta\"",
        ),
        (
            json!({ "tool_results": [{ "index": 0, "matches": "^beta" }] }),
            "tool result 0 does not match `^beta`",
        ),
        (json!({ "tool_results": [{ "index": 0, "is_error": true }] }), "tool result 0 is no error"),
        (
            json!({ "tool_results": [{ "call": "list", "is_error": false }] }),
            "the result of `list` is an error",
        ),
        (json!({ "tool_results": [{ "call": "write" }] }), "there is no result of a call of `write`"),
        (
            json!({ "tool_results": [{ "index": 1, "call": "read" }] }),
            "tool result 1 answers a call of `list`",
        ),
        (json!({ "tool_results": [{ "index": 5 }] }), "there is no tool result 5, only 2"),
        (json!({ "tool_results": [{ "contains": "gamma" }] }), "none of 2 tool results is as expected"),
        (json!({ "user_texts": [{ "contains": "slowly" }] }), "the user text does not contain \"slowly\""),
        (json!({ "user_texts": [{ "index": 1 }] }), "there is no user text 1, only 1"),
        (json!({ "system": { "contains": "brief" } }), "the system text does not contain \"brief\""),
    ] {
        let message = unmet(expect.clone()).await.unwrap_or_else(|| panic!("{expect}"));
        assert!(message.contains(told), "{message}");
    }
}

#[tokio::test]
async fn captures_stand_in_for_their_names_later() {
    let turns = json!([
        calls("read", "1"),
        { "capture": ["task (?<task>T[0-9]+) by (?<who>[a-z]+)"],
          "reply": { "blocks": [{ "text": "On $task for ${who}s, $5." }, { "tool_call": { "name": "read", "input": { "id": ["$task"] }, "id": "2" } }] } },
        { "expect": { "tool_results": [{ "contains": "$task", "matches": "^$task is done$" }] }, "reply": { "blocks": [{ "text": "Bye $who" }] } }
    ]);
    let model = rehearsal(&one(&turns));
    let mut history = vec![user("hi")];
    ask(&model, &messages(&json!(history))).await;
    history.push(assistant(&json!([called("1")])));
    history.push(json!({ "role": "user", "content": [result("1", "created task T42 by ann")] }));
    let answer = ask(&model, &messages(&json!(history))).await.json();
    assert_eq!(answer["content"][0]["text"], "On T42 for anns, $5.");
    assert_eq!(answer["content"][1]["input"], json!({ "id": ["T42"] }));
    history.push(assistant(&answer["content"]));
    history.push(json!({ "role": "user", "content": [result("2", "T42 is done")] }));
    assert_eq!(ask(&model, &messages(&json!(history))).await.json()["content"][0]["text"], "Bye ann");
    model.finish().unwrap();
}

#[tokio::test]
async fn a_capture_that_finds_nothing_fails() {
    let mut turn = says("x");
    turn["capture"] = json!(["(?<id>[0-9]+)"]);
    let model = rehearsal(&one(&json!([turn])));
    let answer = ask(&model, &messages(&json!([user("no digits")]))).await.json();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("matches nothing in what the request adds:\nno digits"), "{message}");
}

#[tokio::test]
async fn requests_are_noted_with_their_shape() {
    let model = rehearsal(&one(&json!([calls("read", "x1"), says("done")])));
    let mut first = messages(&json!([user("hi")]));
    first["system"] = "Be brief.".into();
    ask(&model, &first).await;
    let mut second = after_a_call(&json!([result("2", "gone"), result("1", "text\nmore")]));
    second["system"] = "Be brief.".into();
    ask(&model, &second).await;
    let noted = &model.requests()[1];
    assert_eq!((noted.number, noted.turn, noted.outcome), (2, Some(2), Outcome::Replied));
    let shape = "system \"Be brief.\"\nuser text \"hi\"\nassistant call #1 read {\"path\":\"a\"}\n\
                 assistant call #2 list {}\nuser result #2 \"gone\"\nuser result #1 \"text\\nmore\"";
    assert_eq!(noted.shape_text(), shape);
    assert_eq!(noted.body, None);
    let list = Call::send(&model, "GET", "/rehearse/requests", &[], "").await.answer().await.json();
    assert_eq!(list, json!(model.requests()));
    let report = Call::send(&model, "GET", "/rehearse/report", &[], "").await.answer().await.json();
    assert_eq!(report, json!({ "violations": [], "left_over": [] }));
}

#[tokio::test]
async fn a_path_that_is_none_says_so() {
    let model = rehearsal(&one(&json!([says("x")])));
    let answer = Call::send(&model, "GET", "/v1/nothing", &[], "").await.answer().await;
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("rehearse answers no GET /v1/nothing"));
}
