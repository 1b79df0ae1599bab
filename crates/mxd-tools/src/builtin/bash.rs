//! `bash`: runs a command.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use crate::outcome::Outcome;
use crate::shell::limits::{FOREGROUND_TIMEOUT_MS, MAX_COMMAND_CHARS, MAX_FOREGROUND_TIMEOUT_MS};
use crate::shell::{Ended, Moved, Mover, Order, Output, Shown, StartError, Waited, Whereabouts};

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
    let order = Order {
        call: context.call,
        command: &args.command,
        watcher: context.watcher,
        cancel: context.cancel,
    };
    let processes = &context.scope.processes;
    if args.run_in_background || args.foreground_timeout == 0 {
        let started = processes.start_background(context.scope, order).await;
        return started.map_or_else(refused, |started| {
            let note = started.note().map(|note| format!("[{note}]\n")).unwrap_or_default();
            Outcome::text(format!("{note}{}", in_background(&started.id(), started.output())))
        });
    }
    let patience = Duration::from_millis(args.foreground_timeout.min(MAX_FOREGROUND_TIMEOUT_MS));
    match processes.start_foreground(context.scope, order).await {
        Err(error) => refused(error),
        Ok(command) => match command.wait(patience, context.cancel).await {
            Waited::Ended { ended, at } => finished(&ended, &at),
            Waited::Cancelled(ended) => cancelled(&ended),
            Waited::Moved(moved) => told_of_move(&moved, args.foreground_timeout),
        },
    }
}

fn refused(error: StartError) -> Outcome {
    Outcome::error(error.to_string())
}

fn finished(ended: &Ended, at: &Whereabouts) -> Outcome {
    let mut text = shown(&ended.output);
    let _infallible = write!(text, "[{}]", ended.ending.in_words());
    if let Some(note) = &at.note {
        let _infallible = write!(text, "\n[{note}]");
    }
    if let Some(away) = &at.away {
        let _infallible = write!(text, "\n[cwd: {}]", away.display());
    }
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
