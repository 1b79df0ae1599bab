//! The session of a task: where its conversation stands, as the log shows it.
//!
//! A session holds shapes and no texts: which model call runs, which tool calls are open, what is waited for, and
//! how much was used. What is owed after a crash is read from here and from nowhere else.

mod context;
mod fold;
mod trace;
mod volatile;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

pub use self::context::{Context, Counted, Load};
pub use self::trace::Trace;
pub(crate) use self::trace::{Repetition, fingerprint, repetition};
use crate::event::body::{CallMade, DoneStatus, RestReason, Terms, ToolCallId, TurnPurpose};
use crate::id::{ApprovalId, ClarificationId, ReservationId, TaskId};
use crate::money::Usd;
use crate::time::Millis;

/// The stop reason of a model call that failed and may succeed when it is made again.
pub(crate) const FAILING: &str = "error";
/// The stop reason of one that failed for good.
pub(crate) const FAILED: &str = "failed";
/// The stop reason of an answer that did not fit the model's window.
pub(crate) const EXCEEDED: &str = "model_context_window_exceeded";
/// How a call ended whose next request could not be paid.
pub(crate) const UNPAID: &str = "unpaid";
/// How a call ended that was not made, because another model is to be asked.
pub(crate) const REFITTED: &str = "refitted";

/// Where the conversation of a task stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Session {
    /// Whether its workplace is being made.
    pub(crate) launching: bool,
    /// What the model can take and costs, once the session is open.
    pub(crate) terms: Option<Terms>,
    /// Whether the start of its requests is frozen: it has a configuration of its own or one it was forked with.
    pub(crate) opened: bool,
    /// The model call that runs.
    pub(crate) asking: Option<Asking>,
    /// The calls of the last answer that have no result yet, in order.
    pub(crate) calls: Vec<CallMade>,
    /// Why it does not go on by itself. A task that never worked has no reason to.
    pub(crate) rest: Option<RestReason>,
    /// Tasks whose conversations stand before its own, because it was forked from them; the first one first.
    pub(crate) lineage: Vec<TaskId>,
    /// Whether it worked since the conversation began.
    pub(crate) begun: bool,
    /// Whether the turn was broken off and is being brought to its end.
    pub(crate) interrupted: bool,
    /// Whether its provider is asked how full its window is.
    pub(crate) counting: bool,
    /// Whether its conversation is to be summarised: that was begun, and has not come to an end.
    pub(crate) summarising: bool,
    /// Whether it rested when its conversation began to be summarised.
    pub(crate) resting_before: bool,
    /// The budget of which it was told that it runs out.
    pub(crate) warned_of: Option<Usd>,
    /// Its number, while it waits for a free place among the agents at work.
    pub(crate) queued: Option<u64>,
    /// The end it has declared, while that is looked into.
    pub(crate) finishing: Option<Finishing>,
    /// How much it has before its eyes.
    pub(crate) context: Context,
    /// Questions to the user without an answer, with the time they were asked.
    pub(crate) questions: BTreeMap<ClarificationId, Millis>,
    /// Those of them that a tool server asked, which alone is told the answer.
    pub(crate) of_servers: BTreeSet<ClarificationId>,
    /// Calls that wait for the user's word.
    pub(crate) approvals: BTreeMap<ApprovalId, Waiting>,
    /// Tools that the user allowed for the whole task.
    pub(crate) allowed: BTreeSet<String>,
    /// Hosts that its commands want to reach, and that wait for the user's word.
    pub(crate) host_requests: BTreeMap<ApprovalId, HostRequest>,
    /// Hosts that the user allowed for the whole task.
    pub(crate) allowed_hosts: BTreeSet<String>,
    /// Tools about the tree that its agent does not have.
    pub(crate) withheld: BTreeSet<String>,
    /// Commands that go on in the background.
    pub(crate) background: BTreeSet<String>,
    /// What its model is writing for servers, and for which.
    pub(crate) samplings: BTreeMap<ReservationId, String>,
    /// How often its model began to write for servers since it was last asked itself.
    pub(crate) sampled: u32,
    /// The last calls and what they came to.
    pub(crate) trace: VecDeque<Trace>,
    /// What is wrong with the usage that its provider reported last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage_fault: Option<String>,
    /// What went wrong or round in circles lately.
    pub(crate) streak: Streak,
    /// What no reset takes away.
    pub(crate) life: Life,
}

/// Whether an agent can rest in an open call of this tool.
fn is_waiting(tool: &str) -> bool {
    ["mcp__mxd__yield", "mcp__mxd__done"].contains(&tool)
}

/// A model call that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asking {
    /// Which one of its task.
    pub turn: u64,
    /// What for.
    pub purpose: TurnPurpose,
}

/// The end that an agent has declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finishing {
    /// The open call.
    pub call: ToolCallId,
    /// Its word.
    pub status: DoneStatus,
    /// Its report.
    pub summary: String,
}

/// A tool call that waits for the user's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The call.
    pub call: ToolCallId,
    /// The tool.
    pub tool: String,
    /// The hash of tool and arguments.
    pub call_hash: String,
}

/// A host that waits for the user's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostRequest {
    /// The host as a rule would name it.
    pub host: String,
    /// When it was asked about.
    pub at: Millis,
}

/// What went wrong or round in circles lately; a turn that gets somewhere ends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Streak {
    /// Model calls that failed and might have succeeded, one after the other.
    pub failures: u32,
    /// Answers that were cut off, one after the other.
    pub cut_off: u32,
    /// Answers that say the model's window is exceeded, with nothing done in between.
    pub exceeded: u32,
    /// Turns in which it did nothing but talk to other tasks or wait, one after the other.
    pub talk: u32,
    /// Times it was reminded that it waits for nothing, since somebody wrote to it.
    pub reminded: u32,
}

