//! What the tests of the log share.

use std::path::Path;
use std::sync::Arc;

use mxd_store::disk::{Disk, OsDisk};
use mxd_store::{Commit, Draft, Line, Log, OpenError, Options, Replay, Upkeep};

/// An owner that remembers the numbers and texts it was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed(pub(crate) Vec<(u64, String)>);

impl Replay for Listed {
    fn restore(&mut self, state: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(state) else {
            return false;
        };
        self.0 = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(seq, events)| (seq.parse().unwrap(), events.to_owned()))
            .collect();
        true
    }

    fn commit(&mut self, line: &Line<'_>) {
        self.0.push((line.seq, line.events.to_owned()));
    }
}

impl Listed {
    pub(crate) fn save(&self) -> Vec<u8> {
        self.0.iter().map(|(seq, events)| format!("{seq} {events}\n")).collect::<String>().into_bytes()
    }

    pub(crate) fn seqs(&self) -> Vec<u64> {
        self.0.iter().map(|(seq, _)| *seq).collect()
    }
}

/// Options under which nothing happens behind the test's back.
pub(crate) fn manual(segment_bytes: u64) -> Options {
    Options { segment_bytes, upkeep: Upkeep::Manual, ..Options::default() }
}

/// Opens a log on the real disk and gives what was replayed.
pub(crate) fn open(dir: &Path, options: Options) -> Result<(Log, Listed), OpenError> {
    open_on(Arc::new(OsDisk), dir, options)
}

/// Opens a log on a given disk and gives what was replayed.
pub(crate) fn open_on(disk: Arc<dyn Disk>, dir: &Path, options: Options) -> Result<(Log, Listed), OpenError> {
    let mut listed = Listed::default();
    let log = Log::open_on(disk, dir, options, &mut listed)?;
    Ok((log, listed))
}

/// A commit of one event.
pub(crate) fn draft(task: &str, text: &str) -> Draft {
    let event = serde_json::json!({"task": task, "type": "note", "text": text}).to_string();
    Draft::of(1_763_240_000_000, [event.as_str()]).unwrap()
}

/// Everything in the log, read by cursor in small steps.
pub(crate) fn read_everything(log: &Log) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    loop {
        let more = log.read(commits.last().map_or(0, |commit| commit.seq), 7).unwrap();
        if more.is_empty() {
            return commits;
        }
        commits.extend(more);
    }
}

/// The text of the open segment without the blank lines at its end.
pub(crate) fn without_room(mut text: Vec<u8>) -> Vec<u8> {
    while text.ends_with(b"\n\n") {
        text.pop();
    }
    text
}

/// The names in the log folder.
pub(crate) fn segments(dir: &Path) -> Vec<String> {
    OsDisk.list(&dir.join("log")).unwrap()
}
