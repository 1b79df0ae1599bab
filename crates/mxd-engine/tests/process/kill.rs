//! SIGKILL at any moment.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rehearse::{Rehearsal, Script, Wire};
use serde_json::json;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::ground::repository::{make_repository, write_settings};
use crate::life::DONE;
use crate::rounds::{seeds, size};
use crate::story::Story;
use crate::stuck::{self, Ears, Silence};
use crate::tale;

/// Lives that a run may take before it counts as stuck.
const MOST_LIVES: u64 = 2_000;
/// Lines that one life may say before it counts as going round in circles: each is a commit, and the whole work takes
/// some hundreds.
const MOST_LINES: usize = 20_000;

/// Ten agents work while their program is killed again and again: in the end everything is as it is when nobody
/// interferes, except for calls whose outcome is marked as unknown, and nothing was done twice.
pub(crate) fn at_any_moment() {
    let (calm, _) = run(|_| None);
    assert_eq!(calm.unknown, 0);
    for seed in seeds(1) {
        let mut dice = Dice::new(seed);
        let most = size(25, 400) as u64;
        let (killed, kills) = run(|life| {
            // Lives grow longer, so that a slow machine comes to an end, too.
            let longest = 5 + life / 20;
            (life < most).then(|| Moment { heard: dice.below(longest), wait: dice.below(3_000_000) })
        });
        eprintln!("seed {seed}: {kills} kills, {} calls of unknown outcome", killed.unknown);
        compare(&calm, &killed, seed);
        assert!(kills >= 10, "seed {seed}: {kills} kills");
    }
}

/// When a life ends.
struct Moment {
    /// Lines that are heard of it before.
    heard: u64,
    /// How long it goes on then, in turns of an idle loop.
    wait: u64,
}

/// Has the work done, in as many lives as it takes; tells what it came to and how many were cut short.
fn run(mut moment: impl FnMut(u64) -> Option<Moment>) -> (Story, u64) {
    let ground = TempDir::new().unwrap();
    let path = ground.path();
    make_repository(&path.join("repo"));
    std::fs::create_dir(path.join("outside")).unwrap();
    let script = tale::script(path).to_string();
    let script = Script::parse("tale.json", &script).unwrap_or_else(|error| panic!("{error}"));
    let model = Rehearsal::start(script).unwrap();
    // A call that is cut off again and again comes to the same again and again.
    let more = json!({ "sandbox": { "write": [path.join("outside")] }, "limits": { "repeats": 100 } });
    write_settings(path, &model.base_url(Wire::Anthropic), more);
    for lives in 0..MOST_LIVES {
        if live(path, moment(lives), &model) {
            model.finish().unwrap_or_else(|report| panic!("{report}"));
            return (Story::of(path), lives);
        }
        if let Some((number, wrong)) = model.violations().into_iter().next() {
            let requests = model.requests();
            let asked = requests.iter().find(|request| request.number == number).unwrap();
            panic!("after {lives} lives: {wrong}\n{}", asked.shape_text());
        }
    }
    panic!("not done after {MOST_LIVES} lives: {:?}", model.report());
}

/// One life; whether it came to its end. The model is asked about what it waits for when nothing comes any more.
fn live(ground: &Path, moment: Option<Moment>, model: &Rehearsal) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["live".as_ref(), ground.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ears = Ears::open(child.stdout.take().unwrap());
    let stuck =
        |why: Silence, child: &mut Child| -> ! { panic!("{}", stuck::tell(&why, child, ground, model)) };
    let mut done = false;
    let killed = moment.is_some();
    if let Some(Moment { heard, wait }) = moment {
        for _line in 0..heard {
            match ears.next() {
                Ok(line) => done |= line.is_some_and(|line| line == DONE),
                Err(silence) => stuck(silence, &mut child),
            }
        }
        for _turn in 0..wait {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
    }
    for _line in 0..MOST_LINES {
        match ears.next() {
            Ok(Some(line)) => done |= line == DONE,
            Ok(None) => {
                let ended = child.wait().unwrap();
                let by_us = killed && ended.signal() == Some(9);
                assert!(by_us || (done && ended.success()), "it ended by itself: {ended}");
                return done;
            }
            Err(silence) => stuck(silence, &mut child),
        }
    }
    stuck(Silence::EndlessTalk(MOST_LINES), &mut child)
}

fn compare(calm: &Story, killed: &Story, seed: u64) {
    assert_eq!(killed.tree, calm.tree, "seed {seed}");
    assert_eq!(killed.files, calm.files, "seed {seed}");
    for (title, life) in &calm.lives {
        let other = &killed.lives[title];
        assert_eq!(other.messages, life.messages, "seed {seed}: the messages of {title}");
        let calls =
            |deeds: &[crate::story::Deed]| deeds.iter().map(|deed| deed.call.clone()).collect::<Vec<_>>();
        assert_eq!(calls(&other.deeds), calls(&life.deeds), "seed {seed}: the calls of {title}");
        for (one, two) in life.deeds.iter().zip(&other.deeds) {
            if let (Some(one), Some(two), call) = (&one.result, &two.result, &one.call) {
                assert_eq!(two, one, "seed {seed}: what {title} was told after {call}");
            }
        }
    }
    for (line, (least, most)) in &killed.owed_traces {
        let found = killed.traces.get(line).copied().unwrap_or_default();
        assert!((*least..=*most).contains(&found), "seed {seed}: {found} × {line:?}, not {least} to {most}");
    }
    let owed: Vec<&String> =
        killed.traces.keys().filter(|line| !killed.owed_traces.contains_key(*line)).collect();
    assert_eq!(owed, Vec::<&String>::new(), "seed {seed}: traces of no call");
}
