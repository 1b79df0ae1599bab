//! Conflicts of a merge: the task whose work it is resolves them, whatever it was doing, and the merging agent is told what
//! really becomes of it.

use mxd_core::decide::{Actor, Op, Refusal};
use mxd_core::event::body::RestReason;
use mxd_core::id::{MessageId, TaskId};
use mxd_core::message::{Message, Notice, NoticeTopic};
use mxd_core::money::Usd;
use mxd_core::state::State;
use mxd_core::tree::{Node, Status};

use super::Agents;
use crate::git::merge::{Conflicts, Request};
use crate::git::worktree;
use crate::project::{Wish, WishError};

/// What the owner of a conflict is like when it is told.
enum Owner {
    /// It works, or waits for something.
    InProgress,
    /// It had ended.
    Ended(Status),
    /// A person stopped it.
    Stopped,
    /// Its budget has nothing left for a model call.
    WithoutMoney { left: Usd },
}

impl Owner {
    fn of(state: &State, task: TaskId) -> Self {
        let rest = state.session(task).rest();
        if rest == Some(&RestReason::Stopped) {
            return Self::Stopped;
        }
        let payer = state.budget_owner(task).map(|payer| payer.id);
        let left = payer.and_then(|payer| state.remaining(payer));
        if let Some(left) = left.filter(|left| *left == Usd::ZERO || rest == Some(&RestReason::Spent)) {
            return Self::WithoutMoney { left };
        }
        match state.tree().get(task).and_then(Node::status) {
            Some(status) if status.is_ended() => Self::Ended(status),
            _ => Self::InProgress,
        }
    }

    /// What the merging agent is told.
    fn in_words(&self, title: &str) -> String {
        match self {
            Self::InProgress => format!(
                "{title} is in progress and was told to resolve them on its branch. Wait for its report with yield, then \
                 merge again."
            ),
            Self::Ended(status) => format!(
                "{title} had ended ({status}) and works again: it was told to resolve them on its branch. Wait for its \
                 report with yield, then merge again."
            ),
            Self::Stopped => format!(
                "{title} was stopped by the user and does not go on by itself: it reads about them when somebody writes \
                 to it. Ask the user whether it may go on."
            ),
            Self::WithoutMoney { left } => format!(
                "{title} was told to resolve them on its branch and cannot: {left} of its budget is left, which is not \
                 enough for its next model call. Give it more with update_task (addBudgetUsd), or ask the user to."
            ),
        }
    }
}

impl Agents {
    /// Tells the owner of a conflict, and says what becomes of it in words for the merging agent.
    pub(super) async fn tell_owner(
        &self,
        (owner, title): (TaskId, &str),
        (request, conflicts): (&Request, &Conflicts),
        notice: MessageId,
    ) -> String {
        let revived = match self.revive_worktree(owner).await {
            Ok(revived) => revived,
            Err(why) => {
                return format!(
                    "{title} cannot resolve them: its worktree is gone and could not be made again: {why}. Ask the user."
                );
            }
        };
        let found = self.parts().shown.look(|state| Owner::of(state, owner));
        let (from, into) = (&request.from, &request.into);
        let lost = if revived {
            "Your worktree was gone and was made again from your branch; what was not committed is not in it. "
        } else {
            ""
        };
        let content = format!(
            "Your branch {from} cannot be merged into {into}: both changed the same. {lost}Merge {into} into your branch, \
             resolve the conflicts, see that everything still works, and commit. When your work is complete, call done: \
             it is merged after your report.\n{conflicts}"
        );
        let message = Message::Notice(Notice { topic: NoticeTopic::Conflict, content });
        match self.deliver(owner, (notice, message)).await {
            Ok(()) => found.in_words(title),
            Err(why) => format!("{title} could not be told: {why}. Nobody resolves them before it is."),
        }
    }

    /// Gives a task a message in the daemon's name, and waits until it is durable. One that it has got before is not given
    /// to it again.
    async fn deliver(&self, to: TaskId, (id, message): (MessageId, Message)) -> Result<(), WishError> {
        let (wish, answer) = Wish::new(Actor::Daemon, Op::Report { id, to, message });
        self.parts().wishes.send(wish).await.map_err(|_| WishError::Closed)?;
        match answer.await.map_err(|_| WishError::Closed)? {
            Ok(_) | Err(WishError::Refused(Refusal::DuplicateMessage { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Makes a worktree again that somebody removed behind the daemon's back; whether that was needed. Whoever is taken up
    /// again has to have a place to work in.
    async fn revive_worktree(&self, task: TaskId) -> Result<bool, String> {
        let found =
            worktree::find(&self.surroundings().repository, task).map_err(|error| error.to_string())?;
        if found.is_some() {
            return Ok(false);
        }
        self.make_worktree(task).await.map(|_| true)
    }
}

/// Whether the worktree of a task is being put away, and its branch with it.
pub(super) fn is_put_away(state: &State, task: TaskId) -> bool {
    state.tree().get(task).and_then(Node::task).is_some_and(|fields| fields.leaving.is_some())
}

/// Why a task has no branch to merge.
pub(super) fn no_branch(state: &State, task: TaskId) -> String {
    let why = match state.tree().get(task).and_then(Node::status) {
        Some(Status::Closed) => "it is closed, and its branch was put away with its worktree",
        Some(Status::Draft | Status::Pending) => "it has not been started, or was reset since",
        Some(Status::InProgress) => "its worktree is not made yet",
        Some(Status::Verify | Status::Passed | Status::Failed) => {
            "its worktree was never made, or was put away"
        }
        None => "it is a folder",
    };
    format!("that task has no branch: {why}")
}
