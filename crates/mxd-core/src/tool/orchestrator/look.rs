//! Tools that only look: at the tree, at one task, and back into what was done and said.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reference::TaskRef;
use super::{Arguments, Misfit, bytes, number};

/// How many tasks a search finds when nobody says how many, and at most.
const TASKS_FOUND: (u32, u32) = (10, 100);

/// How many places in a log a search finds when nobody says how many, and at most.
const PLACES_FOUND: (u32, u32) = (20, 100);

/// The most events of context on each side of a place.
const MAX_CONTEXT: u32 = 5;

/// The longest question, in bytes.
const MAX_QUERY: usize = 1_000;

/// `get_tree`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTree {
    /// `tree` indents children below their parents; `flat` gives one line per task with the id of its parent.
    #[serde(default)]
    pub format: TreeFormat,
    /// Also show closed tasks.
    #[serde(default)]
    pub include_closed: bool,
    /// Also show the beginning of every description, the branch, the cost and the budget. Long for a large tree.
    #[serde(default)]
    pub include_details: bool,
}

/// How a tree is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TreeFormat {
    /// Children below their parents.
    #[default]
    Tree,
    /// A line each.
    Flat,
}

impl Arguments for GetTree {
    const DESCRIPTION: &'static str = "\
Shows the task tree of the project: id, status and title of every task and folder, with your own task marked \
`(you)`. Closed tasks are left out unless asked for. Use get_task for the whole description of one task.";
}

/// `get_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetTask {
    /// The task or folder.
    pub task_id: TaskRef,
}

impl Arguments for GetTask {
    const DESCRIPTION: &'static str = "\
Shows everything recorded about one task: description, status, what it waits for, its checks and their last \
results, branch, worktree, cost and budget, and what it reported each time it was done. Works for any task of the \
project. A task is named by its id or by the first eight or more characters of it, here and everywhere else.";
}

/// `search_tasks`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchTasks {
    /// Words to look for.
    #[schemars(length(min = 1, max = MAX_QUERY))]
    pub query: String,
    /// How many tasks to show.
    #[serde(default = "tasks_found")]
    #[schemars(range(min = 1, max = TASKS_FOUND.1))]
    pub limit: u32,
}

fn tasks_found() -> u32 {
    TASKS_FOUND.0
}

impl Arguments for SearchTasks {
    const DESCRIPTION: &'static str = "\
Finds tasks of the project, closed ones included, by words of their title, their description and what they reported \
when they were done, best match first. This is the project's memory of past work: ask it before you plan something \
that may have been tried, and before you create a task that may exist.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("query", &self.query, MAX_QUERY)?;
        number("limit", self.limit, 1..=TASKS_FOUND.1)
    }
}

/// `search_logs`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct SearchLogs {
    /// Whose conversation to search; also that of a closed task.
    #[serde(rename = "taskId")]
    pub task_id: TaskRef,
    /// A regular expression (Rust syntax, as in ripgrep).
    #[schemars(length(min = 1, max = MAX_QUERY))]
    pub query: String,
    /// Match upper and lower case alike.
    #[serde(default)]
    pub case_insensitive: bool,
    /// Search only these kinds of entries; all of them when left out.
    #[serde(default)]
    #[schemars(length(max = 5))]
    pub kinds: Vec<LogKind>,
    /// How many entries to show before and after each place.
    #[serde(default)]
    #[schemars(range(max = MAX_CONTEXT))]
    pub context: u32,
    /// How many places to show.
    #[serde(default = "places_found")]
    #[schemars(range(min = 1, max = PLACES_FOUND.1))]
    pub limit: u32,
}

fn places_found() -> u32 {
    PLACES_FOUND.0
}

/// What stands in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum LogKind {
    /// What came in: from the user, from other tasks, from the program.
    Message,
    /// What the agent wrote.
    AssistantText,
    /// Which tools it called, with their arguments.
    ToolCall,
    /// What they returned.
    ToolResult,
    /// Summaries that took the place of older entries.
    CompactMarker,
}

impl LogKind {
    /// The name of the events it stands for.
    pub fn event_name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::AssistantText => "assistant_text",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::CompactMarker => "compact_marker",
        }
    }
}

impl Arguments for SearchLogs {
    const DESCRIPTION: &'static str = "\
Searches the whole recorded conversation of one task, also what was compacted away and also your own, and shows each \
matching entry cut to a readable length. Use it to find out what was really done, decided or said, instead of \
trusting a summary or your memory of it.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("query", &self.query, MAX_QUERY)?;
        number("context", self.context, 0..=MAX_CONTEXT)?;
        number("limit", self.limit, 1..=PLACES_FOUND.1)
    }
}
