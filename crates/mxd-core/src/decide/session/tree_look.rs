//! The tree and its tasks, as agents see them.

use super::turn::Turn;
use crate::decide::Refusal;
use crate::id::TaskId;
use crate::tool::orchestrator::{GetTree, TreeFormat};
use crate::tree::{Node, Status};

/// Characters of a description in the tree.
const GLIMPSE: usize = 160;
/// Nodes that one look shows.
const MOST_NODES: usize = 500;

/// The whole tree.
pub(super) fn tree(turn: &Turn<'_, '_>, look: &GetTree) -> String {
    let Some(root) = turn.plan.tree().root() else {
        return "The project has no tasks.".to_owned();
    };
    let mut lines = Vec::new();
    let mut left_out = 0_usize;
    let mut stack = vec![(root, 0_usize)];
    while let Some((node, depth)) = stack.pop() {
        if node.status() == Some(Status::Closed) && !look.include_closed {
            continue;
        }
        if lines.len() < MOST_NODES {
            lines.push(line(turn, (node, depth), look));
        } else {
            left_out += 1;
        }
        let children: Vec<&Node> = turn.plan.tree().children(node.id).collect();
        stack.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    if left_out > 0 {
        lines.push(format!("[{left_out} more; search_tasks finds them]"));
    }
    lines.join("\n")
}

fn line(turn: &Turn<'_, '_>, (node, depth): (&Node, usize), look: &GetTree) -> String {
    let indent = match look.format {
        TreeFormat::Tree => "  ".repeat(depth),
        TreeFormat::Flat => String::new(),
    };
    let state = node.status().map_or("folder", Status::name);
    let waits = turn.plan.state.session(node.id).queued().map_or("", |_| ", waiting for a free place");
    let you = if node.id == turn.task { " (you)" } else { "" };
    let mut text = format!("{indent}{} [{state}{waits}] {}{you}", node.id, node.title);
    if let (TreeFormat::Flat, Some(parent)) = (look.format, node.parent_id) {
        text += &format!(" (below {parent})");
    }
    if look.include_details {
        if let Some(task) = node.task() {
            let branch = task.branch.as_deref().unwrap_or("none");
            let budget = task.budget_usd.map_or(String::new(), |budget| format!(" of {budget}"));
            text += &format!("\n{indent}  branch {branch}, cost {}{budget}", task.cost_usd);
        }
        let glimpse: String = node.description.chars().take(GLIMPSE).collect();
        if !glimpse.is_empty() {
            text += &format!("\n{indent}  {}", glimpse.replace('\n', " "));
        }
    }
    text
}

/// Everything the state knows about one node.
pub(super) fn task(turn: &Turn<'_, '_>, id: TaskId) -> Result<String, Refusal> {
    let node = turn.plan.node(id)?;
    let mut lines = vec![format!("{} ({})", node.title, node.id)];
    lines.push(format!("status: {}", node.status().map_or("folder", Status::name)));
    lines.push(format!("path: {}", turn.plan.tree().path(id).join(" / ")));
    if let Some(task) = node.task() {
        lines.push(format!("branch: {}", task.branch.as_deref().unwrap_or("none yet")));
        lines.push(format!("worktree: {}", task.worktree_path.as_deref().unwrap_or("none yet")));
        let budget = task.budget_usd.map_or("no budget of its own".to_owned(), |budget| {
            format!("{} of {budget} spent", task.spent_usd)
        });
        lines.push(format!("cost: {} ({budget})", task.cost_usd));
        if !task.after.is_empty() {
            let after: Vec<String> = task.after.iter().map(ToString::to_string).collect();
            lines.push(format!("waits for: {}", after.join(", ")));
        }
        lines.extend(task.manifest.iter().map(|manifest| format!("manifest: {manifest}")));
        lines.extend(task.skill.iter().map(|skill| format!("skill: {skill}")));
        lines.extend(task.checks.iter().map(|check| format!("check: {check}")));
        lines.push(format!("unread messages: {}", turn.plan.state.inbox(id).len()));
    }
    let children: Vec<String> =
        turn.plan.tree().children(id).map(|child| format!("  {} {}", child.id, child.title)).collect();
    if !children.is_empty() {
        lines.push(format!("below it:\n{}", children.join("\n")));
    }
    lines.push(format!("\n{}", node.description));
    Ok(lines.join("\n"))
}
