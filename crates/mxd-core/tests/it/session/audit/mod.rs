//! What must be true of every commit and every effect, whoever asked for it. Each part keeps its own books from the events
//! and holds the state to them.

mod mail;
mod money;
mod turns;

use std::collections::BTreeSet;

use mxd_core::commit::Commit;
use mxd_core::decide::{Effect, Op};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::message::Message;
use mxd_core::state::{Anomalies, State};

use self::mail::Mail;
use self::money::Money;
use self::turns::Turns;

/// The books.
#[derive(Default)]
pub(crate) struct Audit {
    mail: Mail,
    money: Money,
    turns: Turns,
}

impl Audit {
    /// Something arrives, which may yet be refused.
    pub(crate) fn input(&mut self, op: &Op) {
        self.turns.input(op);
    }

    /// An event is about to be applied.
    pub(crate) fn event(&mut self, before: &State, event: &Event) {
        if let EventBody::TaskStatusChanged(changed) = &event.body {
            let status = before.tree().get(event.task).and_then(|node| node.status());
            assert_eq!(status, Some(changed.from), "the status it leaves is the one it has");
            changed.from.check(changed.to).expect("only by the table");
        }
        self.mail.event(event);
        self.money.event(before, event);
        self.turns.event(before, event);
    }

    /// A commit was applied.
    pub(crate) fn commit(&mut self, state: &State, commit: &Commit) {
        assert_eq!(state.anomalies(), Anomalies::default(), "everything fits: {:?}", commit.events());
        let touched: BTreeSet<TaskId> = commit.events().iter().map(|event| event.task).collect();
        for task in touched {
            if state.tree().get(task).is_some_and(|node| node.task().is_some()) {
                self.mail.check(state, task);
                self.turns.check(state, task);
            }
        }
        self.money.check(state, commit);
        check_ends(state, commit);
    }

    /// Something is to be done outside.
    pub(crate) fn effect(&mut self, state: &State, effect: &Effect) {
        self.turns.effect(state, effect);
    }

    /// Everything that ran is gone.
    pub(crate) fn crash(&mut self) {
        self.turns.crash();
    }
}

/// The end of a task, its status and the report to the task above are one commit.
fn check_ends(state: &State, commit: &Commit) {
    for event in commit.events() {
        let EventBody::DoneNotified(_) = &event.body else {
            continue;
        };
        let changes = commit.events().iter().filter(|other| {
            other.task == event.task && matches!(other.body, EventBody::TaskStatusChanged(_))
        });
        assert_eq!(changes.count(), 1, "an end without a status");
        let Some(above) = state.tree().task_above(event.task) else {
            continue;
        };
        let told = commit.events().iter().any(|other| match &other.body {
            EventBody::Message(posted) if other.task == above.id => {
                matches!(&posted.body, Message::TaskComplete(done) if done.task_id == event.task)
            }
            _ => false,
        });
        assert!(told, "an end that the task above does not hear of");
    }
}
