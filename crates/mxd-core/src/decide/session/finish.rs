//! The end of a task: declared by its agent, granted when nothing speaks against it.

use super::super::report;
use super::input::{Check, Checked};
use super::money;
use super::next;
use super::turn::{Kind, Turn};
use crate::decide::lifecycle::release_if_new;
use crate::decide::{Effect, Refusal};
use crate::event::body::{
    DoneNotified, DoneRequested, DoneStatus, ExitReason, OrchestrationCompleted, RestReason, ToolCall,
    ToolCallId,
};
use crate::message::TaskComplete;
use crate::session::Finishing;
use crate::tool::orchestrator::Orchestrator;
use crate::tree::Status;

/// The agent calls `done`.
pub(super) fn request(turn: &mut Turn<'_, '_>, call: &ToolCall) -> Result<(), Refusal> {
    let done = match Orchestrator::parse("done", call.input.get()) {
        Ok(Orchestrator::Done(done)) if call.malformed.is_none() => done,
        Ok(_) => return not_done(turn, &call.tool_call_id, "The arguments cannot be read."),
        Err(error) => return not_done(turn, &call.tool_call_id, &error.for_model()),
    };
    if let Some(why) = in_the_way(turn) {
        return not_done(turn, &call.tool_call_id, &why);
    }
    let tool_call_id = call.tool_call_id.clone();
    turn.emit(DoneRequested { tool_call_id, status: done.status, summary: done.summary });
    match done.status {
        DoneStatus::Passed => turn.effect(Effect::RunChecks { task: turn.task }),
        DoneStatus::Failed => return finish(turn),
    }
    Ok(())
}

/// What forbids the end, whatever the checks say.
fn in_the_way(turn: &Turn<'_, '_>) -> Option<String> {
    let unread = turn.inbox().waking();
    if unread > 0 {
        return Some(format!("{unread} message(s) have come that you have not read. They follow."));
    }
    if let Some(running) = next::running_below(turn) {
        return Some(format!(
            "Sub-tasks still work:\n{running}\nWait for them with yield, or stop what is not needed."
        ));
    }
    let above = turn.plan.tree().task_above(turn.task)?;
    let full = !report::has_room(turn.plan, above.id);
    full.then(|| "The task above has too many unread messages to take a report. Try again later.".to_owned())
}

fn not_done(turn: &mut Turn<'_, '_>, call: &ToolCallId, why: &str) -> Result<(), Refusal> {
    turn.answer_call(call, format!("The task is not done. {why}"), Kind::Error);
    super::settle::after_result(turn)
}

/// The checks were run.
pub(super) fn checked(turn: &mut Turn<'_, '_>, checked: Checked) -> Result<(), Refusal> {
    let Some(finishing) = turn.session.finishing.clone() else {
        return Err(Refusal::Late { task: turn.task, what: "checks" });
    };
    let problem = checked.problem.clone().or_else(|| failing(&checked.checks));
    for check in checked.checks {
        turn.emit(check);
    }
    let broken_off = turn.is_broken_off().then(|| "The turn was broken off.".to_owned());
    match broken_off.or(problem).or_else(|| in_the_way(turn)) {
        Some(why) => not_done(turn, &finishing.call, &why),
        None => finish(turn),
    }
}

/// What the checks say, when one of them fails.
fn failing(checks: &[Check]) -> Option<String> {
    let failed: Vec<String> = checks
        .iter()
        .filter(|check| check.exit_code != Some(0))
        .map(|check| {
            let end =
                check.exit_code.map_or("had to be ended".to_owned(), |code| format!("exit code {code}"));
            format!("$ {}\n{}\n[{end}]", check.command, check.output)
        })
        .collect();
    if failed.is_empty() { None } else { Some(format!("A check failed:\n{}", failed.join("\n\n"))) }
}

/// Status, report, money and the end of the run: one commit, so that none can be without the others.
fn finish(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let Some(Finishing { status, summary, .. }) = turn.session.finishing.clone() else {
        return Err(Refusal::Late { task: turn.task, what: "an end" });
    };
    let (task, title) = (turn.task, turn.node()?.title.clone());
    let (to, exit) = match status {
        DoneStatus::Passed => (Status::Passed, ExitReason::DonePassed),
        DoneStatus::Failed => (Status::Failed, ExitReason::DoneFailed),
    };
    let success = status == DoneStatus::Passed;
    turn.emit(DoneNotified { status, summary: summary.clone() });
    turn.rest(RestReason::Done);
    turn.plan.change_status(task, (Status::InProgress, to), None)?;
    money::refund(turn);
    end_run(turn, success, exit);
    release_if_new(turn.plan, task, (Status::InProgress, to))?;
    report_above(turn, TaskComplete { task_id: task, title, success, output: summary })
}

/// The totals of a run.
pub(super) fn end_run(turn: &mut Turn<'_, '_>, success: bool, exit: ExitReason) {
    let cost_usd = turn.fields().ok().map(|fields| fields.cost_usd);
    let turns = Some(turn.session.life.turns);
    let exit = Some(exit);
    turn.emit(OrchestrationCompleted { success, cost_usd, turns, usage: None, child_costs: None, exit });
}

/// Tells the task above.
pub(super) fn report_above(turn: &mut Turn<'_, '_>, report: TaskComplete) -> Result<(), Refusal> {
    let Some(above) = turn.plan.tree().task_above(turn.task).map(|node| node.id) else {
        return Ok(());
    };
    let id = turn.plan.new_id();
    report::report(turn.plan, id, above, report.into())
}
