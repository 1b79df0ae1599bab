//! The life of an agent: starting, turns, ending, failing.

use serde::{Deserialize, Serialize};

use super::{StopReason, Usage};
use crate::money::Usd;

/// A model call begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {}

/// A model call ended. Its cost is the only source of what a task has spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnded {
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost_usd: Usd,
}

/// An agent begins to work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrchestrationStarted {
    /// Whether it goes on with an earlier conversation.
    pub resume: bool,
    /// The model.
    pub model: String,
    /// Its provider.
    pub provider: String,
}

/// An agent has ended, with the totals of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrchestrationCompleted {
    /// Whether the task is passed.
    pub success: bool,
    /// What the run cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Usd>,
    /// How many model calls it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// What they used together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the tasks below cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_costs: Option<Usd>,
}

/// A task is started for the first time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStarted {
    /// Its title at that moment.
    pub title: String,
}

/// The task above was told that this one is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoneNotified {
    /// How it ended, in the agent's own word.
    pub status: DoneStatus,
    /// What it reports.
    pub summary: String,
}

/// What an agent can say about its finished work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoneStatus {
    /// It did it.
    Passed,
    /// It could not.
    Failed,
}

/// The agent was stopped; its task stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStopped {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The running turn was broken off; the agent goes on with the next message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInterrupted {}

/// Something went wrong that the user should see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorRaised {
    /// What happened.
    pub message: String,
    /// What kind of error it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}
