//! Random conversations, with everything that can be in one.

use std::collections::BTreeSet;

use mxd_core::prompt::{
    Block, Cache, CacheTtl, Effort, Head, Image, Opaque, OutputLimits, Reasoning, RedactedThinking, Request,
    ResultPart, Role, SystemText, Text, Thinking, ToolCall, ToolResult, ToolSpec, Turn,
};
use mxd_core::raw::RawJson;

use crate::dice::Dice;

/// A conversation, and where the program that holds it was restarted.
pub(crate) struct History {
    pub(crate) request: Request,
    /// The turns before which everything but the conversation itself was lost.
    pub(crate) restarts: BTreeSet<usize>,
}

const WORDS: &[&str] =
    &["", " ", "Hello.", "a\nb\t\"c\" \\", "ünï 🦀\u{2028}", "\u{0}\u{1f}", "{\"json\":1}"];
const INTERRUPTED: &str = "The call was interrupted.";

impl History {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let head = head(&mut dice);
        let mut turns = vec![Turn::user(vec![Block::text("Begin.")])];
        for number in 0..usize::try_from(dice.below(12)).unwrap() {
            // Now and then nothing at all came before somebody spoke again.
            if dice.below(8) == 0 {
                turns.push(Turn::user(vec![Block::text("Are you there?")]));
                continue;
            }
            let mut blocks = answer(&mut dice, number);
            let interrupted = dice.below(4) == 0;
            if interrupted {
                cut_off(&mut dice, &mut blocks);
            }
            let calls: Vec<String> = blocks.iter().filter_map(call).map(|call| call.id.clone()).collect();
            turns.push(Turn::assistant(blocks));
            turns.push(if interrupted { after_interruption(calls) } else { user(&mut dice, calls) });
        }
        let restarts = (1..turns.len()).filter(|_| dice.below(6) == 0).collect();
        Self { request: Request { head, turns }, restarts }
    }
}

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

/// What the model says.
fn answer(dice: &mut Dice, number: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    for place in 0..dice.below(5) {
        blocks.push(match dice.below(6) {
            0 => Block::Thinking(Thinking { text: word(dice), signature: Some("c2ln".to_owned()) }),
            1 => Block::Thinking(Thinking { text: word(dice), signature: None }),
            2 => Block::RedactedThinking(RedactedThinking { data: "eA==".to_owned() }),
            3 => Block::Opaque(Opaque { wire: "responses".to_owned(), json: reasoning(number, place) }),
            4 => Block::text(word(dice)),
            _ => Block::ToolCall(tool_call(dice, format!("call_{number}_{place}"))),
        });
    }
    blocks
}

