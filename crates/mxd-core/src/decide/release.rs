//! Dependencies: what may be waited for, and who starts when the waiting is over.

use std::collections::BTreeSet;

use super::Refusal;
use super::plan::Plan;
use crate::id::TaskId;
use crate::tree::{Node, Status, TaskFields};

impl Plan<'_> {
    /// Checks what a task is to wait for; `task` is none for one that does not exist yet.
    pub(super) fn check_after(&self, task: Option<TaskId>, after: &[TaskId]) -> Result<(), Refusal> {
        let (given, limit) = (after.len(), self.limits.after_entries);
        if given > limit {
            return Err(Refusal::TooManyDependencies { given, limit });
        }
        let mut seen = BTreeSet::new();
        for &dependency in after {
            self.task(dependency, "be waited for")?;
            if !seen.insert(dependency) {
                return Err(Refusal::RepeatedDependency { dependency });
            }
            if let Some(task) = task
                && self.waits_for(dependency, task)
            {
                return Err(Refusal::DependencyCycle { task, dependency });
            }
        }
        Ok(())
    }

    /// Starts the tasks that waited for `settled` and now wait for nothing, if a message asks them to.
    pub(super) fn release(&mut self, settled: &BTreeSet<TaskId>) -> Result<(), Refusal> {
        let waiting: BTreeSet<TaskId> = settled.iter().flat_map(|id| self.tree().waiting_for(*id)).collect();
        for task in waiting.difference(settled) {
            if self.tree().blocked_by(*task).iter().all(|dependency| settled.contains(dependency)) {
                self.start_if_asked(*task)?;
            }
        }
        Ok(())
    }

    /// Starts a task that nothing blocks any more, if a waking message waits for it.
    pub(super) fn start_if_asked(&mut self, task: TaskId) -> Result<(), Refusal> {
        let Some(status) = self.tree().get(task).and_then(Node::status) else {
            return Ok(());
        };
        let asked = self.state.inbox(task).wants_agent();
        match status {
            Status::Draft | Status::InProgress => Ok(()),
            Status::Pending | Status::Verify | Status::Passed | Status::Failed | Status::Closed if asked => {
                self.start(task, status, "what it waited for is finished")
            }
            Status::Pending | Status::Verify | Status::Passed | Status::Failed | Status::Closed => Ok(()),
        }
    }

    /// Whether `task` is `target` or waits for it, directly or through others.
    fn waits_for(&self, task: TaskId, target: TaskId) -> bool {
        let mut seen = BTreeSet::from([task]);
        let mut stack = vec![task];
        while let Some(next) = stack.pop() {
            if next == target {
                return true;
            }
            let after = self.tree().get(next).and_then(Node::task).map(|task: &TaskFields| &task.after);
            stack.extend(after.into_iter().flatten().filter(|dependency| seen.insert(**dependency)));
        }
        false
    }
}
