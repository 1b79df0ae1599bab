//! Tools about folders, which group tasks and own nothing.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reference::TaskRef;
use super::{Arguments, TITLE_CHARS};

/// `create_folder`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateFolder {
    /// Where to put it: your own task, or a task or folder below it.
    pub parent_id: TaskRef,
    /// One line that says what belongs inside.
    #[schemars(length(min = 1, max = TITLE_CHARS))]
    pub title: String,
}

impl Arguments for CreateFolder {
    const DESCRIPTION: &'static str = "\
Creates a folder in the task tree. A folder groups tasks for whoever reads the tree; it has no agent, no status and \
no branch, and it changes nothing about who owns a task: the task above it is found through folders. Returns the \
folder's id.";
}

/// `rename_folder`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenameFolder {
    /// The folder.
    pub folder_id: TaskRef,
    /// Its new title.
    #[schemars(length(min = 1, max = TITLE_CHARS))]
    pub title: String,
}

impl Arguments for RenameFolder {
    const DESCRIPTION: &'static str = "Gives a folder another title.";
}

/// `delete_folder`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteFolder {
    /// The folder.
    pub folder_id: TaskRef,
}

impl Arguments for DeleteFolder {
    const DESCRIPTION: &'static str =
        "Deletes an empty folder. One that holds anything is refused: move its tasks first with update_task.";
}
