//! What the log costs, each number beside its baseline from the same run.
//!
//! Prints one JSON object per metric; `cargo xtask bench log` makes a table of them. With `--quick` the logs are a
//! tenth of the size. `grow <dir> <megabytes>` only makes a log, to look at or to profile with.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot run has nothing to say"
)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod append;
mod boot;
mod corpus;
#[path = "../../../../testing/fold.rs"]
mod replay;
#[path = "../../../../testing/row.rs"]
mod row;

use std::path::Path;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["memory-of", dir] => boot::tell_memory(Path::new(dir)),
        ["grow", dir, megabytes] => drop(corpus::grow(Path::new(dir), megabytes.parse().unwrap(), 1_000_000)),
        [] => run(1_000),
        ["--quick"] => run(100),
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

fn run(megabytes: usize) {
    // Below the build folder, which is on a real disk where the folder for temporary files may not be.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    append::one_caller(scratch.path());
    append::many_callers(scratch.path());
    boot::run(scratch.path(), megabytes);
}
