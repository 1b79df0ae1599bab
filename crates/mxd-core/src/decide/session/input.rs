//! What can happen to a session.

use crate::commit::Seq;
use crate::event::body::{
    ApprovalScope, CheckFinished, SessionConfig, StopReason, Thinking, ToolCall, ToolCallId, ToolResult,
    ToolVerdict, Usage, Verdict, WorktreeCreated,
};
use crate::id::{ApprovalId, ClarificationId, ReservationId, TaskId};
use crate::money::Usd;
use crate::raw::RawJson;
use crate::session::Load;

/// Something that happened to a session, or is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionOp {
    /// See what is next.
    Advance,
    /// The daemon started: see what is owed.
    Boot,
    /// The workplace is made.
    Launched(Launched),
    /// The workplace could not be made.
    LaunchFailed {
        /// Why.
        message: String,
    },
    /// The checkout that was to be removed is gone.
    WorktreeRemoved {
        /// Where it was.
        path: String,
    },
    /// The checkout that was to be removed stays.
    WorktreeKept {
        /// Where it is.
        path: String,
        /// Why.
        message: String,
    },
    /// The model answered.
    Answered(Answer),
    /// The model could not be asked.
    Failed(Failure),
    /// A request of the running model call failed, and another one is to follow.
    AttemptFailed(FailedAttempt),
    /// The settings name another model than the one that was to be asked, and nothing was sent.
    Refitted {
        /// The last turn that was begun.
        turn: u64,
        /// The new start of the conversation.
        config: SessionConfig,
    },
    /// The provider counted what the next request would hold.
    Counted {
        /// The tokens.
        tokens: u64,
    },
    /// The provider could not count.
    NotCounted {
        /// Why.
        message: String,
    },
    /// A tool call has an outcome.
    Settled(Settled),
    /// A tool call has to be asked about.
    AskUser {
        /// Which one.
        call: ToolCallId,
        /// The rule that wants it.
        rule: String,
        /// The hash of tool and arguments.
        call_hash: String,
    },
    /// The user's word about a tool call.
    Approve {
        /// Which request.
        id: ApprovalId,
        /// Allow or deny.
        verdict: Verdict,
        /// How far it reaches.
        scope: ApprovalScope,
        /// Why, for the agent that is denied something.
        reason: Option<String>,
    },
    /// The commands of the agent want to reach a host that no rule allows or denies.
    AskAboutHost {
        /// Names the request.
        id: ApprovalId,
        /// The host as a rule would name it.
        host: String,
    },
    /// Nobody waits for the word about a host any more.
    WithdrawHost {
        /// Which request.
        id: ApprovalId,
    },
    /// A tool call about the tree is to be decided.
    DecideTool {
        /// Which one.
        call: ToolCallId,
        /// The last commit before this one.
        head: Seq,
        /// Its arguments, as the model wrote them.
        args: RawJson,
    },
    /// The checks of a task were run.
    Checked(Checked),
    /// The user answered a question.
    AnswerQuestion {
        /// Which one.
        id: ClarificationId,
        /// The answer.
        answer: String,
    },
    /// A tool server asks the user something in the course of a call.
    AskForServer {
        /// Names the question.
        id: ClarificationId,
        /// The server.
        server: String,
        /// What it asks.
        question: String,
    },
    /// A question of a tool server is of no use any more.
    WithdrawQuestion {
        /// Which one.
        id: ClarificationId,
    },
    /// A tool server wants the model to write something, in the course of a call.
    Sample(Sample),
    /// The model has written for a tool server, or could not.
    Sampled(Sampled),
    /// Nobody answered a question in time.
    ExpireQuestion {
        /// Which one.
        id: ClarificationId,
    },
    /// Ask again after a failure.
    Retry {
        /// The call that failed.
        turn: u64,
    },
    /// Break the running turn off.
    Interrupt,
    /// Stop the agent and those below it.
    Stop {
        /// Why.
        reason: Option<String>,
    },
    /// Take the conversation back to an earlier point.
    Rewind {
        /// The last commit that still counts.
        to: Seq,
    },
    /// The user lets the task, which has not begun, go on from the conversation of another.
    Fork {
        /// Whose conversation.
        source: TaskId,
        /// The last commit of it that counts.
        head: Seq,
    },
    /// The user gives the task more money.
    Grant {
        /// How much more.
        amount: Usd,
    },
}

