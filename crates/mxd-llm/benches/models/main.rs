//! What requests and answers cost, each number beside its baseline from the same run.
//!
//! Prints one JSON object per metric. Building a request must not cost more the longer the conversation is, apart
//! from the copy of the body; reading a stream is held against a plain pass of `serde_json` over the same events;
//! cancelling has a limit in time. Allocations are counted in a program of their own, because counting costs time.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod cancel;
#[path = "../../../../testing/row.rs"]
mod row;
mod streams;

use std::hint::black_box;
use std::time::Instant;

use mxd_core::prompt::{
    Block, Cache, Head, OutputLimits, Reasoning, ResultPart, SystemText, Text, ToolCall, ToolResult, Turn,
};
use mxd_core::raw::RawJson;
use mxd_llm::{EncodedPrefix, Hints, ResponseDecoder, Wire};
use row::{Row, median};
use streams::{PACKET, data_of, stream};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(50_000, 21, 50),
        ["--quick"] => run(5_000, 7, 15),
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

fn run(events: usize, rounds: usize, cancels: usize) {
    for wire in Wire::ALL {
        parse(wire, events, rounds);
        build(wire, rounds);
    }
    cancel::run(cancels);
}

/// Reading a stream, in the pieces in which a network delivers it.
fn parse(wire: Wire, events: usize, rounds: usize) {
    let text = stream(wire, events);
    let ours = || {
        let mut decoder = ResponseDecoder::new(wire, Hints::default());
        let mut chunks = Vec::new();
        for piece in text.as_bytes().chunks(PACKET) {
            decoder.push(piece, &mut chunks).unwrap();
            black_box(chunks.drain(..).count());
        }
    };
    let plain = || {
        for data in data_of(&text) {
            black_box(serde_json::from_str::<serde_json::Value>(data).unwrap());
        }
    };
    let (mut read, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        read.push(seconds(ours));
        baseline.push(seconds(plain));
    }
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let megabytes = text.len() as f64 / 1e6;
    Row {
        metric: format!("{wire}: reading a stream"),
        unit: "MB/s",
        value: megabytes / median(read),
        baseline: Some(megabytes / median(baseline)),
        bar: Some(">= 0.5"),
    }
    .tell();
}

/// Appending a turn to a short and to long conversations; and the copy of the body, for information.
fn build(wire: Wire, rounds: usize) {
    // In turns, so that what else the machine does falls on all of them alike.
    let mut lengths = [10, 100, 1_000].map(|turns| (turns, prefix_of(wire, turns), Vec::new()));
    for round in 0..10 * rounds {
        for (turns, prefix, times) in &mut lengths {
            let (answer, results) = exchange(*turns + round);
            times.push(seconds(|| {
                prefix.push(&answer).unwrap();
                prefix.push(&results).unwrap();
            }));
        }
    }
    let [short, long, longest] = lengths.map(|(turns, _, times)| (turns, median(times) * 1e6));
    for (turns, value) in [long, longest] {
        Row {
            metric: format!("{wire}: appending turn {turns}, against turn 10"),
            unit: "us",
            value,
            baseline: Some(short.1),
            bar: Some("<= 2"),
        }
        .tell();
    }
    let prefix = prefix_of(wire, 1_000);
    let copies = (0..rounds).map(|_| seconds(|| drop(black_box(prefix.request())))).collect();
    Row {
        metric: format!("{wire}: copying the body at turn 1000"),
        unit: "us",
        value: median(copies) * 1e6,
        baseline: None,
        bar: None,
    }
    .tell();
}

fn prefix_of(wire: Wire, turns: usize) -> EncodedPrefix {
    let head = Head {
        model: "m".to_owned(),
        system: SystemText { stable: "You work. ".repeat(2_000), variable: String::new() },
        tools: Vec::new(),
        limits: OutputLimits { max_output_tokens: 8_192, reasoning: Reasoning::Unset },
        cache: Cache::default(),
    };
    let mut prefix = EncodedPrefix::new(wire, &head).unwrap();
    prefix.push(&Turn::user(vec![Block::text("Begin.")])).unwrap();
    for number in 0..turns {
        let (answer, results) = exchange(number);
        prefix.push(&answer).unwrap();
        prefix.push(&results).unwrap();
    }
    prefix
}

/// What an agent does in a turn: some words, a call, and its output.
fn exchange(number: usize) -> (Turn, Turn) {
    let id = format!("call_{number}");
    let input = RawJson::parse(r#"{"command":"cargo test -p mxd-core"}"#).unwrap();
    let call = ToolCall { id: id.clone(), name: "mcp__mxd__bash".to_owned(), input, malformed: None };
    let output = Text { text: "test result: ok\n".repeat(200) };
    let result = ToolResult { call_id: id, is_error: false, content: vec![ResultPart::Text(output)] };
    let answer = vec![Block::text("I run the tests."), Block::ToolCall(call)];
    (Turn::assistant(answer), Turn::user(vec![Block::ToolResult(result)]))
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
