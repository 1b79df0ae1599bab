//! What the daemon shows, as far as a terminal shows it. Everything else is passed on unread.

use mxd_core::show::AgentState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A project.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Project {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) path_exists: bool,
    #[serde(default)]
    pub(crate) root_id: Option<String>,
    #[serde(default)]
    pub(crate) problem: Option<String>,
    #[serde(default)]
    pub(crate) cost_usd: f64,
    #[serde(default)]
    pub(crate) running: u64,
    #[serde(default)]
    pub(crate) needs: u64,
    /// What its user should know, when it was just registered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// All projects.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Projects {
    pub(crate) projects: Vec<Project>,
}

/// All tasks of a project.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tasks {
    pub(crate) tasks: Vec<Task>,
    pub(crate) root_id: Option<String>,
}

/// A task or a folder.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) parent_id: Option<String>,
    #[serde(default)]
    pub(crate) children: Vec<String>,
    #[serde(default)]
    pub(crate) status: Option<String>,
    #[serde(default)]
    pub(crate) branch: Option<String>,
    #[serde(default)]
    pub(crate) worktree_path: Option<String>,
    #[serde(default)]
    pub(crate) cost_usd: f64,
    #[serde(default)]
    pub(crate) budget_usd: Option<f64>,
    #[serde(default)]
    pub(crate) remaining_usd: Option<f64>,
    #[serde(default)]
    pub(crate) agent: Option<Agent>,
    #[serde(default)]
    pub(crate) last_line: Option<String>,
    #[serde(default)]
    pub(crate) checks: Vec<String>,
    #[serde(default)]
    pub(crate) life: Life,
    /// How full its window is; only where there is a conversation.
    #[serde(default)]
    pub(crate) context: Option<Value>,
}

/// Where an agent stands.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Agent {
    pub(crate) state: AgentState,
    pub(crate) why: String,
}

/// What a task has used.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Life {
    pub(crate) turns: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_tokens: u64,
    pub(crate) cache_write_tokens: u64,
}

impl Life {
    /// All tokens, read and written.
    pub(crate) fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens
    }
}

/// Something that happened.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    pub(crate) seq: u64,
    pub(crate) at: u64,
    pub(crate) task: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) line: Option<String>,
    #[serde(flatten)]
    pub(crate) rest: serde_json::Map<String, Value>,
}

/// A page of events.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Events {
    pub(crate) events: Vec<Event>,
}

/// All tasks as they stand when a stream begins.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    pub(crate) tasks: Vec<Task>,
    pub(crate) root_id: Option<String>,
    #[serde(default)]
    pub(crate) needs: Needs,
}

/// What became durable together.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Commit {
    pub(crate) events: Vec<Event>,
    #[serde(default)]
    pub(crate) tasks: Vec<Task>,
    #[serde(default)]
    pub(crate) removed: Vec<String>,
    #[serde(default)]
    pub(crate) needs: Option<Needs>,
}

/// What waits for the user.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Needs {
    pub(crate) approvals: Vec<Approval>,
    pub(crate) clarifications: Vec<Clarification>,
    pub(crate) failed: Vec<Trouble>,
    pub(crate) conflicts: Vec<Trouble>,
    pub(crate) servers: Vec<ServerNeed>,
}

/// A server that waits until the user accepts what it offers.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerNeed {
    pub(crate) alias: String,
    pub(crate) why: String,
    pub(crate) commands: Vec<String>,
}

/// A call, or a host that a command wants to reach, that waits for a permission.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Approval {
    pub(crate) task_id: String,
    pub(crate) task_title: String,
    pub(crate) approval_id: String,
    pub(crate) tool: String,
    /// The host, when that is what waits.
    #[serde(default)]
    pub(crate) host: Option<String>,
    #[serde(default)]
    pub(crate) args: Value,
    #[serde(default)]
    pub(crate) args_digest: Option<String>,
    #[serde(default)]
    pub(crate) rule: Option<String>,
}

/// A question.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Clarification {
    pub(crate) task_id: String,
    pub(crate) task_title: String,
    pub(crate) clarification_id: String,
    pub(crate) question: String,
}

/// A task that cannot go on.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trouble {
    pub(crate) task_id: String,
    pub(crate) task_title: String,
    pub(crate) why: String,
}