/// A workplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// The checkout, when one was made.
    pub worktree: Option<WorktreeCreated>,
    /// The frozen start of the requests.
    pub config: SessionConfig,
    /// What the agent has to know before its first message.
    pub header: String,
    /// Tools about the tree that it does not have, by the name models use.
    pub withheld: Vec<String>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which call of its task it answers.
    pub turn: u64,
    /// What it wrote, in order.
    pub items: Vec<AnswerItem>,
    /// Why it stopped.
    pub stop: StopReason,
    /// Which model it is, as its server calls it.
    pub model: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
    /// The new start of the conversation, when it was asked to summarise.
    pub refreshed: Option<Box<Refreshed>>,
}

/// What a model call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// This much.
    Known(Usd),
    /// Its provider did not say.
    Unknown,
    /// The answer was cut after it began. What was reported until then is not the last word.
    Cut {
        /// What the usage reported until then costs.
        reported: Usd,
        /// Bytes that the model had written by then, as far as they can be read.
        bytes: u64,
    },
    /// What was reported cannot be.
    Impossible {
        /// What the numbers cost, as far as there are any.
        reported: Usd,
        /// What is wrong with them.
        fault: &'static str,
    },
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerItem {
    /// Words.
    Text(String),
    /// A thought.
    Thinking(Thinking),
    /// Something of one wire.
    Other {
        /// The wire.
        wire: String,
        /// The item.
        json: RawJson,
    },
    /// A call of a tool.
    Call(ToolCall),
}

impl AnswerItem {
    /// The bytes that stand in the conversation for it.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Thinking(thinking) => {
                thinking.thinking.len() + thinking.signature.as_ref().map_or(0, String::len)
            }
            Self::Other { json, .. } => json.get().len(),
            Self::Call(call) => call.tool.len() + call.tool_call_id.0.len() + call.input.get().len(),
        }
    }

    /// The call, if it is one.
    pub fn call(&self) -> Option<&ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            Self::Text(_) | Self::Thinking(_) | Self::Other { .. } => None,
        }
    }
}

/// How a conversation begins after its summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refreshed {
    /// The frozen start of the requests from now on.
    pub config: SessionConfig,
    /// The summary: what the model wrote, and what must not depend on its memory.
    pub checkpoint: String,
    /// The whole first message from now on, the summary in it.
    pub content: String,
    /// The working directory.
    pub cwd: Option<String>,
}

/// A model call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which call of its task.
    pub turn: u64,
    /// What happened.
    pub message: String,
    /// What kind of failure it is.
    pub class: String,
    /// What to do about it.
    pub advice: Option<String>,
    /// Whether it may pass by itself.
    pub passing: bool,
    /// Whether the conversation was too long for the model.
    pub too_long: bool,
    /// What it used all the same.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
}

/// A request of a model call that failed while the call goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Which call of its task.
    pub turn: u64,
    /// What happened.
    pub message: String,
    /// What kind of failure it is.
    pub class: String,
    /// What it used all the same.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
}

/// Something that a model is to write for a tool server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Names it, and what is set aside for it.
    pub id: ReservationId,
    /// The server.
    pub server: String,
    /// What the model is to read.
    pub load: Load,
    /// Tokens that it may write.
    pub max_tokens: u64,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Which one.
    pub id: ReservationId,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
    /// Bytes that it wrote.
    pub written: u64,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What the gate had said.
    pub verdict: Option<ToolVerdict>,
    /// The result.
    pub result: ToolResult,
}

/// What the checks of a task came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Each one, in order.
    pub checks: Vec<Check>,
    /// What stands in the way besides: work that is not committed, a workplace that is gone.
    pub problem: Option<String>,
}

/// A check that was run.
pub type Check = CheckFinished;
