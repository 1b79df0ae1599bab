//! Dependencies: what may be waited for, and who starts when the waiting is over.

use std::collections::BTreeSet;

use super::Refusal;
use super::plan::Plan;
use crate::id::TaskId;
use crate::tree::{Node, Status, TaskFields};

/// Who is to wait.
#[derive(Debug, Clone, Copy)]
pub(super) enum Waiter {
    /// A task that exists.
    Existing(TaskId),
    /// One that is about to be made below this node.
    New {
        /// Its parent.
        parent: TaskId,
    },
}

impl Plan<'_> {
    /// Checks what a task is to wait for.
    pub(super) fn check_after(&self, waiter: Waiter, after: &[TaskId]) -> Result<(), Refusal> {
        let (given, limit) = (after.len(), self.limits.after_entries);
        if given > limit {
            return Err(Refusal::TooManyDependencies { given, limit });
        }
        let mut seen = BTreeSet::new();
        for &dependency in after {
            let (_, fields) = self.task(dependency, "be waited for")?;
            if !seen.insert(dependency) {
                return Err(Refusal::RepeatedDependency { dependency });
            }
            if fields.persistent.is_some() {
                return Err(Refusal::PersistentDependency { dependency });
            }
            self.check_waiter(waiter, dependency)?;
        }
        Ok(())
    }

    fn check_waiter(&self, waiter: Waiter, dependency: TaskId) -> Result<(), Refusal> {
        let (task, top) = match waiter {
            Waiter::Existing(task) => (Some(task), task),
            Waiter::New { parent } => (None, parent),
        };
        let above = top == dependency || self.tree().ancestors(top).any(|node| node.id == dependency);
        if above && task != Some(dependency) {
            return Err(Refusal::AncestorDependency { dependency });
        }
        if let Some(task) = task
            && self.waits_for(dependency, task)
        {
            return Err(Refusal::DependencyCycle { task, dependency });
        }
        let limit = self.limits.waiters_per_task;
        if self.tree().waiting_for(dependency).filter(|other| Some(*other) != task).count() >= limit {
            return Err(Refusal::TooManyWaiters { dependency, limit });
        }
        Ok(())
    }

    /// A task that moves must not come to stand below one that it waits for.
    pub(super) fn check_moved(&self, node: TaskId, parent: TaskId) -> Result<(), Refusal> {
        let above: BTreeSet<TaskId> =
            self.tree().ancestors(parent).map(|node| node.id).chain([parent]).collect();
        let moved = self.tree().descendants(node).into_iter().chain(self.tree().get(node));
        let after = moved.filter_map(Node::task).flat_map(|task| &task.after);
        match after.copied().find(|dependency| above.contains(dependency)) {
            Some(dependency) => Err(Refusal::AncestorDependency { dependency }),
            None => Ok(()),
        }
    }

    /// Starts the tasks that waited for `settled` and now wait for nothing, if a message asks them to.
    pub(super) fn release(&mut self, settled: &BTreeSet<TaskId>) -> Result<(), Refusal> {
        self.note_released(settled);
        let waiting: BTreeSet<TaskId> = settled.iter().flat_map(|id| self.tree().waiting_for(*id)).collect();
        for task in waiting.difference(settled) {
            let blocked = !self.tree().blocked_by(*task).is_empty();
            if blocked && self.blocked_by(*task).is_empty() {
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