fn tool_call(dice: &mut Dice, id: String) -> ToolCall {
    let (input, malformed) = match dice.below(8) {
        0 => (r#"{"malformed_arguments":"{\"b\": 1"}"#, Some("the arguments are not valid JSON".to_owned())),
        _ => (r#"{"b": 1,  "a": [true, 1e3]}"#, None),
    };
    ToolCall { id, name: "mcp__s__t0".to_owned(), input: RawJson::parse(input).unwrap(), malformed }
}

fn call(block: &Block) -> Option<&ToolCall> {
    if let Block::ToolCall(call) = block { Some(call) } else { None }
}

fn result(block: &Block) -> Option<&ToolResult> {
    if let Block::ToolResult(result) = block { Some(result) } else { None }
}

/// What is left of an answer that was cut off: some of its blocks, the last of them perhaps without its end.
fn cut_off(dice: &mut Dice, blocks: &mut Vec<Block>) {
    blocks.truncate(usize::try_from(dice.below(blocks.len() as u64 + 1)).unwrap());
    match blocks.last_mut() {
        Some(Block::Text(text)) => text.text = text.text.chars().take(2).collect(),
        // The signature comes last.
        Some(Block::Thinking(thought)) => thought.signature = None,
        _ => {}
    }
}

/// Calls that nobody ran any more are answered, because every wire demands it.
fn after_interruption(calls: Vec<String>) -> Turn {
    let content = || vec![ResultPart::Text(Text { text: INTERRUPTED.to_owned() })];
    let result = |call_id| ToolResult { call_id, is_error: true, content: content() };
    let results = calls.into_iter().map(|call_id| Block::ToolResult(result(call_id)));
    Turn::user(results.chain([Block::text("Stop. Do this instead.")]).collect())
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

/// How often each kind of thing occurs in a history.
pub(crate) fn kinds(history: &History) -> Vec<(&'static str, usize)> {
    let turns = &history.request.turns;
    let of = |role: Role| turns.iter().filter(move |turn| turn.role == role);
    let blocks = |role, wanted: fn(&Block) -> bool| {
        of(role).flat_map(|turn| &turn.blocks).filter(|block| wanted(block)).count()
    };
    let answers =
        |wanted: fn(&[Block]) -> bool| of(Role::Assistant).filter(|turn| wanted(&turn.blocks)).count();
    let results = |wanted: fn(&ToolResult) -> bool| {
        of(Role::User)
            .flat_map(|turn| &turn.blocks)
            .filter_map(result)
            .filter(|result| wanted(result))
            .count()
    };
    let (model, user) = (Role::Assistant, Role::User);
    vec![
        ("texts of the model", blocks(model, |block| matches!(block, Block::Text(_)))),
        ("texts of the user", blocks(user, |block| matches!(block, Block::Text(_)))),
        ("images", blocks(user, |block| matches!(block, Block::Image(_)))),
        ("images of tools", results(|result| !result.is_error && has_image(result))),
        ("signed thoughts", blocks(model, |block| is_thought(block, true))),
        ("unsigned thoughts", blocks(model, |block| is_thought(block, false))),
        ("redacted thoughts", blocks(model, |block| matches!(block, Block::RedactedThinking(_)))),
        ("sealed reasoning", blocks(model, |block| matches!(block, Block::Opaque(_)))),
        ("parallel calls", answers(|blocks| blocks.iter().filter_map(call).count() > 1)),
        ("malformed calls", blocks(model, |block| call(block).is_some_and(|call| call.malformed.is_some()))),
        ("error results", results(|result| result.is_error)),
        ("error results with images", results(|result| result.is_error && has_image(result))),
        ("interrupted calls", results(|result| result.content.iter().any(is_interrupted))),
        (
            "answers cut off in a thought",
            answers(|blocks| blocks.last().is_some_and(|last| is_thought(last, false))),
        ),
        ("answers of which nothing came", answers(<[Block]>::is_empty)),
        ("questions asked again", turns.windows(2).filter(|two| two[0].role == two[1].role).count()),
        ("restarts", history.restarts.len()),
    ]
}

fn is_thought(block: &Block, signed: bool) -> bool {
    matches!(block, Block::Thinking(thought) if thought.signature.is_some() == signed)
}

fn has_image(result: &ToolResult) -> bool {
    result.content.iter().any(|part| matches!(part, ResultPart::Image(_)))
}

fn is_interrupted(part: &ResultPart) -> bool {
    matches!(part, ResultPart::Text(text) if text.text == INTERRUPTED)
}

/// The sums over many histories.
pub(crate) fn add(sums: &mut Vec<(&'static str, usize)>, history: &History) {
    let found = kinds(history);
    if sums.is_empty() {
        *sums = found;
        return;
    }
    for (sum, (_, count)) in sums.iter_mut().zip(found) {
        sum.1 += count;
    }
}

#[test]
fn every_kind_of_thing_is_in_random_histories() {
    let mut sums = Vec::new();
    (1..=1_000).for_each(|seed| add(&mut sums, &History::new(seed)));
    for (kind, count) in sums {
        assert!(count >= 50, "{count} {kind} in 1,000 histories");
    }
}
