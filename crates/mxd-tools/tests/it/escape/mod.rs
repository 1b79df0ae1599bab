//! Ways out of the sandbox, all of them tried.
//!
//! Each attempt is a script that runs as agent `one`. The table says for each whether the top level, and Landlock alone,
//! stop it, and the tests assert exactly that; the page `docs/sandbox.md` is written from the same table. Without a
//! sandbox the attempts must succeed, which shows that they are real.

mod attempt;
mod calls;
mod endings;
mod git;
mod kernel;
mod keys;
mod limits;
mod network;
mod ordinary_user;
mod page;
mod paths;
mod processes;
mod scene;
mod sharing;
mod tricks;

use std::fmt::Write as _;

use mxd_tools::sandbox::{Level, Mode};

use attempt::{Attempt, Family, Full, Landlock, Outside};
use scene::Scene;

/// In the order of the page.
const FAMILIES: &[&Family] = &[
    &paths::FAMILY,
    &keys::FAMILY,
    &sharing::FAMILY,
    &git::FAMILY,
    &tricks::FAMILY,
    &processes::FAMILY,
    &endings::FAMILY,
    &network::FAMILY,
    &kernel::FAMILY,
    &calls::FAMILY,
    &limits::FAMILY,
];

/// What is expected of one attempt in one place.
enum Expected {
    Stopped,
    Success,
    NotTried,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_top_level_stops_all_but_what_the_table_names() {
    try_all(Mode::Full).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn landlock_alone_stops_what_the_table_says_and_no_more() {
    try_all(Mode::Landlock).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_the_attempts_succeed() {
    try_all(Mode::Off).await;
}

#[test]
fn there_are_more_than_a_hundred_and_each_has_a_name_of_its_own() {
    let mut names: Vec<&str> =
        FAMILIES.iter().flat_map(|family| family.attempts).map(|attempt| attempt.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all > 100, "{all}");
}

/// Runs every family on a farm of its own, side by side, and tells all that went otherwise than expected.
async fn try_all(mode: Mode) {
    let families: Vec<_> = FAMILIES.iter().map(|family| tokio::spawn(try_family(mode, family))).collect();
    let mut surprises = String::new();
    for family in families {
        surprises += &family.await.unwrap();
    }
    assert!(surprises.is_empty(), "{surprises}");
}

async fn try_family(mode: Mode, family: &'static Family) -> String {
    let mut scene = Scene::set(mode, family).await;
    let mut surprises = String::new();
    for attempt in family.attempts {
        let expected = expected(attempt, &scene);
        if matches!(expected, Expected::NotTried) {
            continue;
        }
        let (succeeded, text) = scene.play(attempt).await;
        let wrong = match (&expected, succeeded) {
            (Expected::Stopped, true) => "succeeded",
            (Expected::Success, false) => "did not succeed",
            _ => continue,
        };
        writeln!(surprises, "\n{} at {}: {} {wrong}\n{text}", family.name, scene.level(), attempt.name)
            .unwrap();
    }
    scene.strike();
    surprises
}

#[expect(clippy::print_stdout, reason = "what is not tried is said")]
fn expected(attempt: &Attempt, scene: &Scene) -> Expected {
    let root = rustix::process::geteuid().is_root();
    let succeeds_if = |condition| if condition { Expected::Success } else { Expected::Stopped };
    match scene.level() {
        Level::Full => match attempt.full {
            Full::Stopped => Expected::Stopped,
            Full::NotStoppedWithoutGroups(_) => succeeds_if(!scene.limits_hold_together()),
        },
        Level::Landlock => match attempt.landlock {
            Landlock::Stopped => Expected::Stopped,
            Landlock::NotStopped(_) => Expected::Success,
            Landlock::NotStoppedForRoot(_) => succeeds_if(root),
            Landlock::NotStoppedForUsers(_) => succeeds_if(!root),
            Landlock::NotStoppedWithoutGroups(_) => succeeds_if(!scene.limits_hold_together()),
        },
        Level::Off => match attempt.outside {
            Outside::Succeeds => Expected::Success,
            Outside::SucceedsForRoot if root => Expected::Success,
            Outside::SucceedsForRoot => {
                println!("{}: not tried outside: only root can", attempt.name);
                Expected::NotTried
            }
            Outside::NotTried(why) => {
                println!("{}: not tried outside: {why}", attempt.name);
                Expected::NotTried
            }
        },
    }
}
