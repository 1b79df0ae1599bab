//! What comes next for an agent.

use super::compact::{self, Dropped, Due};
use super::launch;
use super::money::{self, Allowance, Money};
use super::place::{self, Place};
use super::route::Route;
use super::turn::{Kind, Turn};
use crate::decide::{Effect, Refusal};
use crate::event::body::{MessagesConsumed, RestReason, ToolCallId, TurnPurpose, TurnStarted};
use crate::id::MessageId;
use crate::limits::Limits;
use crate::message::{MessageKind, NoticeTopic};
use crate::prompt::text::{self, Pending, PendingTask};
use crate::session::{Load, Repetition, repetition};
use crate::tree::Status;

/// Running sub-tasks that are named one by one.
const MOST_RUNNING: usize = 50;

/// Lets the agent go on, if it has something to go on with.
pub(super) fn advance(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    if !turn.works() || turn.session.is_busy() {
        return Ok(());
    }
    let called = turn.inbox().wants_agent();
    if !called && !turn.session.owes_a_turn() {
        return Ok(());
    }
    if compact::drop_idle_wishes(turn) == Dropped::AllThatCalled {
        return Ok(());
    }
    go_on(turn)?;
    place::leave_queue(turn);
    Ok(())
}

/// Asks the model, in a workplace.
pub(super) fn go_on(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    if launch::is_needed(turn)? {
        return match place::take(turn) {
            Place::Free => launch::launch(turn),
            Place::None => Ok(()),
        };
    }
    ask(turn, Reading::default())
}

/// What the agent is to read, and how much that is.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) ids: Vec<MessageId>,
    pub(super) load: Load,
}

/// Asks the model, unless something has to be done before. `first` is what it reads before its other messages.
pub(super) fn ask(turn: &mut Turn<'_, '_>, first: Reading) -> Result<(), Refusal> {
    if used_up(turn)? || goes_in_circles(turn)? {
        return Ok(());
    }
    let (reading, over) = (reading(turn, first), end_of_waiting(turn));
    let more = reading.load.and(over.load());
    match compact::due(turn, more) {
        Due::Now => return compact::begin(turn),
        Due::Unsure => {
            if place::take(turn) == Place::Free {
                compact::count(turn);
            }
            return Ok(());
        }
        Due::No => {}
    }
    let Money::SetAside(allowance) = money::set_aside(turn, more)? else {
        return Ok(());
    };
    // Asked last: who could not begin anyway keeps nobody waiting.
    if place::take(turn) == Place::None {
        return Ok(());
    }
    over.tell(turn);
    if !reading.ids.is_empty() {
        turn.emit(MessagesConsumed { message_ids: reading.ids });
    }
    start(turn, TurnPurpose::Work, allowance);
    Ok(())
}

/// Writes down that a model call begins, and has it made.
pub(super) fn start(turn: &mut Turn<'_, '_>, purpose: TurnPurpose, allowance: Allowance) {
    money::reserve(turn, allowance);
    let number = turn.session.life.turns + 1;
    turn.emit(TurnStarted { turn: number, purpose });
    let (task, max_output_tokens) = (turn.task, allowance.max_output_tokens);
    turn.effect(Effect::CallModel { task, turn: number, purpose, max_output_tokens });
}

/// What the agent reads now: what it has to know first, then the rest in the order in which it came.
fn reading(turn: &Turn<'_, '_>, first: Reading) -> Reading {
    let limits = turn.plan.limits;
    let Reading { mut ids, mut load } = first;
    let most = u64::try_from(limits.message_bytes_per_turn).unwrap_or(u64::MAX);
    let (context, rest): (Vec<_>, Vec<_>) =
        turn.inbox().pending().partition(|message| message.kind == MessageKind::WorkContext);
    let room = limits.messages_per_turn.saturating_sub(ids.len());
    for message in context.into_iter().chain(rest).take(room) {
        let more = load.and(message.load());
        if more.bytes > most && !ids.is_empty() {
            break;
        }
        load = more;
        ids.push(message.id);
    }
    Reading { ids, load }
}

/// The result of the `yield` or `done` in which the agent waited, if it did.
pub(super) struct Over(Option<(ToolCallId, String)>);

/// The waiting is over.
pub(super) fn end_of_waiting(turn: &Turn<'_, '_>) -> Over {
    let call = turn.session.calls.last().filter(|call| turn.session.waits_in(&call.id));
    Over(call.map(|call| (call.id.clone(), what_came_of_waiting(turn, &call.tool))))
}

impl Over {
    pub(super) fn load(&self) -> Load {
        Load::text(self.0.as_ref().map_or(0, |(_, text)| text.len()))
    }

    pub(super) fn tell(self, turn: &mut Turn<'_, '_>) {
        if let Some((call, text)) = self.0 {
            turn.answer_call(&call, text, Kind::Success);
        }
    }
}

fn what_came_of_waiting(turn: &Turn<'_, '_>, tool: &str) -> String {
    if turn.session.rest == Some(RestReason::Done) {
        text::woken_after_done().to_owned()
    } else if Route::of(tool) == Route::Done {
        "The task is not done: you were stopped before it was looked into.".to_owned()
    } else {
        pending(turn)
    }
}

