//! The conversation of a task, read from the log: its own events, and before them those it was forked from.

use base64::Engine as _;
use mxd_core::commit::Seq;
use mxd_core::event::body::{BlobId, ForkMarker, ToolCallId};
use mxd_core::event::{Event, EventBody, EventHead, EventKind, split_events};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::prompt::effective;
use mxd_core::raw::RawJson;
use mxd_core::time::Millis;
use mxd_store::{Log, ReadError};

/// Commits read at a time.
const PAGE: usize = 512;
/// Forks of forks that are followed.
const MOST_FORKS: usize = Limits::DEFAULT.fork_depth;

/// An event of a conversation, with its place and time.
pub(crate) type Said = (Seq, Millis, Event);

/// Everything that counts of a task's conversation up to a commit, oldest first.
pub(crate) fn read(log: &Log, task: TaskId, through: Seq) -> Result<Vec<Said>, ReadError> {
    read_forked(log, task, (through, 0))
}

fn read_forked(log: &Log, task: TaskId, (through, depth): (Seq, usize)) -> Result<Vec<Said>, ReadError> {
    let own = since_reset(events(log, task, through)?);
    let fork = own.iter().find_map(|(_, _, event)| match &event.body {
        EventBody::ForkMarker(fork) => Some(fork.clone()),
        _ => None,
    });
    let mut said = match fork {
        Some(ForkMarker { source_task_id, source_seq, .. }) if depth < MOST_FORKS => {
            read_forked(log, source_task_id, (source_seq, depth + 1))?
        }
        Some(_) | None => Vec::new(),
    };
    said.extend(effective(own));
    Ok(said)
}

/// What came before a reset is no part of the conversation, also while it is still in the log.
fn since_reset(mut said: Vec<Said>) -> Vec<Said> {
    let ends = |(_, _, event): &Said| {
        matches!(event.body, EventBody::TaskReset(_) | EventBody::ConversationCleared(_))
    };
    match said.iter().rposition(ends) {
        Some(last) => said.split_off(last + 1),
        None => said,
    }
}

fn events(log: &Log, task: TaskId, through: Seq) -> Result<Vec<Said>, ReadError> {
    let name = task.to_string();
    let (mut said, mut after) = (Vec::new(), 0);
    loop {
        let commits = log.read_task(&name, after, PAGE)?;
        let Some(last) = commits.last() else { return Ok(said) };
        after = last.seq;
        for commit in commits {
            if commit.seq > through.0 {
                return Ok(said);
            }
            for text in split_events(&commit.events).into_iter().flatten() {
                if EventHead::parse(text).is_ok_and(|head| head.task == task)
                    && let Ok(event) = Event::decode(text)
                {
                    said.push((Seq(commit.seq), Millis(commit.at), event));
                }
            }
        }
    }
}

/// The last commit, up to `through`, by which the conversation of a task was thrown away; none when it never was, or when
/// nothing of it is left.
pub(crate) fn thrown_away(log: &Log, task: TaskId, through: Seq) -> Result<Option<Seq>, ReadError> {
    let ends = [EventKind::TaskReset, EventKind::ConversationCleared, EventKind::TaskDeleted];
    let name = task.to_string();
    let (mut last, mut is_there, mut after) = (None, false, 0);
    loop {
        let commits = log.read_task(&name, after, PAGE)?;
        let Some(end) = commits.last() else { return Ok(last) };
        after = end.seq;
        for commit in commits.iter().take_while(|commit| commit.seq <= through.0) {
            let heads = split_events(&commit.events).into_iter().flatten().map(EventHead::parse);
            let mine = heads.flatten().filter(|head| head.task == task).filter_map(|head| head.kind());
            let kinds: Vec<EventKind> = mine.collect();
            is_there |= kinds.iter().any(|kind| kind.is_conversation());
            if kinds.iter().any(|kind| ends.contains(kind)) {
                last = is_there.then_some(Seq(commit.seq));
            }
        }
        if after >= through.0 {
            return Ok(last);
        }
    }
}

/// The arguments of a call.
pub(crate) fn arguments_of(log: &Log, task: TaskId, call: &ToolCallId) -> Option<RawJson> {
    call_of(log, task, call).map(|call| call.input)
}

/// A call, as its model made it.
pub(crate) fn call_of(log: &Log, task: TaskId, call: &ToolCallId) -> Option<mxd_core::event::body::ToolCall> {
    let said = events(log, task, Seq(u64::MAX)).ok()?;
    said.into_iter().rev().find_map(|(_, _, event)| match event.body {
        EventBody::ToolCall(made) if made.tool_call_id == *call => Some(made),
        _ => None,
    })
}

/// The bytes of a picture, in base64.
pub(crate) fn picture(log: &Log, blob: &BlobId) -> Option<String> {
    let bytes = log.blobs().get(blob.0.parse().ok()?).ok()?;
    Some(base64::engine::general_purpose::STANDARD.encode(bytes))
}
