//! `mxd send`: a message to an agent. It starts, steers or wakes it.

use clap::Args;
use serde_json::{Value, json};

use super::readiness::Readiness;
use super::scope::{In, Tree};
use crate::client::{Daemon, Failure};
use crate::say;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd send Add a --version flag, with a test
  mxd send -t 01K9ZQ7M 'use the other crate'
  git diff | mxd send -t parser -            what stands on standard input

It is refused while no model can be asked, or git does not know whose commits these are.

The message is on disk when this returns. The same --id twice is the same message.")]
pub(crate) struct Send {
    /// The words; `-` reads standard input.
    #[arg(required = true, trailing_var_arg = true)]
    message: Vec<String>,
    /// The task: its id or the start or end of it, its title, or `root`.
    #[arg(short, long, value_name = "TASK", default_value = "root")]
    task: String,
    /// A name for the message (a ULID), so that it can be sent again without arriving twice.
    #[arg(long, value_name = "ULID")]
    id: Option<String>,
}

impl Send {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let task = tree.find(&self.task)?;
        let content = self.content()?;
        Readiness::read(&daemon, &project).await?.refuse_unless_possible()?;
        let id = self.id.unwrap_or_else(fresh_id);
        let path = format!("/projects/{}/tasks/{}/message", project.id, task.id);
        let sent: Value = daemon.post(&path, json!({ "id": id, "content": content })).await?;
        if scope.json {
            say::line(sent.to_string());
        } else {
            say::line(format!("sent to “{}”", task.title));
        }
        Ok(())
    }

    fn content(&self) -> Result<String, Failure> {
        if self.message != ["-"] {
            return super::spoken(&self.message);
        }
        std::io::read_to_string(std::io::stdin())
            .map_err(|error| Failure::new(format!("standard input: {error}")))
    }
}

/// A new id for a message, so that a lost answer and a second try do not make two of it.
pub(crate) fn fresh_id() -> String {
    let ulid = mxd_core::id::Ulid::from_parts(crate::place::now().0, u128::from(fastrand::u64(..)));
    mxd_core::id::MessageId::from(ulid).to_string()
}
