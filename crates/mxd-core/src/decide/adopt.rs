//! Persistent tasks that files of the repository describe.
//!
//! Such a file may have been written on another machine, or by an agent on its branch. What it says is taken over as a draft:
//! nobody can be set to work by it before the user has made it ready.

use super::create::{bare, slot};
use super::plan::Plan;
use super::{Actor, AdoptedTask, Place, Refusal, text};
use crate::change::Change;
use crate::event::body::{CreatedKind, InitialStatus, TaskCreated, TaskUpdated};
use crate::tree::{Node, Status};

pub(super) fn adopt(plan: &mut Plan<'_>, file: AdoptedTask) -> Result<(), Refusal> {
    if let Actor::Agent(_) = plan.actor {
        return Err(Refusal::UserOnly { wanted: "take over the file of a task" });
    }
    let title = text::title(plan.limits, &file.title)?;
    text::description(plan.limits, &file.description)?;
    if let Some(color) = &file.color {
        text::color(plan.limits, color)?;
    }
    let file = AdoptedTask { title, ..file };
    match plan.tree().get(file.id) {
        Some(node) => rewrite(plan, node, file),
        None => create(plan, file),
    }
}

fn create(plan: &mut Plan<'_>, file: AdoptedTask) -> Result<(), Refusal> {
    let root = plan.tree().root().map(|root| root.id).ok_or(Refusal::UnknownTask { task: file.id })?;
    let position = slot(plan, root, Place::Last)?;
    let body = TaskCreated {
        description: file.description,
        parent_id: Some(root),
        position,
        status: Some(InitialStatus::Draft),
        color: file.color,
        persistent: Some(file.persistent),
        ..bare(plan, CreatedKind::Task, file.title)
    };
    plan.emit(file.id, body);
    Ok(())
}

/// Only a task that has not begun is rewritten: whoever works at it shall not have other instructions under its hands.
fn rewrite(plan: &mut Plan<'_>, node: &Node, file: AdoptedTask) -> Result<(), Refusal> {
    let is_root = node.parent_id.is_none();
    let task = node.task().filter(|task| !is_root && task.persistent.is_some());
    let Some(task) = task else { return Err(Refusal::NotPersistent { task: node.id }) };
    let color = file.color.map_or(Change::Clear, Change::Set);
    let update = TaskUpdated {
        title: (file.title != node.title).then_some(file.title),
        description: (file.description != node.description).then_some(file.description),
        color: color.against(node.color.as_ref()),
        persistent: Change::Set(file.persistent).against(task.persistent.as_ref()),
        ..TaskUpdated::by(plan.edited_by())
    };
    if update == TaskUpdated::by(plan.edited_by()) {
        return Err(Refusal::NothingToChange { task: node.id });
    }
    if task.status != Status::Draft {
        let reason = "its file in the repository has changed".to_owned();
        plan.change_status(node.id, (task.status, Status::Draft), Some(reason))?;
    }
    plan.emit(node.id, update);
    Ok(())
}
