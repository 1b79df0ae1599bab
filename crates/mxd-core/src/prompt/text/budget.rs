//! Money as agents are told about it.

use crate::id::TaskId;
use crate::money::Usd;
use crate::state::State;

/// What a task may spend, with everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funds {
    /// Nobody set a limit.
    Unlimited,
    /// A limit.
    Limited {
        /// What it was given.
        given: Usd,
        /// What of it is spent.
        spent: Usd,
    },
    /// The limit of a task above, which this one spends from.
    FromAbove {
        /// Whose.
        owner: TaskId,
        /// What that task was given.
        given: Usd,
        /// What of it is spent.
        spent: Usd,
    },
}

impl Funds {
    /// What a task is paid from. `running` is what a model call costs that has ended and is not settled yet.
    pub fn of(state: &State, task: TaskId, running: Usd) -> Self {
        let Some(owner) = state.budget_owner(task) else { return Self::Unlimited };
        let Some(fields) = owner.task() else { return Self::Unlimited };
        let given = fields.budget_usd.unwrap_or(Usd::ZERO);
        let spent = fields.spent_usd.checked_add(running).unwrap_or(Usd::MAX);
        if owner.id == task {
            Self::Limited { given, spent }
        } else {
            Self::FromAbove { owner: owner.id, given, spent }
        }
    }
}

impl Funds {
    /// One line about it.
    pub fn line(self) -> String {
        match self {
            Self::Unlimited => "no limit was set".to_owned(),
            Self::Limited { given, spent } if spent == Usd::ZERO => {
                format!("{given}, shared with every task below yours")
            }
            Self::Limited { given, spent } => {
                let left = given.checked_sub(spent).unwrap_or(Usd::ZERO);
                format!("{left} left of {given}, shared with every task below yours")
            }
            Self::FromAbove { owner, given, spent } => {
                let left = given.checked_sub(spent).unwrap_or(Usd::ZERO);
                format!(
                    "none of your own: {left} left of the {given} of task {owner}, shared with all below it"
                )
            }
        }
    }
}
