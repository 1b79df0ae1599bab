//! Tools that change the task tree, and what tasks made: creating, changing, ending, ordering, merging, forking.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reference::TaskRef;
use super::{Arguments, DESCRIPTION_BYTES, Misfit, TITLE_CHARS, bytes, count};
use crate::decide::DescriptionEdit;
use crate::limits::Limits;
use crate::money::Usd;
use crate::tree::{Persistence, Status};

/// The most checks of one task.
pub const MAX_CHECKS: usize = 16;

/// The longest command of a check, in bytes.
pub const CHECK_BYTES: usize = 2_000;

/// Characters of the path of a manifest, or of the name of a skill.
const NAME_CHARS: usize = Limits::DEFAULT.name_chars;
const AFTER: usize = Limits::DEFAULT.after_entries;
const CHILDREN: usize = Limits::DEFAULT.children_per_node;

/// The longest message of a merge, in bytes.
const MERGE_MESSAGE_BYTES: usize = 4_000;

/// `create_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTask {
    /// One line that tells this task from its neighbours; its branch is named after it.
    #[schemars(length(min = 1, max = TITLE_CHARS))]
    pub title: String,
    /// The brief: goal, scope and what is out of scope, why it is wanted, what is known already, how it will be
    /// verified. The agent of the task knows nothing else.
    #[schemars(length(max = DESCRIPTION_BYTES))]
    pub description: String,
    /// Where to put it: your own task, which is the default, or a task or folder below it.
    #[serde(default)]
    pub parent_id: Option<TaskRef>,
    /// Only write the idea down. A draft cannot be started until it is made pending.
    #[serde(default)]
    pub draft: bool,
    /// Commands that have to succeed on the task's committed tree before it can be passed, such as `cargo test`. They
    /// are fixed once the task exists.
    #[serde(default)]
    #[schemars(length(max = MAX_CHECKS))]
    pub checks: Vec<String>,
    /// Tasks that have to be passed or closed before this one starts.
    #[serde(default)]
    #[schemars(length(max = AFTER))]
    pub after: Vec<TaskRef>,
    /// How many dollars of what your own task has left this one may spend, with everything below it. What it does not
    /// need comes back. Left out, it gets the share the project's settings give it.
    #[serde(default)]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub budget_usd: Option<Usd>,
    /// The colour it is shown in: red (bug), blue (feature), green (refactoring), yellow (optimisation), purple
    /// (research), orange, gray (chore), or `#` with hex digits.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub color: Option<String>,
    /// For work that comes back: closing the task makes it pending again, with an empty conversation (`reset`) or the
    /// old one (`continue`). Root task only.
    #[serde(default)]
    pub persistent: Option<Comeback>,
    /// A manifest of the repository, such as `agents/reader.json`, that its agent works under. It can only take away from
    /// what your own task has. Left out, the agent has what you have.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARS))]
    pub manifest: Option<String>,
    /// One of the skills you know of, that its agent works by: the agent is given its text, and has only the tools it
    /// lists.
    #[serde(default)]
    #[schemars(length(min = 1, max = NAME_CHARS))]
    pub skill: Option<String>,
}

/// What becomes of the conversation of a task that comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Comeback {
    /// It begins anew.
    Reset,
    /// It goes on.
    Continue,
}

impl From<Comeback> for Persistence {
    fn from(comeback: Comeback) -> Self {
        match comeback {
            Comeback::Reset => Self::Reset,
            Comeback::Continue => Self::Continue,
        }
    }
}

impl Arguments for CreateTask {
    const DESCRIPTION: &'static str = "\
Creates a task below yours and returns its id. It does not start yet: send_message starts it. Creating several tasks \
in one turn is fine. Give a description that a stranger could work from.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("description", &self.description, DESCRIPTION_BYTES)?;
        count("after", self.after.len(), AFTER)?;
        count("checks", self.checks.len(), MAX_CHECKS)?;
        for check in &self.checks {
            bytes("checks", check, CHECK_BYTES)?;
            if check.trim().is_empty() {
                return Err(Misfit::new("checks", "has an empty command"));
            }
        }
        Ok(())
    }
}

