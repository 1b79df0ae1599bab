//! The tools of one agent: its servers, connected and held to what was accepted, and what it may use of them.

use std::sync::Arc;

use futures_util::future::join_all;
use mxd_core::decide::Op;
use mxd_core::id::TaskId;
use mxd_core::manifest::{LockedServer, ResourceAccess, ServerSpec};
use mxd_core::message::WorkContext;
use mxd_core::prompt::ToolSpec;
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_core::tool::{
    ApprovalPolicy, CallHash, Listed, PinState, PinnedTool, ServerName, SideEffect, SkillScope, ToolDef,
    ToolId, WireName, orchestrator,
};
use mxd_tools::mcp::{self, Servers, Status, Unaccepted, View, Wanted};
use mxd_tools::plane::{Authority, Plane};
use mxd_tools::sandbox::Agent;
use tokio::sync::broadcast;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Agents;
use super::depot::{Opened, SupplyError};
use super::desk::Desk;
use super::room::RoomError;
use crate::clock;
use crate::provision::{Link, Remit, RemitError, ServerState, Skills, Source, StockError, Supplied};

/// The tools of one agent. Dropping it ends the servers that no other agent uses.
#[derive(Debug)]
pub(super) struct Toolbox {
    pub(super) plane: Plane,
    pub(super) servers: Servers,
    pub(super) remit: Remit,
    /// What the model is told about the tools it has.
    pub(super) shown: Vec<ToolSpec>,
    /// Tools about the tree that the agent does not have, by the name models use.
    pub(super) withheld: Vec<String>,
    /// What the agent has to know about what it does not have.
    pub(super) troubles: Vec<String>,
    /// Skills that tasks below can be given.
    pub(super) skills: Skills,
    _watched: DropGuard,
}

