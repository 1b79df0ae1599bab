//! What connections to MCP servers cost: our whole path beside bare clients, on one server, in one run.
//!
//! Prints one JSON object per metric; `cargo xtask bench mcp` makes a table of them. With `--quick` a tenth is done. With
//! `--only ours` or `--only theirs` one of the two calls for a while, for a profiler to look at.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod agent;
mod bare;
mod others;
#[path = "../../../../testing/python.rs"]
mod python;
#[path = "../../../../testing/row.rs"]
mod row;

use std::time::{Duration, Instant};

use agent::Agent;
use row::{Row, median};

/// Calls that wait at once, where several do.
const WIDTH: usize = 16;
/// Calls that a profiler looks at.
const LOOKED_AT: usize = 50_000;
/// How late the slowest of ten servers is.
const SLOWEST: u64 = 600;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => run(5_000, 7),
        ["--quick"] => run(500, 3),
        ["--only", whose @ ("ours" | "theirs")] => alone(whose),
        other => eprintln!("unknown arguments: {other:?}; known are --quick, --only ours, --only theirs"),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// One client alone, as many calls at once as the benchmark has.
fn alone(whose: &str) {
    let runtime = runtime();
    let went = runtime.block_on(async {
        if whose == "ours" {
            Agent::new().await.calls(LOOKED_AT, WIDTH).await
        } else {
            bare::calls(&bare::connect().await, LOOKED_AT, WIDTH).await
        }
    });
    eprintln!("{whose}: {:.0} calls/s, p99 {:.0} us", went.per_second, went.p99);
}

/// How some calls went.
struct Went {
    per_second: f64,
    /// In microseconds.
    p99: f64,
}

impl Went {
    fn of(mut each: Vec<Duration>, all: Duration) -> Self {
        each.sort_unstable();
        let late = each[each.len() * 99 / 100];
        Self { per_second: each.len() as f64 / all.as_secs_f64(), p99: late.as_secs_f64() * 1e6 }
    }

    fn middle(rounds: &[Self]) -> Self {
        let of = |pick: fn(&Self) -> f64| median(rounds.iter().map(pick).collect());
        Self { per_second: of(|went| went.per_second), p99: of(|went| went.p99) }
    }
}

fn run(calls: usize, rounds: usize) {
    let runtime = runtime();
    let agent = runtime.block_on(Agent::new());
    let bare = runtime.block_on(bare::connect());
    let (mut ours, mut theirs, mut ours_wide, mut theirs_wide) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // By turns, so that all meet the same weather.
    for _round in 0..rounds {
        ours.push(runtime.block_on(agent.calls(calls, 1)));
        theirs.push(runtime.block_on(bare::calls(&bare, calls, 1)));
        ours_wide.push(runtime.block_on(agent.calls(calls, WIDTH)));
        theirs_wide.push(runtime.block_on(bare::calls(&bare, calls, WIDTH)));
    }
    let ours = Went::middle(&ours);
    against("the bare client of the Rust SDK", &ours, &Went::middle(&theirs), Some(">= 0.7"));
    let (wide, bare_wide) = (Went::middle(&ours_wide), Went::middle(&theirs_wide));
    let metric = format!("calls through the plane, {WIDTH} at once, against the bare client of the Rust SDK");
    let baseline = Some(bare_wide.per_second);
    Row { metric, unit: "calls/s", value: wide.per_second, baseline, bar: Some(">= 0.7") }.tell();
    against("the Python SDK", &ours, &others::python(calls.min(1_000)), Some(">= 1"));
    against("the TypeScript SDK", &ours, &others::typescript(calls.min(1_000)), Some(">= 1"));
    connecting(&runtime, &agent, rounds);
    runtime.block_on(agent.close());
}

fn against(whom: &str, ours: &Went, theirs: &Went, bar: Option<&'static str>) {
    let metric = format!("calls through the plane, one after the other, against {whom}");
    let (value, baseline) = (ours.per_second, Some(theirs.per_second));
    Row { metric, unit: "calls/s", value, baseline, bar }.tell();
    let metric = format!("the slowest of a hundred such calls, against {whom}");
    Row { metric, unit: "us", value: ours.p99, baseline: Some(theirs.p99), bar: None }.tell();
}

/// Ten servers that take their time, against the slowest of them alone.
fn connecting(runtime: &tokio::runtime::Runtime, agent: &Agent, rounds: usize) {
    let late: Vec<u64> = (1..=10).map(|server| SLOWEST * server / 10).collect();
    let (mut ten, mut one) = (Vec::new(), Vec::new());
    for _round in 0..rounds {
        ten.push(milliseconds(|| runtime.block_on(agent.connect(&late))));
        one.push(milliseconds(|| runtime.block_on(agent.connect(&[SLOWEST]))));
    }
    let metric = "connecting ten servers at once, against the slowest of them alone".to_owned();
    Row { metric, unit: "ms", value: median(ten), baseline: Some(median(one)), bar: Some("<= 1.3") }.tell();
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1_000.0
}
