//! What a newer version wrote survives being read and written by this one.

use mxd_core::event::{Event, EventBody};
use mxd_core::message::{Message, MessageKind};
use mxd_core::raw::RawJson;
use proptest::prelude::*;
use serde_json::{Map, Value};

const TASK: &str = r#""task":"01JZ0000000000000000000001""#;

fn rewritten(text: &str) -> String {
    Event::decode(text).expect(text).to_json().unwrap()
}

fn same_value(text: &str) {
    let written = rewritten(text);
    let (read, written): (Value, Value) =
        (serde_json::from_str(text).unwrap(), serde_json::from_str(&written).unwrap());
    assert_eq!(read, written);
}

#[test]
fn an_unknown_type_comes_back_byte_for_byte() {
    let text = format!(r#"{{{TASK},"type":"task_sung","notes":[1.50,1e999,{{"b":1,"a":2}}],"loud":true}}"#);
    let event = Event::decode(&text).unwrap();
    assert_eq!(event.type_name(), "task_sung");
    assert_eq!(event.body.kind(), None);
    assert_eq!(event.to_json().unwrap(), text);
}

#[test]
fn an_unknown_field_comes_back() {
    let text = format!(
        r#"{{{TASK},"type":"assistant_text","content":"hi","mood":{{"x":[1e999,12345678901234567890123]}}}}"#
    );
    let event = Event::decode(&text).unwrap();
    assert!(!event.extra.is_empty());
    assert_eq!(event.to_json().unwrap(), text);
}

#[test]
fn an_unknown_field_inside_a_field_comes_back() {
    same_value(&format!(
        r#"{{{TASK},"type":"turn_ended","stopReason":"end_turn","usage":{{"inputTokens":1,"deep":{{"er":[null]}},"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4}},"costUsd":1,"z":0}}"#
    ));
}

#[test]
fn an_unknown_field_inside_an_element_comes_back() {
    same_value(&format!(
        r#"{{{TASK},"type":"message","id":"01JZ00000000000000000000M1","body":{{"source":"user","content":"hi","images":[{{"mediaType":"a","blob":"b"}},{{"mediaType":"c","blob":"d","alt":"a cat"}}],"lang":"de"}},"wake":true}}"#
    ));
}

#[test]
fn an_unknown_message_kind_comes_back() {
    let text = format!(
        r#"{{{TASK},"type":"message","id":"01JZ00000000000000000000M1","body":{{"source":"telepathy","z":1.50,"a":[{{}}]}},"wake":false}}"#
    );
    let event = Event::decode(&text).unwrap();
    let EventBody::Message(posted) = &event.body else { panic!("a message") };
    assert!(matches!(posted.body, Message::Unknown(_)));
    assert_eq!(posted.body.kind(), MessageKind::Unknown);
    assert_eq!(event.to_json().unwrap(), text);
}

#[test]
fn an_unknown_word_comes_back() {
    for (key, text) in [
        ("of_the_moon", format!(r#"{{{TASK},"type":"cache_break","reason":"of_the_moon"}}"#)),
        (
            "bored",
            format!(
                r#"{{{TASK},"type":"turn_ended","stopReason":"bored","usage":{{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4}},"costUsd":1}}"#
            ),
        ),
    ] {
        assert!(text.contains(key));
        assert_eq!(rewritten(&text), text);
    }
}

#[test]
fn an_explicit_null_or_empty_list_comes_back() {
    same_value(&format!(
        r#"{{{TASK},"type":"task_created","kind":"folder","title":"t","description":"","position":0,"color":null,"after":[],"editedBy":"user"}}"#
    ));
}

#[test]
fn nothing_that_is_written_contains_a_line_break() {
    let text = "{\n  \"task\": \"01JZ0000000000000000000001\",\n  \"type\": \"tool_call\", \"tool\": \"t\",\r\n \"toolCallId\": \"c\",\n \"input\": {\n    \"a \\\"\\\\\": \"x  \\n y\",\n \"b\": [ 1 , 2 ]\n  },\n \"extra\": [\n1\n]\n}";
    let written = rewritten(text);
    assert!(!written.contains(['\n', '\r']), "{written}");
    same_value(text);
    assert!(written.contains(r#""input":{"a \"\\":"x  \n y","b":[1,2]}"#), "{written}");
    let unknown = text.replace("tool_call", "of_later");
    assert!(!rewritten(&unknown).contains(['\n', '\r']));
    assert_eq!(RawJson::parse("[ 1,  2 ]").unwrap().get(), "[ 1,  2 ]", "a single line stays as it is");
}

#[test]
fn deeply_nested_input_does_not_overflow_the_stack() {
    let depth = 100_000;
    let nested = format!("{}1\n{}", "[".repeat(depth), "]".repeat(depth));
    let text = format!(r#"{{{TASK},"type":"tool_call","tool":"t","toolCallId":"c","input":{nested}}}"#);
    assert!(rewritten(&text).len() > 2 * depth);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~äß\n\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"]{1,2}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Adds members with names no version will ever use, at every level of objects that have a typed form.
fn strew(value: &mut Value, extra: &Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(|inner| strew(inner, extra));
            members.insert("x-new".into(), extra.clone());
        }
        Value::Array(elements) => elements.iter_mut().for_each(|inner| strew(inner, extra)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_strewn_over_any_event_come_back(extra in json()) {
        let lines = crate::vocabulary::EVENTS.lines();
        for line in lines.filter(|line| !line.contains("1e400") && Event::decode(line).is_ok()) {
            let mut value: Value = serde_json::from_str(line).unwrap();
            strew(&mut value, &extra);
            let written = rewritten(&value.to_string());
            prop_assert_eq!(&written[..9], r#"{"task":""#);
            prop_assert_eq!(&serde_json::from_str::<Value>(&written).unwrap(), &value, "{}", line);
            prop_assert_eq!(&rewritten(&written), &written);
        }
    }

    #[test]
    fn any_object_with_an_unknown_type_comes_back(fields in json()) {
        let mut value = Map::new();
        value.insert("type".into(), "of_later".into());
        value.insert("fields".into(), fields);
        value.insert("task".into(), "01JZ0000000000000000000001".into());
        let text = Value::Object(value).to_string();
        prop_assert_eq!(rewritten(&text), text);
    }
}
