//! A node of the tree: a task with an agent, or a folder that only groups.

use serde::{Deserialize, Serialize};

use super::Status;
use crate::event::body::EditedBy;
use crate::id::TaskId;
use crate::money::Usd;
use crate::time::Millis;

/// A node. What only tasks have is inside [`NodeKind::Task`], so a folder cannot have a status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its id.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// What is to be done, or what the folder is for.
    pub description: String,
    /// The node above; none for the root.
    pub parent_id: Option<TaskId>,
    /// The nodes below, in order.
    pub children: Vec<TaskId>,
    /// The colour it is shown in.
    pub color: Option<Color>,
    /// Who changed it last.
    pub edited_by: EditedBy,
    /// When it was created.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// Task or folder.
    pub kind: NodeKind,
}

/// The two kinds of nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Work with a conversation and an agent.
    Task(TaskFields),
    /// A group of nodes; who owns what is looked up through it.
    Folder,
}

/// What only a task has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFields {
    /// Where it stands.
    pub status: Status,
    /// Its git branch.
    pub branch: Option<String>,
    /// Its checkout.
    pub worktree_path: Option<String>,
    /// Whether that is being removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaving: Option<Leaving>,
    /// What it has spent.
    pub cost_usd: Usd,
    /// What it may spend; none means no limit of its own.
    pub budget_usd: Option<Usd>,
    /// What was spent of that, by itself and by tasks below that have no budget of their own.
    #[serde(default)]
    pub spent_usd: Usd,
    /// What closing it does, if it is a task that comes back.
    pub persistent: Option<Persistence>,
    /// Tasks that have to be passed or closed before it starts.
    pub after: Vec<TaskId>,
    /// Commands that have to succeed on its work before it can be passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The manifest its agent works under, a file of the repository: it only takes away from what the task above has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The skill its agent works by, which lists the tools it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}

/// How the removal of a checkout stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaving {
    /// It is being removed.
    Underway,
    /// It could not be removed. The next start of its task tries again.
    Stuck,
}

/// What happens to the conversation of a task that comes back each time it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Persistence {
    /// It starts with an empty conversation.
    Reset,
    /// It goes on with the old one.
    Continue,
}

/// A colour: one of [`Color::NAMES`] or `#` with 3, 6 or 8 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Color(pub String);

impl Color {
    /// The colours that have a name.
    pub const NAMES: [&str; 7] = ["red", "blue", "green", "yellow", "purple", "orange", "gray"];

    /// Whether the text names a colour. A stored colour of a newer version may not.
    pub fn is_known(&self) -> bool {
        match self.0.strip_prefix('#') {
            Some(hex) => matches!(hex.len(), 3 | 6 | 8) && hex.bytes().all(|b| b.is_ascii_hexdigit()),
            None => Self::NAMES.contains(&self.0.as_str()),
        }
    }
}

impl Node {
    /// What it has as a task; none for a folder.
    pub fn task(&self) -> Option<&TaskFields> {
        match &self.kind {
            NodeKind::Task(task) => Some(task),
            NodeKind::Folder => None,
        }
    }

    pub(crate) fn task_mut(&mut self) -> Option<&mut TaskFields> {
        match &mut self.kind {
            NodeKind::Task(task) => Some(task),
            NodeKind::Folder => None,
        }
    }

    /// Its status; none for a folder.
    pub fn status(&self) -> Option<Status> {
        self.task().map(|task| task.status)
    }
}
