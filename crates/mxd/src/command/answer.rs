//! What waits for the user: questions, permissions, failures. And the answers.

use clap::Args;
use mxd_core::show;
use mxd_core::tool::visible;
use serde_json::{Value, json};

use super::scope::{In, Tree};
use crate::client::view::{Approval, Needs, Project};
use crate::client::{Daemon, Failure};
use crate::say::{self, BAD, DIM, WEAK};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 nothing waits for you or it was listed. `mxd needs --json | jq '.clarifications | length'` counts.")]
pub(crate) struct List {}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd answer Blue, please                 the only question there is
  mxd answer -t parser Blue, please       the question of one task
  mxd answer --question 01K9ZQ7M… yes     one of several")]
pub(crate) struct Answer {
    /// The answer.
    #[arg(required = true, trailing_var_arg = true)]
    words: Vec<String>,
    /// The task that asks.
    #[arg(short, long, value_name = "TASK")]
    task: Option<String>,
    /// Which question, when there are several.
    #[arg(long, value_name = "ID")]
    question: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd approve                    the only call that waits, this once
  mxd approve 01K9ZQ7M --always  all calls of this tool with any arguments, as long as the task lives; for a host:
                                 this host, as long as the task lives
  mxd approve 01K9ZQ7M --for-project  a host, for all tasks of the project: it is written into your settings for it
  mxd approve 01K9ZQ7M --deny    it is not called; `mxd deny` is the same")]
pub(crate) struct Approve {
    /// Which call, by the id that `mxd needs` shows; not needed when only one waits.
    id: Option<String>,
    /// All calls of this tool by this task, with any arguments, now and later; or this host for this task.
    #[arg(long, conflicts_with = "deny")]
    always: bool,
    /// This host for all tasks of the project, now and later.
    #[arg(long, conflicts_with_all = ["deny", "always"])]
    for_project: bool,
    /// Refuses it.
    #[arg(long)]
    deny: bool,
    /// Why it is refused; the agent reads it as the result of its call.
    #[arg(long, value_name = "WORDS", requires = "deny")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd deny                                            the only call that waits
  mxd deny 01K9ZQ7M --reason 'Use the crate we have'  with words that the agent reads as the result of its call")]
pub(crate) struct Deny {
    /// Which call, by the id that `mxd needs` shows; not needed when only one waits.
    id: Option<String>,
    /// Why; the agent reads it as the result of its call.
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
}

impl Deny {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let (always, for_project) = (false, false);
        Approve { id: self.id, always, for_project, deny: true, reason: self.reason }.run(scope).await
    }
}

/// What waits in a project.
async fn needs(daemon: &Daemon, project: &Project) -> Result<Needs, Failure> {
    daemon.get(&format!("/projects/{}/needs", project.id)).await
}

impl List {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        if scope.json {
            let all: Value = daemon.get(&format!("/projects/{}/needs", project.id)).await?;
            say::line(all.to_string());
            return Ok(());
        }
        let lines = describe(&needs(&daemon, &project).await?);
        if lines.is_empty() {
            say::line("Nothing waits for you.");
        }
        lines.iter().for_each(say::line);
        Ok(())
    }
}

/// What waits, for a person to read.
pub(crate) fn describe(needs: &Needs) -> Vec<String> {
    let mut lines = Vec::new();
    for approval in &needs.approvals {
        lines.extend(permission(approval));
        let wider = if approval.host.is_some() { " [--always | --for-project]" } else { "" };
        lines.push(format!("            {DIM}mxd approve {}{wider}{DIM:#}", approval.approval_id));
    }
    for question in &needs.clarifications {
        let asked = visible(question.question.trim_end()).replace('\n', "\n            ");
        lines.push(format!("{WEAK}question{WEAK:#}    {}: {asked}", question.task_title));
        lines.push(format!("            {DIM}mxd answer --question {} …{DIM:#}", question.clarification_id));
    }
    for trouble in &needs.failed {
        lines.push(format!("{BAD}failed{BAD:#}      {}: {}", trouble.task_title, visible(&trouble.why)));
    }
    for trouble in &needs.conflicts {
        lines.push(format!("{BAD}conflict{BAD:#}    {}: {}", trouble.task_title, visible(&trouble.why)));
    }
    for server in &needs.servers {
        lines.push(format!("{WEAK}server{WEAK:#}      {}: {}", server.alias, visible(&server.why)));
        lines.extend(server.commands.iter().map(|command| format!("            {DIM}{command}{DIM:#}")));
    }
    lines
}

