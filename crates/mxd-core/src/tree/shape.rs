//! Changes to the tree, each total: whatever an event says, the shape stays sound.

use std::collections::BTreeSet;

use super::{Node, Tree};
use crate::id::TaskId;

/// Whether a change could be made exactly as the event said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As it was said.
    Exact,
    /// As near as the tree allows.
    Repaired,
    /// Not at all.
    Ignored,
}

impl Tree {
    pub(crate) fn get_mut(&mut self, id: TaskId) -> Option<&mut Node> {
        self.nodes.get_mut(&id)
    }

    /// Adds a node at a place below its parent. One without a (known) parent is adopted by the root or
    /// becomes it.
    pub(crate) fn insert(&mut self, mut node: Node, position: usize) -> Fit {
        if self.nodes.contains_key(&node.id) {
            return Fit::Ignored;
        }
        let id = node.id;
        let wanted = node.parent_id;
        node.parent_id = wanted.filter(|parent| self.nodes.contains_key(parent)).or(self.root);
        let fit = if node.parent_id == wanted { Fit::Exact } else { Fit::Repaired };
        let dependencies = node.task_mut().map(|task| std::mem::take(&mut task.after)).unwrap_or_default();
        match node.parent_id {
            Some(parent) => self.attach(id, parent, position),
            None => self.root = Some(id),
        }
        self.nodes.insert(id, node);
        self.set_after(id, dependencies);
        fit
    }

    /// Puts a node, with everything below it, at a place below another.
    pub(crate) fn relocate(&mut self, id: TaskId, parent: TaskId, position: usize) -> Fit {
        let Some(old_parent) = self.get(id).and_then(|node| node.parent_id) else {
            return Fit::Ignored;
        };
        if !self.nodes.contains_key(&parent) || self.is_in_subtree(parent, id) {
            return Fit::Ignored;
        }
        self.detach(id, old_parent);
        self.attach(id, parent, position);
        if let Some(node) = self.get_mut(id) {
            node.parent_id = Some(parent);
        }
        Fit::Exact
    }

    /// Orders children as told; children that are not named stay behind those that are.
    pub(crate) fn reorder(&mut self, id: TaskId, order: &[TaskId]) -> Fit {
        let Some(node) = self.get_mut(id) else {
            return Fit::Ignored;
        };
        let mut left: BTreeSet<TaskId> = node.children.iter().copied().collect();
        let mut ordered: Vec<TaskId> = order.iter().copied().filter(|child| left.remove(child)).collect();
        let exact = ordered.len() == order.len() && left.is_empty();
        ordered.extend(node.children.iter().filter(|child| left.contains(child)));
        node.children = ordered;
        if exact { Fit::Exact } else { Fit::Repaired }
    }

    /// Removes a node. Children it should not have had any more are adopted by the root, which itself stays.
    pub(crate) fn remove(&mut self, id: TaskId) -> Fit {
        let Some(parent) = self.get(id).and_then(|node| node.parent_id) else {
            return Fit::Ignored;
        };
        self.set_after(id, Vec::new());
        // Nobody waits for what is gone.
        for waiter in self.waiting.remove(&id).unwrap_or_default() {
            if let Some(task) = self.nodes.get_mut(&waiter).and_then(Node::task_mut) {
                task.after.retain(|dependency| *dependency != id);
            }
        }
        self.detach(id, parent);
        let orphans = self.nodes.remove(&id).map(|node| node.children).unwrap_or_default();
        let fit = if orphans.is_empty() { Fit::Exact } else { Fit::Repaired };
        for orphan in orphans {
            if let Some(node) = self.nodes.get_mut(&orphan) {
                node.parent_id = self.root;
            }
            if let Some(root) = self.root {
                self.attach(orphan, root, usize::MAX);
            }
        }
        fit
    }

    /// Says what a task waits for, and keeps the reverse in step.
    pub(crate) fn set_after(&mut self, id: TaskId, after: Vec<TaskId>) {
        let Some(task) = self.nodes.get_mut(&id).and_then(Node::task_mut) else {
            return;
        };
        let before = std::mem::replace(&mut task.after, after.clone());
        for dependency in before {
            if let Some(waiting) = self.waiting.get_mut(&dependency) {
                waiting.remove(&id);
                if waiting.is_empty() {
                    self.waiting.remove(&dependency);
                }
            }
        }
        for dependency in after {
            self.waiting.entry(dependency).or_default().insert(id);
        }
    }

    fn attach(&mut self, id: TaskId, parent: TaskId, position: usize) {
        if let Some(node) = self.nodes.get_mut(&parent) {
            let position = position.min(node.children.len());
            node.children.insert(position, id);
        }
    }

    fn detach(&mut self, id: TaskId, parent: TaskId) {
        if let Some(node) = self.nodes.get_mut(&parent) {
            node.children.retain(|child| *child != id);
        }
    }
}
