//! The log in real processes: killed, limited, unprivileged, and next to each other.
//!
//! The program is its own helper: run as `hammer <dir> <nonce>` it appends until it is killed and tells on standard
//! output what was acknowledged; run as `append <dir>` it appends on request and tells what came of it; run as
//! `threadless <dir>` it appends more than one group and opens the log again.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]

#[path = "../../../../testing/dice.rs"]
mod dice;
mod helper;
mod kill;
mod limits;
#[path = "../../../../testing/rounds.rs"]
mod rounds;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["hammer", dir, nonce] => helper::hammer(dir.as_ref(), nonce),
        ["append", dir] => helper::append_on_request(dir.as_ref()),
        ["threadless", dir] => helper::append_much(dir.as_ref()),
        _ => libtest_mimic::run(&Arguments::from_args(), tests()).exit_code(),
    }
}

fn tests() -> Vec<Trial> {
    vec![
        test("kill_at_any_moment_loses_nothing_that_was_acknowledged", kill::at_any_moment),
        test("lock_of_a_living_process_is_respected_and_of_a_dead_one_is_not", limits::lock),
        test("read_only_directory_is_a_clear_error", limits::read_only),
        test("without_threads_the_log_works_all_the_same", limits::without_threads),
        test("write_limit_is_told_and_appending_goes_on_when_it_is_lifted", limits::write_limit),
    ]
}

fn test(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok::<(), Failed>(())
    })
}
