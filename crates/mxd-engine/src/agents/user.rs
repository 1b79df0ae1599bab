//! What a user does to the work of an agent without asking the agent.

use std::sync::Arc;

use mxd_core::event::body::ToolCallId;
use mxd_core::id::{MessageId, TaskId};
use mxd_core::tool::orchestrator::{MergeTask, TaskRef};
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::shell::{CallId, Processes};

use super::Agents;
use super::merge::{MergeEnd, settings_reason};
use super::once::{Attempt, Run};
use crate::clock;

/// A merge that the user asks for.
#[derive(Debug, Clone, Default)]
pub struct MergeRequest {
    /// The message of the commit.
    pub message: Option<String>,
    /// The fingerprint of the change of settings that the user accepts.
    pub accepted_settings: Option<String>,
}

/// What became of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// The work is in the branch of the task above, or was there already; how, in words.
    Done(String),
    /// Nothing was merged; why, in words.
    Refused(String),
    /// Nothing was merged: it changes settings or hooks, and the user has not accepted that.
    ChangesSettings {
        /// What it changes, in words.
        why: String,
        /// Names the change, for the user to accept exactly that.
        fingerprint: String,
    },
    /// Nothing is above the root.
    Nowhere,
}

impl Agents {
    /// Merges the branch of a task into that of the task above.
    pub(crate) async fn merge_for_user(&self, task: TaskId, request: MergeRequest) -> Merge {
        let above = self.parts().shown.look(|state| state.tree().task_above(task).map(|node| node.id));
        let Some(above) = above else {
            return Merge::Nowhere;
        };
        let wish = MergeTask { task_id: TaskRef::from(task), message: request.message };
        // Nobody repeats what a user asked for; each request is a call of its own.
        let call = ToolCallId(clock::fresh(clock::now()).issue::<MessageId>().to_string());
        let run = Run { call: &call, attempt: Attempt::First, stop: &self.closing() };
        let outcome = match self.merge(above, (wish, request.accepted_settings), run).await {
            MergeEnd::Settled(outcome) => outcome,
            MergeEnd::ChangesSettings(change) => {
                let why = settings_reason(&change);
                return Merge::ChangesSettings { why, fingerprint: change.fingerprint };
            }
        };
        let text = in_words(&outcome);
        if outcome.is_error { Merge::Refused(text) } else { Merge::Done(text) }
    }

    /// Lets a command that runs go on in the background; whether there was one.
    pub(crate) async fn to_background(&self, task: TaskId, call: &ToolCallId) -> bool {
        let commands = self.commands(task).await;
        commands.is_some_and(|commands| commands.to_background(&CallId::new(&call.0)))
    }

    /// Ends a command that runs in the background; whether there was one.
    pub(crate) async fn kill_background(&self, task: TaskId, name: &str) -> bool {
        self.commands(task).await.is_some_and(|commands| commands.kill(name))
    }

    /// Lets an agent go on that waits for a command in the background; whether it waited.
    pub(crate) async fn let_go(&self, task: TaskId, name: &str) -> bool {
        self.commands(task).await.is_some_and(|commands| commands.let_go(name))
    }

    /// The commands of a task that is at work.
    async fn commands(&self, task: TaskId) -> Option<Processes> {
        let desk = self.desks().get(&task).map(Arc::clone)?;
        let room = desk.room.lock().await;
        room.as_ref().map(|room| room.scope.processes.clone())
    }
}

fn in_words(outcome: &Outcome) -> String {
    let words = outcome.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        Part::Image { .. } => None,
    });
    words.collect::<Vec<_>>().join("\n")
}
