//! Random people: they write, answer, break off, stop, pay, and change the tree under everybody's feet.

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, NewTask, Op, Place, Reach, SessionOp};
use mxd_core::event::body::{ApprovalScope, Verdict};
use mxd_core::id::TaskId;
use mxd_core::message::{Compact, Message};
use mxd_core::tree::Status;

use super::super::script::cents;
use super::Play;
use crate::world::message_id;

impl Play {
    pub(super) fn somebody_acts(&mut self) {
        let tasks: Vec<TaskId> = self.stage.tasks().collect();
        let task = tasks[self.below(tasks.len())];
        let other = tasks[self.below(tasks.len())];
        let op = match self.below(40) {
            0..12 => self.stage.message(task, "go on"),
            12..15 => Op::CreateTask(self.wanted(task)),
            15..18 => return self.somebody_answers(),
            18..21 => Op::Session { task, op: SessionOp::Interrupt },
            21..24 => Op::Session { task, op: SessionOp::Stop { reason: None } },
            24..26 => Op::Session { task, op: SessionOp::Grant { amount: cents(25) } },
            26 => {
                self.named += 1;
                let id = message_id(3_000_000 + self.named);
                Op::Report { id, to: task, message: Message::from(Compact {}) }
            }
            27 => Op::ResetTask { task },
            28 => Op::ClearConversation { task },
            29 => Op::DeleteTask { task, reach: Reach::Recursive },
            30 => {
                let to = Seq(self.dice.below(self.stage.commits.len() as u64 + 1));
                Op::Session { task, op: SessionOp::Rewind { to } }
            }
            31 => Op::CloseTask { task },
            32..34 => {
                let to = Status::ALL[self.below(Status::ALL.len())];
                Op::SetStatus { task, to, reason: None }
            }
            34 => Op::MoveTask { task, parent: other, place: Place::Last },
            35 => {
                let tokens = self.dice.below(30_000);
                self.tell(task, SessionOp::Counted { tokens });
                return;
            }
            _ => self.stage.message(self.stage.root(), "more"),
        };
        self.act(Actor::User, op);
    }

    fn wanted(&mut self, parent: TaskId) -> NewTask {
        let mut new = NewTask::new(parent, "t", "d");
        new.budget = self.one_in(4).then(|| cents(30));
        if self.one_in(3) {
            new.checks = vec!["make test".into()];
        }
        new
    }

    fn somebody_answers(&mut self) {
        if let Some((task, id)) = self.unanswered() {
            let verdict = if self.one_in(3) { Verdict::Deny } else { Verdict::Allow };
            let scope = if self.one_in(3) { ApprovalScope::Task } else { ApprovalScope::Once };
            self.act(
                Actor::User,
                Op::Session { task, op: SessionOp::Approve { id, verdict, scope, reason: None } },
            );
            return;
        }
        let sessions = self.stage.state.sessions().iter();
        let asked =
            sessions.flat_map(|(task, session)| session.questions().keys().map(|id| (*task, *id))).next();
        if let Some((task, id)) = asked {
            let answer = "blue".to_owned();
            self.act(Actor::User, Op::Session { task, op: SessionOp::AnswerQuestion { id, answer } });
        }
    }
}
