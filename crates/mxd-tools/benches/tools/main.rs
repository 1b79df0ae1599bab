//! What tools cost, each number beside the command a person would type, from the same run.
//!
//! Prints one JSON object per metric; `cargo xtask bench tools` makes a table of them. With `--quick` the repository
//! is a tenth of the size.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod commands;
mod files;
mod repository;
#[path = "../../../../testing/row.rs"]
mod row;
mod search;

use std::time::Instant;

use repository::Repository;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(10_000, 31),
        ["--quick"] => run(1_000, 11),
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

fn run(files: usize, rounds: usize) {
    commands::run(rounds);
    let repository = Repository::make(files);
    files::read(&repository, rounds);
    files::edit(&repository, rounds);
    search::run(&repository, rounds);
}

/// How long each of two things takes, in milliseconds, done by turns so that both meet the same weather.
fn by_turns(rounds: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (f64, f64) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for _round in 0..rounds {
        one.push(milliseconds(&mut ours));
        other.push(milliseconds(&mut theirs));
    }
    (row::median(one), row::median(other))
}

fn milliseconds(work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1_000.0
}
