//! What an agent is told about its task, its place and its money, before anything else and again after a summary.

use std::path::PathBuf;

use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::prompt::text::{
    self, Above, Base as BaseText, FirstMessage, Funds, Memory, SkillLine, Workplace,
};
use mxd_core::state::State;
use mxd_core::tree::Node;

use super::Agents;
use super::base_branch;
use super::room::RoomError;
use super::toolbox::Toolbox;
use crate::git::worktree::{self, Created, Worktree};
use crate::prompt::load_memory;

/// Where an agent stands, as git has it.
#[derive(Debug)]
pub(super) struct Situation {
    /// The folder it works in.
    pub(super) directory: PathBuf,
    /// The branch that is checked out there; none when HEAD is detached.
    branch: Option<String>,
    /// What the worktree started from; none for the root, who reads the base branch itself.
    base: Option<StartedFrom>,
    /// What a model call costs that has ended and is not in the state yet.
    pub(super) running_cost: Usd,
}

#[derive(Debug)]
struct StartedFrom {
    branch: String,
    commit: String,
    /// How it differs from the user's checkout; none when nobody has looked.
    differences: Option<Vec<String>>,
}

impl Situation {
    /// In a worktree that was just made. The state does not know it yet.
    pub(super) fn in_new_worktree(created: &Created) -> Self {
        let disclosed = created.disclosure.to_string();
        // The first line repeats branch and base.
        let differences = disclosed.lines().skip(1).map(str::to_owned).collect();
        Self::in_worktree(&created.worktree, Some(differences))
    }

    fn in_worktree(worktree: &Worktree, differences: Option<Vec<String>>) -> Self {
        let base = StartedFrom {
            branch: worktree
                .base_branch
                .as_ref()
                .map_or_else(String::new, |branch| branch.as_str().to_owned()),
            commit: worktree.base.as_str().to_owned(),
            differences,
        };
        Self {
            directory: worktree.folder.clone(),
            branch: Some(worktree.branch.as_str().to_owned()),
            base: Some(base),
            running_cost: Usd::ZERO,
        }
    }
}

impl Agents {
    /// Where a task stands that has its workplace.
    pub(super) async fn situation(&self, task: TaskId) -> Result<Situation, RoomError> {
        let repository = &self.surroundings().repository;
        if !self.is_root(task) {
            let worktree = worktree::find(repository, task)?.ok_or(RoomError::NoWorktree)?;
            return Ok(Situation::in_worktree(&worktree, None));
        }
        let directory = self.place(task).await?.root.path;
        let branch = self.parts().shown.look(base_branch::stored);
        Ok(Situation { directory, branch, base: None, running_cost: Usd::ZERO })
    }

    /// What an agent is told before anything else.
    pub(super) fn first_message(&self, task: TaskId, situation: &Situation, toolbox: &Toolbox) -> String {
        let memory = load_memory(&situation.directory);
        let described = toolbox.skills.known.values();
        let skills: Vec<SkillLine<'_>> = described
            .map(|skill| SkillLine { name: skill.name.as_str(), description: skill.description.text() })
            .collect();
        let first = self.parts().shown.look(|state| {
            let node = state.tree().get(task);
            node.map(|node| first_text(state, (node, situation), (&memory, &skills))).unwrap_or_default()
        });
        let skill = toolbox.remit.skill.as_ref();
        let skill = skill.map(|skill| text::active_skill(skill.name.as_str(), skill.body.text()));
        let troubles = text::tool_troubles(&toolbox.troubles);
        [Some(first), skill, troubles].into_iter().flatten().collect()
    }
}

fn first_text(
    state: &State,
    (node, situation): (&Node, &Situation),
    (memory, skills): (&Memory, &[SkillLine<'_>]),
) -> String {
    let above = match state.tree().task_above(node.id) {
        None => Above::User,
        Some(above) => Above::Task { id: above.id, title: &above.title },
    };
    let base = situation.base.as_ref().map(|base| BaseText {
        branch: &base.branch,
        commit: &base.commit,
        differences: base.differences.as_deref(),
    });
    let message = FirstMessage {
        task: node.id,
        title: &node.title,
        description: &node.description,
        above,
        workplace: Workplace {
            directory: &situation.directory.display().to_string(),
            branch: situation.branch.as_deref(),
            base,
        },
        checks: node.task().map_or(&[], |fields| &fields.checks),
        funds: Funds::of(state, node.id, situation.running_cost),
        memory,
        skills,
    };
    message.text()
}
