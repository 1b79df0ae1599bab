//! The workplace of an agent: its checkout and the frozen start of its conversation.

use super::input::Launched;
use super::leave;
use super::next::{self, Reading};
use super::turn::Turn;
use crate::decide::{Effect, Refusal, report, text};
use crate::event::body::{
    MessagePosted, NoticeSkipped, OrchestrationStarted, RestReason, TaskStarted, WorktreeFailed,
};
use crate::message::{Message, MessageKind, TaskComplete, WorkContext};
use crate::session::Load;
use crate::tree::{Leaving, Status};

/// Whether the agent has to be given a workplace before it can be asked.
pub(super) fn is_needed(turn: &Turn<'_, '_>) -> Result<bool, Refusal> {
    let fields = turn.fields()?;
    let has_worktree = turn.is_root() || (fields.worktree_path.is_some() && fields.leaving.is_none());
    Ok(!has_worktree || !turn.session.opened)
}

/// Has it made. That it is being made is written down first, so that nobody makes it twice. An old one goes before.
pub(super) fn launch(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let title = turn.node()?.title.clone();
    turn.emit(TaskStarted { title });
    match turn.fields()?.leaving {
        None => turn.effect(Effect::Launch { task: turn.task }),
        Some(Leaving::Underway) => {}
        Some(Leaving::Stuck) => leave::dismiss(turn),
    }
    Ok(())
}

pub(super) fn launched(turn: &mut Turn<'_, '_>, launched: Launched) -> Result<(), Refusal> {
    let Launched { worktree, config, header, withheld } = launched;
    // A checkout is there, whatever has become of the wish for it: it has to be known to be removed.
    if let Some(worktree) = worktree {
        turn.emit(worktree);
    }
    if !turn.session.launching {
        return Ok(());
    }
    let (model, provider) = (config.model.clone(), config.provider.clone());
    turn.emit(OrchestrationStarted { resume: turn.session.begun, model, provider, withheld });
    let fresh = !turn.session.opened;
    if fresh {
        turn.emit(config);
    }
    let mut first = Reading::default();
    if !header.is_empty() {
        let (id, body) = (turn.plan.new_id(), Message::from(WorkContext { content: header }));
        first = Reading { ids: vec![id], load: Load::text(body.bytes()) };
        turn.emit(MessagePosted { id, body, wake: false });
    }
    if !turn.works() {
        return Ok(());
    }
    next::ask(turn, first)
}

/// A task that cannot begin has failed, and whoever waits for it hears of it.
pub(super) fn failed(turn: &mut Turn<'_, '_>, message: String) -> Result<(), Refusal> {
    if !turn.session.launching {
        return Err(Refusal::Late { task: turn.task, what: "a workplace" });
    }
    let message = text::cut(&message, turn.plan.limits.report_bytes);
    turn.emit(WorktreeFailed { message: message.clone() });
    turn.error("launch", message.clone(), None);
    turn.rest(RestReason::Failed);
    if turn.is_root() || !turn.works() {
        return Ok(());
    }
    turn.plan.change_status(
        turn.task,
        (Status::InProgress, Status::Failed),
        Some("no workplace".to_owned()),
    )?;
    let Some(above) = turn.plan.tree().task_above(turn.task).map(|node| node.id) else {
        return Ok(());
    };
    if !report::has_room(turn.plan, above) {
        // Its status says it all the same; what happened outside cannot be refused.
        let source = MessageKind::TaskComplete.name().to_owned();
        turn.plan.emit(above, NoticeSkipped { source, node_id: turn.task });
        return Ok(());
    }
    let title = turn.node()?.title.clone();
    let output = format!("The task could not be started: {message}");
    let report = TaskComplete { task_id: turn.task, title, success: false, output };
    super::finish::report_above(turn, report)
}
