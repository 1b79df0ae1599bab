//! The tree: nodes come, change, move and go.

use serde::{Deserialize, Serialize};

use super::EditedBy;
use crate::change::Change;
use crate::id::TaskId;
use crate::money::Usd;
use crate::tree::{Color, Persistence, Status};

/// A node is new. It stands at `position` among its parent's children; the root has no parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    /// Task or folder.
    pub kind: CreatedKind,
    /// Its title.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// The node above; none for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// Its place among the children of the node above.
    pub position: usize,
    /// How a task starts; a folder has no status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<InitialStatus>,
    /// The colour it is shown in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// What closing it does, if it is a task that comes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<Persistence>,
    /// What it may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<Usd>,
    /// Tasks that have to be passed or closed before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// Its git branch, when it has one from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commands that have to succeed on its work before it can be passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The manifest its agent works under, a file of the repository: it only takes away from what the task above has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// The skill its agent works by, which lists the tools it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Who created it.
    pub edited_by: EditedBy,
}

/// The two kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreatedKind {
    /// Has a status, a conversation and an agent.
    Task,
    /// Groups nodes.
    Folder,
}

/// The statuses a task can be created with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialStatus {
    /// Not ready to be started.
    Draft,
    /// Starts with its first message.
    #[default]
    Pending,
}

/// Fields of a node changed. Fields that did not change are not there; `null` means cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskUpdated {
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The new colour.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub color: Change<Color>,
    /// What closing it now does.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub persistent: Change<Persistence>,
    /// What it may now spend.
    #[serde(default, skip_serializing_if = "Change::is_keep")]
    pub budget_usd: Change<Usd>,
    /// All tasks it now waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<TaskId>>,
    /// Its new git branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Who changed it.
    pub edited_by: EditedBy,
}

impl TaskUpdated {
    /// An update that changes nothing yet.
    pub fn by(edited_by: EditedBy) -> Self {
        Self {
            title: None,
            description: None,
            color: Change::Keep,
            persistent: Change::Keep,
            budget_usd: Change::Keep,
            after: None,
            branch: None,
            edited_by,
        }
    }
}

/// A task has another status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusChanged {
    /// The status before.
    pub from: Status,
    /// The status now.
    pub to: Status,
    /// Who changed it.
    pub edited_by: EditedBy,
    /// Why, when it is not plain from who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A node stands somewhere else, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskMoved {
    /// The node now above it.
    pub parent_id: TaskId,
    /// Its place among that node's other children.
    pub position: usize,
    /// Who moved it.
    pub edited_by: EditedBy,
}

/// The children of a node have another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildrenReordered {
    /// All of them, in the new order.
    pub children: Vec<TaskId>,
    /// Who ordered them.
    pub edited_by: EditedBy,
}

/// A node is gone. Whatever was below it went before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskDeleted {
    /// Who deleted it.
    pub edited_by: EditedBy,
}

/// A task begins again from nothing: conversation, inbox and worktree are thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskReset {
    /// Who reset it.
    pub edited_by: EditedBy,
}

/// The conversation and the inbox of a task are thrown away; the task stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCleared {
    /// Who cleared it.
    pub edited_by: EditedBy,
}
