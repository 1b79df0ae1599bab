//! What has to be done so that tasks and files say the same.

use std::collections::{BTreeMap, BTreeSet};

use mxd_core::id::TaskId;
use mxd_core::state::State;
use mxd_core::tool::Digest;
use mxd_core::tree::{Node, Status};

use super::file::{self, TaskFile};
use crate::git::task_files::Listed;

/// A persistent task as its file has to say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) file: TaskFile,
    /// Whether nobody works at it, so that it may be rewritten.
    pub(super) rests: bool,
}

/// All persistent tasks of a project.
pub(super) fn tasks(state: &State) -> BTreeMap<TaskId, Task> {
    let task = |node: &Node| {
        let fields = node.task()?;
        let file = TaskFile {
            title: node.title.clone(),
            description: node.description.clone(),
            color: node.color.clone(),
            persistent: fields.persistent?,
        };
        let rests = matches!(fields.status, Status::Draft | Status::Pending);
        Some((node.id, Task { file, rests }))
    };
    state.tree().nodes().values().filter_map(task).collect()
}

/// What is to be done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files that say something new about a task.
    pub(super) adopt: Vec<(TaskId, TaskFile)>,
    /// Files to be written, or removed.
    pub(super) write: Vec<(TaskId, Option<TaskFile>)>,
    /// Tasks and files that say the same.
    pub(super) agreed: Vec<(TaskId, Digest)>,
    /// Tasks of which nothing is left on either side.
    pub(super) forget: Vec<TaskId>,
    /// Files that are not taken over, and why.
    pub(super) refused: Vec<(String, String)>,
}

impl Plan {
    pub(super) fn of(state: &State, listed: Vec<Listed>, agreed: &BTreeMap<TaskId, Digest>) -> Self {
        let mut plan = Self::default();
        let mut files = BTreeMap::new();
        for Listed { name, content } in listed {
            let read = content.map_err(str::to_owned).and_then(|bytes| file::read(&name, &bytes));
            match read {
                Ok((id, file)) => drop(files.insert(id, file)),
                Err(why) => plan.refused.push((name, why)),
            }
        }
        let mut tasks = tasks(state);
        let ids: BTreeSet<TaskId> = tasks.keys().chain(files.keys()).chain(agreed.keys()).copied().collect();
        for id in ids {
            let sides = (tasks.remove(&id), files.remove(&id));
            plan.add(state, id, sides, agreed.get(&id));
        }
        plan
    }

    fn add(
        &mut self,
        state: &State,
        id: TaskId,
        sides: (Option<Task>, Option<TaskFile>),
        agreed: Option<&Digest>,
    ) {
        match sides {
            (Some(task), Some(file)) if task.file == file => self.agreed.push((id, file.digest())),
            // The project's own change wins over one in the file, which stays in the history of the branch.
            (Some(task), Some(file)) => match agreed {
                Some(agreed) if *agreed != task.file.digest() => self.write.push((id, Some(task.file))),
                _ if task.rests => self.adopt.push((id, file)),
                _ => {
                    let why = "somebody works at the task; it is taken over when the task is closed";
                    self.refused.push((file::name(id), why.to_owned()));
                }
            },
            // Somebody took the file away; the task stays, and its file is written when it is changed.
            (Some(task), None) if agreed == Some(&task.file.digest()) => {
                let why = "the file was removed; the task is still here".to_owned();
                self.refused.push((file::name(id), why));
            }
            (Some(task), None) => self.write.push((id, Some(task.file))),
            (None, Some(_)) if agreed.is_some() => self.write.push((id, None)),
            (None, Some(_)) if state.tree().get(id).is_some() => {
                let why = "a task with this id is here and is not persistent".to_owned();
                self.refused.push((file::name(id), why));
            }
            (None, Some(file)) => self.adopt.push((id, file)),
            (None, None) => self.forget.push(id),
        }
    }
}
