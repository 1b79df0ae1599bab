//! Wrong scripts are refused with the place and what was expected.

use std::path::Path;

use rehearse::{Script, ScriptError};
use serde_json::json;

fn problems(text: &str) -> Vec<String> {
    match Script::parse("s.json", text) {
        Ok(_) => Vec::new(),
        Err(error) => error.to_string().lines().map(str::to_owned).collect(),
    }
}

#[test]
fn a_wrong_word_is_reported_where_it_stands() {
    let unknown =
        "{\n  \"conversations\": [\n    { \"turns\": [\n      { \"replay\": {} }\n    ] }\n  ]\n}\n";
    let told = problems(unknown);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("s.json:4:16: unknown field `replay`, expected one of `expect`"),
        "{}",
        told[0]
    );
    let deep = "{\"conversations\": [{\"turns\": [{\"reply\": {\"blocks\": [\n{\"txt\": \"x\"}]}}]}]}";
    assert!(
        problems(deep)[0].starts_with("s.json:2:6: unknown variant `txt`, expected one of `text`"),
        "{}",
        problems(deep)[0]
    );
    let number = "{\"conversations\": [{\"turns\": [{\"chunk_bytes\":\n\"many\"}]}]}";
    assert!(
        problems(number)[0].starts_with("s.json:2:6: invalid type: string \"many\""),
        "{}",
        problems(number)[0]
    );
    let words = "{\"conversations\": [{\"first_message\": {\"contains\": 7}, \"turns\": []}]}";
    assert!(problems(words)[0].contains("expected a string or a list of strings"), "{}", problems(words)[0]);
    assert!(problems("{\"conversations\": [")[0].starts_with("s.json:1:19: EOF while parsing"));
}

#[test]
fn every_problem_is_told_at_once_with_its_line() {
    let text = r#"{
  "conversations": [
    { "id": "a", "turns": [
      { "reply": { "blocks": [
        { "text": "" },
        { "tool_call": { "name": "a b", "input": {} } },
        { "tool_call": { "name": "a", "input": [] , "id": "1" } },
        { "tool_call": { "name": "a", "id": "1" } },
        { "tool_call": { "name": "a", "input": {}, "input_text": "" } }
      ] }, "chunk_bytes": 0, "gate": { "name": "no gate" }, "delay_ms": 99999999 },
      { "capture": ["[", "abc"] }
    ] },
    { "id": "a", "fork_of": { "conversation": "z", "at_turn": 1 }, "turns": [] },
    { "turns": [{ "reply": {}, "fault": { "times": 0, "what": { "status": { "status": 200 } } } }] },
    { "turns": [{ "expect": { "user_texts": [{ "matches": "(" }], "offers_tools": "x y" }, "reply": {} }] },
    { "id": "b", "fork_of": { "conversation": "a", "at_turn": 9 }, "turns": [{ "reply": {} }] },
    { "id": "c", "fork_of": { "conversation": "c", "at_turn": 1 }, "turns": [{ "reply": {} }] }
  ],
  "faults": [{ "at": 0, "times": 0, "what": { "cut": { "after_chunks": 1 } } }]
}"#;
    let told = problems(text);
    let expected = [
        "s.json:13: conversations[1].id: `a` is already the id of conversations[0]",
        "s.json:15: conversations[3]: no `id` and no `first_message`, like conversations[2]",
        "s.json:5: conversations[0].turns[0].reply.blocks[0].text: a text may not be empty",
        "s.json:6: conversations[0].turns[0].reply.blocks[1].tool_call.name: a tool is named by",
        "s.json:7: conversations[0].turns[0].reply.blocks[2].tool_call.input: the input of a tool is an object",
        "s.json:8: conversations[0].turns[0].reply.blocks[3].tool_call: a call needs `input` or `input_text`",
        "s.json:8: conversations[0].turns[0].reply.blocks[3].tool_call.id: another call of this reply",
        "s.json:9: conversations[0].turns[0].reply.blocks[4].tool_call: give `input` or `input_text`, not both",
        "s.json:10: conversations[0].turns[0].delay_ms: at most 600000 ms",
        "s.json:10: conversations[0].turns[0].chunk_bytes: a chunk has at least 1 byte",
        "s.json:10: conversations[0].turns[0].gate.name: a gate is named by",
        "s.json:11: conversations[0].turns[1]: a turn needs a `reply`, or a `fault` with `ends_turn`",
        "s.json:11: conversations[0].turns[1].capture[0]: not a regular expression: unclosed character class",
        "s.json:11: conversations[0].turns[1].capture[1]: nothing is captured",
        "s.json:13: conversations[1].turns: a conversation has 1 to",
        "s.json:13: conversations[1].fork_of.conversation: no conversation has the id `z`",
        "s.json:14: conversations[2].turns[0].fault.times: a fault that never happens",
        "s.json:14: conversations[2].turns[0].fault.what.status.status: a fault has a status from 400 to 599",
        "s.json:15: conversations[3].turns[0].expect.user_texts[0].matches[0]: not a regular expression",
        "s.json:15: conversations[3].turns[0].expect.offers_tools: `x y` cannot be the name of a tool",
        "s.json:16: conversations[4].fork_of.at_turn: `a` has turns 1 to 2",
        "s.json:17: conversations[5].fork_of.conversation: a conversation cannot be a fork of itself",
        "s.json:19: faults[0].at: requests are counted from 1",
        "s.json:19: faults[0].times: a fault that never happens",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        // The column has a test of its own, where paths are looked up.
        let mut parts = told.splitn(4, ':');
        let (file, line, rest) = (parts.next().unwrap(), parts.next().unwrap(), parts.nth(1).unwrap());
        let told = format!("{file}:{line}:{rest}");
        assert!(told.starts_with(expected), "{told}\n{expected}");
    }
}

