//! `merge_task`: the work of a task below arrives in the branch of the one above.

use mxd_core::id::TaskId;
use mxd_core::tool::orchestrator::MergeTask;
use mxd_tools::outcome::Outcome;
use mxd_tools::scope::{Access, Root};
use tokio_util::sync::CancellationToken;

use super::once::{Attempt, Run};
use super::room::Place;
use super::{Agents, conflict, errand};
use crate::git::merge::{self, Identity, Outcome as Merged, Request};
use crate::git::space::Watermark;
use crate::git::{Branch, Errand, Ran};

impl Agents {
    pub(super) async fn merge(&self, task: TaskId, wish: MergeTask, run: Run<'_>) -> Outcome {
        match self.try_merge(task, wish, run).await {
            Ok(outcome) => outcome,
            Err(why) => Outcome::error(format!("Nothing was merged: {why}")),
        }
    }

    async fn try_merge(&self, task: TaskId, wish: MergeTask, by: Run<'_>) -> Result<Outcome, String> {
        let (child, from, into) = self.branches(task, &wish).await?;
        let title = self
            .parts()
            .shown
            .look(|state| state.tree().get(child).map(|node| node.title.clone()).unwrap_or_default());
        let config = &self.surroundings().config;
        let check = (!config.checks.is_empty())
            .then(|| vec!["bash".into(), "-c".into(), config.checks.join(" && ").into()]);
        let request = Request {
            from,
            into,
            message: wish.message.unwrap_or_else(|| format!("Merge {title}\n\nTask-Id: {child}")),
            who: self.identity(),
            check,
            scratch: self.parts().data.join("merges"),
            room: Watermark { bytes: config.disk_watermark, ..Watermark::default() },
        };
        let run = |errand: Errand| self.run_for_merge(task, errand, by.stop);
        let outcome = merge::merge(&self.surroundings().repository, &request, run).await;
        let mut outcome = outcome.map_err(|error| error.to_string())?;
        if let (Merged::AlreadyMerged { .. }, Attempt::Again) = (&outcome, by.attempt) {
            let made = merge::find_made(&self.surroundings().repository, &request).await;
            outcome = made.map_err(|error| error.to_string())?.map_or(outcome, Merged::Merged);
        }
        let about_owner = match &outcome {
            Merged::Conflicts(conflicts) => {
                let notice = self.message_of_call(task, by.call);
                self.tell_owner((child, &title), (&request, conflicts), notice).await
            }
            _ => String::new(),
        };
        Ok(in_words(&title, outcome, &about_owner))
    }

    async fn branches(&self, task: TaskId, wish: &MergeTask) -> Result<(TaskId, Branch, Branch), String> {
        let look = self.parts().shown.look(|state| {
            let child = wish.task_id.resolve(state.tree().nodes()).map_err(|error| error.to_string())?;
            if state.tree().task_above(child).map(|node| node.id) != Some(task) {
                return Err("only a task directly below yours can be merged".to_owned());
            }
            let branch =
                |id| state.tree().get(id).and_then(|node| node.task()).and_then(|task| task.branch.clone());
            let is_root = state.tree().root().is_some_and(|root| root.id == task);
            let from = branch(child).filter(|_| !conflict::is_put_away(state, child));
            let from = from.ok_or_else(|| conflict::no_branch(state, child))?;
            Ok((child, from, branch(task).filter(|_| !is_root)))
        });
        let (child, from, into) = look?;
        let from = from.parse().map_err(|error: crate::git::NameError| error.to_string())?;
        let into = match into {
            Some(into) => into.parse().map_err(|error: crate::git::NameError| error.to_string())?,
            None => self.base_branch().await?,
        };
        Ok((child, from, into))
    }

    pub(super) fn identity(&self) -> Identity {
        let (name, email) = match &self.surroundings().user.committer {
            Some((name, email)) => (name.clone(), email.clone()),
            None => ("mxd".to_owned(), "mxd@localhost".to_owned()),
        };
        Identity { name, email }
    }

    /// Checks run in a folder that belongs to nobody; a worktree follows its branch with the rights of its own agent.
    async fn run_for_merge(
        &self,
        task: TaskId,
        errand: Errand,
        stop: &CancellationToken,
    ) -> std::io::Result<Ran> {
        let (place, own) = if errand.purpose == Errand::FOLLOW {
            (self.place(task).map_err(std::io::Error::other)?, self.scratch(task))
        } else {
            let root = Root { path: errand.folder.clone(), access: Access::Write };
            (Place { root, repository: None }, self.parts().data.join("merges").join("scratch"))
        };
        std::fs::create_dir_all(&own)?;
        let settled = self.agent(place, &own).settle(self.surroundings().sandbox.level())?;
        let cell = self.surroundings().sandbox.cell(settled.policy);
        errand::run(&cell, &settled.env, errand, stop).await
    }
}

fn in_words(title: &str, outcome: Merged, about_owner: &str) -> Outcome {
    match outcome {
        Merged::Merged(merged) => {
            let stat = merged.stat;
            let followed = merged
                .followed
                .map_or(String::new(), |folder| format!(" The checkout in {} follows.", folder.display()));
            Outcome::text(format!(
                "Merged {title} as {}: {} file(s), {} line(s) added, {} removed.{followed}",
                merged.commit, stat.files, stat.insertions, stat.deletions
            ))
        }
        Merged::AlreadyMerged { at } => Outcome::text(format!("Nothing to merge: {at} has it already.")),
        Merged::Conflicts(conflicts) => {
            Outcome::error(format!("Nothing was merged: there are conflicts. {about_owner}\n{conflicts}"))
        }
        Merged::CheckFailed { ran, tree } => Outcome::error(format!(
            "Nothing was merged: the check failed on the merged files (tree {tree}, {}).\n{}",
            ran.end, ran.output
        )),
        Merged::Overtaken { .. } => {
            Outcome::error("Nothing was merged: the branch moved meanwhile. Call it again.".to_owned())
        }
        Merged::Blocked(blocked) => Outcome::error(format!("Nothing was merged: {blocked}")),
    }
}
