//! A program that does not go on: noticed, and what everybody in it was waiting for told from outside.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use mxd_core::show::standing;
use mxd_core::state::State;
use mxd_core::time::Millis;
use rehearse::Rehearsal;

use crate::story::events;

/// How long a program may be silent. What it does between two commits takes seconds at most, on a machine that does
/// ten times as much as it can.
const PATIENCE: Duration = Duration::from_secs(150);
/// Lines that wait to be heard.
const WAITING: usize = 1_024;
/// Requests to the model that are told, the latest.
const LATEST: usize = 12;

/// What a program says, line by line.
pub(crate) struct Ears {
    lines: Receiver<String>,
}

/// Why nobody waits any longer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// Nothing came, and the end did not come either.
    Still,
    /// So many lines came, and no end of them.
    EndlessTalk(usize),
}

impl Ears {
    pub(crate) fn open(from: ChildStdout) -> Self {
        let (sender, lines) = sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut said = BufReader::new(from).lines().map_while(Result::ok);
            // Nobody listens any more when the test has failed.
            said.all(|line| sender.send(line).is_ok())
        });
        Self { lines }
    }

    /// The next line; none at the end, which comes when nobody is left who could write one.
    pub(crate) fn next(&self) -> Result<Option<String>, Silence> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(Silence::Still),
        }
    }
}

/// Ends the program and tells what it was doing: where each agent stood, what the model was asked last, which processes
/// there were and which locks of git.
pub(crate) fn tell(why: &Silence, child: &mut Child, ground: &Path, model: &Rehearsal) -> String {
    let processes = processes_of(child.id(), ground);
    let _gone_already = child.kill();
    let _gone_already = child.wait();
    let mut told = match why {
        Silence::Still => format!("nothing was heard for {PATIENCE:?}, and the program did not end\n"),
        Silence::EndlessTalk(lines) => format!("{lines} lines were heard in one life, and no end\n"),
    };
    let mut state = State::default();
    events(&ground.join("data/project/log")).iter().for_each(|event| state.apply(event, Millis(0)));
    for node in state.tree().nodes().values() {
        let stands = standing(&state, node.id).map_or_else(String::new, |stands| stands.why);
        let (waiting, calls) = (state.inbox(node.id).pending().count(), state.session(node.id).calls());
        let calls: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
        let status = node.status();
        writeln!(told, "{}: {status:?}, {stands}; {waiting} unread; open calls {calls:?}", node.title)
            .unwrap();
    }
    let requests = model.requests();
    for asked in requests.iter().skip(requests.len().saturating_sub(LATEST)) {
        let (of, turn) = (asked.conversation.as_deref().unwrap_or("nobody"), asked.turn.unwrap_or_default());
        let last = asked.shape.last().map_or("", String::as_str);
        writeln!(told, "request {}: {of}, turn {turn}, {:?}, after {last}", asked.number, asked.outcome)
            .unwrap();
    }
    writeln!(told, "{}\nprocesses:\n{processes}\nlocks:", model.report()).unwrap();
    locks_below(&ground.join("repo/.git"), &mut told);
    told
}

/// What runs below this process, or on this ground, and what the kernel has each of it wait for.
fn processes_of(program: u32, ground: &Path) -> String {
    let read =
        |id: u32, file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    let ids = std::fs::read_dir("/proc").unwrap().flatten();
    let ids: Vec<u32> = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let above = |id: u32| -> u32 {
        let stat = read(id, "stat");
        let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
        behind.split_whitespace().nth(1).and_then(|id| id.parse().ok()).unwrap_or(0)
    };
    let parents: BTreeMap<u32, u32> = ids.iter().map(|id| (*id, above(*id))).collect();
    let is_below = |id: u32| {
        std::iter::successors(Some(id), |id| parents.get(id).copied()).take(64).any(|id| id == program)
    };
    let ground = ground.display().to_string();
    let mut told = String::new();
    for id in ids {
        let command = read(id, "cmdline").replace('\0', " ");
        if is_below(id) || command.contains(&ground) {
            let wait = read(id, "wchan");
            writeln!(told, "{id} below {}: {command:.200} in {wait}", parents[&id]).unwrap();
        }
    }
    told
}

fn locks_below(folder: &Path, told: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            locks_below(&path, told);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            writeln!(told, "{}", path.display()).unwrap();
        }
    }
}