/// A call that waits, all of it: whoever allows it has to see what that is.
fn permission(approval: &Approval) -> Vec<String> {
    if let Some(host) = &approval.host {
        let host = visible(host);
        return vec![format!("{WEAK}permission{WEAK:#}  {}: to reach {host}", approval.task_title)];
    }
    let rows = show::call_rows(&approval.tool, &approval.args.to_string());
    let (name, arguments) = rows.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
    let first = format!("{WEAK}permission{WEAK:#}  {}: {name}", approval.task_title);
    let rest = arguments.iter().map(|row| format!("          {row}"));
    let why = approval.rule.iter().map(|rule| format!("            asked because of {}", visible(rule)));
    std::iter::once(first).chain(rest).chain(why).collect()
}

impl Answer {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let tree = Tree::read(&daemon, &project).await?;
        let of_task = self.task.as_deref().map(|task| tree.find(task)).transpose()?;
        let open = needs(&daemon, &project).await?.clarifications;
        let meant: Vec<_> = open
            .iter()
            .filter(|question| of_task.is_none_or(|task| task.id == question.task_id))
            .filter(|question| {
                self.question.as_ref().is_none_or(|id| question.clarification_id.starts_with(id))
            })
            .collect();
        let question = match meant.as_slice() {
            [question] => question,
            [] => return Err(Failure::not_found("no such question is open").hint("`mxd needs` lists them.")),
            _ => {
                return Err(
                    Failure::new("more than one question is open").hint("--task or --question says which.")
                );
            }
        };
        let body = json!({
            "taskId": question.task_id,
            "clarificationId": question.clarification_id,
            "answer": super::spoken(&self.words)?,
        });
        let answer: Value = daemon.post(&format!("/projects/{}/clarify", project.id), body).await?;
        say::answer(scope.json, &answer, || format!("answered “{}”", question.task_title));
        Ok(())
    }
}

impl Approve {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        let project = scope.project(&daemon).await?;
        let open = needs(&daemon, &project).await?.approvals;
        let meant: Vec<_> = open
            .iter()
            .filter(|call| self.id.as_ref().is_none_or(|id| call.approval_id.starts_with(id)))
            .collect();
        let call = match meant.as_slice() {
            [call] => call,
            [] => return Err(Failure::not_found("no such call waits").hint("`mxd needs` lists them.")),
            _ => {
                return Err(
                    Failure::new("more than one call waits").hint("Say which, by the id of `mxd needs`.")
                );
            }
        };
        let (decision, said) = self.decision(call)?;
        let body = json!({
            "taskId": call.task_id,
            "approvalId": call.approval_id,
            "decision": decision,
            "argsDigest": call.args_digest,
            "note": self.reason,
        });
        let answer: Value = daemon.post(&format!("/projects/{}/approve", project.id), body).await?;
        let line = match &call.host {
            Some(host) => visible(host),
            None => show::call_line(&call.tool, &call.args.to_string()),
        };
        say::answer(scope.json, &answer, || format!("{said}: {line}"));
        Ok(())
    }

    /// What is said about a call or a host, as the daemon and as a person reads it.
    fn decision(&self, call: &Approval) -> Result<(&'static str, &'static str), Failure> {
        let is_host = call.host.is_some();
        Ok(match (self.deny, self.always, self.for_project) {
            (true, _, _) => ("deny", "refused"),
            (false, true, _) if is_host => ("task", "this host is allowed for this task"),
            (false, true, _) => ("task", "all calls of this tool allowed for this task, this one first"),
            (false, false, true) if is_host => ("always", "this host is allowed for the project"),
            (false, false, true) => {
                return Err(Failure::new("only a host can be allowed for the project")
                    .hint("A rule in `approvals.rules` allows calls of a tool."));
            }
            (false, false, false) => ("once", "allowed once"),
        })
    }
}
