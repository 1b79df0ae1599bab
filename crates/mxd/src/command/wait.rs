//! `mxd wait`: for scripts that go on when the agents are done.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::scope::{In, Tree};
use crate::client::view::Task;
use crate::client::{Daemon, Failure};
use crate::say::{self, DIM};

/// How long one request waits, in seconds; then it is made again.
const AT_A_TIME: u64 = 30;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd send Add a --version flag && mxd wait && git log    when all agents of the project rest
  mxd wait Parser --seconds 600                           one task and everything below it, ten minutes at most

Exit codes: 0 nobody works there any more, 1 somebody asks you something or cannot go on, the task failed, or time is up.")]
pub(crate) struct Wait {
    /// The task; the root, and so the whole project, without it.
    #[arg(default_value = "root")]
    task: String,
    /// How long to wait at most; without it, until it is over.
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
}

/// How far it is, as the daemon tells it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Waited {
    rested: bool,
    needs_you: bool,
    working: Vec<String>,
    asking: Vec<String>,
    stuck: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Wait {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let task = tree.find(&self.task)?;
        let path = format!("/projects/{}/tasks/{}/wait", project.id, task.id);
        if stderr().is_terminal() && !scope.json {
            say::note(format!("{DIM}waiting for “{}”; after Ctrl-C agents go on{DIM:#}", task.title));
        }
        let limit = self.seconds.map_or(Duration::MAX, Duration::from_secs);
        let waited = match tokio::time::timeout(limit, until_settled(&daemon, &path)).await {
            Ok(waited) => waited?,
            Err(_) => daemon.get(&format!("{path}?seconds=0")).await?,
        };
        if scope.json {
            say::line(serde_json::to_string(&waited).unwrap_or_default());
        }
        let told = judge(task, &waited)?;
        if !scope.json {
            say::line(told);
        }
        Ok(())
    }
}

/// Waits as long as it takes.
async fn until_settled(daemon: &Daemon, path: &str) -> Result<Waited, Failure> {
    loop {
        let waited: Waited = daemon.get(&format!("{path}?seconds={AT_A_TIME}")).await?;
        if waited.rested || waited.needs_you {
            return Ok(waited);
        }
    }
}

/// What is told when it is over, or why it is not what was waited for.
fn judge(task: &Task, waited: &Waited) -> Result<String, Failure> {
    let title = &task.title;
    let why = waited.why.as_deref().unwrap_or("nobody works there");
    if task.status.is_some() && waited.status.is_none() {
        return Err(Failure::not_found(format!("“{title}” is gone")).hint("Somebody deleted it meanwhile."));
    }
    if waited.needs_you {
        let said = format!("somebody at “{title}” or below asks you something");
        return Err(Failure::new(said).hint("`mxd needs` says what, and how to answer."));
    }
    if !waited.rested {
        let working = waited.working.len();
        let said = format!("time is up, and at “{title}” and below {working} still work");
        return Err(Failure::new(said).hint("`mxd status` shows the tree; agents go on."));
    }
    if !waited.stuck.is_empty() {
        let said = format!("at “{title}” and below, {} cannot go on alone", waited.stuck.len());
        return Err(Failure::new(said).hint("`mxd needs` says which, and what to do."));
    }
    match waited.status.as_deref() {
        Some("failed") => Err(Failure::new(format!("“{title}” failed: {why}"))
            .hint("`mxd logs -t TASK` shows what happened; `mxd continue TASK` takes it up again.")),
        _ => Ok(format!("“{title}” rests: {why}")),
    }
}
