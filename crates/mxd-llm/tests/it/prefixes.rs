//! The bytes of a growing conversation only grow at their end.

use mxd_core::prompt::Request;
use mxd_llm::{EncodedPrefix, EncodedRequest, Wire};
use serde_json::Value;

use crate::fixtures::conversations;
use crate::histories::History;
use crate::rounds::seeds;

/// The body without the moving marks: those in messages.
fn unmarked(body: &[u8]) -> Value {
    let mut body: Value = serde_json::from_slice(body).unwrap();
    for message in body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            block.as_object_mut().unwrap().shift_remove("cache_control");
        }
    }
    body
}

#[test]
fn what_is_appended_equals_what_is_built_at_once() {
    for seed in seeds(300) {
        let History { request, .. } = History::new(seed);
        for wire in Wire::ALL {
            let mut live = EncodedPrefix::new(wire, &request.head).unwrap();
            let mut before: Option<Vec<u8>> = None;
            for count in 0..=request.turns.len() {
                if count > 0 {
                    live.push(&request.turns[count - 1]).unwrap();
                }
                let so_far = Request { head: request.head.clone(), turns: request.turns[..count].to_vec() };
                let whole = EncodedRequest::new(wire, &so_far).unwrap();
                assert_eq!(live.request(), whole, "seed {seed}, {wire}, turn {count}");
                assert_eq!(live.turns(), count);
                let stable = live.stable().to_vec();
                if let Some(before) = before {
                    assert!(stable.starts_with(&before), "seed {seed}, {wire}, turn {count}");
                }
                let closed = [stable.as_slice(), b"]}"].concat();
                let parsed: Value = serde_json::from_slice(&closed).unwrap();
                assert_eq!(unmarked(&whole.body), parsed, "seed {seed}, {wire}, turn {count}");
                before = Some(stable);
            }
        }
    }
}

#[test]
fn marks_are_few_and_on_the_last_user_turns() {
    for seed in seeds(300) {
        let History { request, .. } = History::new(seed);
        let body = EncodedRequest::new(Wire::Anthropic, &request).unwrap().body;
        let body: Value = serde_json::from_slice(&body).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let users: Vec<_> = messages.iter().filter(|message| message["role"] == "user").collect();
        let marked = |message: &Value| message.to_string().matches("\"cache_control\"").count();
        for (back, message) in users.iter().rev().enumerate() {
            assert_eq!(marked(message), usize::from(back < 2), "seed {seed}: {message}");
            let last = message["content"].as_array().unwrap().last().unwrap();
            assert_eq!(last.get("cache_control").is_some(), back < 2, "seed {seed}: {message}");
        }
        assert!(marked(&body) <= 4, "seed {seed}");
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for (name, request) in conversations() {
        for wire in Wire::ALL {
            let text = serde_json::to_string(&request).unwrap();
            let again: Request = serde_json::from_str(&text).unwrap();
            assert_eq!(again, request, "{name}");
            let (one, two) = (EncodedRequest::new(wire, &request), EncodedRequest::new(wire, &again));
            assert_eq!(one, two, "{name}, {wire}");
        }
    }
}
