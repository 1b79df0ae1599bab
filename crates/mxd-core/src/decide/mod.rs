//! Decisions: a state and an input become events and effects, or a refusal. Nothing is acted on here.
//!
//! [`decide`] only routes. Each subject has its own file, and all of them write into a plan.

mod arrange;
mod authority;
mod consume;
mod create;
mod deliver;
mod edit;
mod input;
mod lifecycle;
mod notices;
mod plan;
mod refusal;
mod release;
mod report;
mod text;

pub use self::input::{
    Actor, DescriptionEdit, Input, NewFolder, NewRoot, NewTask, Op, Place, Post, Reach, TaskPatch,
};
pub use self::refusal::Refusal;
use crate::event::Event;
use crate::id::TaskId;
use crate::limits::Limits;
use crate::state::State;
use plan::Plan;

/// What an input causes: first everything is written to the log, then the effects are started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// What happened, in the order in which it is to be applied. Never empty.
    pub events: Vec<Event>,
    /// What is to be done in the world now.
    pub effects: Vec<Effect>,
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
    /// Remove the checkout and the branch of the task.
    RemoveWorktree {
        /// Whose checkout.
        task: TaskId,
        /// Where it is.
        path: String,
        /// Its branch.
        branch: Option<String>,
    },
    /// Remove the conversation of the task from the log, up to the commit of this decision.
    PruneConversation {
        /// Whose conversation.
        task: TaskId,
    },
}

/// Decides an input. Pure: the same state, limits and input always give the same answer.
pub fn decide(state: &State, limits: &Limits, input: Input) -> Result<Decision, Refusal> {
    let Input { at: _, actor, fresh, op } = input;
    let mut plan = Plan::new(state, limits, actor, fresh);
    plan.check_actor(&op)?;
    match op {
        Op::CreateRoot(root) => create::root(&mut plan, root)?,
        Op::CreateTask(task) => create::task(&mut plan, task)?,
        Op::CreateFolder(folder) => create::folder(&mut plan, folder)?,
        Op::UpdateTask { task, patch } => edit::update(&mut plan, task, patch)?,
        Op::MoveTask { task, parent, place } => arrange::relocate(&mut plan, task, parent, place)?,
        Op::ReorderChildren { node, children } => arrange::reorder(&mut plan, node, children)?,
        Op::SetStatus { task, to, reason } => lifecycle::set_status(&mut plan, task, to, reason)?,
        Op::CloseTask { task } => lifecycle::close(&mut plan, task, None)?,
        Op::ResetTask { task } => lifecycle::reset(&mut plan, task)?,
        Op::ClearConversation { task } => lifecycle::clear(&mut plan, task)?,
        Op::DeleteTask { task, reach } => lifecycle::delete(&mut plan, task, reach)?,
        Op::SendMessage { id, to, post } => deliver::send(&mut plan, id, to, post)?,
        Op::Report { id, to, message } => report::report(&mut plan, id, to, message)?,
        Op::ConsumeMessages { task, ids } => consume::consume(&mut plan, task, ids)?,
    }
    plan.into_decision()
}
