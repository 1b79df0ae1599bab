//! The world outside: what was asked of it, and how it comes back.

use mxd_core::decide::{Actor, Alarm, Effect, Op, SessionOp};
use mxd_core::event::body::{ApprovalScope, StopReason, ToolCallId, TurnPurpose, Verdict};
use mxd_core::id::{ApprovalId, TaskId};
use mxd_core::message::{BackgroundComplete, Message};

use super::super::script::{self, settled, text};
use super::Play;
use crate::world::message_id;

/// Something that runs outside.
#[derive(Debug, Clone)]
pub(super) struct Job {
    effect: Effect,
    /// Whether it was told to end.
    cancelled: bool,
}

impl Play {
    /// Takes over what is to be done.
    pub(super) fn collect(&mut self) {
        let work = std::mem::take(&mut self.stage.work);
        for effect in work {
            match &effect {
                Effect::StopAgent { task } => self.cancel(*task, |_| true),
                Effect::CancelModel { task } => {
                    self.cancel(*task, |effect| matches!(effect, Effect::CallModel { .. }));
                }
                Effect::CancelTools { task } => self.cancel(*task, |effect| {
                    matches!(
                        effect,
                        Effect::RunTool { .. } | Effect::ResumeTool { .. } | Effect::RunChecks { .. }
                    )
                }),
                Effect::PruneConversation { .. } | Effect::Wake { .. } | Effect::DecideTool { .. } => {}
                Effect::Launch { .. }
                | Effect::CallModel { .. }
                | Effect::CountTokens { .. }
                | Effect::RunTool { .. }
                | Effect::ResumeTool { .. }
                | Effect::RunChecks { .. }
                | Effect::Alarm { .. }
                | Effect::RemoveWorktree { .. } => self.jobs.push(Job { effect, cancelled: false }),
            }
        }
    }

    fn cancel(&mut self, task: TaskId, which: impl Fn(&Effect) -> bool) {
        for job in &mut self.jobs {
            job.cancelled |= whose(&job.effect) == task && which(&job.effect);
        }
    }

    /// Some job comes back, or another end of a command.
    pub(super) fn work_goes_on(&mut self) {
        if !self.background.is_empty() && self.one_in(8) {
            let ended = self.below(self.background.len());
            let (task, command) = self.background.swap_remove(ended);
            self.command_ends(task, command);
            return;
        }
        if !self.samplings.is_empty() && self.one_in(3) {
            let ended = self.below(self.samplings.len());
            let sampling = self.samplings.swap_remove(ended);
            let op = self.sampled(&sampling);
            self.arrives(sampling.task, op);
            return;
        }
        if self.jobs.is_empty() {
            return;
        }
        let at = self.below(self.jobs.len());
        let job = self.jobs.swap_remove(at);
        match job.effect.clone() {
            Effect::CallModel { task, turn, .. } if self.one_in(30) => {
                let op = self.refitted(turn);
                self.arrives(task, op);
            }
            Effect::CallModel { task, turn, .. } if self.one_in(8) => {
                self.jobs.push(job);
                let op = self.failed_attempt(task, turn);
                self.arrives(task, op);
                self.drop_ended_calls();
            }
            Effect::CountTokens { task } if self.one_in(6) => {
                let op = self.refitted(self.stage.state.session(task).life().turns);
                self.arrives(task, op);
            }
            Effect::CallModel { task, turn, purpose, .. } => {
                let op = self.model_comes_back(task, (turn, purpose), job.cancelled);
                self.arrives(task, op);
            }
            // A server asks before it answers, and perhaps does not wait for what it asked for.
            Effect::RunTool { task, .. } if self.one_in(4) => {
                self.jobs.push(job);
                self.server_asks(task);
            }
            Effect::RunTool { task, call, approved } => {
                self.tool_comes_back(task, call, (approved, job.cancelled))
            }
            Effect::Launch { task } if self.one_in(10) => {
                let message = "no space left".to_owned();
                self.arrives(task, SessionOp::LaunchFailed { message });
            }
            Effect::CountTokens { task } if self.one_in(4) => {
                let message = "no such endpoint".to_owned();
                self.arrives(task, SessionOp::NotCounted { message });
            }
            Effect::RemoveWorktree { task, path, .. } if self.one_in(4) => {
                let message = "somebody is in it".to_owned();
                self.arrives(task, SessionOp::WorktreeKept { path, message });
            }
            Effect::RunChecks { task } => {
                let mut checked = script::checks([&[][..], &[0], &[0, 1]][self.below(3)]);
                checked.problem = self.one_in(8).then(|| "uncommitted files".to_owned());
                self.arrives(task, SessionOp::Checked(checked));
            }
            Effect::Alarm { at, .. } if at.0 > self.stage.now && !self.one_in(4) => self.jobs.push(job),
            other => self.comes_back_well(other),
        }
    }

    /// Whose next request could not be paid makes none.
    fn drop_ended_calls(&mut self) {
        let state = &self.stage.state;
        self.jobs.retain(|job| match &job.effect {
            Effect::CallModel { task, turn, .. } => {
                state.session(*task).asking().is_some_and(|asking| asking.turn == *turn)
            }
            _ => true,
        });
    }