/// What is still to come, as the result of `yield`.
fn pending(turn: &Turn<'_, '_>) -> String {
    let below = turn.plan.tree().tasks_below(turn.task);
    let tasks: Vec<PendingTask<'_>> = below
        .iter()
        .filter(|node| node.status() == Some(Status::InProgress))
        .map(|node| PendingTask { id: node.id, title: &node.title })
        .collect();
    let session = &turn.session;
    text::yield_result(&Pending {
        tasks: &tasks,
        clarifications: session.questions.len(),
        approvals: session.approvals.len(),
        commands: session.background.len(),
    })
}

/// The tasks below that are in progress, one per line, as far as anybody wants to read them.
pub(super) fn running_below(turn: &Turn<'_, '_>) -> Option<String> {
    let below = turn.plan.tree().tasks_below(turn.task);
    let running = below.iter().filter(|node| node.status() == Some(Status::InProgress));
    let mut lines: Vec<String> = running.map(|node| format!("- {} ({})", node.title, node.id)).collect();
    if lines.is_empty() {
        return None;
    }
    let left_out = lines.len().saturating_sub(MOST_RUNNING);
    lines.truncate(MOST_RUNNING);
    if left_out > 0 {
        lines.push(format!("and {left_out} more"));
    }
    Some(lines.join("\n"))
}

/// Whether the task may not ask any more: turns, tokens or time are used up.
fn used_up(turn: &mut Turn<'_, '_>) -> Result<bool, Refusal> {
    let (limits, life) = (turn.plan.limits, turn.session.life);
    let over = |limit: u64, used: u64| limit > 0 && used >= limit;
    let time = life.since.map_or(0, |since| turn.plan.at.0.saturating_sub(since.0));
    let what = if over(limits.turns_per_task, life.turns) {
        format!("{} model calls", limits.turns_per_task)
    } else if over(limits.tokens_per_task, life.tokens) {
        format!("{} tokens", limits.tokens_per_task)
    } else if over(limits.task_ms, time) {
        format!("{} minutes", limits.task_ms / 60_000)
    } else {
        return Ok(false);
    };
    // Told once: every further message would say the same again.
    if turn.session.rest != Some(RestReason::Spent) {
        let message = format!("the task has used what it was given: {what}");
        turn.error("limit", message.clone(), Some("Raise the limit in the configuration.".to_owned()));
        turn.rest(RestReason::Spent);
        turn.tell_above(&message)?;
    }
    Ok(true)
}

/// Whether the agent does the same again and again. First it is told, then it is brought to rest.
fn goes_in_circles(turn: &mut Turn<'_, '_>) -> Result<bool, Refusal> {
    // Whoever writes to it knows more than it did.
    if turn.session.rest.is_some() {
        return Ok(false);
    }
    let limits = turn.plan.limits;
    let repeated = repetition(&turn.session.trace).map(|one| (one, borne(one, limits)));
    let why = if let Some((one, _)) = repeated.filter(|(one, most)| one.calls >= most.rest) {
        circle(one)
    } else if turn.session.streak.talk >= limits.talk_turns {
        format!("{} turns in a row held nothing but messages between tasks", turn.session.streak.talk)
    } else {
        if let Some((one, _)) = repeated.filter(|(one, most)| one.calls == most.warning) {
            turn.tell_itself(NoticeTopic::Loop, loop_warning(one));
        }
        return Ok(false);
    };
    turn.error("loop", why.clone(), Some("Write to the task to set it on another way.".to_owned()));
    turn.rest(RestReason::Loop);
    turn.read_on();
    turn.tell_above(&why)?;
    Ok(true)
}

/// How many calls in a row are borne.
#[derive(Debug, Clone, Copy)]
struct Borne {
    /// Before the agent is told.
    warning: usize,
    /// Before it is brought to rest.
    rest: usize,
}

/// More of those that succeed; and a round has to be gone more than twice to be one, and once more after the warning.
fn borne(repeated: Repetition, limits: &Limits) -> Borne {
    let patience = if repeated.fails { 1 } else { limits.repeats_of_success.max(1) };
    let least = if repeated.round == 1 { 1 } else { 2 * repeated.round + 1 };
    let warning = limits.repeats_before_warning.saturating_mul(patience).max(least);
    let rest = limits.repeats_before_rest.saturating_mul(patience);
    Borne { warning, rest: rest.max(warning.saturating_add(repeated.round)) }
}

/// What an agent is brought to rest for.
fn circle(Repetition { calls, round, .. }: Repetition) -> String {
    match round {
        1 => format!("the same call came to the same result {calls} times in a row"),
        _ => format!("the same {round} calls came to the same results again and again, {calls} in a row"),
    }
}

fn loop_warning(Repetition { calls, round, fails }: Repetition) -> String {
    let what = match round {
        1 => format!("You made the same call {calls} times in a row and it came to the same."),
        _ => format!("Your last {calls} calls were the same {round} again and again, and came to the same."),
    };
    if fails {
        format!("{what} It will not change. Look at the problem from another side, or ask.")
    } else {
        format!(
            "{what} If you wait for something, run a command in the background that ends when it is there, and yield."
        )
    }
}
