//! Creating nodes.

use super::notices::change;
use super::plan::Plan;
use super::release::Waiter;
use super::{NewFolder, NewRoot, NewTask, Place, Refusal, text};
use crate::event::body::{CreatedKind, InitialStatus, TaskCreated};
use crate::id::TaskId;
use crate::message::TreeAction;

pub(super) fn root(plan: &mut Plan<'_>, new: NewRoot) -> Result<(), Refusal> {
    if let Some(root) = plan.tree().root() {
        return Err(Refusal::RootExists { root: root.id });
    }
    plan.check_user("create the root task")?;
    let title = text::title(plan.limits, &new.title)?;
    text::description(plan.limits, &new.description)?;
    text::name(plan.limits, "the branch", new.branch.as_deref().unwrap_or_default())?;
    let id = plan.new_id();
    let body = TaskCreated {
        description: new.description,
        branch: new.branch,
        status: Some(InitialStatus::Pending),
        ..bare(plan, CreatedKind::Task, title)
    };
    plan.emit(id, body);
    Ok(())
}

pub(super) fn task(plan: &mut Plan<'_>, new: NewTask) -> Result<(), Refusal> {
    let position = slot(plan, new.parent, new.place)?;
    let title = text::title(plan.limits, &new.title)?;
    text::description(plan.limits, &new.description)?;
    if let Some(color) = &new.color {
        text::color(plan.limits, color)?;
    }
    text::name(plan.limits, "the path of the manifest", new.manifest.as_deref().unwrap_or_default())?;
    text::name(plan.limits, "the name of the skill", new.skill.as_deref().unwrap_or_default())?;
    if new.budget.is_some() {
        plan.check_user("set a budget")?;
    }
    plan.check_persistent(new.persistent, task_depth_below(plan, new.parent))?;
    plan.check_after(Waiter::New { parent: new.parent }, &new.after)?;
    let id = plan.new_id();
    let notice = change(TreeAction::Created, id, &title);
    let body = TaskCreated {
        description: new.description,
        parent_id: Some(new.parent),
        position,
        status: Some(new.status),
        color: new.color,
        persistent: new.persistent,
        budget_usd: new.budget,
        after: new.after,
        checks: new.checks,
        manifest: new.manifest,
        skill: new.skill,
        ..bare(plan, CreatedKind::Task, title)
    };
    plan.emit(id, body);
    plan.announce_below(new.parent, &notice);
    Ok(())
}

pub(super) fn folder(plan: &mut Plan<'_>, new: NewFolder) -> Result<(), Refusal> {
    let position = slot(plan, new.parent, new.place)?;
    let title = text::title(plan.limits, &new.title)?;
    if let Some(color) = &new.color {
        text::color(plan.limits, color)?;
    }
    let id = plan.new_id();
    let notice = change(TreeAction::Created, id, &title);
    let body = TaskCreated {
        parent_id: Some(new.parent),
        position,
        color: new.color,
        ..bare(plan, CreatedKind::Folder, title)
    };
    plan.emit(id, body);
    plan.announce_below(new.parent, &notice);
    Ok(())
}

/// How many tasks would stand above a node below `parent`.
pub(super) fn task_depth_below(plan: &Plan<'_>, parent: TaskId) -> usize {
    let itself = usize::from(plan.tree().get(parent).is_some_and(|node| node.task().is_some()));
    itself + plan.tree().tasks_above(parent).count()
}

/// Checks that there is room for one more node below `parent`, and where.
pub(super) fn slot(plan: &Plan<'_>, parent: TaskId, place: Place) -> Result<usize, Refusal> {
    let node = plan.node(parent)?;
    plan.check_subtree(parent, "create below")?;
    if plan.tree().len() >= plan.limits.nodes_per_project {
        return Err(Refusal::TooManyNodes { limit: plan.limits.nodes_per_project });
    }
    if node.children.len() >= plan.limits.children_per_node {
        return Err(Refusal::TooManyChildren { parent, limit: plan.limits.children_per_node });
    }
    let (depth, limit) = (plan.tree().depth(parent) + 1, plan.limits.depth);
    if depth > limit {
        return Err(Refusal::TooDeep { depth, limit });
    }
    position(parent, node.children.len(), place)
}

/// The index a place means among so many other children.
pub(super) fn position(parent: TaskId, children: usize, place: Place) -> Result<usize, Refusal> {
    match place {
        Place::Last => Ok(children),
        Place::At(given) if given <= children => Ok(given),
        Place::At(given) => Err(Refusal::NoSuchPlace { parent, given, children }),
    }
}

pub(super) fn bare(plan: &Plan<'_>, kind: CreatedKind, title: String) -> TaskCreated {
    TaskCreated {
        kind,
        title,
        description: String::new(),
        parent_id: None,
        position: 0,
        status: None,
        color: None,
        persistent: None,
        budget_usd: None,
        after: Vec::new(),
        branch: None,
        checks: Vec::new(),
        manifest: None,
        skill: None,
        edited_by: plan.edited_by(),
    }
}
