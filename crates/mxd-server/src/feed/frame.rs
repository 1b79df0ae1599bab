//! Frames of a live stream: made once, sent to everybody.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bytes::Bytes;
use memchr::memmem;
use mxd_core::event::{Event, EventBody, EventHead, split_events};
use mxd_core::id::TaskId;
use mxd_core::show;
use mxd_core::state::State;
use mxd_store::Commit;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Tally;
use crate::view::{Detail, Needs, TaskView};

/// A piece of a stream, with one event or several. Whatever is there at the same time is one: what costs is to hand it to
/// everybody, not to make it longer.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) bytes: Bytes,
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commits that stand next to each other, by the numbers of the first and the last.
    Commits(u64, u64),
    /// Something for the eye only.
    Words,
    /// Nothing comes after it, and it is not sent.
    End,
}

/// The end of a feed.
pub(crate) const END: Frame = Frame { kind: Kind::End, bytes: Bytes::new() };

/// A frame with an event and its data.
pub(crate) fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// A frame that a client can go on from.
fn numbered(name: &str, id: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\nid: {id}\ndata: {data}\n\n"))
}

/// Commits in one frame, of which there is at least one.
pub(crate) fn commits(each: &[(u64, Bytes)]) -> Option<Frame> {
    let ((first, bytes), (last, _)) = (each.first()?, each.last()?);
    let bytes = match each {
        [_] => bytes.clone(),
        _ => each.iter().map(|(_, bytes)| bytes.as_ref()).collect::<Vec<_>>().concat().into(),
    };
    Some(Frame { kind: Kind::Commits(*first, *last), bytes })
}

/// What a frame says from a commit on. None when it is not there.
pub(crate) fn since(bytes: &Bytes, epoch: &str, seq: u64) -> Option<Bytes> {
    // What an event says is one line, so this stands at its beginning and nowhere else.
    let head = format!("event: commit\nid: {epoch}-{seq}\n");
    memmem::find(bytes, head.as_bytes()).map(|start| bytes.slice(start..))
}

/// What a commit frame says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CommitFrame<'a> {
    seq: u64,
    at: u64,
    events: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<TaskView>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<&'a Needs>,
}

/// What the frame of a commit says of the tree after it.
pub(crate) struct After<'a> {
    pub(crate) state: &'a State,
    pub(crate) tally: &'a Tally,
    /// What waits for the user, when that has changed.
    pub(crate) needs: Option<&'a Needs>,
}

/// The event of a commit, with what it did to the tree, or without for one that is read from disk.
pub(crate) fn commit(epoch: &str, commit: &Commit, after: Option<&After<'_>>) -> Bytes {
    let mut events = Vec::new();
    let (mut touched, mut removed) = (BTreeSet::new(), Vec::new());
    for text in split_events(&commit.events).into_iter().flatten() {
        let decoded = Event::decode(text).ok();
        if let Some(event) = &decoded {
            if let EventBody::TaskDeleted(_) = &event.body {
                removed.push(event.task);
            }
            if let Some(after) = after {
                touch(&mut touched, after, event);
            }
        }
        events.extend(view(text, (commit.seq, commit.at), decoded.as_ref()));
    }
    let tasks = after.map(|after| {
        let nodes = touched.iter().filter_map(|task| after.state.tree().get(*task));
        nodes.map(|node| TaskView::of(after.state, after.tally, node, Detail::List)).collect()
    });
    let needs = after.and_then(|after| after.needs);
    let frame = CommitFrame { seq: commit.seq, at: commit.at, events, tasks, removed, needs };
    let text = serde_json::to_string(&frame).unwrap_or_default();
    numbered("commit", &format!("{epoch}-{}", commit.seq), &text)
}

