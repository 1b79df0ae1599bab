//! Making the workplace of an agent: its worktree, and the frozen start of its conversation.

use std::path::PathBuf;

use mxd_core::decide::{Launched, SessionOp};
use mxd_core::event::body::{SessionConfig, Terms, WorktreeCreated};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::prompt::text::{SELF_BOOTSTRAP, SYSTEM};
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_llm::Model;
use mxd_tools::scope::{Access, Root};
use tokio_util::sync::CancellationToken;

use super::room::Place;
use super::situation::Situation;
use super::toolbox::Toolbox;
use super::{Agents, errand};
use crate::config::{AgentModel, Role};
use crate::git::space::Watermark;
use crate::git::worktree::{self, Base, Created, FailedSetup, Request, Setup};
use crate::git::{Branch, Errand, Ran, Slug};
use crate::home::make_private_folder;

/// Tokens of an answer, where the model could write more: what is set aside for a call is set aside for all of them.
const MOST_OUTPUT: u32 = 32_000;

impl Agents {
    pub(super) async fn launch(self, task: TaskId) {
        let op = match self.try_launch(task).await {
            Ok(launched) => SessionOp::Launched(launched),
            Err(message) => SessionOp::LaunchFailed { message },
        };
        self.report(task, op).await;
    }

    async fn try_launch(&self, task: TaskId) -> Result<Launched, String> {
        let model = self.model_of(task).map_err(|error| error.to_string())?;
        let created = self.make_worktree(task).await?;
        let situation = match &created {
            Some(created) => Situation::in_new_worktree(created),
            None => self.situation(task).await.map_err(|error| error.to_string())?,
        };
        let toolbox = self.toolbox(&self.desk(task)).await.map_err(|error| error.to_string())?;
        let header = self.first_message(task, &situation, &toolbox);
        let worktree = created.map(|created| WorktreeCreated {
            path: created.worktree.folder.display().to_string(),
            branch: created.worktree.branch.as_str().to_owned(),
            base: created.worktree.base.as_str().to_owned(),
        });
        let config = self.session_config(task, &model, &toolbox)?;
        Ok(Launched { worktree, config, header, withheld: toolbox.withheld.clone() })
    }

    /// The frozen start of every request: the same text for all agents, and the same tools for all that may use the same,
    /// so that they share a cache. The root of a project that is this program is told so behind that.
    pub(super) fn session_config(
        &self,
        task: TaskId,
        model: &AgentModel,
        toolbox: &Toolbox,
    ) -> Result<SessionConfig, String> {
        let tools = serde_json::to_string(&toolbox.shown).map_err(|error| error.to_string())?;
        let terms = terms(&model.model);
        let most = u32::try_from(terms.max_output_tokens).unwrap_or(MOST_OUTPUT);
        let own = match self.role(task) {
            Role::Root if self.surroundings().config.self_bootstrap => SELF_BOOTSTRAP,
            Role::Root | Role::Child => "",
        };
        Ok(SessionConfig {
            tools: RawJson::parse(&tools).map_err(|error| error.to_string())?,
            system_stable: SYSTEM.to_owned(),
            system_variable: own.to_owned(),
            model: model.model.name.clone(),
            provider: model.wire.to_string(),
            cache_ttl: "5m".to_owned(),
            reasoning: model.effort.map(|effort| model.model.reasoning(effort, most)),
            terms: Some(terms),
        })
    }

    /// The worktree of a task that is not the root.
    pub(super) async fn make_worktree(&self, task: TaskId) -> Result<Option<Created>, String> {
        let look = self.parts().shown.look(|state| Wanted::of(state, task));
        let Some(wanted) = look? else { return Ok(None) };
        // An agent whose commits would be refused can do nothing; better that it does not begin.
        self.surroundings().repository.identity().await.map_err(|error| error.to_string())?;
        let base = match wanted.above {
            Some(branch) => branch,
            None => self.base_branch().await?,
        };
        let config = &self.surroundings().config;
        let request = Request {
            task,
            slug: Slug::of_title(&wanted.title),
            base: Base::Branch(base),
            folder: self.worktree_folder(task, &wanted.title)?,
            include: config.include.clone(),
            setup: Setup::Required,
            failed_setup: FailedSetup::Remove,
            room: Watermark { bytes: config.disk_watermark, ..Watermark::default() },
        };
        let run = |errand: Errand| self.set_up(task, errand);
        let created = worktree::create(&self.surroundings().repository, &request, run).await;
        created.map(Some).map_err(|error| error.to_string())
    }

    fn worktree_folder(&self, task: TaskId, title: &str) -> Result<PathBuf, String> {
        let checkout = self.surroundings().repository.checkout();
        let checkout = checkout.ok_or("the repository has no checkout")?;
        let name = format!("{task}-{}", Slug::of_title(title));
        Ok(checkout.folder.join(".worktrees").join(name))
    }

    /// Runs the set-up script where the agent's own commands will run, with the same rights.
    async fn set_up(&self, task: TaskId, errand: Errand) -> std::io::Result<Ran> {
        let shared = self.surroundings().repository.shared_with(task);
        let root = Root { path: errand.folder.clone(), access: Access::Write };
        let scratch = self.scratch(task);
        make_private_folder(&scratch)?;
        let agent = self.agent(Place { root, repository: Some(shared) }, &scratch).await;
        let settled = agent.settle(self.surroundings().sandbox.level())?;
        let cell = self.surroundings().sandbox.cell(settled.policy);
        errand::run(&cell, &settled.env, errand, &CancellationToken::new()).await
    }
}

/// What a task needs a worktree for; nothing for the root.
struct Wanted {
    title: String,
    /// The branch of the task above; none when that is the root.
    above: Option<Branch>,
}

impl Wanted {
    fn of(state: &State, task: TaskId) -> Result<Option<Self>, String> {
        let node = state.tree().get(task).ok_or("the task is gone")?;
        let Some(above) = state.tree().task_above(task) else { return Ok(None) };
        let is_root = above.parent_id.is_none();
        let branch = above.task().and_then(|fields| fields.branch.clone()).filter(|_| !is_root);
        let branch = branch.map(|branch| branch.parse::<Branch>().map_err(|error| error.to_string()));
        if !is_root && branch.is_none() {
            return Err(format!("the task above, {}, has no branch to start from", above.title));
        }
        Ok(Some(Self { title: node.title.clone(), above: branch.transpose()? }))
    }
}

/// The highest prices that hold for any request, and the window.
pub(super) fn terms(model: &Model) -> Terms {
    let prices = [Some(&model.prices), model.long_context.as_ref().map(|long| &long.prices)];
    let prices: Vec<_> = prices.into_iter().flatten().collect();
    let read = prices
        .iter()
        .flat_map(|price| [price.input, price.cache_read, price.cache_write_5m, price.cache_write_1h]);
    let written = prices.iter().flat_map(|price| [Some(price.output), price.reasoning]).flatten();
    Terms {
        context_window: model.context_window,
        max_output_tokens: u64::from(model.max_output_tokens.min(MOST_OUTPUT)),
        input_usd: read.max().unwrap_or(Usd::ZERO),
        output_usd: written.max().unwrap_or(Usd::ZERO),
        counts_tokens: model.vendor == "anthropic",
        text_only: !model.images,
    }
}
