//! The MCP endpoint: other agents create tasks, write to them, read the tree and the log, and wait.
//!
//! A tool is a row of [`tools`]: a name, a description for a model, a schema, and the route that does it. What a tool
//! does is what the route does, so nothing is written twice. Only waiting has no route: a client that waits over HTTP
//! listens to a stream. Approving is left out on purpose: an agent must not allow what another one asks for.

mod tools;
mod wait;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, ApprovalPolicy, CapabilityLayer, CapabilitySet, EffectSet, Fallback, PinState, Ruling,
    SideEffect, ToolDef, ToolFacts, ToolId, ToolOffer,
};
use mxd_tools::builtin;
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::Outcome;
use mxd_tools::plane::{Executor, Function, Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Policy, Sandbox};
use mxd_tools::scope::{Access, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::serve::{Door, Endpoint, Offer, Permissions, Server};
use mxd_tools::shell::Processes;
use serde_json::Value;
use tower::ServiceExt as _;

use self::tools::{Call, TOOLS, Tool};
use crate::app::{App, WeakApp};
use crate::fault::Fault;

/// How long a call may take.
const TIMEOUT_MS: u64 = 600_000;
/// Bytes of an answer that are handed on.
const MOST_ANSWER: usize = 4 << 20;

/// The endpoint, once it is set up.
#[derive(Clone, Default)]
pub(crate) struct Mcp(Arc<OnceLock<Ready>>);

struct Ready {
    endpoint: Endpoint,
    server: Server,
}

/// Why the endpoint cannot be set up. Our own tools are as tools have to be; this keeps the possibility visible.
type SetUp<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

impl Mcp {
    /// Sets the endpoint up for an app whose routes are these, without the doorway: whoever comes here went through it.
    pub(crate) async fn open(&self, app: &App, routes: Router<App>, scratch: &Path) -> SetUp<()> {
        // The app has the endpoint, so the tools must not have the app, or neither would ever go.
        let plane = Plane::new(registry(&app.downgrade(), &routes)?);
        let offer = Offer { plane, scope: scope(scratch).await?, permissions: permissions()? };
        let server = Server::new(offer);
        let endpoint = Endpoint::new(&server, Door::Open);
        let _once = self.0.set(Ready { endpoint, server });
        Ok(())
    }

    pub(crate) async fn close(&self) {
        if let Some(ready) = self.0.get() {
            ready.server.close().await;
        }
    }
}

/// Answers a request of an MCP client.
pub(crate) async fn answer(State(app): State<App>, request: Request) -> Response {
    match app.mcp.0.get() {
        Some(ready) => ready.endpoint.handle(request).await.map(Body::new),
        None => Fault::starting().into_response(),
    }
}

fn registry(app: &WeakApp, routes: &Router<App>) -> SetUp<Registry> {
    let mut registry = Registry::default();
    for tool in TOOLS {
        let (app, routes) = (app.clone(), routes.clone());
        let function = Function::new(move |args, _| {
            let (app, routes) = (app.clone(), routes.clone());
            Box::pin(async move {
                match app.upgrade() {
                    Some(app) => run(tool, &app, routes.with_state(app.clone()), &args).await,
                    None => Outcome::error("the daemon ends"),
                }
            })
        });
        registry.register(definition(tool)?, Executor::Function(function))?;
    }
    Ok(registry)
}

fn definition(tool: &Tool) -> SetUp<ToolDef> {
    let facts = ToolFacts {
        id: ToolId { server: builtin::SERVER.parse()?, tool: tool.name.parse()? },
        pin: PinState::Held(env!("CARGO_PKG_VERSION").parse()?),
        effect: Some(tool.effect),
    };
    let schema = RawJson::parse(&(tool.schema)().to_string())?;
    Ok(ToolDef::from_offer(ToolOffer {
        facts,
        title: "",
        description: tool.description,
        input_schema: &schema,
        output_schema: None,
        timeout_ms: TIMEOUT_MS,
        annotations: Annotations::default(),
    })?)
}

fn permissions() -> SetUp<Permissions> {
    let effects: EffectSet = SideEffect::ALL.into_iter().collect();
    Ok(Permissions {
        effects,
        capabilities: CapabilitySet::root(CapabilityLayer::granting(["mcp:*:*".parse()?])?),
        approvals: ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow))?,
    })
}

/// The tools touch no file and run no command, so their place is an empty folder.
async fn scope(scratch: &Path) -> SetUp<Scope> {
    std::fs::create_dir_all(scratch)?;
    let launcher = Launcher { program: "/nonexistent".into(), args: Vec::new() };
    let sandbox = Sandbox::probe(launcher, Mode::Off).await?;
    let kept = Kept::open(scratch)?;
    Ok(Scope {
        worktree: scratch.to_owned(),
        access: Access::Read,
        roots: Arc::from([]),
        scratch: scratch.to_owned(),
        cell: sandbox.cell(Policy::default()),
        env: Arc::from([]),
        files: Files::default(),
        processes: Processes::open(scratch, kept.clone())?,
        kept,
        secrets: Secrets::default(),
    })
}

async fn run(tool: &Tool, app: &App, routes: Router, args: &Value) -> Outcome {
    match (tool.call)(args) {
        Call::Wait { project, task, seconds } => wait::wait(app, &project, &task, seconds).await,
        Call::Route { method, path, body } => match ask(routes, method, &path, body).await {
            Ok(answer) => Outcome::text((tool.shown)(&answer)),
            Err(why) => Outcome::error(why),
        },
    }
}

/// Asks a route; an answer that is an error becomes its words.
async fn ask(routes: Router, method: Method, path: &str, body: Option<Value>) -> Result<Value, String> {
    let content = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request =
        Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    let request = request.body(content).map_err(|error| error.to_string())?;
    let response = match routes.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let bytes =
        axum::body::to_bytes(response.into_body(), MOST_ANSWER).await.map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    if status.is_success() {
        return Ok(value);
    }
    let word = |name: &str| value["error"][name].as_str().unwrap_or_default().to_owned();
    Err(format!("{} ({}). {}", word("message"), word("code"), word("hint")))
}