    /// The one way in which nothing goes wrong.
    fn comes_back_well(&mut self, effect: Effect) {
        match effect {
            Effect::CallModel { task, turn, purpose, .. } => {
                let op = match purpose {
                    TurnPurpose::Work => SessionOp::Answered(
                        self.priced(task, script::answer(turn, vec![text("so be it")], StopReason::EndTurn)),
                    ),
                    TurnPurpose::Summary => {
                        let summary = script::summary(turn, "all of it", self.stage.terms);
                        SessionOp::Answered(self.priced(task, summary))
                    }
                };
                self.arrives(task, op);
            }
            Effect::RunTool { task, call, .. } | Effect::ResumeTool { task, call } => {
                self.arrives(task, SessionOp::Settled(settled(&call, "fine")));
            }
            Effect::Launch { task } => {
                let launched = script::launched(task, task == self.stage.root(), self.stage.terms);
                self.arrives(task, SessionOp::Launched(launched));
            }
            Effect::RunChecks { task } => {
                self.arrives(task, SessionOp::Checked(script::checks(&[0])));
            }
            Effect::Alarm { task, at, what } => {
                self.stage.now = self.stage.now.max(at.0);
                let op = match what {
                    Alarm::Question(id) => SessionOp::ExpireQuestion { id },
                    Alarm::Retry { turn } => SessionOp::Retry { turn },
                };
                self.arrives(task, op);
            }
            Effect::CountTokens { task } => {
                let tokens = self.stage.state.session(task).context().estimate();
                self.arrives(task, SessionOp::Counted { tokens });
            }
            Effect::RemoveWorktree { task, path, .. } => {
                self.arrives(task, SessionOp::WorktreeRemoved { path });
            }
            Effect::Wake { .. }
            | Effect::StopAgent { .. }
            | Effect::CancelModel { .. }
            | Effect::CancelTools { .. }
            | Effect::DecideTool { .. }
            | Effect::PruneConversation { .. } => {}
        }
    }

    fn tool_comes_back(
        &mut self,
        task: TaskId,
        call: ToolCallId,
        (approved, cancelled): (Option<String>, bool),
    ) {
        if approved.is_none() && !cancelled && self.one_in(4) {
            let (rule, call_hash) = ("ask before you run this".to_owned(), format!("hash of {}", call.0));
            self.tell(task, SessionOp::AskUser { call, rule, call_hash });
            return;
        }
        let text = ["fine", "fine", "no such file", ""][self.below(4)];
        let mut outcome = settled(&call, text);
        outcome.result.is_error = self.one_in(5);
        if self.one_in(8) && !cancelled {
            let command = self.name("command");
            outcome.result.pending = true;
            outcome.result.background_id = Some(command.clone());
            if self.arrives(task, SessionOp::Settled(outcome)) {
                self.background.push((task, command));
            }
            return;
        }
        self.arrives(task, SessionOp::Settled(outcome));
    }

    fn command_ends(&mut self, task: TaskId, command_id: String) {
        let ended = BackgroundComplete {
            command: "make".into(),
            command_id,
            exit_code: Some(0),
            duration_ms: 5,
            stdout: None,
            stderr: None,
        };
        self.named += 1;
        let id = message_id(2_000_000 + self.named);
        self.act(Actor::Daemon, Op::Report { id, to: task, message: Message::from(ended) });
    }

    /// Arrives, and is remembered to arrive again.
    fn arrives(&mut self, task: TaskId, op: SessionOp) -> bool {
        if self.past.len() > 8 {
            self.past.remove(0);
        }
        self.past.push((task, op.clone()));
        self.tell(task, op)
    }

    pub(super) fn something_arrives_again(&mut self) {
        if self.past.is_empty() {
            return;
        }
        let at = self.below(self.past.len());
        let (task, op) = self.past[at].clone();
        self.tell(task, op);
    }

    /// One step in which nobody interferes; `false` when nothing is left to happen.
    pub(super) fn calm_step(&mut self) -> bool {
        if let Some((task, id)) = self.unanswered() {
            let (verdict, scope) = (Verdict::Allow, ApprovalScope::Once);
            self.act(
                Actor::User,
                Op::Session { task, op: SessionOp::Approve { id, verdict, scope, reason: None } },
            );
            return true;
        }
        if let Some(sampling) = self.samplings.pop() {
            let op = self.sampled(&sampling);
            self.tell(sampling.task, op);
            return true;
        }
        if let Some((task, command)) = self.background.pop() {
            self.command_ends(task, command);
            return true;
        }
        if self.jobs.is_empty() {
            return false;
        }
        let job = self.jobs.remove(0);
        self.comes_back_well(job.effect);
        true
    }

    /// A call that waits for the user's word.
    pub(super) fn unanswered(&self) -> Option<(TaskId, ApprovalId)> {
        let sessions = self.stage.state.sessions().iter();
        let mut waiting =
            sessions.flat_map(|(task, session)| session.approvals().keys().map(|id| (*task, *id)));
        waiting.next()
    }
}

fn whose(effect: &Effect) -> TaskId {
    match effect {
        Effect::Wake { task }
        | Effect::StopAgent { task }
        | Effect::Launch { task }
        | Effect::CallModel { task, .. }
        | Effect::CancelModel { task }
        | Effect::CountTokens { task }
        | Effect::RunTool { task, .. }
        | Effect::ResumeTool { task, .. }
        | Effect::DecideTool { task, .. }
        | Effect::CancelTools { task }
        | Effect::RunChecks { task }
        | Effect::Alarm { task, .. }
        | Effect::RemoveWorktree { task, .. }
        | Effect::PruneConversation { task } => *task,
    }
}
