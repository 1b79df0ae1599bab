//! `merge_task`: the work of a task below arrives in the branch of the one above.

use mxd_core::decide::SessionOp;
use mxd_core::event::body::ToolCallId;
use mxd_core::id::TaskId;
use mxd_core::tool::orchestrator::MergeTask;
use mxd_tools::outcome::Outcome;
use mxd_tools::scope::{Access, Root};
use tokio_util::sync::CancellationToken;

use super::once::{Attempt, Run};
use super::room::Place;
use super::{Agents, conflict, errand};
use crate::git::merge::{self, Outcome as Merged, Request, SettingsChange, SettingsRule};
use crate::git::space::Watermark;
use crate::git::{Branch, Errand, Ran};
use crate::home::make_private_folder;

/// What a merge came to, or that the user has to be asked first.
pub(super) enum MergeEnd {
    Settled(Outcome),
    ChangesSettings(SettingsChange),
}

/// What the user is told who has to accept a change of settings.
pub(super) fn settings_reason(change: &SettingsChange) -> String {
    format!(
        "settings of the repository: this merge changes {}, which holds for every later task and merge",
        change.files
    )
}

impl Agents {
    /// Runs the call of an agent. What changes settings of the base branch waits for the user's word about exactly that.
    pub(super) async fn run_merge(
        &self,
        task: TaskId,
        (call, name): (ToolCallId, String),
        (request, approved): (MergeTask, Option<String>),
        (attempt, stop): (Attempt, &CancellationToken),
    ) {
        let run = Run { call: &call, attempt, stop };
        match self.merge(task, (request, approved), run).await {
            MergeEnd::Settled(outcome) => self.settle(task, (call, name), (outcome, None)).await,
            MergeEnd::ChangesSettings(change) => {
                let rule = settings_reason(&change);
                self.report(task, SessionOp::AskUser { call, rule, call_hash: change.fingerprint }).await;
            }
        }
    }

    /// Merges the branch of a task below. `accepted` is the change of settings that the user accepted.
    pub(super) async fn merge(
        &self,
        task: TaskId,
        (request, accepted): (MergeTask, Option<String>),
        run: Run<'_>,
    ) -> MergeEnd {
        match self.try_merge(task, (request, accepted), run).await {
            Ok(end) => end,
            Err(why) => MergeEnd::Settled(Outcome::error(format!("Nothing was merged: {why}"))),
        }
    }

    async fn try_merge(
        &self,
        task: TaskId,
        (wish, accepted): (MergeTask, Option<String>),
        by: Run<'_>,
    ) -> Result<MergeEnd, String> {
        let (child, from, into) = self.branches(task, &wish).await?;
        let title = self
            .parts()
            .shown
            .look(|state| state.tree().get(child).map(|node| node.title.clone()).unwrap_or_default());
        let config = &self.surroundings().config;
        let request = Request {
            from,
            into,
            message: wish.message.unwrap_or_else(|| format!("Merge {title}\n\nTask-Id: {child}")),
            who: self.surroundings().repository.identity().await.map_err(|error| error.to_string())?,
            check: config.check_command(),
            // What arrives in the branch of another task arrives in the base branch with that one, and is asked then.
            settings: if self.is_root(task) { SettingsRule::Accepted(accepted) } else { SettingsRule::Free },
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
        if let Merged::Merged(_) = &outcome {
            self.base_has_moved();
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

    /// Checks run in a folder that belongs to nobody; a worktree follows its branch with the rights of its own agent.
    async fn run_for_merge(
        &self,
        task: TaskId,
        errand: Errand,
        stop: &CancellationToken,
    ) -> std::io::Result<Ran> {
        let (place, own) = if errand.purpose == Errand::FOLLOW {
            (self.place(task).await.map_err(std::io::Error::other)?, self.scratch(task))
        } else {
            let root = Root { path: errand.folder.clone(), access: Access::Write };
            (Place { root, repository: None }, self.parts().data.join("merges").join("scratch"))
        };
        make_private_folder(&own)?;
        let settled = self.agent(place, &own).await.settle(self.surroundings().sandbox.level())?;
        let cell = self.surroundings().sandbox.cell(settled.policy);
        errand::run(&cell, &settled.env, errand, stop).await
    }
}

fn in_words(title: &str, outcome: Merged, about_owner: &str) -> MergeEnd {
    MergeEnd::Settled(match outcome {
        Merged::ChangesSettings(change) => return MergeEnd::ChangesSettings(change),
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
    })
}