/// What a task has used in all its life. Nothing clears it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Life {
    /// Model calls begun.
    pub turns: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// When its first model call began.
    pub since: Option<Millis>,
}

impl Session {
    /// The session of a task that never worked.
    pub(crate) const FRESH: &'static Self = &Self {
        launching: false,
        terms: None,
        opened: false,
        asking: None,
        calls: Vec::new(),
        rest: None,
        lineage: Vec::new(),
        begun: false,
        interrupted: false,
        counting: false,
        summarising: false,
        resting_before: false,
        warned_of: None,
        queued: None,
        finishing: None,
        context: Context::EMPTY,
        questions: BTreeMap::new(),
        of_servers: BTreeSet::new(),
        approvals: BTreeMap::new(),
        allowed: BTreeSet::new(),
        host_requests: BTreeMap::new(),
        allowed_hosts: BTreeSet::new(),
        withheld: BTreeSet::new(),
        background: BTreeSet::new(),
        samplings: BTreeMap::new(),
        sampled: 0,
        trace: VecDeque::new(),
        usage_fault: None,
        streak: Streak { failures: 0, cut_off: 0, exceeded: 0, talk: 0, reminded: 0 },
        life: Life { turns: 0, tokens: 0, since: None },
    };

    /// The model call that runs.
    pub fn asking(&self) -> Option<Asking> {
        self.asking
    }

    /// Whether its workplace is being made.
    pub fn is_launching(&self) -> bool {
        self.launching
    }

    /// The end it has declared, while that is looked into.
    pub fn finishing(&self) -> Option<&Finishing> {
        self.finishing.as_ref()
    }

    /// The calls of the last answer that have no result yet, in order.
    pub fn calls(&self) -> &[CallMade] {
        &self.calls
    }

    /// Why it does not go on by itself.
    pub fn rest(&self) -> Option<&RestReason> {
        self.rest.as_ref()
    }

    /// Whether its model could not be asked, and is asked again by itself: until so many calls in a row have failed.
    pub fn tries_again(&self, most_failures: u32) -> bool {
        let failures = self.streak.failures;
        self.rest == Some(RestReason::Failed) && failures > 0 && failures < most_failures
    }

    /// Whether the start of its requests is frozen.
    pub fn is_open(&self) -> bool {
        self.opened
    }

    /// Tasks whose conversations stand before its own; the first one first.
    pub fn lineage(&self) -> &[TaskId] {
        &self.lineage
    }

    /// What the model can take and costs.
    pub fn terms(&self) -> Option<Terms> {
        self.terms
    }

    /// How much it has before its eyes.
    pub fn context(&self) -> Context {
        self.context
    }

    /// Questions to the user without an answer, with the time they were asked.
    pub fn questions(&self) -> &BTreeMap<ClarificationId, Millis> {
        &self.questions
    }

    /// Calls that wait for the user's word.
    pub fn approvals(&self) -> &BTreeMap<ApprovalId, Waiting> {
        &self.approvals
    }

    /// Whether its agent does not have this tool, which others have.
    pub fn is_withheld(&self, tool: &str) -> bool {
        self.withheld.contains(tool)
    }

    /// Commands that go on in the background.
    pub fn background(&self) -> &BTreeSet<String> {
        &self.background
    }

    /// What its model is writing for servers, and for which.
    pub fn samplings(&self) -> &BTreeMap<ReservationId, String> {
        &self.samplings
    }

    /// What is wrong with the usage that its provider reported last, when that cannot be.
    pub fn usage_fault(&self) -> Option<&str> {
        self.usage_fault.as_deref()
    }

    /// What it has used in all its life.
    pub fn life(&self) -> Life {
        self.life
    }

    /// Whether a tool was allowed for the whole task.
    pub fn allows(&self, tool: &str) -> bool {
        self.allowed.contains(tool)
    }

    /// Hosts that its commands want to reach, and that wait for the user's word.
    pub fn host_requests(&self) -> &BTreeMap<ApprovalId, HostRequest> {
        &self.host_requests
    }

    /// Whether the user allowed a host, as a rule would name it, for the whole task.
    pub fn allows_host(&self, host: &str) -> bool {
        self.allowed_hosts.contains(host)
    }

    /// Its number, while it waits for a free place among the agents at work.
    pub fn queued(&self) -> Option<u64> {
        self.queued
    }

    /// Whether it takes a place among the agents at work: something goes on that is not only waiting for the user.
    pub fn takes_a_place(&self) -> bool {
        let asked = |call: &CallMade| self.approvals.values().any(|waiting| waiting.call == call.id);
        let only_asks = !self.approvals.is_empty() && self.calls.iter().all(asked);
        self.owes_a_turn() || self.is_busy() && !only_asks
    }

    /// Whether its provider is asked how full its window is.
    pub fn is_counting(&self) -> bool {
        self.counting
    }

    /// Whether work goes on outside that will come back: a model call, a count, a tool call, its workplace, its checks.
    pub fn is_busy(&self) -> bool {
        self.launching
            || self.counting
            || self.asking.is_some()
            || self.finishing.is_some()
            || self.calls.iter().any(|call| !self.waits_in(&call.id))
    }

    /// Whether this call is one by which the agent waits: the open `yield` or `done` it rests in, for whatever reason it
    /// rests by now.
    pub(crate) fn waits_in(&self, call: &ToolCallId) -> bool {
        let resting = self.rest.is_some() && self.finishing.is_none();
        resting && self.calls.last().is_some_and(|last| last.id == *call && is_waiting(&last.tool))
    }

    /// Whether it is the agent's turn to be asked, without anybody writing to it.
    pub fn owes_a_turn(&self) -> bool {
        self.begun && self.rest.is_none() && !self.is_busy()
    }
}
