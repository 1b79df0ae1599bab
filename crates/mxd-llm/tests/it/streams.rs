//! Every response stream, however it is cut.

use mxd_core::prompt::{Block, CacheTtl};
use mxd_llm::{Chunk, Class, Hints, LlmError, ResponseDecoder, Stop, Wire};

use crate::dice::Dice;
use crate::fixtures::{folder, golden, stream, streams};
use crate::rounds::seeds;

const HINTS: Hints = Hints { salt: 7, ttl: CacheTtl::OneHour };

/// What comes out of these pieces.
fn decode<'a>(wire: Wire, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Chunk>, Result<(), LlmError>) {
    let mut decoder = ResponseDecoder::new(wire, HINTS);
    let mut chunks = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut chunks) {
            return (chunks, Err(error));
        }
    }
    let end = decoder.finish(&mut chunks);
    (chunks, end)
}

fn items(wire: Wire, name: &str) -> Vec<Chunk> {
    decode(wire, [stream(wire, name).as_slice()]).0
}

fn stop(wire: Wire, name: &str) -> Stop {
    match items(wire, name).pop() {
        Some(Chunk::End { stop, .. }) => stop,
        other => panic!("{wire}/{name} ends with {other:?}"),
    }
}

fn class(wire: Wire, name: &str) -> Class {
    decode(wire, [stream(wire, name).as_slice()]).1.unwrap_err().class
}

#[test]
fn every_stream_gives_the_chunks_it_gave() {
    for (wire, name, bytes) in streams() {
        let (chunks, end) = decode(wire, [bytes.as_slice()]);
        let mut actual: String = chunks.iter().map(|chunk| format!("{chunk:?}\n")).collect();
        if let Err(error) = end {
            actual.push_str(&format!("failed, {:?}: {error}\n", error.class));
        }
        golden(&folder("streams").join(wire.name()).join(format!("{name}.chunks")), &actual);
    }
}

