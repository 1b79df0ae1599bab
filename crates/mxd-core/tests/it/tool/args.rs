//! Arguments of calls: one meaning, one canonical spelling, one hash.

use mxd_core::tool::{ArgsError, CallArgs, CallHash, PinnedTool, call_bytes};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::any;

fn args(text: &str) -> CallArgs {
    CallArgs::parse(text).expect(text)
}

fn tool() -> PinnedTool {
    "matrix://tool/mcp/fs/write_file@1.2.3".parse().unwrap()
}

#[test]
fn keys_are_sorted_spaces_go_and_numbers_stay_as_written() {
    let written = args(
        r#" { "b" : [ 1.50 , -0, 12345678901234567890123, 1E2, { "z":null,"a":"\u00e4\n" } ], "a":true } "#,
    );
    assert_eq!(
        written.canonical(),
        r#"{"a":true,"b":[1.50,-0,12345678901234567890123,1E2,{"a":"ä\n","z":null}]}"#
    );
}

#[test]
fn arguments_of_two_meanings_are_refused() {
    let why = |text: &str| CallArgs::parse(text).unwrap_err();
    for repeated in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#, r#"{"a":1,"b":2,"a":1,"b":3}"#] {
        assert!(matches!(why(repeated), ArgsError::RepeatedKey { .. }), "{repeated}");
    }
    for other in ["", "[]", "\"x\"", "null", "{", "{} {}", r#"{"a":1e999}"#, r#"{"a":"\ud800"}"#, "{'a':1}"] {
        assert!(matches!(why(other), ArgsError::NotAnObject { .. }), "{other}");
    }
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(CallArgs::parse(&nested(63)).is_ok());
    assert_eq!(why(&nested(64)), ArgsError::TooDeep { limit: 64 });
    assert_eq!(why(&nested(100_000)), ArgsError::TooDeep { limit: 64 });
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(1024 * 1024));
    assert!(matches!(why(&long), ArgsError::TooLong { .. }));
}

#[test]
fn a_hash_is_of_the_whole_call() {
    let hash = CallHash::of(&tool(), &args(r#"{"path":"a","content":"b"}"#));
    assert_eq!(hash, CallHash::of(&tool(), &args(r#"{ "content":"b", "path":"\u0061" }"#)));
    assert_eq!(hash.to_string().parse::<CallHash>().unwrap(), hash);
    let other: PinnedTool = "matrix://tool/mcp/fs/write_file@1.2.4".parse().unwrap();
    let namesake: PinnedTool = "matrix://tool/mcp/fs2/write_file@1.2.3".parse().unwrap();
    for (tool, args) in [
        (other, args(r#"{"path":"a","content":"b"}"#)),
        (namesake, args(r#"{"path":"a","content":"b"}"#)),
        (tool(), args(r#"{"path":"a","content":"b "}"#)),
        (tool(), args(r#"{"path":"a"}"#)),
    ] {
        assert_ne!(CallHash::of(&tool, &args), hash);
    }
    assert_ne!(CallHash::of(&tool(), &args(r#"{"n":1}"#)), CallHash::of(&tool(), &args(r#"{"n":1.0}"#)));
}

#[test]
fn the_bytes_of_a_call_are_these() {
    let bytes = call_bytes(&tool(), &args(r#"{"b":1,"a":"\n"}"#));
    assert_eq!(bytes, "mxd call 1\nmatrix://tool/mcp/fs/write_file@1.2.3\n{\"a\":\"\\n\",\"b\":1}");
    // Computed outside, with sha256sum over the bytes above.
    let hash = CallHash::of(&tool(), &args(r#"{"b":1,"a":"\n"}"#));
    assert_eq!(hash.to_string(), "ff5956c2f4f660f2dfe8b32d1d9b0e398e11058023d4a63ca052d439063bfc70");
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Quarters: reading a longer fraction back is not exact, which is why numbers stay as written.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 4.0)),
        "\\PC{0,6}|[\\x00-\\x1f\"\\\\]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let object = prop::collection::vec(("[a-c\"\\n]{0,2}", inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: Map<String, Value> =
                members.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect();
            Value::Object(members)
        }
        Value::Array(elements) => elements.iter().map(reversed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_keys_makes_no_difference_and_nothing_else_is_lost(
        value in json(),
        tool in any::pinned(),
    ) {
        let value = serde_json::json!({ "x": value });
        let pretty = serde_json::to_string_pretty(&reversed(&value)).unwrap();
        let (one, other) = (args(&value.to_string()), args(&pretty));
        prop_assert_eq!(&one, &other);
        prop_assert_eq!(one.value(), &value);
        prop_assert_eq!(CallHash::of(&tool, &one), CallHash::of(&tool, &other));
        prop_assert_eq!(&args(one.canonical()), &one);
        prop_assert!(!one.canonical().contains('\n'));
    }

    #[test]
    fn different_arguments_have_different_hashes(one in json(), other in json()) {
        let (a, b) = (serde_json::json!({ "x": one }), serde_json::json!({ "x": other }));
        let (a, b) = (args(&a.to_string()), args(&b.to_string()));
        let are_hashes_equal = CallHash::of(&tool(), &a) == CallHash::of(&tool(), &b);
        prop_assert_eq!(a.canonical() == b.canonical(), are_hashes_equal);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\{[\\[\\]{}\",:a0-9. \\\\-]{0,30}") {
        if let Ok(read) = CallArgs::parse(&text) {
            prop_assert_eq!(read.value(), &serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
