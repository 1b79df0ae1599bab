//! What reading a stream takes from the allocator, beside a plain pass of `serde_json` over the same events.
//!
//! Prints one JSON object per metric. Its numbers are the same in every run; the allocator that counts them comes with
//! the crate that measures, and is in no other program.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]

#[path = "../../../../testing/row.rs"]
mod row;
#[path = "../models/streams.rs"]
mod streams;

use std::hint::black_box;

use allocation_counter::{AllocationInfo, measure};
use mxd_llm::{Hints, ResponseDecoder, Wire};
use row::{Row, median};
use streams::{PACKET, data_of, stream};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(50_000),
        ["--quick"] => run(5_000),
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

fn run(events: usize) {
    for wire in Wire::ALL {
        let text = stream(wire, events);
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        // What is allocated only once in the life of a program is in the first round alone.
        for _ in 0..3 {
            ours.push(measure(|| read(wire, &text, events)));
            plain.push(measure(|| {
                for data in data_of(&text) {
                    black_box(serde_json::from_str::<serde_json::Value>(data).unwrap());
                }
            }));
        }
        let per_chunk = |metric: &str, (unit, bar), of: fn(&AllocationInfo) -> u64| {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let share = |info: &AllocationInfo| of(info) as f64 / events as f64;
            let middle = |rounds: &[AllocationInfo]| median(rounds.iter().map(share).collect());
            Row {
                metric: format!("{wire}: {metric} per chunk"),
                unit,
                value: middle(&ours),
                baseline: Some(middle(&plain)),
                bar: Some(bar),
            }
            .tell();
        };
        per_chunk("allocations", ("", "<= 0.25"), |info| info.count_total);
        per_chunk("allocated", ("B", "<= 0.6"), |info| info.bytes_total);
    }
}

/// Reads the stream as a call does. Every event of it is a chunk.
fn read(wire: Wire, text: &str, events: usize) {
    let mut decoder = ResponseDecoder::new(wire, Hints::default());
    let mut taken = 0;
    for piece in text.as_bytes().chunks(PACKET) {
        let mut chunks = Vec::new();
        decoder.push(piece, &mut chunks).unwrap();
        taken += black_box(chunks).len();
    }
    assert_eq!(taken, events, "{wire}");
}
