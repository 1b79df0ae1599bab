//! Where the agent of a task stands, and why, in one sentence.

use serde::{Deserialize, Serialize};

use super::call::short_name;
use super::one_line;
use crate::event::body::{RestReason, TurnPurpose};
use crate::id::TaskId;
use crate::limits::Limits;
use crate::price::{NextCall, next_call};
use crate::session::Session;
use crate::state::State;
use crate::tree::{Node, Status};

/// Sub-tasks that are named one by one.
const NAMED: usize = 2;

/// The states an agent is shown in. Each looks different, because each wants something else of whoever looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It never worked.
    None,
    /// Other tasks have to be passed or closed first.
    Blocked,
    /// Its workplace is being made.
    Launching,
    /// The model is being asked.
    Thinking,
    /// Tools run.
    Tool,
    /// Its checks run on what it committed.
    Checking,
    /// Its conversation is being summarised.
    Compacting,
    /// It rests until a message comes.
    Waiting,
    /// It needs an answer or a permission from the user.
    Asking,
    /// Its turn was broken off.
    Interrupted,
    /// It was stopped and does not go on by itself.
    Stopped,
    /// Its money, its turns or its time are used up.
    Spent,
    /// It went round in circles and was brought to rest.
    Stuck,
    /// The model would not answer.
    Refused,
    /// The model could not be asked, or its workplace could not be made.
    Failed,
    /// It said that it is done.
    Done,
}

impl AgentState {
    /// Whether something goes on.
    pub fn is_active(self) -> bool {
        match self {
            Self::Launching | Self::Thinking | Self::Tool | Self::Checking | Self::Compacting => true,
            Self::None
            | Self::Blocked
            | Self::Waiting
            | Self::Asking
            | Self::Interrupted
            | Self::Stopped
            | Self::Spent
            | Self::Stuck
            | Self::Refused
            | Self::Failed
            | Self::Done => false,
        }
    }

    /// Whether it cannot go on before somebody does something about it.
    pub fn is_stuck(self) -> bool {
        matches!(self, Self::Spent | Self::Stuck | Self::Refused | Self::Failed)
    }
}

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The state.
    pub state: AgentState,
    /// Why, in one sentence without a full stop.
    pub why: String,
}

impl Standing {
    fn new(state: AgentState, why: impl Into<String>) -> Self {
        Self { state, why: why.into() }
    }
}

/// Where the agent of a task stands; none for a folder.
pub fn standing(state: &State, task: TaskId) -> Option<Standing> {
    let node = state.tree().get(task)?;
    let status = node.status()?;
    let session = state.session(task);
    let mut standing = reaching(session)
        .or_else(|| busy(session))
        .or_else(|| asking(session))
        .or_else(|| queued(session))
        .or_else(|| session.rest().map(|rest| resting((state, node), session, rest)))
        .unwrap_or_else(|| untouched((state, node), status, session));
    if let Some(fault) = session.usage_fault() {
        standing.why.push_str(&format!("; its provider reports usage that cannot be: {fault}"));
    }
    Some(standing)
}

/// A command waits for the user's word about a host. It runs, but gets no further.
fn reaching(session: &Session) -> Option<Standing> {
    let request = session.host_requests().values().next()?;
    let why = format!("it needs your permission to reach {}", request.host);
    Some(Standing::new(AgentState::Asking, why))
}

/// Something goes on.
fn busy(session: &Session) -> Option<Standing> {
    if session.finishing().is_some() {
        return Some(Standing::new(AgentState::Checking, "what it did is being checked"));
    }
    if session.is_launching() {
        return Some(Standing::new(AgentState::Launching, "its workplace is being made"));
    }
    if session.is_counting() {
        return Some(Standing::new(AgentState::Thinking, "the tokens of its conversation are being counted"));
    }
    if let Some(asked) = session.asking() {
        let turn = asked.turn;
        return Some(match asked.purpose {
            TurnPurpose::Work => {
                Standing::new(AgentState::Thinking, format!("the model works on turn {turn}"))
            }
            TurnPurpose::Summary => {
                Standing::new(AgentState::Compacting, "its conversation is being summarised")
            }
        });
    }
    if !session.is_busy() {
        return None;
    }
    let asked: Vec<_> = session.approvals().values().map(|waiting| &waiting.call).collect();
    let mut running = session.calls().iter().filter(|call| !asked.contains(&&call.id));
    let first = running.next()?;
    let name = short_name(&first.tool);
    let why = match running.count() {
        0 => format!("{name} runs"),
        more => format!("{name} and {more} more run"),
    };
    Some(Standing::new(AgentState::Tool, why))
}

