//! `mxd sessions`: which conversations there are, and throwing them away.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::scope::{In, Tree};
use crate::client::{Daemon, Failure};
use crate::say::{self, DIM};

/// Conversations of closed tasks that `prune` keeps.
const KEPT: u32 = 10;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mxd sessions list                      every conversation, with how long it is
  mxd sessions clear --yes               throws all of them away
  mxd sessions clear -t parser --yes     throws one away
  mxd sessions prune --keep 3            keeps those of the three tasks that were closed last

The tasks stay, with their branches and their work; what was said in the conversations cannot be had back.")]
pub(crate) enum Sessions {
    /// Lists the conversations.
    List,
    /// Throws conversations away; agents that work are stopped.
    Clear(Clear),
    /// Throws away the conversations of closed tasks, the oldest first.
    Prune(Prune),
}

#[derive(Debug, Args)]
pub(crate) struct Clear {
    /// Only that of this task.
    #[arg(short, long, value_name = "TASK")]
    task: Option<String>,
    /// Really does it.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// How many of them stay.
    #[arg(long, value_name = "NUMBER", default_value_t = KEPT)]
    keep: u32,
}

impl Sessions {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let base = format!("/projects/{}", project.id);
        match self {
            Self::List => {
                list(scope, &tree);
                Ok(())
            }
            Self::Clear(clear) => clear.run(scope, (&daemon, &base), &tree).await,
            Self::Prune(prune) => {
                let body = json!({ "keepCount": prune.keep });
                let answer: Value = daemon.post(&format!("{base}/sessions/prune"), body).await?;
                say::answer(scope.json, &answer, || thrown_away(&answer));
                Ok(())
            }
        }
    }
}

impl Clear {
    async fn run(self, scope: &In, (daemon, base): (&Daemon, &str), tree: &Tree) -> Result<(), Failure> {
        let task = self.task.as_deref().map(|task| tree.find(task)).transpose()?;
        let begun = tree.tasks.iter().filter(|task| task.context.is_some());
        let meant = begun.filter(|begun| task.is_none_or(|task| task.id == begun.id)).count();
        if !self.yes && meant > 0 {
            return Err(Failure::new(format!("{} would be lost for good", conversations(meant as u64)))
                .hint("`mxd sessions list` shows them; `--yes` throws them away."));
        }
        let Some(task) = task else {
            let answer: Value = daemon.post(&format!("{base}/sessions/clear"), json!({})).await?;
            say::answer(scope.json, &answer, || thrown_away(&answer));
            return Ok(());
        };
        let path = format!("{base}/tasks/{}/sessions/clear", task.id);
        let answer: Value = daemon.post(&path, json!({})).await?;
        say::answer(scope.json, &answer, || format!("“{}” has no conversation any more", task.title));
        Ok(())
    }
}

fn list(scope: &In, tree: &Tree) {
    let begun: Vec<_> = tree.tasks.iter().filter(|task| task.context.is_some()).collect();
    if scope.json {
        let rows: Vec<Value> = begun
            .iter()
            .map(|task| json!({ "taskId": task.id, "title": task.title, "status": task.status, "life": task.life }))
            .collect();
        say::line(json!({ "sessions": rows }).to_string());
        return;
    }
    if begun.is_empty() {
        say::note("There are no conversations.");
        return;
    }
    for task in begun {
        say::line(format!(
            "{}  {:<11}  {}  {DIM}{} turns, {} tokens{DIM:#}",
            task.id,
            task.status.as_deref().unwrap_or_default(),
            task.title,
            task.life.turns,
            task.life.tokens(),
        ));
    }
    say::note(format!("{DIM}`mxd logs -t TASK` reads one.{DIM:#}"));
}

fn thrown_away(answer: &Value) -> String {
    let count = answer["cleared"].as_u64().unwrap_or(0);
    match count {
        0 => "there is nothing to throw away".to_owned(),
        _ => format!("{} thrown away", conversations(count)),
    }
}

fn conversations(count: u64) -> String {
    if count == 1 { "one conversation".to_owned() } else { format!("{count} conversations") }
}
