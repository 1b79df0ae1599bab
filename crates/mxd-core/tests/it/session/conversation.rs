//! Conversations as they are read from the log, with what was thrown away removed from it.

use std::collections::BTreeMap;

use mxd_core::commit::Seq;
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::state::State;
use mxd_core::time::Millis;

use super::stage::Stage;

/// An event with its place and time.
pub(crate) type Said = (Seq, Millis, Event);

/// The whole log.
pub(crate) fn log(stage: &Stage) -> Vec<Said> {
    let commits = stage.commits.iter();
    let said = commits.flat_map(|commit| {
        commit.events().iter().map(move |event| (commit.seq(), commit.at(), event.clone()))
    });
    said.collect()
}

fn throws_away(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::TaskReset(_) | EventBody::ConversationCleared(_) | EventBody::TaskDeleted(_)
    )
}

/// The log without the conversations that were to be removed: of each, what stands before its last end.
pub(crate) fn pruned(stage: &Stage) -> Vec<Said> {
    let whole = log(stage);
    let mut through: BTreeMap<TaskId, Seq> = BTreeMap::new();
    for (task, decided) in &stage.prunes {
        let ends = whole
            .iter()
            .filter(|(seq, _, event)| *seq <= *decided && event.task == *task && throws_away(event));
        let last = ends.map(|(seq, _, _)| *seq).max().unwrap_or(Seq(0));
        let known = through.entry(*task).or_insert(Seq(0));
        *known = last.max(*known);
    }
    let mut kept = whole;
    kept.retain(|(seq, _, event)| {
        let gone = through.get(&event.task).is_some_and(|last| *seq <= *last);
        !(gone && event.body.kind().is_some_and(|kind| kind.is_conversation()))
    });
    kept
}

pub(crate) fn fold(said: &[Said]) -> State {
    let mut state = State::default();
    said.iter().for_each(|(_, at, event)| state.apply(event, *at));
    state
}

/// What the agent of a task has before its eyes: the conversations it was forked from, and its own.
pub(crate) fn read(log: &[Said], task: TaskId, through: Seq) -> Vec<Said> {
    let mut own: Vec<Said> =
        log.iter().filter(|(seq, _, event)| event.task == task && *seq <= through).cloned().collect();
    if let Some(last) = own.iter().rposition(|(_, _, event)| throws_away(event)) {
        own.drain(..=last);
    }
    let fork = own.iter().find_map(|(_, _, event)| match &event.body {
        EventBody::ForkMarker(fork) => Some(fork.clone()),
        _ => None,
    });
    let mut said = fork.map_or_else(Vec::new, |fork| read(log, fork.source_task_id, fork.source_seq));
    said.extend(own);
    said
}
