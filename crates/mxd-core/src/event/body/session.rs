//! The life of an agent: starting, turns, ending, failing.

use serde::{Deserialize, Serialize};

use super::{BlobId, StopReason, ToolCallId, Usage};
use crate::money::Usd;

/// A model call begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// Which one of its task, counted from 1 and never again from the start.
    #[serde(default)]
    pub turn: u64,
    /// What the model is asked for.
    #[serde(default)]
    pub purpose: TurnPurpose,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnPurpose {
    /// To go on with its task.
    #[default]
    Work,
    /// To summarise the conversation.
    Summary,
}

/// A model call ended. Its cost is the only source of what a task has spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnded {
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// Which model answered, where its server says so; what was asked for may be only a name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost_usd: Usd,
    /// Whether nobody said what it cost: then all that was set aside for it counts as spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// What is wrong with the usage that the provider reported, when it cannot be; `usage` is then what is believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_fault: Option<String>,
    /// Bytes of its answer that the usage does not count, because it was not told or is not the last word.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answer_bytes: u64,
    /// The tools it calls, in order; what it wants of them is in the `tool_call` events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallMade>,
}

/// One request of a model call failed. The call goes on with another request, for which money is set aside anew, or ends
/// with its `turn_ended`. Its cost counts among what the task has spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptFailed {
    /// Which model call of its task.
    pub turn: u64,
    /// What happened.
    pub message: String,
    /// What kind of error it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost_usd: Usd,
    /// Whether nobody said what it cost: then all that was set aside for it counts as spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// What is wrong with the usage that the provider reported, when it cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_fault: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A call of a tool, without its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallMade {
    /// The provider's name of the call.
    pub id: ToolCallId,
    /// The tool's name.
    pub tool: String,
    /// A fingerprint of tool and arguments, to recognise a call that is made again and again.
    pub digest: u64,
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
    /// Tools about the tree that it does not have, by the name models use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
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
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitReason>,
}

/// Why the run of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// It said that it did it, and the checks agree.
    DonePassed,
    /// It said that it could not.
    DoneFailed,
    /// Everything else.
    Interrupted,
    /// Something a newer version knows.
    #[serde(untagged)]
    Other(String),
}

/// A task is started for the first time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStarted {
    /// Its title at that moment.
    pub title: String,
}

/// The agent says that its work is done; what it says is being looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoneRequested {
    /// The call by which it said so, which stays open.
    pub tool_call_id: ToolCallId,
    /// How it ended, in the agent's own word.
    pub status: DoneStatus,
    /// What it reports.
    pub summary: String,
}

/// A check of the task was run on what its agent had committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckFinished {
    /// The command.
    pub command: String,
    /// Its exit code; none when it had to be ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The git tree it ran on.
    pub tree: String,
    /// What it printed, or the end of it.
    pub output: String,
    /// All that it printed, when that was too much for a line of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobId>,
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

/// The agent has nothing to do until something happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRested {
    /// Why.
    pub why: RestReason,
}

/// As many agents work as may work at once: this one waits for a free place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentQueued {
    /// Its number among those who wait: lower ones come first.
    pub ticket: u64,
}

/// Why an agent does not go on by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestReason {
    /// It ended its turn.
    EndTurn,
    /// It called `yield`, and the call is open.
    Yield,
    /// It called `done`, and the call is open.
    Done,
    /// Its turn was broken off.
    Interrupted,
    /// It was stopped, with all that it ran.
    Stopped,
    /// The model would not answer.
    Refused,
    /// The model could not be asked, or its workplace could not be made.
    Failed,
    /// Its money, its turns or its time are used up.
    Spent,
    /// It went round in circles.
    Loop,
    /// Something a newer version knows.
    #[serde(untagged)]
    Other(String),
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