/// `update_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateTask {
    /// The task or folder.
    pub task_id: TaskRef,
    /// Another status. Starting a task is not a status: send it a message.
    #[serde(default)]
    pub status: Option<NewStatus>,
    /// Another title.
    #[serde(default)]
    #[schemars(length(min = 1, max = TITLE_CHARS))]
    pub title: Option<String>,
    /// A whole new description.
    #[serde(default)]
    #[schemars(length(max = DESCRIPTION_BYTES))]
    pub description: Option<String>,
    /// A passage of the description that is there exactly once; goes with `new_description`.
    #[serde(default, rename = "old_description")]
    #[schemars(length(min = 1, max = DESCRIPTION_BYTES))]
    pub old_description: Option<String>,
    /// What stands there instead.
    #[serde(default, rename = "new_description")]
    #[schemars(length(max = DESCRIPTION_BYTES))]
    pub new_description: Option<String>,
    /// `true` makes a pending task a draft, `false` makes a draft pending.
    #[serde(default)]
    pub draft: Option<bool>,
    /// Move it, with everything below it, to another task or folder of your subtree.
    #[serde(default)]
    pub parent_id: Option<TaskRef>,
    /// All tasks that have to be passed or closed before this one starts; empty for none.
    #[serde(default)]
    #[schemars(length(max = AFTER))]
    pub after: Option<Vec<TaskRef>>,
    /// Hand so many dollars more of what your own task has left to a task directly below it.
    #[serde(default)]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub add_budget_usd: Option<Usd>,
    /// Another colour.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub color: Option<String>,
}

/// A status that can be given by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum NewStatus {
    /// Written down only.
    Draft,
    /// Ready to be started.
    Pending,
    /// Reviewed and good.
    Passed,
    /// Given up.
    Failed,
    /// Put away.
    Closed,
}

impl From<NewStatus> for Status {
    fn from(status: NewStatus) -> Self {
        match status {
            NewStatus::Draft => Self::Draft,
            NewStatus::Pending => Self::Pending,
            NewStatus::Passed => Self::Passed,
            NewStatus::Failed => Self::Failed,
            NewStatus::Closed => Self::Closed,
        }
    }
}

impl UpdateTask {
    /// How the description changes, when it does.
    pub fn description_edit(&self) -> Option<DescriptionEdit> {
        match (&self.description, &self.old_description, &self.new_description) {
            (Some(whole), _, _) => Some(DescriptionEdit::Whole(whole.clone())),
            (None, Some(old), Some(new)) => {
                Some(DescriptionEdit::Replace { old: old.clone(), new: new.clone() })
            }
            (None, _, _) => None,
        }
    }

    /// The status wanted, when one is, by either of its two spellings.
    pub fn new_status(&self) -> Option<Status> {
        let draft = self.draft.map(|draft| if draft { Status::Draft } else { Status::Pending });
        self.status.map(Status::from).or(draft)
    }
}

impl Arguments for UpdateTask {
    const DESCRIPTION: &'static str = "\
Changes a task or folder: any of the fields given, all of them or, if one is refused, none. Title, description and \
colour may be changed anywhere in the tree; everything else only below your own task. A task whose description \
changes while it works is told so. Leave out what stays as it is.";