#[test]
fn a_name_is_captured_before_it_is_used() {
    let turns = json!([
        { "reply": { "blocks": [{ "text": "$id" }] } },
        { "capture": ["(?<id>x)"], "expect": { "user_texts": [{ "contains": "${id}" }] }, "reply": { "blocks": [{ "text": "$id" }] } },
        { "expect": { "user_texts": [{ "contains": "$id" }] }, "reply": {} }
    ]);
    let told = problems(&json!({ "conversations": [{ "turns": turns }] }).to_string());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("turns[0].reply: `$id` is used before turns[1] captures it"), "{}", told[0]);
    assert!(told[1].contains("turns[1].expect: `$id` is expected before"), "{}", told[1]);
}

#[test]
fn a_script_survives_being_written_and_read() {
    let text = json!({ "$schema": "x", "description": "d", "default_reply": {}, "models": ["m"], "conversations": [{
        "id": "a", "first_message": { "contains": "x" }, "turns": [{
            "expect": { "tool_results": [{ "call": "read", "is_error": true }] }, "capture": ["(?<a>b)"],
            "reply": { "blocks": [{ "thinking": { "text": "t" } }, { "redacted_thinking": "d" }], "stop_reason": "refusal", "usage": { "input_tokens": 1 } },
            "fault": { "what": { "garbage": { "after_chunks": 1, "text": "z" } }, "times": 2, "ends_turn": true },
            "gate": { "name": "g", "after_chunks": 2 }, "chunk_bytes": 3, "delay_ms": 1, "chunk_delay_ms": 1, "breaks_prefix": true,
            "until": { "ever": { "contains": "x" } }
        }] }], "resumes": true });
    let script = Script::parse("s", &text.to_string()).unwrap();
    assert_eq!(script.clone().checked().unwrap(), script);
}

#[test]
fn the_schema_names_every_field_and_forbids_others() {
    let schema = Script::json_schema();
    assert_eq!(schema["additionalProperties"], false);
    let text = schema.to_string();
    for word in
        ["conversations", "first_message", "breaks_prefix", "stream_error", "redacted_thinking", "input_text"]
    {
        assert!(text.contains(&format!("\"{word}\"")), "{word}");
    }
}

#[test]
fn a_file_that_is_not_there_or_too_large_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let gone = Script::load(dir.path().join("gone.json")).unwrap_err();
    assert!(matches!(&gone, ScriptError::Unreadable { file, .. } if file.ends_with("gone.json")), "{gone}");
    let large = dir.path().join("large.json");
    std::fs::File::create(&large).unwrap().set_len(rehearse::limits::SCRIPT_BYTES + 1).unwrap();
    let error = Script::load(&large).unwrap_err();
    assert!(matches!(error, ScriptError::TooLarge { .. }), "{error}");
}

#[test]
fn the_published_schema_is_the_one_of_this_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("script.schema.json");
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    let current = format!("{:#}\n", Script::json_schema());
    assert!(
        published == current,
        "{} is stale: cargo run -p rehearse -- schema > script.schema.json",
        path.display()
    );
}

#[test]
fn the_examples_are_right() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        Script::load(entry.unwrap().path()).unwrap_or_else(|error| panic!("{error}"));
        seen += 1;
    }
    assert!(seen > 0);
}
