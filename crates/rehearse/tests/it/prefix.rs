//! Requests of a conversation extend each other, and forks their parent.

use rehearse::Rehearsal;
use serde_json::{Value, json};

use crate::client::{ask, assistant, messages, one, rehearsal, says, user};

async fn second(model: &Rehearsal, first: &Value, second: &Value) -> u16 {
    assert_eq!(ask(model, first).await.status, 200);
    ask(model, second).await.status
}

fn grown(system: &str, history: &[Value]) -> Value {
    let mut body = messages(&json!(history));
    body["system"] = system.into();
    body
}

#[tokio::test]
async fn a_changed_message_is_refused_with_a_diff() {
    let model = rehearsal(&one(&json!([says("x"), says("y")])));
    let before = grown("Be brief.", &[user("one\ntwo\nthree")]);
    let after = grown("Be brief.", &[user("one\n2\nthree"), assistant(&json!("x")), user("go on")]);
    assert_eq!(second(&model, &before, &after).await, 400);
    let report = model.finish().unwrap_err().to_string();
    assert!(report.contains("request 2: [prefix] rehearse: messages[0] changed"), "{report}");
    assert!(report.contains("--- previous request\n+++ this request\n"), "{report}");
    assert!(report.contains("-        two\\n\n+        2\\n\n"), "{report}");
}

#[tokio::test]
async fn system_tools_and_length_count_and_markers_do_not() {
    let history = [user("a"), assistant(&json!("x")), user("b")];
    let tools = |name: &str| json!([{ "name": name, "input_schema": { "type": "object" } }]);
    let cases = [
        (grown("s", &history[..1]), grown("t", &history), 400),
        (grown("s", &history), grown("s", &history[..1]), 400),
        (grown("s", &history[..1]), grown("s", &history), 200),
        (grown("s", &history[..1]), messages(&json!(history)), 400),
    ];
    for (before, after, status) in cases {
        let model = rehearsal(&one(&json!([says("x"), says("y")])));
        assert_eq!(second(&model, &before, &after).await, status, "{after}");
    }
    for (before, after, status) in [("a", "a", 200), ("a", "b", 400)] {
        let model = rehearsal(&one(&json!([says("x"), says("y")])));
        let (mut first, mut then) = (grown("s", &history[..1]), grown("s", &history));
        first["tools"] = tools(before);
        then["tools"] = tools(after);
        assert_eq!(second(&model, &first, &then).await, status);
    }
    let marked = json!({ "role": "user", "content": [{ "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } }] });
    let model = rehearsal(&one(&json!([says("x"), says("y")])));
    assert_eq!(second(&model, &grown("s", &[marked]), &grown("s", &history)).await, 200);
}

#[tokio::test]
async fn a_break_is_declared_by_the_script_or_the_test() {
    let mut breaking = says("y");
    breaking["breaks_prefix"] = true.into();
    breaking["expect"] = json!({ "user_texts": [{ "contains": "summary" }], "user_text_count": 1 });
    let model = rehearsal(&one(&json!([says("x"), breaking])));
    let (before, after) = (grown("s", &[user("a")]), grown("t", &[user("summary")]));
    assert_eq!(second(&model, &before, &after).await, 200);
    model.finish().unwrap();

    let script = json!({ "conversations": [{ "id": "c", "first_message": {}, "turns": [says("x"), says("y"), says("z")] }] });
    let model = rehearsal(&script);
    assert_eq!(ask(&model, &before).await.status, 200);
    assert!(model.declare_break("c") && !model.declare_break("d"));
    assert_eq!(ask(&model, &after).await.status, 200);
    // It counts for one request.
    assert_eq!(ask(&model, &before).await.status, 400);
}

#[tokio::test]
async fn a_fork_extends_the_request_of_its_parent() {
    let script = json!({ "conversations": [
        { "id": "parent", "turns": [says("one"), says("two"), says("three")] },
        { "id": "child", "fork_of": { "conversation": "parent", "at_turn": 2 },
          "turns": [{ "reply": { "blocks": [{ "text": "forked" }] }, "expect": { "user_text_count": 1, "user_texts": [{ "contains": "you are a fork" }] } }] }
    ] });
    let history =
        [user("a"), assistant(&json!("one")), user("b"), assistant(&json!("two")), user("you are a fork")];
    let named = |name: &str, messages: &[Value]| {
        let mut body = grown("s", messages);
        body["metadata"] = json!({ "user_id": name });
        body
    };
    let model = rehearsal(&script);
    assert_eq!(ask(&model, &named("child", &history)).await.status, 400);
    assert!(model.violations()[0].1.message.contains("at turn 2, which was not played yet"));

    let model = rehearsal(&script);
    assert_eq!(ask(&model, &named("parent", &history[..1])).await.status, 200);
    assert_eq!(ask(&model, &named("parent", &history[..3])).await.status, 200);
    assert_eq!(ask(&model, &named("child", &[user("z"), history[1].clone(), user("b")])).await.status, 400);
    assert!(model.violations()[0].1.message.contains("messages[0] changed"));
    let told = ask(&model, &named("child", &history)).await;
    assert_eq!(told.status, 200, "{}", told.text());
}

#[tokio::test]
async fn a_fork_without_a_name_is_recognised_by_what_it_adds_and_so_is_a_fork_of_it() {
    let model = rehearsal(&json!({ "conversations": [
        { "id": "first", "first_message": { "contains": "hi" }, "turns": [says("a"), says("b")] },
        { "id": "second", "first_message": { "contains": "you are second" },
          "fork_of": { "conversation": "first", "at_turn": 1 }, "turns": [says("c"), says("d")] },
        { "id": "third", "first_message": { "contains": "you are third" },
          "fork_of": { "conversation": "second", "at_turn": 1 }, "turns": [says("e")] }
    ] }));
    let after = |words: &[(&str, &str)]| {
        let mut said = vec![user("hi")];
        for (model, us) in words {
            said.extend([assistant(&json!(model)), user(us)]);
        }
        messages(&json!(said))
    };
    let asked = [
        (after(&[]), "first"),
        (after(&[("a", "you are second")]), "second"),
        (after(&[("a", "you are second"), ("c", "you are third")]), "third"),
        (after(&[("a", "you are second"), ("c", "go on")]), "second"),
        (after(&[("a", "go on")]), "first"),
    ];
    for (body, expected) in asked {
        assert_eq!(ask(&model, &body).await.status, 200, "{expected}");
        assert_eq!(model.requests().last().unwrap().conversation.as_deref(), Some(expected));
    }
    model.finish().unwrap();
}
