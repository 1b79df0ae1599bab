//! Turns: one model call at a time and each with money set aside, one result for every tool call before the next one,
//! no tool run twice, and nobody who was stopped goes on by itself.

use std::collections::{BTreeMap, BTreeSet};

use mxd_core::decide::{Effect, Op, SessionOp};
use mxd_core::event::body::{CallMade, RestReason, StopReason, ToolCallId};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::message::MessageKind;
use mxd_core::session::Life;
use mxd_core::state::State;
use mxd_core::tree::Status;

#[derive(Default)]
pub(super) struct Turns(BTreeMap<TaskId, Seen>);

/// What was seen of a task.
#[derive(Default)]
struct Seen {
    /// Calls without a result, in order.
    open: Vec<ToolCallId>,
    /// Calls in this answer so far.
    made: Vec<ToolCallId>,
    /// Calls that were set going and did not come back to ask.
    running: BTreeSet<ToolCallId>,
    /// Calls that the daemon carries out itself and has taken up again since it started.
    finished: BTreeSet<ToolCallId>,
    /// The model call that runs outside.
    in_flight: Option<u64>,
    last_turn: u64,
    life: Life,
    /// Whether it was stopped and nobody wrote to it since.
    stopped: bool,
    /// Whether something speaks for the running turn being broken off.
    broken_off: bool,
    /// Whether it was broken off and nothing spoke for it yet.
    dropped: bool,
}

impl Turns {
    pub(super) fn input(&mut self, op: &Op) {
        let Op::Session { task, op } = op else {
            return;
        };
        let seen = self.0.entry(*task).or_default();
        match op {
            SessionOp::AskUser { call, .. } => {
                seen.running.remove(call);
            }
            SessionOp::Answered(answer) if answer.stop == StopReason::Cancelled => seen.broken_off = true,
            _ => {}
        }
    }

    pub(super) fn event(&mut self, before: &State, event: &Event) {
        let task = event.task;
        let seen = self.0.entry(task).or_default();
        match &event.body {
            EventBody::TaskStarted(_) => assert!(!seen.stopped, "{task} was stopped and starts by itself"),
            EventBody::TurnStarted(started) => {
                assert!(!seen.stopped, "{task} was stopped and goes on by itself");
                assert_eq!(seen.open, [], "{task} goes on without these results");
                assert!(started.turn > seen.last_turn, "turns of {task} are counted up");
                let status = before.tree().get(task).and_then(|node| node.status());
                assert_eq!(status, Some(Status::InProgress), "{task} is asked");
                seen.last_turn = started.turn;
                seen.broken_off = false;
            }
            EventBody::ToolCall(call) => seen.made.push(call.tool_call_id.clone()),
            EventBody::TurnEnded(ended) => seen.end(task, &ended.stop_reason, &ended.calls),
            EventBody::ToolResult(result) => {
                let open = seen.open.iter().position(|call| *call == result.tool_call_id);
                let open = open.unwrap_or_else(|| panic!("{task} has no open call {result:?}"));
                seen.open.remove(open);
                seen.running.remove(&result.tool_call_id);
            }
            EventBody::RewindMarker(_) => seen.open.clear(),
            EventBody::AgentInterrupted(_) => seen.broken_off = true,
            EventBody::AgentStopped(_) => {
                seen.stopped = true;
                seen.broken_off = true;
            }
            EventBody::TaskStatusChanged(changed) if changed.to != Status::InProgress => {
                seen.broken_off = true;
            }
            EventBody::Message(posted) if posted.wake => {
                let by_itself =
                    [MessageKind::Notice, MessageKind::BackgroundComplete, MessageKind::TreeChange];
                seen.stopped &= by_itself.contains(&posted.body.kind());
            }
            EventBody::TaskReset(_) | EventBody::ConversationCleared(_) => {
                let (last_turn, life) = (seen.last_turn, seen.life);
                *seen = Seen { last_turn, life, ..Seen::default() };
            }
            EventBody::TaskDeleted(_) => {
                self.0.remove(&task);
            }
            _ => {}
        }
    }

    /// What must be true of the session after a commit about it.
    pub(super) fn check(&mut self, state: &State, task: TaskId) {
        let (session, seen) = (state.session(task), self.0.entry(task).or_default());
        let open: Vec<&ToolCallId> = session.calls().iter().map(|call| &call.id).collect();
        assert!(!seen.dropped, "the turn of {task} was dropped for nothing");
        assert_eq!(open, seen.open.iter().collect::<Vec<_>>(), "open calls of {task}");
        let reserved = state.reservations().values().filter(|one| one.asker == task).count();
        let wanted = usize::from(session.asking().is_some()) + session.samplings().len();
        assert_eq!(reserved, wanted, "money set aside for calls of {task}");
        let life = session.life();
        assert!(life.turns >= seen.life.turns && life.tokens >= seen.life.tokens, "what {task} used is used");
        assert!(seen.life.since.is_none() || life.since == seen.life.since, "it began when it began");
        seen.life = life;
    }

    pub(super) fn effect(&mut self, state: &State, effect: &Effect) {
        match effect {
            Effect::CallModel { task, turn, .. } => {
                let seen = self.at_work(state, *task, "asked");
                assert_eq!(seen.in_flight, None, "two model calls of {task}");
                seen.in_flight = Some(*turn);
                let asking = state.session(*task).asking().map(|asking| asking.turn);
                assert_eq!(asking, Some(*turn), "{task} asks for what is not in its log");
            }
            Effect::RunTool { task, call, .. } => {
                let seen = self.at_work(state, *task, "at its tools");
                assert!(seen.open.contains(call), "{call:?} of {task} is run and not open");
                assert!(seen.running.insert(call.clone()), "{call:?} of {task} is run twice");
            }
            Effect::ResumeTool { task, call } => {
                let seen = self.at_work(state, *task, "at its tools again");
                assert!(seen.open.contains(call), "{call:?} of {task} is finished and not open");
                assert!(
                    seen.finished.insert(call.clone()),
                    "{call:?} of {task} is finished twice in one life"
                );
            }
            Effect::Launch { task } => {
                self.at_work(state, *task, "launched");
            }
            Effect::RunChecks { task } => {
                let seen = self.at_work(state, *task, "checked");
                assert_eq!(seen.open.len(), 1, "the open done of {task}");
            }
            _ => {}
        }
    }

    fn at_work(&mut self, state: &State, task: TaskId, what: &str) -> &mut Seen {
        let status = state.tree().get(task).and_then(|node| node.status());
        assert_eq!(status, Some(Status::InProgress), "{task} is {what}");
        let seen = self.0.entry(task).or_default();
        let resting = state.session(task).rest() == Some(&RestReason::Stopped);
        assert!(!(seen.stopped && resting), "{task} was stopped and is {what}");
        seen
    }

    pub(super) fn crash(&mut self) {
        for seen in self.0.values_mut() {
            seen.in_flight = None;
            seen.finished.clear();
        }
    }
}

impl Seen {
    fn end(&mut self, task: TaskId, stop: &StopReason, calls: &[CallMade]) {
        let made = std::mem::take(&mut self.made);
        let named: Vec<ToolCallId> = calls.iter().map(|call| call.id.clone()).collect();
        assert_eq!(made, named, "the calls in the words of {task} and those in the end of its turn");
        self.dropped = *stop == StopReason::Cancelled && !self.broken_off;
        self.open = named;
        self.in_flight = None;
    }
}
