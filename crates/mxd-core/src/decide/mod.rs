//! Decisions: a state and an input become events and effects, or a refusal. Nothing is acted on here.
//!
//! [`decide`] only routes. Each subject has its own file, and all of them write into a plan.

mod adopt;
mod arrange;
mod authority;
mod bounce;
mod consume;
mod create;
mod deliver;
mod discard;
mod edit;
mod input;
mod lifecycle;
mod notices;
mod plan;
mod refusal;
mod release;
mod report;
mod session;
mod text;
mod together;

pub use self::input::{
    Actor, AdoptedTask, DescriptionEdit, Input, NewFolder, NewRoot, NewTask, Op, Place, Post, Reach,
    TaskPatch,
};
pub use self::refusal::Refusal;
pub use self::session::{
    Answer, AnswerItem, Check, Checked, Cost, FailedAttempt, Failure, Launched, Refreshed, Sample, Sampled,
    SessionOp, Settled,
};
use crate::event::Event;
use crate::event::body::{ToolCallId, TurnPurpose};
use crate::id::{ClarificationId, TaskId};
use crate::limits::Limits;
use crate::state::State;
use crate::time::Millis;
use plan::{Asked, Plan};

/// What an input causes: first everything is written to the log, then the effects are started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// What happened, in the order in which it is to be applied. Empty only for an input about a session, when
    /// there is nothing to be recorded.
    pub events: Vec<Event>,
    /// What is to be done in the world now.
    pub effects: Vec<Effect>,
}

impl Decision {
    /// The same, if it fits into one line of the log.
    fn fitting(self, limits: &Limits) -> Result<Self, Refusal> {
        let texts = self.events.iter().map(Event::to_json);
        let bytes =
            texts.map(|text| text.map_or(usize::MAX, |text| text.len())).fold(0, usize::saturating_add);
        let limit = limits.decision_bytes;
        if bytes > limit { Err(Refusal::TooMuchAtOnce { bytes, limit }) } else { Ok(self) }
    }
}

/// Something to be done outside, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start the agent of the task, or wake it.
    Wake {
        /// Whose agent.
        task: TaskId,
    },
    /// Stop the agent of the task, if it runs.
    StopAgent {
        /// Whose agent.
        task: TaskId,
    },
    /// Make the workplace of the task: its checkout if it has none, and the start of its conversation.
    Launch {
        /// Whose.
        task: TaskId,
    },
    /// Ask the model with the conversation as it is in the log.
    CallModel {
        /// Whose agent.
        task: TaskId,
        /// Which call of its task; the answer names it.
        turn: u64,
        /// What for.
        purpose: TurnPurpose,
        /// Tokens that the answer may have, as far as they are paid for; none when nobody knows what they cost.
        max_output_tokens: Option<u64>,
    },
    /// Break the running model call off. Its answer still comes, as far as it got.
    CancelModel {
        /// Whose.
        task: TaskId,
    },
    /// Let the provider count what the next request would hold.
    CountTokens {
        /// Whose request.
        task: TaskId,
    },
    /// Run a tool call.
    RunTool {
        /// Whose.
        task: TaskId,
        /// Which one.
        call: ToolCallId,
        /// The hash of the call that the user has approved, when it had to be asked about.
        approved: Option<String>,
    },
    /// Find out what came of a tool call that the daemon itself carries out and was cut off in, and finish it.
    ResumeTool {
        /// Whose.
        task: TaskId,
        /// Which one.
        call: ToolCallId,
    },
    /// Decide a tool call about the tree: it comes back as an input at once.
    DecideTool {
        /// Whose.
        task: TaskId,
        /// Which one.
        call: ToolCallId,
    },
    /// Break the running tool calls and checks off. Their results still come.
    CancelTools {
        /// Whose.
        task: TaskId,
    },
    /// Run the checks of a task on what its agent has committed.
    RunChecks {
        /// Whose.
        task: TaskId,
    },
    /// Come back at this time.
    Alarm {
        /// Whose.
        task: TaskId,
        /// When.
        at: Millis,
        /// With what.
        what: Alarm,
    },
    /// Remove the checkout and the branch of the task.
    RemoveWorktree {
        /// Whose checkout.
        task: TaskId,
        /// Where it is.
        path: String,
        /// Its branch.
        branch: Option<String>,
    },
    /// Remove from the log what of the task's conversation was thrown away: all that stands before the last time it was
    /// reset, cleared or deleted, as seen from the commit of this decision.
    PruneConversation {
        /// Whose conversation.
        task: TaskId,
    },
}

/// Why somebody comes back later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// A question to the user may be without an answer.
    Question(ClarificationId),
    /// A model call that failed is to be tried again.
    Retry {
        /// The call that failed.
        turn: u64,
    },
}

/// Decides an input. Pure: the same state, limits and input always give the same answer.
pub fn decide(state: &State, limits: &Limits, input: Input) -> Result<Decision, Refusal> {
    let Input { at, actor, fresh, op } = input;
    let asked = Asked { actor, at, fresh };
    if let Op::Together(ops) = op {
        return together::decide(state, limits, (asked, ops));
    }
    let mut plan = Plan::new(state, limits, asked);
    apply_op(&mut plan, op)?;
    plan.into_decision()
}

/// Plans what is wanted, in the name of the plan's actor.
fn apply_op(plan: &mut Plan<'_>, op: Op) -> Result<(), Refusal> {
    plan.check_actor(&op)?;
    match op {
        Op::CreateRoot(root) => create::root(plan, root),
        Op::CreateTask(task) => create::task(plan, task),
        Op::CreateFolder(folder) => create::folder(plan, folder),
        Op::AdoptTask(task) => adopt::adopt(plan, task),
        Op::UpdateTask { task, patch } => edit::update(plan, task, patch),
        Op::SetBaseBranch { branch } => edit::base_branch(plan, branch),
        Op::MoveTask { task, parent, place } => arrange::relocate(plan, task, parent, place),
        Op::ReorderChildren { node, children } => arrange::reorder(plan, node, children),
        Op::SetStatus { task, to, reason } => lifecycle::set_status(plan, task, to, reason),
        Op::CloseTask { task } => lifecycle::close(plan, task, None),
        Op::ResetTask { task } => lifecycle::reset(plan, task),
        Op::ClearConversation { task } => lifecycle::clear(plan, task),
        Op::DeleteTask { task, reach } => lifecycle::delete(plan, task, reach),
        Op::SendMessage { id, to, post } => deliver::send(plan, id, to, post),
        Op::Report { id, to, message } => report::report(plan, id, to, message),
        Op::ConsumeMessages { task, ids } => consume::consume(plan, task, ids),
        Op::Session { task, op } => session::decide(plan, task, op),
        // Each of them needs the state that the one before it leaves, which a plan does not have.
        Op::Together(_) => Err(Refusal::Nested),
    }
}
