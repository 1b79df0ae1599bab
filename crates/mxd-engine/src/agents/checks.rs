//! Running the checks of a task on what its agent has committed.

use std::time::Duration;

use mxd_core::decide::{Check, Checked, SessionOp};
use mxd_core::id::TaskId;
use mxd_tools::scope::{Access, Root};
use tokio_util::sync::CancellationToken;

use super::room::Place;
use super::{Agents, errand};
use crate::git::{End, Errand, Ran, filtered_work, scratch, status, worktree};
use crate::home::make_private_folder;

/// How long one check may take.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// Bytes of its output in the log.
const SHOWN: usize = 8 * 1024;

impl Agents {
    pub(super) async fn run_checks(self, task: TaskId, stop: CancellationToken) {
        let checked = match self.check(task, &stop).await {
            Ok(checked) => checked,
            Err(problem) => Checked { checks: Vec::new(), problem: Some(problem) },
        };
        self.report(task, SessionOp::Checked(checked)).await;
    }

    async fn check(&self, task: TaskId, stop: &CancellationToken) -> Result<Checked, String> {
        let repository = &self.surroundings().repository;
        let checks: Vec<String> = self.parts().shown.look(|state| {
            let fields = state.tree().get(task).and_then(|node| node.task());
            fields.map(|fields| fields.checks.clone()).unwrap_or_default()
        });
        let Some(worktree) = worktree::find(repository, task).map_err(|error| error.to_string())? else {
            // The root has no worktree of its own; what it merged was checked when it was merged.
            return Ok(Checked { checks: Vec::new(), problem: None });
        };
        let status = status(repository, &worktree).await.map_err(|error| error.to_string())?;
        if status.dirty.count > 0 {
            let files = &status.dirty;
            return Err(format!(
                "Files are not committed: {files}. Commit what belongs to the work and remove the rest."
            ));
        }
        let branch = &worktree.branch;
        let (Some(head), Some(tree)) = (status.head, status.tree) else {
            return Err(format!("The branch {branch} is gone. `git checkout -b {branch}` makes it again."));
        };
        if let Some(commit) = status.elsewhere {
            return Err(format!(
                "You are at commit {commit}, and your branch {branch} does not have it: only what is on that branch counts. \
                 Run `git checkout {branch} && git merge {commit}`."
            ));
        }
        let filtered =
            filtered_work(repository, &worktree, &head).await.map_err(|error| error.to_string())?;
        if filtered.count > 0 {
            return Err(format!(
                "You changed files with a filter such as LFS: {filtered}. The filter runs with the user's own git alone, so \
                 agents cannot commit such files. Bring them back with `git checkout {} -- FILE`, commit, and say in the \
                 summary what the user has to change there.",
                worktree.base
            ));
        }
        if checks.is_empty() {
            return Ok(Checked { checks: Vec::new(), problem: None });
        }
        let folder = self.parts().data.join("checks").join(task.to_string());
        let scratch = scratch::make(repository, &head, &folder).await.map_err(|error| error.to_string())?;
        let mut done = Vec::new();
        for command in checks {
            let ran = self.run_check(task, (&command, &scratch.folder), stop).await;
            let ran = ran.map_err(|error| format!("The check `{command}` could not be run: {error}"))?;
            let passed = ran.is_success();
            done.push(record(command, tree.as_str(), ran));
            if !passed {
                break;
            }
        }
        scratch.remove(repository).await.map_err(|error| error.to_string())?;
        Ok(Checked { checks: done, problem: None })
    }

    async fn run_check(
        &self,
        task: TaskId,
        (command, folder): (&str, &std::path::Path),
        stop: &CancellationToken,
    ) -> std::io::Result<Ran> {
        let own = self.parts().data.join("checks").join(format!("{task}-scratch"));
        make_private_folder(&own)?;
        let root = Root { path: folder.to_owned(), access: Access::Write };
        let agent = self.agent(Place { root, repository: None }, &own).await;
        let settled = agent.settle(self.surroundings().sandbox.level())?;
        let cell = self.surroundings().sandbox.cell(settled.policy);
        let errand = Errand {
            purpose: "check the work",
            command: vec!["bash".into(), "-c".into(), command.into()],
            folder: folder.to_owned(),
            time: PATIENCE,
        };
        errand::run(&cell, &settled.env, errand, stop).await
    }
}

fn record(command: String, tree: &str, ran: Ran) -> Check {
    let exit_code = match ran.end {
        End::Exit(code) => Some(code),
        End::Signal(signal) => Some(128 + signal),
        End::TimedOut => None,
    };
    let excess = ran.output.len().saturating_sub(SHOWN);
    let start = (excess..=ran.output.len()).find(|at| ran.output.is_char_boundary(*at)).unwrap_or(0);
    Check { command, exit_code, tree: tree.to_owned(), output: ran.output[start..].to_owned(), blob: None }
}