/// Why an agent has no tools.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolboxError {
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Remit(#[from] RemitError),
    #[error(transparent)]
    Room(#[from] RoomError),
    #[error(transparent)]
    Supply(#[from] SupplyError),
    #[error("the tools cannot be described: {0}")]
    Listing(#[from] serde_json::Error),
}

impl Toolbox {
    /// What a tool does to the world, by the name models use; empty when there is no such tool.
    pub(super) fn class_of(&self, name: &str) -> String {
        let mut defs = self.plane.registry().defs();
        let found = defs.find(|def| WireName::of(&def.facts.id).as_str() == name);
        found.and_then(|def| def.facts.effect).map(|effect| effect.name().to_owned()).unwrap_or_default()
    }

    /// What a call is held against.
    pub(super) fn authority<'a>(
        &'a self,
        approvals: &'a ApprovalPolicy,
        approved: Option<CallHash>,
    ) -> Authority<'a> {
        Authority {
            manifest_effects: self.remit.effects,
            skill: self.remit.scope(),
            capabilities: &self.remit.capabilities,
            approvals,
            approved,
        }
    }
}

impl Agents {
    /// The tools of a task, made if there are none.
    pub(super) async fn toolbox(&self, desk: &Desk) -> Result<Arc<Toolbox>, ToolboxError> {
        let mut slot = desk.toolbox.lock().await;
        if let Some(toolbox) = &*slot {
            return Ok(Arc::clone(toolbox));
        }
        let toolbox = Arc::new(self.make_toolbox(desk.task).await?);
        *slot = Some(Arc::clone(&toolbox));
        Ok(toolbox)
    }

    /// What a task may use.
    pub(super) async fn remit(&self, task: TaskId) -> Result<Remit, ToolboxError> {
        let opened = self.opened().await?;
        Ok(self.remit_of(task, &opened, &self.skills())?)
    }

    fn remit_of(&self, task: TaskId, opened: &Opened, skills: &Skills) -> Result<Remit, RemitError> {
        let links = self.parts().shown.look(|state| links(state, task));
        Remit::of(&opened.stock, &links, (&self.checkout(), skills))
    }

    fn skills(&self) -> Skills {
        Skills::load(&self.checkout(), &self.surroundings().config.skills)
    }

    async fn make_toolbox(&self, task: TaskId) -> Result<Toolbox, ToolboxError> {
        let opened = self.opened().await?;
        let skills = self.skills();
        let mut remit = self.remit_of(task, &opened, &skills)?;
        let around = Arc::new(self.around(task, &remit).await?);
        let (mut wanted, mut troubles) = (Vec::new(), remit.remarks.clone());
        let narrowed = opened.stock.servers.iter().map(|supplied| remit.narrowed(supplied));
        let of_use: Vec<Supplied> = narrowed.filter(|supplied| is_of_use(&supplied.spec, &remit)).collect();
        for supplied in
            join_all(of_use.iter().map(|supplied| self.supply(task, (&opened, supplied), &around))).await
        {
            match supplied {
                Ok(one) => wanted.push(one),
                Err(trouble) => troubles.push(trouble.to_string()),
            }
        }
        remit.resolve_pins(&opened.ledger);
        let servers = self.depot().pool.connect(wanted, around).await;
        let mut registry = self.surroundings().plane.registry().clone();
        troubles.extend(servers.register(&mut registry).iter().map(ToString::to_string));
        let (watched, mut changes) = (CancellationToken::new(), Vec::new());
        for status in servers.statuses() {
            let trouble = ServerState::from(status.status).trouble(&status.server);
            let was_told = trouble.is_some();
            troubles.extend(trouble);
            changes.extend(servers.changes(&status.server).map(|changes| (changes, was_told)));
        }
        for change in changes {
            self.spawn(self.clone().watch_server(task, change, watched.clone()));
        }
        let plane = Plane::new(registry);
        let is_shown = |def: &&ToolDef| has(&remit, def) && !is_put_aside(&servers, &def.facts.id.server);
        let mut shown: Vec<ToolSpec> = plane.registry().defs().filter(is_shown).map(ToolDef::spec).collect();
        let withheld = orchestrators(&remit, &mut shown)?;
        shown.sort_by(|one, other| one.name.cmp(&other.name));
        let watched = watched.drop_guard();
        Ok(Toolbox { plane, servers, remit, shown, withheld, troubles, skills, _watched: watched })
    }

    /// A server as it is wanted: what nobody has accepted yet is looked at and accepted once, when the user chose it.
    async fn supply(
        &self,
        task: TaskId,
        (opened, supplied): (&Arc<Opened>, &Supplied),
        around: &Arc<mcp::Surroundings>,
    ) -> Result<Wanted, SupplyError> {
        let name = &supplied.spec.name;
        let locked = match opened.ledger.locked(name) {
            Some(locked) => locked,
            None if supplied.source == Source::Settings(crate::config::Layer::Repository) => {
                return Err(SupplyError::NotChosen { server: name.clone() });
            }
            None => self.first_look_in_time(task, (opened, supplied), around).await?,
        };
        let view = View::suited(&supplied.spec, Some(&locked));
        let (spec, locked) = (supplied.spec.clone(), Some(locked));
        Ok(Wanted { spec, locked, view, unaccepted: Unaccepted::Refuse })
    }

    /// What servers of a task are connected with.
    pub(super) async fn around(
        &self,
        task: TaskId,
        remit: &Remit,
    ) -> Result<mcp::Surroundings, ToolboxError> {
        let place = self.place(task).await?;
        let roots = vec![place.root.path.clone()];
        let way = self.way_of_servers(remit.effects).await.map_err(RoomError::from)?;
        let agent = Agent { network: way.network, ..self.agent(place, &self.scratch(task)).await };
        let keyring = self.surroundings().keyring.clone();
        Ok(mcp::Surroundings {
            sandbox: self.surroundings().sandbox.clone(),
            agent: agent.held_to(remit.effects),
            packages: Some(self.packages()?),
            proxy_env: way.env,
            secrets: Arc::new(move |name| keyring.get(name)),
            answers: mcp::Answers {
                roots,
                sampling: Some(self.sampler(task)),
                elicitation: Some(self.asker(task)),
            },
            plain_http: Vec::new(),
            limits: mcp::Limits::default(),
        })
    }

    /// Tells an agent what becomes of a server of its own. It does not start or wake it.
    async fn watch_server(
        self,
        task: TaskId,
        (mut changes, mut was_told): (broadcast::Receiver<mcp::Change>, bool),
        watched: CancellationToken,
    ) {
        loop {
            let change = tokio::select! {
                biased;
                () = watched.cancelled() => return,
                change = changes.recv() => change,
            };
            let change = match change {
                Ok(change) => change,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            };
            let content = match &change.status {
                Status::Drifted(_) | Status::Down { .. } => {
                    was_told = true;
                    ServerState::from(change.status.clone()).trouble(&change.server)
                }
                Status::Ready if was_told => {
                    was_told = false;
                    Some(format!("The server {} can be used again.", change.server))
                }
                Status::Ready | Status::Connecting { .. } | Status::Unaccepted(_) | Status::Closed => None,
            };
            if let Some(content) = content {
                self.mention(task, content).await;
            }
        }
    }

    /// Tells an agent something that it reads when it next reads anything.
    pub(super) async fn mention(&self, task: TaskId, content: String) {
        let id = clock::fresh(clock::now()).issue();
        self.wish(Op::Report { id, to: task, message: WorkContext { content }.into() }).await;
    }
}

/// What the tasks from the root down to this one were created with.
fn links(state: &State, task: TaskId) -> Vec<Link> {
    let itself = state.tree().get(task).into_iter();
    let line = itself.chain(state.tree().tasks_above(task));
    let link = |node: &mxd_core::tree::Node| {
        let fields = node.task();
        Link {
            manifest: fields.and_then(|fields| fields.manifest.clone()),
            skill: fields.and_then(|fields| fields.skill.clone()),
        }
    };
    let mut links: Vec<Link> = line.map(link).collect();
    links.reverse();
    links
}

/// Whether a task may use anything of a server. What it may not use is not started for it.
fn is_of_use(spec: &ServerSpec, remit: &Remit) -> bool {
    let grants = |tool| remit.capabilities.is_granted(&ToolId { server: spec.name.clone(), tool }).is_ok();
    let reads = spec.resources == ResourceAccess::Open && remit.effects.contains(SideEffect::Read);
    match spec.declared() {
        // Nobody knows yet what it has.
        [] => true,
        tools => {
            reads || tools.iter().any(|tool| remit.effects.contains(tool.effect) && grants(tool.name.clone()))
        }
    }
}

/// Whether a task has a tool: what the gate would refuse whatever the arguments are is not shown.
fn has(remit: &Remit, def: &ToolDef) -> bool {
    let facts = &def.facts;
    let PinState::Held(pin) = &facts.pin else { return false };
    let listed = match remit.scope() {
        SkillScope::NoSkill => true,
        SkillScope::Active { tools, .. } => {
            let tool = PinnedTool { id: facts.id.clone(), pin: pin.clone() };
            matches!(tools.lists(&tool), Listed::Yes)
        }
    };
    listed
        && facts.effect.is_some_and(|effect| remit.effects.contains(effect))
        && remit.capabilities.is_granted(&facts.id).is_ok()
}

/// Whether a server is not to be used until a person has looked at it. One that is merely down comes back.
fn is_put_aside(servers: &Servers, server: &ServerName) -> bool {
    matches!(servers.status(server), Some(Status::Drifted(_) | Status::Unaccepted(_)))
}

/// Shows the tools about the tree that a task has, and names those it does not have.
fn orchestrators(remit: &Remit, shown: &mut Vec<ToolSpec>) -> Result<Vec<String>, serde_json::Error> {
    let mut withheld = Vec::new();
    for listing in orchestrator::listings() {
        let (Ok(server), Ok(tool)) = (orchestrator::SERVER.parse(), listing.name.parse()) else { continue };
        let id = ToolId { server, tool };
        let name = WireName::of(&id).as_str().to_owned();
        if remit.has_orchestrator(&id, listing.effect) {
            let schema = RawJson::parse(&listing.input_schema.to_string())?;
            shown.push(ToolSpec { name, description: listing.description.to_owned(), schema });
        } else {
            withheld.push(name);
        }
    }
    Ok(withheld)
}

/// What was accepted of a server with no classes but those it had and those its words suggest.
pub(super) fn with_classes(mut locked: LockedServer, spec: &ServerSpec) -> LockedServer {
    if spec.declared().is_empty() {
        for tool in locked.tools.values_mut().filter(|tool| tool.effect.is_none()) {
            let definition = serde_json::from_str(tool.definition.canonical()).unwrap_or_default();
            tool.effect = Some(mcp::class_of(&definition).0);
        }
    }
    locked
}
