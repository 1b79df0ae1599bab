//! Steering agents: stop, interrupt, go on, summarise, fork, take back, merge, give money.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use mxd_core::id::MessageId;

use super::scope::{In, Tree};
use super::task::amount;
use crate::client::{Daemon, Failure};
use crate::say;

/// What can be wanted of the agent of a task.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Steer {
    /// Stops an agent with everything below it, at once. It stays in progress and starts again with a message.
    Stop(Whole),
    /// Breaks off the running turn. The agent goes on with the next message.
    Interrupt(One),
    /// Tries again what failed.
    Retry(One),
    /// Takes a finished task up again.
    Continue(Continue),
    /// Has the conversation summarised now.
    Compact(Whole),
    /// Starts a task with the conversation of another one.
    Fork(Fork),
    /// Takes the conversation back to a message. Nothing is deleted, and no file is changed.
    Rewind(Rewind),
    /// Merges the branch of a task into the branch of the task above it.
    Merge(Merge),
    /// Gives a task more money.
    Grant(Grant),
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
A merge into the base branch that changes .mxd/config.json or .mxd/hooks is refused until you accept exactly that change:
its refusal names a fingerprint. `mxd diff TASK` shows it.")]
pub(crate) struct Merge {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// Accepts the change of settings or hooks that has this fingerprint.
    #[arg(long, value_name = "FINGERPRINT")]
    accept_settings: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct One {
    /// The task: its id or the start or end of it, or its title.
    task: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Whole {
    /// The task; the root, and so the whole project, without it.
    #[arg(default_value = "root")]
    task: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Continue {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// What it is told.
    #[arg(trailing_var_arg = true)]
    message: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Fork {
    /// The task that has not worked yet.
    task: String,
    /// The task whose conversation it gets.
    #[arg(long, value_name = "TASK")]
    from: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Rewind {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// The message that is to be the last one; `mxd logs --json` has the ids.
    #[arg(long, value_name = "MESSAGE")]
    to: MessageId,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Grant {
    /// The task: its id or the start or end of it, or its title.
    task: String,
    /// How much, in dollars.
    #[arg(value_parser = some_amount, allow_negative_numbers = true)]
    usd: f64,
}

/// More than nothing.
fn some_amount(text: &str) -> Result<f64, String> {
    match amount(text)? {
        usd if usd > 0.0 => Ok(usd),
        _ => Err("it has to be more than nothing, such as 2.50".to_owned()),
    }
}

/// A wish: to which task, which route, with what, and what is said when it is done.
struct Wish {
    task: String,
    route: &'static str,
    body: Value,
    said: &'static str,
}

impl Wish {
    fn plain(task: String, route: &'static str, said: &'static str) -> Self {
        Self { task, route, body: json!({}), said }
    }
}

impl Steer {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let wish = self.wish(&tree)?;
        let task = tree.find(&wish.task)?;
        let path = format!("/projects/{}/tasks/{}/{}", project.id, task.id, wish.route);
        let (answer, said): (Value, String) = match daemon.post::<Value>(&path, wish.body).await {
            // Somebody who interrupts or stops when the turn has just ended did nothing wrong.
            Ok(answer) if answer["interrupted"] == false => {
                (answer, "does nothing that could be interrupted".to_owned())
            }
            Err(failure) if wish.route == "stop" && failure.is("nothing_to_change") => {
                (json!({ "stopped": false }), "does nothing that could be stopped".to_owned())
            }
            Err(failure) if wish.route == "retry" && failure.is("late") => {
                return Err(
                    failure.hint("Nothing of it failed. `mxd continue` takes up a task that has ended.")
                );
            }
            answer => {
                let answer = answer?;
                let said = answer["says"].as_str().unwrap_or(wish.said).to_owned();
                (answer, said)
            }
        };
        say::answer(scope.json, &answer, || format!("“{}” {said}", task.title));
        Ok(())
    }

    fn wish(self, tree: &Tree) -> Result<Wish, Failure> {
        Ok(match self {
            Self::Stop(one) => Wish::plain(one.task, "stop", "is stopped"),
            Self::Interrupt(one) => Wish::plain(one.task, "interrupt", "is interrupted"),
            Self::Retry(one) => Wish::plain(one.task, "retry", "tries again"),
            Self::Compact(one) => Wish::plain(one.task, "compact", "is asked for a summary"),
            Self::Merge(merge) => {
                let body = match merge.accept_settings {
                    Some(fingerprint) => json!({ "acceptSettings": fingerprint }),
                    None => json!({}),
                };
                Wish { task: merge.task, route: "merge", body, said: "is merged" }
            }
            Self::Continue(wanted) => {
                let body = match wanted.message.as_slice() {
                    [] => json!({}),
                    words => json!({ "message": super::spoken(words)? }),
                };
                Wish { task: wanted.task, route: "continue", body, said: "is taken up again" }
            }
            Self::Fork(fork) => {
                let body = json!({ "sourceTaskId": tree.find(&fork.from)?.id });
                Wish { task: fork.task, route: "fork", body, said: "goes on from there" }
            }
            Self::Rewind(rewind) => {
                let body = json!({ "messageId": rewind.to.to_string() });
                Wish {
                    task: rewind.task,
                    route: "rewind",
                    body,
                    said: "is taken back; files stay as they are",
                }
            }
            Self::Grant(grant) => {
                let body = json!({ "usd": grant.usd });
                Wish { task: grant.task, route: "grant", body, said: "has more money" }
            }
        })
    }
}
