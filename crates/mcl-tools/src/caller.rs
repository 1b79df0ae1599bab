//! Calling the tools of a manifest: nothing goes past the plane.

use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{AgentManifest, DeclaredTool, NativeEntry, ServerSpec, Transport};
use mxd_core::tool::{
    ApprovalPolicy, ArgProblem, CapabilityLayer, CapabilitySet, Denial, EffectSet, Fallback, Quoted, Ruling,
    SkillScope, ToolId, ToolPattern, WireName,
};
use mxd_tools::builtin;
use mxd_tools::mcp::{Servers, Status, Unaccepted, View, Wanted};
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::plane::{self, Authority, Plane, Registry, Settlement};
use mxd_tools::shell::{CallId, Watcher};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::answer::{Failure, Trouble};
use crate::code::Code;
use crate::live::{World, package_code, trouble};
use crate::{show, verify};
use mxd_core::tool::visible;

/// The servers of some tools, connected, and what may be called.
pub(crate) struct Caller {
    plane: Plane,
    servers: Servers,
    capabilities: CapabilitySet,
    approvals: ApprovalPolicy,
    effects: EffectSet,
}

/// A call.
pub(crate) struct Request {
    /// Its name.
    pub(crate) name: String,
    pub(crate) tool: ToolId,
    pub(crate) args: String,
    /// After how long it is given up, when the tool does not do so earlier.
    pub(crate) patience: Option<Duration>,
}

/// What a call came to.
pub(crate) struct Called {
    pub(crate) result: Value,
    pub(crate) text: String,
    pub(crate) problem: Option<Trouble>,
}

/// Why a native tool is not called.
pub(crate) fn not_callable(entry: &NativeEntry) -> Trouble {
    let denial = Denial::Native { called: Quoted::of(&entry.tool.to_string()) };
    Trouble::new(Code::Denied, &denial, "Use a tool of a server.")
}

impl Caller {
    /// Connects the servers of these tools. Exactly these can be called, and only with classes that the manifest allows.
    pub(crate) async fn open(
        world: &World,
        manifest: &AgentManifest,
        tools: &[(&ServerSpec, &DeclaredTool)],
    ) -> Result<Self, Failure> {
        let mut specs: Vec<&ServerSpec> = Vec::new();
        for (server, _) in tools {
            if specs.iter().all(|known| known.name != server.name) {
                specs.push(server);
            }
        }
        let servers = connect(world, &specs).await?;
        let mut registry = Registry::default();
        if specs.iter().any(|server| builtin::is_built_in(server)) {
            registry = Registry::built_in().map_err(|error| trouble("the built-in tools", &error))?;
        }
        if let Some(error) = servers.register(&mut registry).into_iter().next() {
            return Err(Trouble::new(Code::Drift, &error, "Leave the tool out of the manifest.").into());
        }
        let grants = tools.iter().map(|(server, tool)| {
            ToolId { server: server.name.clone(), tool: tool.name.clone() }.to_string().parse::<ToolPattern>()
        });
        let grants = grants.collect::<Result<Vec<_>, _>>().map_err(|error| trouble("a tool", &error))?;
        let layer = CapabilityLayer::granting(grants).map_err(|error| trouble("the plan", &error))?;
        // Whoever types a call has approved it; what the manifest does not allow stays denied.
        let approvals = ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow));
        let approvals = approvals.map_err(|error| trouble("the approvals", &error))?;
        Ok(Self {
            plane: Plane::new(registry),
            servers,
            capabilities: CapabilitySet::root(layer),
            approvals,
            effects: manifest.allowed,
        })
    }

    /// What is wrong with the arguments of a call, as the schema of the tool has them.
    pub(crate) fn argument_problems(&self, tool: &ToolId, args: &Value) -> Vec<ArgProblem> {
        self.plane.registry().argument_problems(tool, args)
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, world: &World, request: &Request, cancel: &CancellationToken) -> Called {
        let name = WireName::of(&request.tool).to_string();
        let call = plane::Call {
            id: CallId::new(&request.name),
            tool: &name,
            args: &request.args,
            watcher: Watcher::default(),
        };
        let authority = Authority {
            manifest_effects: self.effects,
            skill: SkillScope::NoSkill,
            capabilities: &self.capabilities,
            approvals: &self.approvals,
            approved: None,
        };
        world.progress.tell(format!("calling {} …", request.tool));
        let stop = cancel.child_token();
        let settling = self.plane.call(call, &authority, &world.scope, &stop);
        tokio::pin!(settling);
        let settled = match request.patience {
            None => settling.await,
            Some(patience) => tokio::select! {
                settled = &mut settling => settled,
                () = tokio::time::sleep(patience) => {
                    stop.cancel();
                    settling.await
                }
            },
        };
        called(&request.tool, settled)
    }

    /// Ends the servers.
    pub(crate) async fn close(&self, world: &World) {
        self.servers.close().await;
        world.scope.processes.close().await;
    }
}