/// The user has to say something before it goes on.
fn asking(session: &Session) -> Option<Standing> {
    if let Some(waiting) = session.approvals().values().next() {
        let why = format!("it needs your permission to call {}", short_name(&waiting.tool));
        return Some(Standing::new(AgentState::Asking, why));
    }
    let ended = session.rest().is_some_and(|rest| match rest {
        RestReason::EndTurn | RestReason::Yield => false,
        RestReason::Done
        | RestReason::Interrupted
        | RestReason::Stopped
        | RestReason::Refused
        | RestReason::Failed
        | RestReason::Spent
        | RestReason::Loop
        | RestReason::Other(_) => true,
    });
    match session.questions().len() {
        0 => None,
        _ if ended || session.rest().is_none() => None,
        1 => Some(Standing::new(AgentState::Asking, "it waits for your answer")),
        more => {
            Some(Standing::new(AgentState::Asking, format!("it waits for your answers to {more} questions")))
        }
    }
}

/// It would go on if fewer others did.
fn queued(session: &Session) -> Option<Standing> {
    session
        .queued()
        .map(|_| Standing::new(AgentState::Waiting, "it waits for a free place: enough agents work"))
}

/// It asks its model again by itself. What is configured does not change how often.
pub(super) fn tries_again(session: &Session, status: Option<Status>) -> bool {
    status == Some(Status::InProgress) && session.tries_again(Limits::DEFAULT.failed_turns)
}

/// It does not go on by itself.
fn resting((state, node): (&State, &Node), session: &Session, rest: &RestReason) -> Standing {
    match rest {
        RestReason::EndTurn | RestReason::Yield => waiting((state, node), session),
        RestReason::Done => {
            let status = node.status().map_or("done", Status::name);
            Standing::new(AgentState::Done, format!("it reported its work as done: {status}"))
        }
        RestReason::Interrupted => Standing::new(
            AgentState::Interrupted,
            "its turn was interrupted; it goes on with your next message",
        ),
        RestReason::Stopped => {
            Standing::new(AgentState::Stopped, "it was stopped; a message starts it again")
        }
        RestReason::Refused => Standing::new(AgentState::Refused, "the model would not answer"),
        RestReason::Failed if tries_again(session, node.status()) => {
            Standing::new(AgentState::Waiting, "its model could not be asked; it is asked again soon")
        }
        RestReason::Failed => {
            Standing::new(AgentState::Failed, "it could not go on; see the last error, then retry")
        }
        RestReason::Spent => Standing::new(AgentState::Spent, spent((state, node))),
        RestReason::Loop => {
            Standing::new(AgentState::Stuck, "it went round in circles; set it on another way")
        }
        RestReason::Other(name) => {
            Standing::new(AgentState::Waiting, format!("it rests for a reason of a newer version: {name}"))
        }
    }
}

/// It cannot go on for want of money, or of turns, tokens or time.
fn spent((state, node): (&State, &Node)) -> String {
    let next = next_call(state, node.id);
    match next.and_then(|next| next.missing().map(|missing| (next, missing))) {
        Some((NextCall { least, left, .. }, missing)) => format!(
            "its next model call may cost up to {least}, and {left} is left; grant at least {missing} more"
        ),
        None => "it has used what it was given; grant more".to_owned(),
    }
}

/// It waits; the sentence says for what.
fn waiting((state, node): (&State, &Node), session: &Session) -> Standing {
    let below = state.tree().tasks_below(node.id);
    let running: Vec<&str> = below
        .iter()
        .filter(|below| below.status() == Some(Status::InProgress))
        .map(|below| below.title.as_str())
        .collect();
    let why = if !running.is_empty() {
        format!("it waits for {}", titles(&running))
    } else if !session.background().is_empty() {
        "it waits for a command in the background".to_owned()
    } else {
        "it waits for a message".to_owned()
    };
    Standing::new(AgentState::Waiting, why)
}

/// It did nothing since its conversation began, or it is about to.
fn untouched((state, node): (&State, &Node), status: Status, session: &Session) -> Standing {
    if session.owes_a_turn() || state.inbox(node.id).wants_agent() && status == Status::InProgress {
        return Standing::new(AgentState::Launching, "it is about to go on");
    }
    let blocking = state.tree().blocked_by(node.id);
    let titled: Vec<&str> =
        blocking.iter().filter_map(|task| state.tree().get(*task)).map(|node| node.title.as_str()).collect();
    match status {
        Status::Draft => Standing::new(AgentState::None, "a draft: it can start when it is made ready"),
        Status::Pending if !titled.is_empty() => {
            Standing::new(AgentState::Blocked, format!("it starts after {}", titles(&titled)))
        }
        Status::Pending | Status::InProgress => {
            Standing::new(AgentState::None, "it starts with its first message")
        }
        Status::Verify | Status::Passed | Status::Failed | Status::Closed => {
            Standing::new(AgentState::None, format!("{status}; a message takes it up again"))
        }
    }
}

/// A few titles, and how many more there are.
fn titles(all: &[&str]) -> String {
    let named: Vec<String> =
        all.iter().take(NAMED).map(|title| format!("“{}”", one_line(title, 40))).collect();
    match all.len().saturating_sub(NAMED) {
        0 => named.join(" and "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
