//! Whether a task and everything below it still goes on, or waits for the user.

use super::standing::{AgentState, standing, tries_again};
use crate::id::TaskId;
use crate::state::State;
use crate::tree::{Node, Status};

/// How a task and everything below it goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Those that work, or will without anybody's help.
    pub working: Vec<TaskId>,
    /// Those that want an answer or a permission of the user. They may work meanwhile.
    pub asking: Vec<TaskId>,
    /// Those in progress that cannot go on alone: out of money, in circles, refused, failed.
    pub stuck: Vec<TaskId>,
}

/// How a task and everything below it goes on.
pub fn progress(state: &State, top: TaskId) -> Progress {
    let below = state.tree().descendants(top);
    let mut progress = Progress::default();
    for node in state.tree().get(top).into_iter().chain(below) {
        let Some(standing) = standing(state, node.id) else { continue };
        let session = state.session(node.id);
        if goes_on(state, node, standing.state) {
            progress.working.push(node.id);
        }
        let is_asking = !session.approvals().is_empty()
            || !session.questions().is_empty()
            || !session.host_requests().is_empty();
        if is_asking {
            progress.asking.push(node.id);
        }
        if standing.state.is_stuck() && node.status() == Some(Status::InProgress) {
            progress.stuck.push(node.id);
        }
    }
    progress
}

/// Whether an agent that stands so works, or will do so when nobody does anything.
fn goes_on(state: &State, node: &Node, standing: AgentState) -> bool {
    let session = state.session(node.id);
    let is_called = state.inbox(node.id).wants_agent();
    let comes_back = || {
        session.queued().is_some() || !session.background().is_empty() || tries_again(session, node.status())
    };
    match standing {
        AgentState::Launching
        | AgentState::Thinking
        | AgentState::Tool
        | AgentState::Checking
        | AgentState::Compacting => true,
        AgentState::Waiting => is_called || comes_back(),
        AgentState::None | AgentState::Interrupted | AgentState::Stopped | AgentState::Done => is_called,
        // A message does not help these, or not alone: it may lie there for good.
        AgentState::Blocked
        | AgentState::Asking
        | AgentState::Spent
        | AgentState::Stuck
        | AgentState::Refused
        | AgentState::Failed => false,
    }
}
