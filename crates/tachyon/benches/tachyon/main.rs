//! What the toolbox costs, each number beside what others need for the same, from the same run.
//!
//! Prints one JSON object per metric; `cargo xtask bench tachyon` makes a table of them. With `--quick` there are fewer rounds.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod calls;
mod others;
mod project;
#[path = "../../../../testing/row.rs"]
mod row;

use std::time::Instant;

use others::Others;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(7, 3_000),
        ["--quick"] => run(3, 300),
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

fn run(rounds: usize, calls: usize) {
    let others = Others::installed();
    project::run(&others, rounds);
    calls::run(&others, calls);
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1_000.0
}