/// Whose view an event changes: that of its task, of those above it, of those who wait for it or pay for it.
fn touch(touched: &mut BTreeSet<TaskId>, after: &After<'_>, event: &Event) {
    let (task, state) = (event.task, after.state);
    touched.insert(task);
    touched.extend(after.tally.left(task));
    match &event.body {
        EventBody::TaskCreated(created) => touched.extend(created.parent_id),
        EventBody::TaskMoved(moved) => {
            touched.insert(moved.parent_id);
        }
        EventBody::TaskStatusChanged(_) => {
            touched.extend(state.tree().waiting_for(task));
            touched.extend(state.tree().task_above(task).map(|above| above.id));
        }
        EventBody::TurnEnded(_)
        | EventBody::AttemptFailed(_)
        | EventBody::BudgetSettled(_)
        | EventBody::BudgetReserved(_) => {
            touched.extend(state.budget_owner(task).map(|owner| owner.id));
        }
        EventBody::BudgetTransferred(moved) => {
            touched.insert(moved.to);
        }
        EventBody::BudgetRefunded(back) => {
            touched.insert(back.to);
        }
        _ => {}
    }
}

/// Fields of a `session_config` that are the same for every agent and a hundred times longer than the rest.
const LEFT_OUT: [&str; 3] = ["tools", "systemStable", "systemVariable"];

/// An event as clients see it: as it is in the log, with its place, its time and its line.
pub(crate) fn view(text: &str, (seq, at): (u64, u64), event: Option<&Event>) -> Option<Box<RawValue>> {
    let is_config = EventHead::parse(text).is_ok_and(|head| head.type_name == "session_config");
    let slim = if is_config { slimmed(text) } else { None };
    let body = slim.as_deref().unwrap_or(text).strip_prefix('{')?.strip_suffix('}')?;
    let mut whole = format!("{{\"seq\":{seq},\"at\":{at},{body}");
    if let Some(line) = event.and_then(|event| show::line(&event.body)) {
        let line = serde_json::to_string(&line).ok()?;
        let _infallible = write!(whole, ",\"line\":{line}");
    }
    whole.push('}');
    RawValue::from_string(whole).ok()
}

fn slimmed(text: &str) -> Option<String> {
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    for name in LEFT_OUT {
        if let Some(value) = object.get_mut(name) {
            let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
            *value = serde_json::json!({ "bytes": bytes });
        }
    }
    serde_json::to_string(&object).ok()
}

/// What a snapshot says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotFrame {
    cursor: String,
    root_id: Option<TaskId>,
    tasks: Vec<TaskView>,
    needs: Needs,
}

/// The frame with which a client begins: the whole tree as it is now. It goes on from commit `seq`.
pub(crate) fn snapshot(epoch: &str, seq: u64, (state, tally): (&State, &Tally)) -> Bytes {
    let nodes = state.tree().nodes().values();
    let snapshot = SnapshotFrame {
        cursor: format!("{epoch}-{seq}"),
        root_id: state.tree().root().map(|root| root.id),
        tasks: nodes.map(|node| TaskView::of(state, tally, node, Detail::List)).collect(),
        needs: crate::view::needs(state, tally),
    };
    let id = snapshot.cursor.clone();
    numbered("snapshot", &id, &serde_json::to_string(&snapshot).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_come_together_are_one_frame_with_each_of_them() {
        let one = |seq: u64| (seq, numbered("commit", &format!("e-{seq}"), "{}"));
        assert!(commits(&[]).is_none());
        let alone = commits(&[one(3)]).unwrap();
        assert_eq!((alone.kind, alone.bytes), (Kind::Commits(3, 3), one(3).1));
        let three = commits(&[one(3), one(4), one(5)]).unwrap();
        assert_eq!(three.kind, Kind::Commits(3, 5));
        assert_eq!(three.bytes, [one(3).1, one(4).1, one(5).1].concat());
    }

    #[test]
    fn a_frame_is_told_from_the_commit_on_that_is_news() {
        let one = |seq: u64| (seq, numbered("commit", &format!("e-{seq}"), "{\"text\":\"id: e-12\"}"));
        let frame = commits(&[one(9), one(10), one(11)]).unwrap().bytes;
        assert_eq!(since(&frame, "e", 9).unwrap(), frame);
        assert_eq!(since(&frame, "e", 10).unwrap(), [one(10).1, one(11).1].concat());
        assert_eq!(since(&frame, "e", 11).unwrap(), one(11).1);
        assert_eq!(since(&frame, "e", 1), None);
        assert_eq!(since(&frame, "e", 12), None);
    }
}
