//! Questions to the tree.

use std::collections::{BTreeMap, BTreeSet};

use super::{Node, Status, Tree};
use crate::id::TaskId;
use crate::lookup::{self, LookupError};

impl Tree {
    /// The root, once it exists.
    pub fn root(&self) -> Option<&Node> {
        self.get(self.root?)
    }

    /// A node by its whole id.
    pub fn get(&self, id: TaskId) -> Option<&Node> {
        self.nodes.get(&id)
    }

    /// A node by its id or the first characters of it.
    pub fn resolve(&self, prefix: &str) -> Result<&Node, LookupError> {
        let id = lookup::resolve(prefix, &self.nodes)?;
        self.get(id).ok_or_else(|| LookupError::Unknown { prefix: prefix.to_owned() })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is not even a root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes by id, which is by age.
    pub fn nodes(&self) -> &BTreeMap<TaskId, Node> {
        &self.nodes
    }

    /// The nodes directly below, in order.
    pub fn children(&self, id: TaskId) -> impl Iterator<Item = &Node> {
        self.get(id).into_iter().flat_map(|node| &node.children).filter_map(|child| self.get(*child))
    }

    /// The nodes above, nearest first, up to the root.
    pub fn ancestors(&self, id: TaskId) -> impl Iterator<Item = &Node> {
        let above = |node: &&Node| self.get(node.parent_id?);
        // A snapshot damaged into a cycle must not hang its reader.
        std::iter::successors(self.get(id).and_then(|node| above(&node)), above).take(self.nodes.len())
    }

    /// The tasks above, nearest first; folders are looked through.
    pub fn tasks_above(&self, id: TaskId) -> impl Iterator<Item = &Node> {
        self.ancestors(id).filter(|node| node.task().is_some())
    }

    /// The task that owns this node.
    pub fn task_above(&self, id: TaskId) -> Option<&Node> {
        self.tasks_above(id).next()
    }

    /// The tasks this one owns, in order: its children, and those of the folders below it.
    pub fn tasks_below(&self, id: TaskId) -> Vec<&Node> {
        let mut found = Vec::new();
        let mut stack: Vec<&Node> = self.children_reversed(id);
        while let Some(node) = stack.pop() {
            if node.task().is_some() {
                found.push(node);
            } else {
                stack.extend(self.children_reversed(node.id));
            }
        }
        found
    }

    /// Everything below, parents before their children, in order.
    pub fn descendants(&self, id: TaskId) -> Vec<&Node> {
        let mut found = Vec::new();
        let mut stack: Vec<&Node> = self.children_reversed(id);
        while let Some(node) = stack.pop() {
            found.push(node);
            stack.extend(self.children_reversed(node.id));
        }
        found
    }

    /// Edges to the root.
    pub fn depth(&self, id: TaskId) -> usize {
        self.ancestors(id).count()
    }

    /// Edges to the deepest node below; 0 for a leaf.
    pub fn height(&self, id: TaskId) -> usize {
        let deepest = self.descendants(id).iter().map(|node| self.depth(node.id)).max();
        deepest.map_or(0, |deepest| deepest.saturating_sub(self.depth(id)))
    }

    /// Whether the node is `top` or somewhere below it.
    pub fn is_in_subtree(&self, node: TaskId, top: TaskId) -> bool {
        self.get(node).is_some() && (node == top || self.ancestors(node).any(|above| above.id == top))
    }

    /// The titles from the root down to the node.
    pub fn path(&self, id: TaskId) -> Vec<&str> {
        let mut titles: Vec<&str> = self.ancestors(id).map(|node| node.title.as_str()).collect();
        titles.reverse();
        titles.extend(self.get(id).map(|node| node.title.as_str()));
        titles
    }

    /// The tasks that still keep this one from starting. One that is gone keeps nobody.
    pub fn blocked_by(&self, id: TaskId) -> Vec<TaskId> {
        let after = self.get(id).and_then(Node::task).map_or(&[][..], |task| &task.after);
        after.iter().copied().filter(|dependency| !self.is_released(*dependency)).collect()
    }

    /// The tasks that wait for this one.
    pub fn waiting_for(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        self.waiting.get(&id).into_iter().flat_map(BTreeSet::iter).copied()
    }

    fn is_released(&self, dependency: TaskId) -> bool {
        self.get(dependency).and_then(Node::status).is_none_or(Status::releases)
    }

    /// For a stack, which gives the last one first.
    fn children_reversed(&self, id: TaskId) -> Vec<&Node> {
        let mut children: Vec<&Node> = self.children(id).collect();
        children.reverse();
        children
    }
}
