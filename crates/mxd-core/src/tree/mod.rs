//! The task tree: one root, ordered children, folders that agents look through.
//!
//! The tree only ever changes by applying events, and its own operations keep its shape whatever events come:
//! one root, no cycles, parent and children agree. Whether a change is *allowed* is asked elsewhere, in
//! `decide`.

mod node;
mod query;
pub(crate) mod shape;
mod status;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::node::{Color, Leaving, Node, NodeKind, Persistence, TaskFields};
pub use self::status::{IllegalTransition, Status, TRANSITIONS};
use crate::id::TaskId;

/// All nodes of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Tree {
    root: Option<TaskId>,
    nodes: BTreeMap<TaskId, Node>,
    /// For each task, who waits for it: `after` read backwards.
    waiting: BTreeMap<TaskId, BTreeSet<TaskId>>,
}

/// What a snapshot holds; the rest of the tree follows from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    root: Option<TaskId>,
    nodes: Vec<Node>,
}

impl From<Tree> for Stored {
    fn from(tree: Tree) -> Self {
        Self { root: tree.root, nodes: tree.nodes.into_values().collect() }
    }
}

impl From<Stored> for Tree {
    fn from(stored: Stored) -> Self {
        let mut waiting: BTreeMap<TaskId, BTreeSet<TaskId>> = BTreeMap::new();
        for node in &stored.nodes {
            for dependency in node.task().map_or(&[][..], |task| &task.after) {
                waiting.entry(*dependency).or_default().insert(node.id);
            }
        }
        let nodes = stored.nodes.into_iter().map(|node| (node.id, node)).collect();
        Self { root: stored.root, nodes, waiting }
    }
}
