//! What the file of a persistent task says.

use mxd_core::id::TaskId;
use mxd_core::tool::Digest;
use mxd_core::tree::{Color, Persistence};
use serde::{Deserialize, Serialize};

use crate::git::task_files::Write;

const ENDING: &str = ".json";

/// The file of a persistent task: what is to be done, and nothing about how it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskFile {
    pub(super) title: String,
    pub(super) description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) color: Option<Color>,
    pub(super) persistent: Persistence,
}

impl TaskFile {
    /// Names what it says, however it is laid out.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(self.text().as_bytes())
    }

    fn text(&self) -> String {
        // Strings and names of variants can always be written.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        format!("{text}\n")
    }
}

/// The name of a task's file in its folder.
pub(super) fn name(id: TaskId) -> String {
    format!("{id}{ENDING}")
}

/// The task and what is said of it, or what is wrong with the file.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<(TaskId, TaskFile), String> {
    let id: Option<TaskId> = name.strip_suffix(ENDING).and_then(|id| id.parse().ok());
    let id = id.filter(|id| self::name(*id) == name).ok_or("its name is not the id of a task and `.json`")?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let file: TaskFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok((id, file))
}

/// The change that makes the file say this; nothing to remove it.
pub(super) fn write(id: TaskId, file: Option<&TaskFile>) -> Write {
    Write { name: name(id), content: file.map(|file| file.text().into_bytes()) }
}

/// What the commit says about these changes.
pub(super) fn message(changes: &[(TaskId, Option<TaskFile>)]) -> String {
    let line = |(id, file): &(TaskId, Option<TaskFile>)| match file {
        Some(file) => format!("* {id}: {}\n", file.title),
        None => format!("* {id} is not persistent any more\n"),
    };
    let lines: String = changes.iter().map(line).collect();
    format!("Record persistent tasks\n\n{lines}")
}
