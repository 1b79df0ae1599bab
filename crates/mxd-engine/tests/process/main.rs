//! The engine in real processes: killed, and on a disk that is full.
//!
//! The program is its own helper: run as `live <ground>` it opens the project there, has its root task done, and tells
//! on standard output what has become durable; `live-through-a-full-disk <ground>` does it while files may not grow.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]
#![expect(clippy::print_stderr, reason = "how often a long run was killed is for whoever watches it")]

#[path = "../../../../testing/dice.rs"]
mod dice;
mod full;
#[path = "../ground/mod.rs"]
mod ground;
mod kill;
mod life;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod story;
mod stuck;
mod tale;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["live", ground] => life::live(ground.as_ref()),
        ["live-through-a-full-disk", ground] => life::live_through_a_full_disk(ground.as_ref()),
        _ => libtest_mimic::run(&Arguments::from_args(), tests()).exit_code(),
    }
}

fn tests() -> Vec<Trial> {
    vec![
        test("a_full_disk_is_told_and_work_goes_on_from_what_is_written", full::disk),
        test("ten_agents_killed_at_any_moment_end_as_if_nobody_had_been", kill::at_any_moment),
    ]
}

fn test(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok::<(), Failed>(())
    })
}
