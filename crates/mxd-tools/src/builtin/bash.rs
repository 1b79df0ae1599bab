//! `bash`: runs a command.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use crate::outcome::{Outcome, Part};
use crate::shell::limits::{FOREGROUND_TIMEOUT_MS, MAX_COMMAND_CHARS, MAX_FOREGROUND_TIMEOUT_MS};
use crate::shell::{Ended, Moved, Mover, Order, Output, Shown, StartError, Waited};

/// What it is called.
pub const NAME: &str = "bash";

/// What the model reads about it.
pub const DESCRIPTION: &str = "\
Run a command with `bash -c`. The working directory persists from call to call; variables, functions and \
options do not. Standard output and standard error come back merged, in order, with the exit code; output of \
more than 10 kB comes as its beginning and its end, with the path of a file that holds all of it. Standard input \
is empty. Everything a command leaves running ends with it: start servers and long builds with \
`run_in_background`. A command that takes longer than `foreground_timeout` is not stopped: it goes on in the \
background under an id, and you get a message when it ends.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Shell;

/// What it takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// What to run.
    #[schemars(length(min = 1, max = MAX_COMMAND_CHARS), regex(pattern = r"^[^\x00]*$"))]
    pub command: String,
    /// Return at once with an id and let the command run. It does not change the working directory.
    #[serde(default)]
    pub run_in_background: bool,
    /// Milliseconds to wait before the command goes on in the background; 0 means at once.
    #[serde(default = "foreground_timeout")]
    #[schemars(range(max = MAX_FOREGROUND_TIMEOUT_MS))]
    pub foreground_timeout: u64,
}

fn foreground_timeout() -> u64 {
    FOREGROUND_TIMEOUT_MS
}

/// Runs the command.
pub async fn run(args: Args, context: Context<'_>) -> Outcome {
    match started(&args, context).await {
        Ok(outcome) => match context.scope.processes.away() {
            Some(away) => with_line(outcome, &format!("[cwd: {}]", away.display())),
            None => outcome,
        },
        Err(error) => Outcome::error(error.to_string()),
    }
}

async fn started(args: &Args, context: Context<'_>) -> Result<Outcome, StartError> {
    let Context { scope, call, watcher, cancel } = context;
    let order = Order { call, command: &args.command, watcher, cancel };
    if args.run_in_background || args.foreground_timeout == 0 {
        let started = scope.processes.start_background(scope, order).await?;
        let outcome = Outcome::text(in_background(&started.id(), started.output()));
        return Ok(noted(outcome, started.note()));
    }
    let patience = Duration::from_millis(args.foreground_timeout.min(MAX_FOREGROUND_TIMEOUT_MS));
    let command = scope.processes.start_foreground(scope, order).await?;
    Ok(match command.wait(patience, cancel).await {
        Waited::Ended { ended, note } => noted(finished(&ended), note.as_deref()),
        Waited::Cancelled(ended) => cancelled(&ended),
        Waited::Moved(moved) => told_of_move(&moved, args.foreground_timeout),
    })
}

fn noted(outcome: Outcome, note: Option<&str>) -> Outcome {
    match note {
        Some(note) => with_line(outcome, &format!("[{note}]")),
        None => outcome,
    }
}

fn with_line(mut outcome: Outcome, line: &str) -> Outcome {
    if let Some(Part::Text(text)) = outcome.parts.last_mut() {
        text.push('\n');
        text.push_str(line);
    }
    outcome
}

fn finished(ended: &Ended) -> Outcome {
    let text = format!("{}[{}]", shown(&ended.output), ended.ending.in_words());
    Outcome { is_error: !ended.ending.is_success(), ..Outcome::text(text) }
}

fn cancelled(ended: &Ended) -> Outcome {
    Outcome::error(format!("{}[the command and everything it started were ended]", shown(&ended.output)))
}

fn told_of_move(moved: &Moved, waited: u64) -> Outcome {
    let why = match moved.by {
        Mover::User => "the user moved it to the background".to_owned(),
        Mover::Timeout => format!("it did not end within {waited} ms and was moved to the background"),
    };
    let so_far = if moved.tail.is_empty() { "[no output so far]\n".to_owned() } else { line(&moved.tail) };
    Outcome::text(format!("{so_far}[{why}]\n{}", in_background(&moved.id, &moved.output)))
}

fn in_background(id: &str, output: &Path) -> String {
    format!(
        "[runs in the background as {id}; its output goes to {}. A message comes when it ends; use the \
         `background` tool to look at it, wait for it or end it]",
        output.display()
    )
}

/// The output, and where the rest of it is. Ends with a line break.
fn shown(output: &Output) -> String {
    let mut text = match &output.shown {
        Shown::Whole(whole) if whole.trim().is_empty() => "[no output]\n".to_owned(),
        Shown::Whole(whole) => line(whole),
        Shown::Ends { head, tail } => {
            let dropped = match output.dropped_bytes {
                0 => String::new(),
                dropped => format!(" except for {dropped} bytes in the middle"),
            };
            format!(
                "{}[… the output has {} bytes; all of them{dropped} are in {}: read_file shows any part of it …]\n{}",
                line(head),
                output.total_bytes,
                output.path.display(),
                line(tail),
            )
        }
    };
    if let (Some(problem), Shown::Ends { .. }) = (&output.problem, &output.shown) {
        let _infallible = writeln!(text, "[that file is not whole: {problem}]");
    }
    text
}

fn line(text: &str) -> String {
    if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
