//! Tools with which agents talk: to other tasks, to the user, to other projects, and to the loop about waiting and ending.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reference::TaskRef;
use super::{Arguments, MESSAGE_BYTES, Misfit, TITLE_CHARS, bytes};
use crate::event::body::DoneStatus;

/// The longest report of finished work, in bytes.
const SUMMARY_BYTES: usize = 16 * 1024;

/// The longest question to the user, in bytes.
const QUESTION_BYTES: usize = 8 * 1024;

/// The longest name of a project.
const PROJECT_CHARS: usize = 200;

/// `send_message`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    /// A task directly below yours, or any task above it.
    pub task_id: TaskRef,
    /// A subject line.
    #[schemars(length(min = 1, max = TITLE_CHARS))]
    pub title: String,
    /// The text. The reader sees this and its own conversation, nothing of yours.
    #[schemars(length(min = 1, max = MESSAGE_BYTES))]
    pub message: String,
    /// Say that you cannot go on without an answer.
    #[serde(default)]
    pub request_reply: bool,
}

impl Arguments for SendMessage {
    const DESCRIPTION: &'static str = "\
Sends a message to a task directly below yours or to any task above it. The first message to a pending task starts \
it: it gets its own worktree on its own branch, created from the commit your branch stands on, so commit what it \
needs before you send. A message to a working task reaches it between two of its steps; one to a passed, failed or \
closed task wakes it with everything it knew. A draft takes no messages, and a task that waits for others starts \
when they are passed. The message is stored before this returns; `requestReply` does not make this call wait: \
continue, or yield, and the answer comes as a message.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("message", &self.message, MESSAGE_BYTES)
    }
}

/// `yield`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Yield {}

impl Arguments for Yield {
    const DESCRIPTION: &'static str = "\
Waits, at no cost, until a message arrives: from a task above or below, from the user, from a background command or \
a timeout. Returns what you are still waiting for; the messages follow it. Call it alone, as the last thing of a \
turn, when nothing useful is left to do right now. Called together with other tools it does nothing.";
}

/// `done`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// `passed` when the task is done as described, `failed` when you give it up.
    #[schemars(with = "String", extend("enum" = ["passed", "failed"]))]
    pub status: DoneStatus,
    /// What the task above has to know: what was done and how it was verified, what was decided and why, what is left
    /// or doubtful. For `failed`: what stood in the way and what was tried.
    #[schemars(length(min = 1, max = SUMMARY_BYTES))]
    pub summary: String,
}

impl Arguments for Done {
    const DESCRIPTION: &'static str = "\
Ends your task and reports to the task above. `passed` is granted only when everything is committed, no task below \
yours still works, no message is unread, and the task's checks pass: they are run on the committed tree in a clean \
sandbox, and if one fails you get its output here and go on. Call it alone, as the last thing of a turn. A later \
message can wake you again.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("summary", &self.summary, SUMMARY_BYTES)
    }
}

/// `clarify`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clarify {
    /// The question. Its first line is its title; below it what the user needs to decide: the options, what each
    /// costs, and which you would take.
    #[schemars(length(min = 1, max = QUESTION_BYTES))]
    pub question: String,
}

impl Arguments for Clarify {
    const DESCRIPTION: &'static str = "\
Asks the user, and returns at once. The question is shown until it is answered; the answer comes as a message. Go on \
with what does not depend on it, or yield. If the user set a time limit and it passes, you are told so and decide \
yourself.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("question", &self.question, QUESTION_BYTES)
    }
}

/// `list_projects`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListProjects {}

impl Arguments for ListProjects {
    const DESCRIPTION: &'static str = "Lists the user's other projects with their ids, names and whether their root task works. Root task only.";
}

/// `send_message_to_project`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessageToProject {
    /// The id of the project.
    #[schemars(length(min = 1, max = PROJECT_CHARS))]
    pub project_id: String,
    /// The text. The reader knows nothing of this project.
    #[schemars(length(min = 1, max = MESSAGE_BYTES))]
    pub message: String,
}

impl Arguments for SendMessageToProject {
    const DESCRIPTION: &'static str = "\
Sends a message to the root task of another project, which reads it as coming from this project and decides itself \
what to do about it. Root task only.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("projectId", &self.project_id, PROJECT_CHARS)?;
        bytes("message", &self.message, MESSAGE_BYTES)
    }
}
