//! Requests that come again, and turns that are played until something was said.

use rehearse::Outcome;
use serde_json::{Value, json};

use crate::client::{ask, assistant, called, calls, messages, rehearsal, result, says, user};

fn script(resumes: bool, turns: &Value) -> Value {
    json!({ "resumes": resumes, "conversations": [{ "turns": turns }] })
}

fn after(results: &[Value]) -> Value {
    let mut said = vec![user("hi")];
    for result in results {
        said.push(assistant(&json!([called(result["tool_use_id"].as_str().unwrap())])));
        said.push(json!({ "role": "user", "content": [result] }));
    }
    messages(&json!(said))
}

#[tokio::test]
async fn the_same_request_gets_the_same_bytes_again_when_the_script_resumes() {
    let mut first = calls("read", "1");
    first["reply"]["blocks"][0]["tool_call"].as_object_mut().unwrap().remove("id");
    let model = rehearsal(&script(true, &json!([first, says("two")])));
    let question = messages(&json!([user("hi")]));
    let answer = ask(&model, &question).await.text();
    for _once_more in 0..3 {
        assert_eq!(ask(&model, &question).await.text(), answer);
    }
    let next = after(&[result("toolu_000001_00", "found")]);
    assert!(ask(&model, &next).await.text().contains("two"));
    assert!(ask(&model, &next).await.text().contains("two"));
    let noted: Vec<_> = model.requests().into_iter().map(|one| (one.turn, one.outcome)).collect();
    let repeated = |turn| (Some(turn), Outcome::Repeated);
    let replied = |turn| (Some(turn), Outcome::Replied);
    assert_eq!(noted, [replied(1), repeated(1), repeated(1), repeated(1), replied(2), repeated(2)]);
    model.finish().unwrap();
}

#[tokio::test]
async fn without_that_the_same_request_gets_the_next_turn() {
    let model = rehearsal(&script(false, &json!([says("one"), says("two")])));
    let question = messages(&json!([user("hi")]));
    assert!(ask(&model, &question).await.text().contains("one"));
    assert!(ask(&model, &question).await.text().contains("two"));
    model.finish().unwrap();
}

#[tokio::test]
async fn a_turn_is_played_until_what_is_added_or_was_ever_said_fits() {
    let mut waits = calls("read", "1");
    waits["until"] = json!({ "ever": { "contains": ["alpha", "beta"] } });
    waits["reply"]["blocks"][0]["tool_call"].as_object_mut().unwrap().remove("id");
    let mut tries = waits.clone();
    tries["until"] = json!({ "added": { "not_contains": "alpha" } });
    tries["expect"] = json!({ "tool_results": [{ "contains": "beta" }] });
    let model = rehearsal(&script(true, &json!([waits, tries, says("done")])));
    let mut results = Vec::new();
    let turns = ["", "alpha", "beta", "alpha again", "gamma"];
    for (number, said) in turns.iter().enumerate() {
        if number > 0 {
            results.push(result(&format!("toolu_{number:06}_00"), said));
        }
        let answer = ask(&model, &after(&results)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.text().contains("done"), number == 4, "{said}");
    }
    let noted: Vec<_> = model.requests().into_iter().filter_map(|one| one.turn).collect();
    assert_eq!(noted, [1, 1, 2, 2, 3]);
    model.finish().unwrap();
}
