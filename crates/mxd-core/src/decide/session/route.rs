//! Where the calls of an answer go: to the tools outside, back into this core, or nowhere because they do not go together.

use super::answer::at_rest;
use super::finish;
use super::next;
use super::turn::{Kind, Turn};
use crate::decide::{Effect, Refusal};
use crate::event::body::{RestReason, ToolCall, ToolCallId};
use crate::tool::orchestrator::{self, Orchestrator};

/// What a call is to the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The agent waits.
    Yield,
    /// The agent declares its end.
    Done,
    /// Another agent continues a conversation; nothing else may happen in that turn.
    Fork,
    /// Decided here, from the state alone.
    Decided,
    /// Run outside.
    Outside,
}

impl Route {
    /// The route of a tool, by the name models use.
    pub(super) fn of(tool: &str) -> Self {
        let name = tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(orchestrator::SERVER));
        let Some(name) = name.and_then(|rest| rest.strip_prefix("__")) else {
            return Self::Outside;
        };
        match name {
            "yield" => Self::Yield,
            "done" => Self::Done,
            "fork_task_context" => Self::Fork,
            // What these need is not in the state: other projects, the log, git.
            "list_projects" | "send_message_to_project" | "search_tasks" | "search_logs" | "merge_task" => {
                Self::Outside
            }
            other if Orchestrator::NAMES.contains(&other) => Self::Decided,
            _ => Self::Outside,
        }
    }
}

/// Sends the calls of the last answer on their way.
pub(super) fn route(turn: &mut Turn<'_, '_>, made: &[ToolCall]) -> Result<(), Refusal> {
    let routes: Vec<Route> = made.iter().map(|call| Route::of(&call.tool)).collect();
    let Some((last, before)) = made.split_last() else {
        return Ok(());
    };
    let all = |wanted: Route| routes.iter().all(|route| *route == wanted);
    if all(Route::Yield) || all(Route::Done) {
        for extra in before {
            turn.answer_call(&extra.tool_call_id, "Only the last of these calls counts.", Kind::Success);
        }
        return if all(Route::Yield) { wait(turn) } else { finish::request(turn, last) };
    }
    let alone = made.len() == 1;
    for (call, route) in made.iter().zip(routes) {
        send(turn, call, (route, alone));
    }
    // When nothing is left to wait for, it is the model's turn again.
    next::advance(turn)
}

fn wait(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    turn.rest(RestReason::Yield);
    at_rest(turn)
}

fn send(turn: &mut Turn<'_, '_>, call: &ToolCall, (route, alone): (Route, bool)) {
    let (task, id) = (turn.task, call.tool_call_id.clone());
    if let Some(why) = &call.malformed {
        let text = format!(
            "The arguments cannot be read, so nothing was done: {why}. Call it again with a JSON object."
        );
        turn.answer_call(&id, text, Kind::Error);
        return;
    }
    match route {
        Route::Yield => {
            turn.answer_call(&id, "Not waiting: other tools were called in the same turn.", Kind::Success);
        }
        Route::Done => {
            let text = "Not done: other tools were called in the same turn. Look at their results first, then call \
                        done alone.";
            turn.answer_call(&id, text, Kind::Error);
        }
        Route::Fork if !alone => {
            let text = "Nothing was forked: call fork_task_context alone, so that it is clear which conversation goes on.";
            turn.answer_call(&id, text, Kind::Error);
        }
        Route::Fork | Route::Decided => turn.effect(Effect::DecideTool { task, call: id }),
        Route::Outside => turn.effect(Effect::RunTool { task, call: id, approved: None }),
    }
}

/// Whether a call without a result was certainly not carried out: what is decided here is one with its result.
pub(super) fn is_decided_here(tool: &str) -> bool {
    matches!(Route::of(tool), Route::Decided | Route::Fork)
}

/// Whether the daemon alone carries a call out, in such a way that doing it again does it once: it reads, moves a branch from
/// where it was, or sends a message under a name that the call gives it.
pub(super) fn is_done_by_daemon(tool: &str) -> bool {
    let name = tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(orchestrator::SERVER));
    let is_known =
        name.and_then(|rest| rest.strip_prefix("__")).is_some_and(|name| Orchestrator::NAMES.contains(&name));
    is_known && Route::of(tool) == Route::Outside
}

/// The call, if it is open.
pub(super) fn open_call(turn: &Turn<'_, '_>, call: &ToolCallId) -> Result<String, Refusal> {
    let open = turn.session.calls.iter().find(|made| made.id == *call);
    let late = Refusal::Late { task: turn.task, what: "this tool call" };
    open.map(|made| made.tool.clone()).ok_or(late)
}