#[test]
fn however_the_bytes_are_cut_the_same_chunks_come_out() {
    for (wire, name, bytes) in streams() {
        let whole = decode(wire, [bytes.as_slice()]);
        assert_eq!(decode(wire, bytes.chunks(1)), whole, "{wire}/{name} byte by byte");
        for seed in seeds(40) {
            let mut dice = Dice::new(seed);
            let longest = [2, 7, 64, 1_000][usize::try_from(dice.below(4)).unwrap()];
            let mut rest = bytes.as_slice();
            let mut pieces = Vec::new();
            while !rest.is_empty() {
                let length = usize::try_from(dice.below(longest)).unwrap().min(rest.len());
                let (piece, after) = rest.split_at(length);
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(decode(wire, pieces), whole, "{wire}/{name}, seed {seed}");
        }
    }
}

#[test]
fn every_stop_reason_has_its_word() {
    let anthropic = [
        ("text", Stop::EndTurn),
        ("tools", Stop::ToolUse),
        ("malformed", Stop::MaxTokens),
        ("stop_stop_sequence", Stop::StopSequence),
        ("stop_pause_turn", Stop::PauseTurn),
        ("stop_refusal", Stop::Refusal),
        ("stop_model_context_window_exceeded", Stop::ContextExceeded),
        ("stop_something_new", Stop::Other("something_new".to_owned())),
    ];
    for (name, expected) in anthropic {
        assert_eq!(stop(Wire::Anthropic, name), expected, "{name}");
    }
    let responses = [
        ("text", Stop::EndTurn),
        ("tools", Stop::ToolUse),
        ("incomplete", Stop::MaxTokens),
        ("filtered", Stop::Refusal),
        ("refusal", Stop::Refusal),
    ];
    for (name, expected) in responses {
        assert_eq!(stop(Wire::Responses, name), expected, "{name}");
    }
    let chat = [
        ("text", Stop::EndTurn),
        ("tools", Stop::ToolUse),
        ("one_piece", Stop::ToolUse),
        ("malformed", Stop::MaxTokens),
        ("filtered", Stop::Refusal),
        ("no_usage_no_done", Stop::EndTurn),
    ];
    for (name, expected) in chat {
        assert_eq!(stop(Wire::Chat, name), expected, "{name}");
    }
}

#[test]
fn errors_in_the_stream_are_classified() {
    assert_eq!(class(Wire::Anthropic, "error"), Class::Overloaded);
    assert_eq!(class(Wire::Anthropic, "cut"), Class::Network);
    assert_eq!(class(Wire::Anthropic, "garbage"), Class::Protocol);
    assert_eq!(class(Wire::Responses, "failed"), Class::RateLimit);
    assert_eq!(class(Wire::Responses, "error"), Class::Overloaded);
    assert_eq!(class(Wire::Responses, "error_nested"), Class::ContextTooLong);
    assert_eq!(class(Wire::Responses, "cut"), Class::Network);
    assert_eq!(class(Wire::Chat, "error"), Class::Server);
    assert_eq!(class(Wire::Chat, "cut"), Class::Network);
}

#[test]
fn malformed_arguments_are_marked_and_never_an_empty_object() {
    for (wire, name) in
        [(Wire::Anthropic, "malformed"), (Wire::Responses, "incomplete"), (Wire::Chat, "malformed")]
    {
        let chunks = items(wire, name);
        let calls = chunks.iter().filter_map(|chunk| match chunk {
            Chunk::Item(Block::ToolCall(call)) => Some(call),
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        assert!(!calls.is_empty(), "{wire}");
        for call in calls {
            assert!(call.malformed.is_some(), "{wire}: {call:?}");
            let input: serde_json::Value = serde_json::from_str(call.input.get()).unwrap();
            let written = input["malformed_arguments"].as_str().unwrap();
            assert!(written.starts_with("{\"command\"") || written == "[1]", "{wire}: {written}");
        }
    }
}

#[test]
fn thoughts_and_arguments_come_out_byte_for_byte() {
    let chunks = items(Wire::Anthropic, "tools");
    let Some(Chunk::Item(Block::Thinking(thought))) =
        chunks.iter().find(|chunk| matches!(chunk, Chunk::Item(_)))
    else {
        panic!("{chunks:?}");
    };
    assert_eq!(thought.text, "I should look.\n");
    assert_eq!(thought.signature.as_deref(), Some("EqQBCkYI+/=="));
    let call = chunks.iter().find_map(|chunk| match chunk {
        Chunk::Item(Block::ToolCall(call)) => Some(call.input.get()),
        _ => None,
    });
    assert_eq!(call, Some(r#"{"path": "a\n", "line": 1.0}"#));
}

#[test]
fn calls_of_one_answer_have_different_names() {
    for name in ["tools", "one_piece", "repeated_ids", "omitted_ids"] {
        let calls: Vec<_> = items(Wire::Chat, name)
            .into_iter()
            .filter_map(|chunk| match chunk {
                Chunk::Item(Block::ToolCall(call)) => Some(call),
                _ => None,
            })
            .collect();
        let expected = if name == "omitted_ids" { 3 } else { 2 };
        assert_eq!(calls.len(), expected, "{name}: {calls:?}");
        let ids: std::collections::BTreeSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), calls.len(), "{name}: {calls:?}");
        assert!(calls.iter().all(|call| call.malformed.is_none()), "{name}: {calls:?}");
    }
}

#[test]
fn a_cache_write_without_a_split_is_of_the_kind_that_was_asked_for() {
    let event = br#"data: {"type":"message_start","message":{"usage":{"input_tokens":1,"cache_creation_input_tokens":9}}}"#;
    for (ttl, five_minutes, hour) in [(CacheTtl::FiveMinutes, 9, 0), (CacheTtl::OneHour, 0, 9)] {
        let mut decoder = ResponseDecoder::new(Wire::Anthropic, Hints { salt: 0, ttl });
        let mut chunks = Vec::new();
        decoder.push(event, &mut chunks).unwrap();
        decoder.push(b"\n\n", &mut chunks).unwrap();
        let [Chunk::Usage(usage)] = chunks.as_slice() else { panic!("{chunks:?}") };
        assert_eq!((usage.cache_write_5m, usage.cache_write_1h), (five_minutes, hour), "{ttl:?}");
    }
}

/// The usage in an answer of one event that holds these numbers.
fn told(wire: Wire, (prompt, cached, output): (&str, &str, &str)) -> mxd_llm::Usage {
    let event = match wire {
        Wire::Anthropic => format!(
            r#"{{"type":"message_delta","delta":{{}},"usage":{{"input_tokens":{prompt},"cache_read_input_tokens":{cached},"output_tokens":{output}}}}}"#
        ),
        Wire::Responses => format!(
            r#"{{"type":"response.completed","response":{{"usage":{{"input_tokens":{prompt},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{output}}}}}}}"#
        ),
        Wire::Chat => format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":{prompt},"prompt_tokens_details":{{"cached_tokens":{cached}}},"completion_tokens":{output}}}}}"#
        ),
    };
    let (chunks, _) = decode(wire, [format!("data: {event}\n\n").as_bytes()]);
    let usage = chunks.iter().find_map(|chunk| match chunk {
        Chunk::Usage(usage) => Some(*usage),
        _ => None,
    });
    usage.unwrap_or_else(|| panic!("{wire} says nothing of its usage: {chunks:?}"))
}

#[test]
fn usage_that_is_no_number_is_told_as_wrong_and_loses_no_answer() {
    for wire in Wire::ALL {
        assert_eq!(told(wire, ("100", "40", "7")).fault, None, "{wire}");
        assert_eq!(told(wire, ("100", "null", "7")).fault, None, "{wire}");
        for wrong in ["-1", "1.5", "\"NaN\"", "1e300", "{}", "[7]", "true"] {
            for numbers in [(wrong, "0", "7"), ("100", wrong, "7"), ("100", "0", wrong)] {
                assert!(told(wire, numbers).fault.is_some(), "{wire} {numbers:?}");
            }
        }
    }
}

#[test]
fn more_from_the_cache_than_was_read_is_told_as_wrong() {
    for wire in [Wire::Responses, Wire::Chat] {
        assert!(told(wire, ("100", "101", "7")).fault.is_some(), "{wire}");
    }
}
