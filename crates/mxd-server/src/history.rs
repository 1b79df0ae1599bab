//! Pages of the log: the last events before a commit, of one task or of all.

use mxd_core::event::{Event, EventHead, split_events};
use mxd_core::id::TaskId;
use mxd_store::{Commit, Log, ReadError};
use serde_json::value::RawValue;

use crate::feed::event_view;
use crate::limits;

/// Commits that are looked at first; each further look goes twice as far back.
const WINDOW: u64 = 1_024;

/// Whose events.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose {
    Task(TaskId),
    Project,
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// This many events, and what belongs to the same commits.
    Events(usize),
    /// To the last summary, or this many.
    Summary(usize),
}

/// A page of events, oldest first.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) events: Vec<Box<RawValue>>,
    pub(crate) has_more: bool,
}

struct Found {
    seq: u64,
    view: Option<Box<RawValue>>,
    is_summary: bool,
}

/// The last events of commits before `before`.
pub(crate) fn page(log: &Log, whose: Whose, before: u64, extent: Extent) -> Result<Page, ReadError> {
    let most = match extent {
        Extent::Events(most) | Extent::Summary(most) => most,
    };
    let mut window = WINDOW;
    loop {
        let after = before.saturating_sub(1).saturating_sub(window);
        let found = between(log, whose, (after, before))?;
        let from = start(&found, most, extent);
        // Enough, when something is left over in front of what is shown.
        if from > 0 || after == 0 {
            let has_more = from > 0;
            let events = found.into_iter().skip(from).filter_map(|found| found.view).collect();
            return Ok(Page { events, has_more });
        }
        window = window.saturating_mul(2);
    }
}

/// The first event to be shown. The events of one commit stay together.
fn start(found: &[Found], most: usize, extent: Extent) -> usize {
    let wanted = found.len().saturating_sub(most);
    let wanted = match extent {
        Extent::Events(_) => wanted,
        Extent::Summary(_) => wanted.max(found.iter().rposition(|found| found.is_summary).unwrap_or(0)),
    };
    let seq = found.get(wanted).map(|found| found.seq);
    found.iter().position(|found| Some(found.seq) == seq).unwrap_or(0)
}

fn between(log: &Log, whose: Whose, (after, before): (u64, u64)) -> Result<Vec<Found>, ReadError> {
    let mut found = Vec::new();
    commits(log, whose, (after, before), |commit| {
        for text in split_events(&commit.events).into_iter().flatten() {
            let Ok(head) = EventHead::parse(text) else { continue };
            let wanted = match whose {
                Whose::Task(task) => head.task == task,
                Whose::Project => true,
            };
            if wanted {
                let is_summary = head.type_name == "compact_marker";
                let view = event_view(text, (commit.seq, commit.at), Event::decode(text).ok().as_ref());
                found.push(Found { seq: commit.seq, view, is_summary });
            }
        }
    })?;
    Ok(found)
}

/// Shows the commits between two, both left out, in order.
pub(crate) fn commits(
    log: &Log,
    whose: Whose,
    (mut after, before): (u64, u64),
    mut show: impl FnMut(&Commit),
) -> Result<(), ReadError> {
    let name = match whose {
        Whose::Task(task) => Some(task.to_string()),
        Whose::Project => None,
    };
    loop {
        let commits = match &name {
            Some(name) => log.read_task(name, after, limits::READ_COMMITS)?,
            None => log.read(after, limits::READ_COMMITS)?,
        };
        let Some(last) = commits.last() else { return Ok(()) };
        after = last.seq;
        for commit in &commits {
            if commit.seq >= before {
                return Ok(());
            }
            show(commit);
        }
    }
}

/// Shows every event of a task, in order.
pub(crate) fn events_of(
    log: &Log,
    task: TaskId,
    mut show: impl FnMut((u64, u64), Event),
) -> Result<(), ReadError> {
    commits(log, Whose::Task(task), (0, u64::MAX), |commit| {
        for text in split_events(&commit.events).into_iter().flatten() {
            let own = EventHead::parse(text).is_ok_and(|head| head.task == task);
            if let Some(event) = own.then(|| Event::decode(text).ok()).flatten() {
                show((commit.seq, commit.at), event);
            }
        }
    })
}
