//! What agents cost, each number beside a floor from the same run: a minimal loop that asks, runs `bash`, and syncs
//! every event to disk.
//!
//! Prints one JSON object per metric; `cargo xtask bench agents` makes a table of them. With `--quick` there are fewer
//! turns and agents; with `--peers` other programs are installed and measured as well. The program is its own helper:
//! what is measured runs in a process of its own (`engine …`, `floor …`), the model and the clock are here.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod engine;
mod floor;
#[path = "../../tests/ground/mod.rs"]
mod ground;
mod helper;
mod idle;
mod model;
mod peers;
mod resume;
#[path = "../../../../testing/row.rs"]
mod row;
mod turns;
#[path = "../../tests/ground/waiting.rs"]
mod waiting;
mod wires;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Size {
    short: usize,
    long: usize,
    crowds: &'static [usize],
    crowd_turns: usize,
    killed: usize,
    idle: usize,
}

const FULL: Size =
    Size { short: 100, long: 500, crowds: &[8, 32, 128], crowd_turns: 30, killed: 100, idle: 1_000 };
const QUICK: Size = Size { short: 30, long: 100, crowds: &[8], crowd_turns: 10, killed: 10, idle: 100 };

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["engine", ground, work @ ..] => engine::run(ground.as_ref(), work),
        ["floor", url, folder, work @ ..] => floor::run(url, folder.as_ref(), work),
        [] => {
            run(FULL);
        }
        ["--quick"] => {
            run(QUICK);
        }
        ["--peers"] => peers::run(FULL.short, run(FULL)),
        ["--quick", "--peers"] => peers::run(QUICK.short, run(QUICK)),
        other => eprintln!("unknown arguments: {other:?}; known are --quick and --peers"),
    }
}

/// Measures everything; what a turn of one agent takes is handed on for others to be held against.
fn run(size: Size) -> f64 {
    let turn = turns::alone(size);
    turns::together(size);
    resume::after_a_kill(size);
    idle::boot(size);
    turn
}
