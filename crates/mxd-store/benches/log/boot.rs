//! Opening: against reading the same lines with the fastest JSON reader, and against a smaller log.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use mxd_store::{Log, Options, Upkeep};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::corpus::grow;
use crate::replay::Fold;
use crate::row::{Row, median};

pub(crate) fn run(scratch: &Path, megabytes: usize) {
    let (large, small) = (scratch.join("large"), scratch.join("small"));
    eprintln!("writing a log of {megabytes} tasks with 1 MB each, and one with a tenth of that in each");
    let state = grow(&large, megabytes, 1_000_000);
    let small_state = grow(&small, megabytes, 100_000);
    without_cache(scratch, &large, &state);
    with_snapshot((&large, &state), (&small, &small_state));
    memory(&large);
}

/// No snapshot, no catalog: everything is read, checked, indexed and folded.
fn without_cache(scratch: &Path, dir: &Path, state: &mxd_core::state::State) {
    let plain = scratch.join("plain.jsonl");
    let bytes = unpack(dir, &plain) as f64 / 1e6;
    let (mut ours, mut theirs, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        theirs.push(bytes / seconds(|| scan(&plain)));
        for (threads, speeds) in [(2, &mut ours), (1, &mut alone)] {
            std::fs::remove_dir_all(dir.join("cache")).unwrap();
            let mut fold = Fold::default();
            speeds.push(bytes / seconds(|| drop(open(dir, threads, &mut fold))));
            assert_eq!(fold.0, *state, "the log folds to what was written");
        }
    }
    let theirs = median(theirs);
    let rows = [("", ours, Some(">= 0.5")), (", one thread to read", alone, None)];
    for (which, speeds, bar) in rows {
        let metric =
            format!("opening {bytes:.0} MB without snapshot{which}, against scanning its lines as JSON");
        Row { metric, unit: "MB/s", value: median(speeds), baseline: Some(theirs), bar }.tell();
    }
    std::fs::remove_file(plain).unwrap();
}

/// A snapshot and the caches: the size of the log must not matter.
fn with_snapshot(large: (&Path, &mxd_core::state::State), small: (&Path, &mxd_core::state::State)) {
    let times = [large, small].map(|(dir, state)| {
        let mut fold = Fold::default();
        let log = open(dir, 2, &mut fold);
        log.upkeep().unwrap();
        log.save_snapshot(*log.head().borrow(), serde_json::to_vec(state).unwrap()).unwrap();
        drop(log);
        let measure = || {
            let mut fold = Fold::default();
            let time = seconds(|| drop(open(dir, 2, &mut fold)));
            assert_eq!(fold.0, *state, "the snapshot holds what was written");
            time * 1e3
        };
        median((0..15).map(|_| measure()).collect())
    });
    let [large, small] = times;
    Row {
        metric: "opening with snapshot, against a log of the same tasks and a tenth of the size".into(),
        unit: "ms",
        value: large,
        baseline: Some(small),
        bar: Some("<= 1.5"),
    }
    .tell();
}

/// In a process of its own, so that only the log is in its memory.
fn memory(dir: &Path) {
    std::fs::remove_dir_all(dir.join("cache")).unwrap();
    let output = Command::new(std::env::current_exe().unwrap()).arg("memory-of").arg(dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let kilobytes: f64 = text.trim().parse().expect("the resident memory in kB");
    Row {
        metric: "resident memory after opening it without snapshot".into(),
        unit: "MB",
        value: kilobytes / 1e3,
        baseline: None,
        bar: Some("<= 64"),
    }
    .tell();
}

/// In that process: opens the log and tells what it costs.
pub(crate) fn tell_memory(dir: &Path) {
    let mut fold = Fold::default();
    let log = open(dir, 2, &mut fold);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    println!("{}", resident.trim().trim_end_matches(" kB"));
    drop((log, fold));
}

fn open(dir: &Path, threads: usize, fold: &mut Fold) -> Log {
    Log::open(dir, Options { threads, upkeep: Upkeep::Manual, ..Options::default() }, fold).unwrap()
}

/// Writes the text of all segments into one file; gives its length.
fn unpack(dir: &Path, plain: &Path) -> u64 {
    let mut out = std::fs::File::create(plain).unwrap();
    let mut names: Vec<_> =
        std::fs::read_dir(dir.join("log")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for path in names {
        let bytes = std::fs::read(&path).unwrap();
        let packed = path.extension().is_some_and(|extension| extension == "zst");
        out.write_all(&if packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes }).unwrap();
    }
    out.metadata().unwrap().len()
}

/// Reads lines as JSON with everything borrowed and nothing kept: serde_json with raw values, which read lines of this
/// form faster than sonic-rs with lazy values when the two were tried. Others were not.
fn scan(plain: &Path) {
    #[derive(Deserialize)]
    struct Scanned<'a> {
        seq: u64,
        at: u64,
        #[serde(borrow)]
        events: &'a RawValue,
    }
    let mut reader = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(plain).unwrap());
    let (mut line, mut seen) = (String::new(), 0);
    while std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0 {
        if !line.starts_with("{\"format\"") {
            let scanned: Scanned<'_> = serde_json::from_str(&line).unwrap();
            seen += scanned.seq + scanned.at + scanned.events.get().len() as u64;
        }
        line.clear();
    }
    assert!(seen > 0);
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}
