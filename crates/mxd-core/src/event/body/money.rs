//! Budgets: money is granted, handed down, set aside, spent and handed back.

use serde::{Deserialize, Serialize};

use crate::id::{ReservationId, TaskId};
use crate::money::Usd;

/// The task may spend more; the money comes from the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetGranted {
    /// How much more.
    pub amount_usd: Usd,
}

/// The task hands money to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetTransferred {
    /// Who gets it.
    pub to: TaskId,
    /// How much.
    pub amount_usd: Usd,
}

/// Money is set aside before a model call, so that calls that run at once cannot spend it twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReserved {
    /// Names what is set aside.
    pub id: ReservationId,
    /// How much at most.
    pub amount_usd: Usd,
    /// Tokens that the answer may have at most, where that is known: what is set aside pays for so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

/// The real cost is known; the rest of what was set aside is free again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSettled {
    /// What had been set aside.
    pub id: ReservationId,
    /// What it cost.
    pub amount_usd: Usd,
    /// Whether nobody said what it cost, and this is all that had been set aside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worst_case: bool,
}

/// The task hands back what it did not need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetRefunded {
    /// Who gets it back.
    pub to: TaskId,
    /// How much.
    pub amount_usd: Usd,
}

/// The agent is told that its money runs out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetWarning {
    /// What it is told.
    pub warning: String,
    /// The budget it is told about: when there is more, it is told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<Usd>,
}

/// The task cannot pay its next model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetExceeded {
    /// Its title.
    pub title: String,
    /// What it has spent.
    pub cost_usd: Usd,
    /// What it had.
    pub budget_usd: Usd,
    /// What the next call may cost at the least, with an answer as short as it can be of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_call_usd: Option<Usd>,
    /// What is left for it: not spent, not handed on, not set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_usd: Option<Usd>,
}
