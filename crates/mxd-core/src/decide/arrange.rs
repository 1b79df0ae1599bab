//! Moving nodes and ordering them.

use std::collections::BTreeSet;

use super::create::{position, task_depth_below};
use super::notices::{Concern, change};
use super::plan::Plan;
use super::{Place, Refusal, session};
use crate::event::body::{ChildrenReordered, TaskMoved};
use crate::id::TaskId;
use crate::message::TreeAction;
use crate::tree::Node;

pub(super) fn relocate(plan: &mut Plan<'_>, id: TaskId, parent: TaskId, place: Place) -> Result<(), Refusal> {
    let (node, target) = (plan.node(id)?, plan.node(parent)?);
    plan.check_subtree(id, "move")?;
    plan.check_subtree(parent, "move something below")?;
    let Some(old_parent) = node.parent_id else {
        return Err(Refusal::IsRoot { task: id, wanted: "moved" });
    };
    if plan.tree().is_in_subtree(parent, id) {
        return Err(Refusal::Cycle { task: id, parent });
    }
    let others: Vec<TaskId> = target.children.iter().copied().filter(|child| *child != id).collect();
    let position = position(parent, others.len(), place)?;
    if parent == old_parent && target.children.get(position) == Some(&id) {
        return Err(Refusal::NothingToChange { task: id });
    }
    if others.len() >= plan.limits.children_per_node {
        return Err(Refusal::TooManyChildren { parent, limit: plan.limits.children_per_node });
    }
    if parent != old_parent {
        check_depth(plan, node, parent)?;
        plan.check_moved(id, parent)?;
    }
    let edited_by = plan.edited_by();
    plan.emit(id, TaskMoved { parent_id: parent, position, edited_by });
    let notice = change(TreeAction::Moved, id, &node.title);
    plan.announce(id, &notice, Concern::Surroundings);
    // Those above the old place know already; above the new one there may be others.
    plan.announce_below(parent, &notice);
    let payer = |below: TaskId| {
        let node = plan.state.budget_owner(below);
        node.map(|node| node.id)
    };
    if payer(old_parent) != payer(parent) {
        session::resume_moved(plan, id);
    }
    Ok(())
}

pub(super) fn reorder(plan: &mut Plan<'_>, id: TaskId, children: Vec<TaskId>) -> Result<(), Refusal> {
    let node = plan.node(id)?;
    plan.check_subtree(id, "order the children of")?;
    let mut missing: BTreeSet<TaskId> = node.children.iter().copied().collect();
    let foreign = children.iter().filter(|child| !missing.remove(child)).count();
    if foreign > 0 || !missing.is_empty() {
        return Err(Refusal::NotAPermutation { node: id, missing: missing.len(), foreign });
    }
    if children == node.children {
        return Err(Refusal::NothingToChange { task: id });
    }
    let edited_by = plan.edited_by();
    plan.emit(id, ChildrenReordered { children, edited_by });
    // The order of its children concerns the task that owns them as much as those above.
    plan.announce(id, &change(TreeAction::Reordered, id, &node.title), Concern::Itself);
    Ok(())
}

/// Everything below comes along, so the deepest node and every persistent task have to fit in the new place.
fn check_depth(plan: &Plan<'_>, node: &Node, parent: TaskId) -> Result<(), Refusal> {
    let tree = plan.tree();
    let (depth, limit) = (tree.depth(parent) + 1 + tree.height(node.id), plan.limits.depth);
    if depth > limit {
        return Err(Refusal::TooDeep { depth, limit });
    }
    let above_now = tree.tasks_above(node.id).count();
    let above_then = task_depth_below(plan, parent);
    let is_persistent = |node: &&Node| node.task().is_some_and(|task| task.persistent.is_some());
    for persistent in std::iter::once(node).chain(tree.descendants(node.id)).filter(is_persistent) {
        let depth = tree.tasks_above(persistent.id).count() - above_now + above_then;
        let limit = plan.limits.persistent_depth;
        if depth > limit {
            return Err(Refusal::PersistentTooDeep { depth, limit });
        }
    }
    Ok(())
}