/// Connects servers that are what they were declared and accepted as; one that is not keeps all of them from being used.
pub(crate) async fn connect(world: &World, specs: &[&ServerSpec]) -> Result<Servers, Failure> {
    let failures: Vec<Trouble> = specs.iter().flat_map(|server| unfit(server, world)).collect();
    if !failures.is_empty() {
        return Err(failures);
    }
    let foreign = specs.iter().filter(|server| !builtin::is_built_in(server));
    let wanted: Vec<Wanted> = foreign.map(|server| wanted(server, world)).collect();
    let names: Vec<String> = wanted.iter().map(|wanted| wanted.spec.name.to_string()).collect();
    if !names.is_empty() {
        world.progress.tell(format!("starting {} …", names.join(", ")));
    }
    let servers = Servers::connect(wanted, Arc::clone(&world.around)).await;
    let unusable: Vec<Trouble> =
        servers.statuses().iter().flat_map(|one| unusable(&one.server, &one.status)).collect();
    if unusable.is_empty() {
        return Ok(servers);
    }
    servers.close().await;
    Err(unusable)
}

/// What a settlement is for people and for programs.
fn called(tool: &ToolId, settlement: Settlement) -> Called {
    let refused = |problem: Trouble| {
        let problem = Some(problem.of_server(&tool.server));
        Called { result: Value::Null, text: String::new(), problem }
    };
    let (outcome, problem) = match settlement {
        Settlement::Done(outcome) if outcome.is_error => {
            let what = format!("{tool} failed: {}", first_line(&outcome));
            (outcome, Some(Trouble::new(Code::ToolFailed, what, "What the tool says is its result.")))
        }
        Settlement::Done(outcome) => (outcome, None),
        Settlement::Denied { denial, .. } => {
            let hint = format!("The rule is {}; `mcl-tools describe-tool` says more.", denial.rule());
            return refused(Trouble::new(Code::Denied, &denial, hint));
        }
        Settlement::Ask { rule, .. } => {
            let what = format!("{tool} would have to be approved ({rule})");
            return refused(Trouble::new(Code::Denied, what, "Approve it where its agent runs."));
        }
        Settlement::Cancelled(outcome) | Settlement::TimedOut(outcome) => {
            let what = format!("{tool} was stopped: {}", last_line(&outcome));
            let hint = "Find out whether the call had its effect before repeating it.";
            (outcome, Some(Trouble::new(Code::Stopped, what, hint)))
        }
    };
    let problem = problem.map(|problem| problem.of_server(&tool.server));
    Called { result: value(&outcome), text: text(&outcome), problem }
}

/// What can be told before a server is started, with its own code.
fn unfit(server: &ServerSpec, world: &World) -> Vec<Trouble> {
    let packages = &world.packages;
    if builtin::is_built_in(server) {
        return builtin::misfits(server, packages.placeholders).iter().map(verify::misfit).collect();
    }
    if let Err(missing) = server.resolve(&|name| (world.around.secrets)(name)) {
        let trouble = |one: &mxd_core::manifest::Unresolved| {
            Trouble::new(Code::Unavailable, one, one.hint()).of_server(&server.name)
        };
        return missing.iter().map(trouble).collect();
    }
    if let (Transport::Stdio(program), Some(package)) = (&server.transport, &server.package)
        && let Err(error) = packages.prepare(&server.name, program, package)
    {
        let what = format!("the server {} is not started: {error}", server.name);
        return vec![Trouble::new(package_code(&error), what, error.hint()).of_server(&server.name)];
    }
    Vec::new()
}

fn wanted(server: &ServerSpec, world: &World) -> Wanted {
    // Without a lock file nobody has begun to accept anything.
    let unaccepted = if world.lock.is_some() { Unaccepted::Refuse } else { Unaccepted::Use };
    Wanted { spec: server.clone(), locked: world.locked(server).cloned(), view: View::Worktree, unaccepted }
}

fn unusable(server: &mxd_core::tool::ServerName, status: &Status) -> Vec<Trouble> {
    let lost = |why: &str, hint: &str| vec![Trouble::new(Code::Unavailable, why, hint).of_server(server)];
    let look = "`mcl-tools verify --live` says more.";
    match status {
        Status::Ready => Vec::new(),
        Status::Drifted(report) | Status::Unaccepted(report) => show::troubles(report),
        Status::Connecting { why: Some(why), .. } => lost(why, look),
        Status::Connecting { why: None, .. } => lost(&format!("the server {server} is slow"), look),
        Status::Down { why, hint } => lost(why, hint),
        Status::Closed => lost(&format!("the server {server} was closed"), look),
    }
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = &str> {
    outcome.parts.iter().flat_map(|part| match part {
        Part::Text(text) => text.lines(),
        Part::Image { .. } => "".lines(),
    })
}

fn first_line(outcome: &Outcome) -> &str {
    lines(outcome).next().unwrap_or("it does not say why")
}

fn last_line(outcome: &Outcome) -> &str {
    lines(outcome).last().unwrap_or("it does not say why")
}

/// A result, for programs.
pub(crate) fn value(outcome: &Outcome) -> Value {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image { media_type, data } => json!({ "type": "image", "mimeType": media_type, "data": data }),
    };
    let content: Vec<Value> = outcome.parts.iter().map(part).collect();
    json!({ "is_error": outcome.is_error, "content": content, "structured": outcome.structured })
}

/// A result, for people.
fn text(outcome: &Outcome) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("{}\n", visible(text.trim_end_matches('\n'))),
        Part::Image { media_type, data } => format!("[{media_type}, about {} bytes]\n", data.len() / 4 * 3),
    };
    outcome.parts.iter().map(part).collect()
}
