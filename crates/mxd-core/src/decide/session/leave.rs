//! Workplaces that are not wanted any more: written down, removed outside, and only then forgotten.

use super::launch;
use super::turn::Turn;
use crate::decide::{Effect, Refusal, text};
use crate::event::body::{RestReason, WorktreeDismissed, WorktreeFailed, WorktreeRemoved};
use crate::tree::{Leaving, TaskFields};

/// Has the checkout removed, unless that is under way.
pub(super) fn dismiss(turn: &mut Turn<'_, '_>) {
    let Ok(fields) = turn.fields() else { return };
    let Some(path) = fields.worktree_path.clone() else { return };
    if fields.leaving != Some(Leaving::Underway) {
        turn.emit(WorktreeDismissed { path });
        remove(turn);
    }
}

/// What was being removed when the daemon ended is still to be removed.
pub(super) fn resume(turn: &mut Turn<'_, '_>) {
    if turn.fields().is_ok_and(|fields| fields.leaving == Some(Leaving::Underway)) {
        set_going(turn);
    }
}

/// Removes it without a word, unless that is under way.
pub(super) fn remove(turn: &mut Turn<'_, '_>) {
    if turn.fields().is_ok_and(|fields| fields.leaving != Some(Leaving::Underway)) {
        set_going(turn);
    }
}

fn set_going(turn: &mut Turn<'_, '_>) {
    let Ok(fields) = turn.fields() else { return };
    if let Some(path) = fields.worktree_path.clone() {
        turn.effect(Effect::RemoveWorktree { task: turn.task, path, branch: fields.branch.clone() });
    }
}

/// It is gone. Whoever waits for a new one gets it now.
pub(super) fn removed(turn: &mut Turn<'_, '_>, path: String) -> Result<(), Refusal> {
    let branch = awaited(turn, &path)?.branch.clone().unwrap_or_default();
    turn.emit(WorktreeRemoved { path, branch });
    if !turn.session.launching {
        return Ok(());
    }
    if turn.works() {
        turn.effect(Effect::Launch { task: turn.task });
    } else {
        turn.rest(RestReason::Interrupted);
    }
    Ok(())
}

/// It is still there, with everything in it. Whoever waits for a new one waits in vain.
pub(super) fn kept(turn: &mut Turn<'_, '_>, (path, message): (&str, String)) -> Result<(), Refusal> {
    awaited(turn, path)?;
    if turn.session.launching {
        return launch::failed(turn, message);
    }
    let message = text::cut(&message, turn.plan.limits.report_bytes);
    turn.emit(WorktreeFailed { message: message.clone() });
    let advice = "The next start of the task tries to remove it again.".to_owned();
    turn.error("worktree", format!("the worktree could not be removed: {message}"), Some(advice));
    Ok(())
}

fn awaited<'p>(turn: &Turn<'_, 'p>, path: &str) -> Result<&'p TaskFields, Refusal> {
    let fields = turn.fields()?;
    let leaves = fields.worktree_path.as_deref() == Some(path) && fields.leaving == Some(Leaving::Underway);
    if leaves { Ok(fields) } else { Err(Refusal::Late { task: turn.task, what: "the end of a worktree" }) }
}
