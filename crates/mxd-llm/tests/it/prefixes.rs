//! The bytes of a growing conversation only grow at their end.

use mxd_core::prompt::{
    Block, Cache, CacheTtl, Effort, Head, Image, Opaque, OutputLimits, Reasoning, RedactedThinking, Request,
    ResultPart, SystemText, Text, Thinking, ToolCall, ToolResult, ToolSpec, Turn,
};
use mxd_core::raw::RawJson;
use mxd_llm::{EncodedPrefix, EncodedRequest, Wire};
use serde_json::Value;

use crate::dice::Dice;
use crate::fixtures::conversations;
use crate::rounds::seeds;

const WORDS: &[&str] =
    &["", " ", "Hello.", "a\nb\t\"c\" \\", "ünï 🦀\u{2028}", "\u{0}\u{1f}", "{\"json\":1}"];

fn word(dice: &mut Dice) -> String {
    WORDS[usize::try_from(dice.below(WORDS.len() as u64)).unwrap()].to_owned()
}

fn image(dice: &mut Dice) -> Image {
    Image { media_type: "image/png".to_owned(), data: format!("aW1n{}", dice.below(10)) }
}

fn head(dice: &mut Dice) -> Head {
    let schema = RawJson::parse(r#"{"type":"object","z":1,"a":{"b":[1.0,2]}}"#).unwrap();
    let tool = |number| ToolSpec {
        name: format!("mcp__s__t{number}"),
        description: "Does.".to_owned(),
        schema: schema.clone(),
    };
    let ttl = if dice.below(2) == 0 { CacheTtl::FiveMinutes } else { CacheTtl::OneHour };
    let reasoning = if dice.below(2) == 0 { Reasoning::Unset } else { Reasoning::Effort(Effort::High) };
    Head {
        model: "m".to_owned(),
        system: SystemText { stable: word(dice), variable: word(dice) },
        tools: (0..dice.below(3)).map(tool).collect(),
        limits: OutputLimits { max_output_tokens: 1_000, reasoning },
        cache: Cache { ttl, key: (dice.below(2) == 0).then(|| "key".to_owned()) },
    }
}

/// A reasoning item as the Responses wire hands it out.
fn reasoning(number: usize, place: u64) -> RawJson {
    let item =
        format!(r#"{{"type":"reasoning","id":"rs_{number}_{place}","summary":[],"encrypted_content":"x"}}"#);
    RawJson::parse(&item).unwrap()
}

fn assistant(dice: &mut Dice, calls: &mut Vec<String>, number: usize) -> Turn {
    let mut blocks = Vec::new();
    for place in 0..dice.below(5) {
        blocks.push(match dice.below(6) {
            0 => Block::Thinking(Thinking { text: word(dice), signature: Some("c2ln".to_owned()) }),
            1 => Block::Thinking(Thinking { text: word(dice), signature: None }),
            2 => Block::RedactedThinking(RedactedThinking { data: "eA==".to_owned() }),
            3 => Block::Opaque(Opaque { wire: "responses".to_owned(), json: reasoning(number, place) }),
            4 => Block::text(word(dice)),
            _ => {
                let id = format!("call_{number}_{place}");
                calls.push(id.clone());
                let input = RawJson::parse(r#"{"b": 1,  "a": [true, 1e3]}"#).unwrap();
                Block::ToolCall(ToolCall { id, name: "mcp__s__t0".to_owned(), input, malformed: None })
            }
        });
    }
    Turn::assistant(blocks)
}

fn user(dice: &mut Dice, calls: Vec<String>) -> Turn {
    let mut blocks = Vec::new();
    if dice.below(3) == 0 {
        blocks.push(Block::text(word(dice)));
    }
    for call_id in calls {
        let mut content = vec![ResultPart::Text(Text { text: word(dice) })];
        if dice.below(3) == 0 {
            content.push(ResultPart::Image(image(dice)));
        }
        blocks.push(Block::ToolResult(ToolResult { call_id, is_error: dice.below(2) == 0, content }));
    }
    match dice.below(3) {
        0 => blocks.push(Block::Image(image(dice))),
        1 => blocks.push(Block::text("More.")),
        _ => {}
    }
    Turn::user(blocks)
}

pub(crate) fn history(seed: u64) -> Request {
    let mut dice = Dice::new(seed);
    let head = head(&mut dice);
    let mut turns = vec![Turn::user(vec![Block::text("Begin.")])];
    for number in 0..usize::try_from(dice.below(12)).unwrap() {
        let mut calls = Vec::new();
        turns.push(assistant(&mut dice, &mut calls, number));
        turns.push(user(&mut dice, calls));
    }
    Request { head, turns }
}

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
        let request = history(seed);
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
        let request = history(seed);
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