    fn check(&self) -> Result<(), Misfit> {
        if self.description.is_some() && (self.old_description.is_some() || self.new_description.is_some()) {
            let problem = "cannot be given together with `old_description` and `new_description`";
            return Err(Misfit::new("description", problem));
        }
        match (&self.old_description, &self.new_description) {
            (Some(_), None) => {
                return Err(Misfit::new("new_description", "is missing: it goes with `old_description`"));
            }
            (None, Some(_)) => {
                return Err(Misfit::new("old_description", "is missing: it goes with `new_description`"));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        if self.status.is_some() && self.draft.is_some() {
            return Err(Misfit::new("draft", "cannot be given together with `status`"));
        }
        for (name, text) in [
            ("description", &self.description),
            ("old_description", &self.old_description),
            ("new_description", &self.new_description),
        ] {
            bytes(name, text.as_deref().unwrap_or_default(), DESCRIPTION_BYTES)?;
        }
        count("after", self.after.as_ref().map_or(0, Vec::len), AFTER)?;
        let says_something = self.new_status().is_some()
            || self.description_edit().is_some()
            || self.title.is_some()
            || self.parent_id.is_some()
            || self.after.is_some()
            || self.add_budget_usd.is_some()
            || self.color.is_some();
        if says_something {
            Ok(())
        } else {
            Err(Misfit::new("", "nothing to change was given besides `taskId`"))
        }
    }
}

/// `delete_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteTask {
    /// The task.
    pub task_id: TaskRef,
    /// Delete everything below it too. Without this, a task with something below it is refused.
    #[serde(default)]
    pub recursive: bool,
}

impl Arguments for DeleteTask {
    const DESCRIPTION: &'static str = "\
Deletes a task below yours: its agent is stopped, its worktree, branch and conversation go. Nothing of it can be \
looked up later, so close_task is almost always better; delete only what was created by mistake.";
}

/// `reset_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResetTask {
    /// The task.
    pub task_id: TaskRef,
}

impl Arguments for ResetTask {
    const DESCRIPTION: &'static str = "\
Begins a task below yours anew: its agent is stopped, its worktree, branch and conversation go, and it is pending \
again. Everything it learned is lost, so first try a message that says what went wrong.";
}

/// `close_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloseTask {
    /// The task.
    pub task_id: TaskRef,
}

impl Arguments for CloseTask {
    const DESCRIPTION: &'static str = "\
Puts a task below yours away: its worktree and branch go, its conversation and its reports stay and can be searched, \
and a message wakes it again. Refused while it works. Merge its branch first: what was not merged is only kept as a \
snapshot.";
}

/// `reorder_tasks`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReorderTasks {
    /// The task or folder whose children are ordered.
    pub node_id: TaskRef,
    /// All of its children, closed ones too, each once, in the order wanted.
    #[schemars(length(max = CHILDREN))]
    pub children: Vec<TaskRef>,
}

impl Arguments for ReorderTasks {
    const DESCRIPTION: &'static str = "\
Orders the children of a task or folder of your subtree. The order is for readers; what has to happen first is said \
with `after`.";

    fn check(&self) -> Result<(), Misfit> {
        count("children", self.children.len(), CHILDREN)
    }
}

/// `merge_task`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeTask {
    /// A task directly below yours.
    pub task_id: TaskRef,
    /// What the merge commit says; by default the title of the task.
    #[serde(default)]
    #[schemars(length(min = 1, max = MERGE_MESSAGE_BYTES))]
    pub message: Option<String>,
}

impl Arguments for MergeTask {
    const DESCRIPTION: &'static str = "\
Merges what a task directly below yours has committed into your branch. The merge is made apart, the project's check \
runs on the merged tree, and only if that passes your branch moves and your worktree follows; your worktree has to \
be clean. If there are conflicts, nothing moves: you get the hunks, and the task works again, also when it had ended, to \
bring its branch up to date with yours; merge it again when it reports. If the check fails, nothing moves either, and you \
get the output. Works while the task still works, for what it has committed so far.";

    fn check(&self) -> Result<(), Misfit> {
        bytes("message", self.message.as_deref().unwrap_or_default(), MERGE_MESSAGE_BYTES)
    }
}

/// `fork_task_context`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkTaskContext {
    /// Whose conversation to inherit: your own task, or any other that has one, also a closed one.
    pub source_task_id: TaskRef,
    /// Who inherits it: a task below yours that was never started.
    pub target_task_id: TaskRef,
}

impl Arguments for ForkTaskContext {
    const DESCRIPTION: &'static str = "\
Lets a task begin with the whole conversation of another instead of an empty one. Cheap, because the shared beginning \
is cached, and right when the brief would have to repeat most of what the source knows. Call it alone in a turn. It \
does not start the target: send_message does. Whoever reads its own fork later is told which of the two it is.";
}
