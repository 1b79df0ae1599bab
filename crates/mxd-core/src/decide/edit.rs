//! Changing fields of a node.

use super::create::task_depth_below;
use super::notices::{Concern, Urge, change};
use super::plan::Plan;
use super::release::Waiter;
use super::{DescriptionEdit, Refusal, TaskPatch, session, text};
use crate::change::Change;
use crate::event::body::TaskUpdated;
use crate::id::TaskId;
use crate::message::{Notice, NoticeTopic, TreeAction};
use crate::tree::{Node, Persistence, TaskFields};

/// All or nothing: one field that cannot change refuses the whole patch.
pub(super) fn update(plan: &mut Plan<'_>, id: TaskId, patch: TaskPatch) -> Result<(), Refusal> {
    let node = plan.node(id)?;
    let mut update = TaskUpdated::by(plan.edited_by());
    if let Some(title) = &patch.title {
        let title = text::title(plan.limits, title)?;
        update.title = (title != node.title).then_some(title);
    }
    if let Some(edit) = &patch.description {
        let description = edited(node, edit)?;
        text::description(plan.limits, &description)?;
        update.description = (description != node.description).then_some(description);
    }
    if let Change::Set(color) = &patch.color {
        text::color(plan.limits, color)?;
    }
    update.color = patch.color.clone().against(node.color.as_ref());
    if changes_work(&patch) {
        let (_, task) = plan.task(id, "have a budget, dependencies or come back")?;
        patch_work(plan, (id, task), &patch, &mut update)?;
    }
    if update == TaskUpdated::by(plan.edited_by()) {
        return Err(Refusal::NothingToChange { task: id });
    }
    commit(plan, node, update)
}

/// The root keeps the base branch as its own. Its agent reads of the change, which decides where merges go.
pub(super) fn base_branch(plan: &mut Plan<'_>, branch: String) -> Result<(), Refusal> {
    plan.check_user("choose the base branch")?;
    let root = plan.tree().root().ok_or(Refusal::NoRoot)?;
    let branch = text::name(plan.limits, "the branch", &branch).map(|()| branch)?;
    if branch.is_empty() {
        return Err(Refusal::Empty { field: "the branch" });
    }
    if root.task().and_then(|task| task.branch.as_ref()) == Some(&branch) {
        return Err(Refusal::NothingToChange { task: root.id });
    }
    let content = format!(
        "The user chose another base branch: {branch}. Tasks below you start from it from now on, and what you merge \
         goes into it."
    );
    plan.emit(root.id, TaskUpdated { branch: Some(branch), ..TaskUpdated::by(plan.edited_by()) });
    let notice = Notice { topic: NoticeTopic::BaseBranch, content };
    plan.inform(root.id, root.id, notice.into(), Urge::Quiet);
    Ok(())
}

fn commit(plan: &mut Plan<'_>, node: &Node, update: TaskUpdated) -> Result<(), Refusal> {
    let concern = match (&update.title, &update.description) {
        (None, None) => Concern::Surroundings,
        (Some(_), _) | (_, Some(_)) => Concern::Itself,
    };
    let notice = change(TreeAction::Updated, node.id, update.title.as_deref().unwrap_or(&node.title));
    let was_blocked = !plan.tree().blocked_by(node.id).is_empty();
    let unblocked = was_blocked && update.after.as_ref().is_some_and(|after| all_released(plan, after));
    let more = gives_more(node, &update);
    plan.emit(node.id, update);
    plan.announce(node.id, &notice, concern);
    if more {
        session::resume_spent(plan, node.id, "The user changed the budget. Go on.");
    }
    if unblocked { plan.start_if_asked(node.id) } else { Ok(()) }
}

/// Whether who pays from this budget may have enough now.
fn gives_more(node: &Node, update: &TaskUpdated) -> bool {
    let before = node.task().and_then(|task| task.budget_usd);
    match update.budget_usd {
        Change::Keep => false,
        Change::Clear => true,
        Change::Set(now) => before.is_none_or(|before| now > before),
    }
}

fn changes_work(patch: &TaskPatch) -> bool {
    !patch.persistent.is_keep() || !patch.budget.is_keep() || patch.after.is_some()
}

/// The fields that say how a task works, which are not everybody's to edit.
fn patch_work(
    plan: &Plan<'_>,
    (id, task): (TaskId, &TaskFields),
    patch: &TaskPatch,
    update: &mut TaskUpdated,
) -> Result<(), Refusal> {
    plan.check_subtree(id, "change how to run")?;
    if !patch.budget.is_keep() {
        plan.check_user("set a budget")?;
    }
    update.budget_usd = patch.budget.against(task.budget_usd.as_ref());
    check_persistence(plan, id, patch.persistent)?;
    update.persistent = patch.persistent.against(task.persistent.as_ref());
    if let Some(after) = &patch.after {
        plan.check_after(Waiter::Existing(id), after)?;
        update.after = (*after != task.after).then(|| after.clone());
    }
    Ok(())
}

fn check_persistence(plan: &Plan<'_>, id: TaskId, wanted: Change<Persistence>) -> Result<(), Refusal> {
    match wanted {
        Change::Keep => Ok(()),
        Change::Clear => {
            let (_, task) = plan.task(id, "come back")?;
            plan.check_persistent(task.persistent, 0)?;
            plan.check_persistent_draft(task, "make a persistent draft an ordinary task")
        }
        Change::Set(persistence) => {
            if plan.tree().waiting_for(id).next().is_some() {
                return Err(Refusal::PersistentDependency { dependency: id });
            }
            let depth = plan.node(id)?.parent_id.map_or(0, |parent| task_depth_below(plan, parent));
            plan.check_persistent(Some(persistence), depth)
        }
    }
}

fn all_released(plan: &Plan<'_>, after: &[TaskId]) -> bool {
    after.iter().all(|id| plan.tree().get(*id).and_then(Node::status).is_none_or(|status| status.releases()))
}

/// The description after the edit.
fn edited(node: &Node, edit: &DescriptionEdit) -> Result<String, Refusal> {
    match edit {
        DescriptionEdit::Whole(description) => Ok(description.clone()),
        DescriptionEdit::Replace { old, new } => {
            let (first, last) = (node.description.find(old.as_str()), node.description.rfind(old.as_str()));
            let Some(start) = first.filter(|_| !old.is_empty()) else {
                return Err(Refusal::PassageNotFound { task: node.id });
            };
            // First and last differ also when two occurrences overlap, which a search for separate ones would
            // miss.
            if first != last {
                return Err(Refusal::PassageNotUnique { task: node.id });
            }
            let mut description = node.description.clone();
            description.replace_range(start..start + old.len(), new);
            Ok(description)
        }
    }
}
