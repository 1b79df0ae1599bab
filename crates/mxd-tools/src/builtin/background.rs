//! `background`: looks after commands that run in the background.

use std::fmt::Write as _;
use std::time::Duration;

use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use crate::outcome::Outcome;
use crate::shell::limits::{AWAIT_MS, MAX_AWAIT_MS, SHOWN_COMMAND_BYTES};
use crate::shell::{Awaited, Snapshot, State, text};

/// What it is called.
pub const NAME: &str = "background";

/// What the model reads about it.
pub const DESCRIPTION: &str = "\
Look after commands in the background. `list` shows them all; `status` shows one with the last lines of its \
output; `kill` ends one with everything it started; `await` waits until one ends, at most `timeout`. The end of \
every background command also comes as a message by itself, so there is no need to ask again and again.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Shell;

/// What it takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to do.
    pub action: Action,
    /// The command, such as `bg-3`. Needed for everything but `list`.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub id: Option<String>,
    /// Milliseconds that `await` waits.
    #[serde(default = "timeout")]
    #[schemars(range(max = MAX_AWAIT_MS))]
    pub timeout: u64,
}

fn timeout() -> u64 {
    AWAIT_MS
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Action {
    /// All of them.
    List,
    /// One of them.
    Status,
    /// End one.
    Kill,
    /// Wait for one.
    Await,
}

/// Does it.
pub async fn run(args: Args, context: Context<'_>) -> Outcome {
    let processes = &context.scope.processes;
    let all = processes.list();
    let id = match (args.action, args.id) {
        (Action::List, _) => return listed(&all),
        (_, None) => return Outcome::error("`id` is needed for this action; `list` shows the ids"),
        (_, Some(id)) => id,
    };
    let Some(snapshot) = all.iter().find(|snapshot| snapshot.id == id) else { return unknown(&id, &all) };
    match (args.action, &snapshot.state) {
        (Action::List | Action::Status, _) => Outcome::text(described(snapshot)),
        (Action::Kill | Action::Await, State::Ended(ending)) => {
            Outcome::text(format!("{id} has ended already: {}", ending.in_words()))
        }
        (Action::Kill, State::Running { .. }) => {
            processes.kill(&id);
            let ended = processes.wait(&id, Duration::from_millis(MAX_AWAIT_MS)).await;
            Outcome::text(if ended { format!("{id} was ended") } else { format!("{id} is being ended") })
        }
        (Action::Await, State::Running { .. }) => awaited(&id, args.timeout.min(MAX_AWAIT_MS), context).await,
    }
}

async fn awaited(id: &str, timeout: u64, context: Context<'_>) -> Outcome {
    let processes = &context.scope.processes;
    let waited = tokio::select! {
        waited = processes.await_end(id, Duration::from_millis(timeout)) => waited,
        () = context.cancel.cancelled() => return Outcome::error("cancelled; the command runs on"),
    };
    match waited {
        Awaited::Ended => {}
        Awaited::TooLong => return Outcome::text(format!("{id} still runs after {timeout} ms")),
        Awaited::LetGo => {
            return Outcome::text(format!("the user wants you to go on without waiting; {id} still runs"));
        }
    }
    let now = processes.list().into_iter().find(|snapshot| snapshot.id == id);
    Outcome::text(match now.map(|snapshot| snapshot.state) {
        Some(State::Ended(ending)) => {
            format!("{id} ended: {}. Its output comes with the message about its end", ending.in_words())
        }
        Some(State::Running { .. }) | None => format!("{id} ended"),
    })
}

fn unknown(id: &str, all: &[Snapshot]) -> Outcome {
    let ids: Vec<&str> = all.iter().map(|snapshot| snapshot.id.as_str()).collect();
    let known =
        if ids.is_empty() { "there are none".to_owned() } else { format!("there are {}", ids.join(", ")) };
    Outcome::error(format!("no background command is called `{id}`; {known}"))
}

fn listed(all: &[Snapshot]) -> Outcome {
    if all.is_empty() {
        return Outcome::text("no background commands");
    }
    let lines: Vec<String> = all.iter().map(summary).collect();
    Outcome::text(lines.join("\n"))
}

fn summary(snapshot: &Snapshot) -> String {
    let command = snapshot.command.replace('\n', " ");
    let command = match text::head(&command, SHOWN_COMMAND_BYTES) {
        whole if whole.len() == command.len() => command,
        cut => format!("{cut}…"),
    };
    let state = match &snapshot.state {
        State::Running { seconds } => format!("runs for {seconds} s"),
        State::Ended(ending) => format!("ended, {}", ending.in_words()),
    };
    format!("{}: {state}: {command}", snapshot.id)
}

fn described(snapshot: &Snapshot) -> String {
    let mut text = summary(snapshot);
    let _infallible =
        write!(text, "\n{} bytes of output in {}", snapshot.output_bytes, snapshot.output.display());
    if !snapshot.tail.is_empty() {
        let _infallible = write!(text, "; its end:\n{}", snapshot.tail);
    }
    text
}
