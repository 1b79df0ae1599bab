//! What is owed after the daemon started again, read from the shape of the log.

use super::answer;
use super::attempt;
use super::host;
use super::leave;
use super::next;
use super::question;
use super::route::{is_decided_here, is_done_by_daemon};
use super::sample;
use super::turn::{Kind, Turn};
use crate::decide::{Alarm, Effect, Refusal};
use crate::event::body::{CallMade, MessagePosted, RestReason};
use crate::message::BackgroundComplete;
use crate::time::Millis;

/// Takes up what was going on. Nothing is done twice: a model is asked again, a tool is not run again.
pub(super) fn boot(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    leave::resume(turn);
    lose_background(turn);
    resume_call(turn)?;
    sample::lose_all(turn);
    lose_tool_calls(turn);
    question::withdraw_all(turn);
    host::withdraw_all(turn);
    set_alarms(turn);
    let task = turn.task;
    if !turn.works() {
        // What was being made, asked or looked into is lost: whoever is called again must not wait for it, and others not
        // for its place.
        let session = &turn.session;
        if session.launching || session.counting || session.interrupted || session.owes_a_turn() {
            turn.rest(RestReason::Interrupted);
        }
        return Ok(());
    }
    if turn.session.launching {
        // What is still there of an old workplace goes first.
        if turn.fields()?.leaving.is_none() {
            turn.effect(Effect::Launch { task });
        }
        return Ok(());
    }
    if turn.session.finishing.is_some() {
        turn.effect(Effect::RunChecks { task });
        return Ok(());
    }
    if turn.session.counting && !turn.session.interrupted {
        turn.effect(Effect::CountTokens { task });
        return Ok(());
    }
    if turn.session.interrupted && (turn.session.counting || !turn.session.is_busy()) {
        turn.rest(RestReason::Interrupted);
    }
    next::advance(turn)
}

/// Commands that ran in the background died with the daemon.
fn lose_background(turn: &mut Turn<'_, '_>) {
    for command_id in turn.session.background.clone() {
        let id = turn.plan.new_id();
        let lost = BackgroundComplete {
            command: format!("(command {command_id})"),
            command_id,
            exit_code: None,
            duration_ms: 0,
            stdout: None,
            stderr: None,
        };
        let wake = turn.works() && !turn.is_stopped();
        turn.emit(MessagePosted { id, body: lost.into(), wake });
        if wake {
            turn.effect(Effect::Wake { task: turn.task });
        }
    }
}

/// A model call whose answer was lost is made again, unless it had been broken off.
fn resume_call(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let Some(asking) = turn.session.asking else {
        return Ok(());
    };
    if turn.session.interrupted || turn.is_stopped() || !turn.works() {
        answer::lost(turn);
        return Ok(());
    }
    attempt::resume(turn, asking)
}

/// A tool call into the outside world is never run again: nobody knows how far it got. What is decided in this core is
/// certain: without a result, it did not happen. What the daemon itself does can be found out, and is finished.
fn lose_tool_calls(turn: &mut Turn<'_, '_>) {
    let waiting: Vec<_> = turn.session.approvals.values().map(|waiting| waiting.call.clone()).collect();
    let finishing = turn.session.finishing.as_ref().filter(|_| turn.works());
    let finishing = finishing.map(|finishing| finishing.call.clone());
    let open: Vec<CallMade> = turn.session.calls.clone();
    for call in open {
        if turn.session.waits_in(&call.id)
            || waiting.contains(&call.id)
            || finishing.as_ref() == Some(&call.id)
        {
            continue;
        }
        if is_decided_here(&call.tool) && turn.works() && !turn.is_stopped() {
            turn.effect(Effect::DecideTool { task: turn.task, call: call.id });
            continue;
        }
        if is_done_by_daemon(&call.tool) && !turn.is_broken_off() {
            turn.effect(Effect::ResumeTool { task: turn.task, call: call.id });
            continue;
        }
        let text = "Interrupted: the daemon was restarted while this ran. Its outcome is unknown: it may have happened, \
                    in part or as a whole. Look before you do it again.";
        turn.answer_call(&call.id, text, Kind::Error);
    }
}

fn set_alarms(turn: &mut Turn<'_, '_>) {
    let (task, wait) = (turn.task, turn.plan.limits.question_ms);
    if wait > 0 {
        for (id, asked) in turn.session.questions.clone() {
            let at = Millis(asked.0.saturating_add(wait));
            turn.effect(Effect::Alarm { task, at, what: Alarm::Question(id) });
        }
    }
    if turn.session.tries_again(turn.plan.limits.failed_turns) && turn.works() {
        answer::retry_later(turn, turn.session.life.turns);
    }
}
