//! Wishes: something somebody wants decided, and the answer.

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Op, Refusal};
use mxd_core::id::TaskId;
use tokio::sync::oneshot;

/// What became of a wish: it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The commit, when something was recorded.
    pub seq: Option<Seq>,
    /// The node that the first event is about; a new one, when one was created.
    pub node: Option<TaskId>,
}

/// Why a wish did not come true. Nothing was changed by it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// It is not allowed or makes no sense.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// It could not be stored.
    #[error("it could not be stored: {0}; free some space and try again")]
    Disk(String),
    /// The project is closed.
    #[error("the project is closed")]
    Closed,
}

/// A wish on its way to the loop.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) actor: Actor,
    pub(crate) op: Op,
    pub(crate) answer: Option<oneshot::Sender<Result<Receipt, WishError>>>,
}

impl Wish {
    pub(crate) fn new(actor: Actor, op: Op) -> (Self, oneshot::Receiver<Result<Receipt, WishError>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { actor, op, answer: Some(answer) }, receiver)
    }

    /// A wish of the daemon's own, which nobody waits for.
    pub(crate) fn of_daemon(op: Op) -> Self {
        Self { actor: Actor::Daemon, op, answer: None }
    }

    pub(crate) fn answer(self, answer: Result<Receipt, WishError>) {
        if let Some(sender) = self.answer {
            // Whoever asked may be gone; what was decided holds all the same.
            let _gone = sender.send(answer);
        }
    }
}
