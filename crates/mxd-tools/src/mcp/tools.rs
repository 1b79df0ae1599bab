//! The tools of servers, in the registry and called through the plane.

use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{LockedServer, ServerSpec, ToolDefinition, Tools};
use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, Pin, PinState, ServerName, SideEffect, ToolDef, ToolFacts, ToolId, ToolName, ToolOffer,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::connection::{CallOptions, Progress};
use super::error::CallError;
use super::pool::Lease;
use super::server::Server;
use crate::builtin::Context;
use crate::outcome::Outcome;
use crate::plane::schema::{Schema, SchemaError};
use crate::plane::{Executor, GRACE, Registry, RegistryError, result};
use crate::shell::Feed;

/// Notices of progress that wait to be shown.
const PROGRESS: usize = 16;
/// Bytes of one notice of progress that are shown.
const PROGRESS_BYTES: usize = 1_000;

/// A tool of a server, ready to be called.
#[derive(Debug, Clone)]
pub struct McpTool {
    id: ToolId,
    timeout: Duration,
    at: At,
}

/// Where a tool is called.
#[derive(Debug, Clone)]
enum At {
    Server(Server),
    /// Nowhere: its schema is known, its server is not connected.
    Nowhere,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    input_schema: Option<RawJson>,
    #[serde(default)]
    output_schema: Option<RawJson>,
    #[serde(default)]
    annotations: Option<Value>,
}

/// What is known about a tool beside what its server says.
#[derive(Debug, Clone)]
struct Known {
    pin: PinState,
    effect: Option<SideEffect>,
    timeout_ms: u64,
    description: String,
}

/// Adds the tools of a server: what it offers, or, while it cannot be used, what was accepted of it, whose calls say why
/// they fail. Returns what could not be added.
pub(super) fn register(lease: &Lease, registry: &mut Registry) -> Vec<RegistryError> {
    let server = lease.server();
    let (definitions, locked) = match (server.connection(), server.accepted()) {
        (Ok(connection), _) => (connection.discovered().tools.clone(), connection.locked()),
        (Err(_), Some(accepted)) => {
            let definitions = accepted.tools.values().map(|tool| tool.definition.clone()).collect();
            (definitions, Some(Arc::clone(accepted)))
        }
        (Err(_), None) => return Vec::new(),
    };
    let mut failed = Vec::new();
    for definition in &definitions {
        let known = known(server.spec(), locked.as_deref(), definition);
        let at = At::Server(server.clone());
        let added = add(registry, server.name(), (definition, known), at);
        failed.extend(added.err());
    }
    failed
}

impl Registry {
    /// Adds tools of a server that is not connected: models see them, calls fail and say why.
    ///
    /// # Errors
    ///
    /// With everything that could not be added.
    pub fn register_offline(
        &mut self,
        spec: &ServerSpec,
        locked: Option<&LockedServer>,
        definitions: &[ToolDefinition],
    ) -> Result<(), Vec<RegistryError>> {
        let add = |definition: &ToolDefinition| {
            let known = known(spec, locked, definition);
            add(self, &spec.name, (definition, known), At::Nowhere).err()
        };
        let failed: Vec<RegistryError> = definitions.iter().filter_map(add).collect();
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}

fn add(
    registry: &mut Registry,
    server: &ServerName,
    (definition, known): (&ToolDefinition, Known),
    at: At,
) -> Result<(), RegistryError> {
    let id = ToolId { server: server.clone(), tool: definition.name().clone() };
    let unfit = |why: String| RegistryError::Schema { tool: id.clone(), source: SchemaError { why } };
    let said: Definition =
        serde_json::from_str(definition.canonical()).map_err(|error| unfit(error.to_string()))?;
    let input = said.input_schema.as_ref().ok_or_else(|| unfit("there is none".to_owned()))?;
    if let Some(output) = &said.output_schema {
        let output: Value = serde_json::from_str(output.get()).map_err(|error| unfit(error.to_string()))?;
        Schema::compile(&output).map_err(|error| unfit(format!("that of its results: {}", error.why)))?;
    }
    let hints = said.annotations.unwrap_or_default();
    let title = said.title.as_deref().or_else(|| hints.get("title").and_then(Value::as_str));
    let description = said.description.filter(|words| !words.trim().is_empty()).unwrap_or(known.description);
    let hint = |name: &str| hints.get(name).and_then(Value::as_bool);
    let def = ToolDef::from_offer(ToolOffer {
        facts: ToolFacts { id: id.clone(), pin: known.pin, effect: known.effect },
        title: title.unwrap_or_default(),
        description: &description,
        input_schema: input,
        output_schema: said.output_schema.as_ref(),
        timeout_ms: known.timeout_ms,
        annotations: Annotations {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
    })?;
    let timeout = Duration::from_millis(known.timeout_ms);
    registry.register(def, Executor::Mcp(Box::new(McpTool { id, timeout, at })))
}

/// What the manifest and the lock file say about a tool. It is held to the version of its package, or else to what it
/// says about itself.
fn known(spec: &ServerSpec, locked: Option<&LockedServer>, definition: &ToolDefinition) -> Known {
    let name: &ToolName = definition.name();
    let package = spec.package.as_ref().map(|package| Pin::Version(package.version.clone()));
    let pin = PinState::Held(package.unwrap_or_else(|| Pin::Sha256(definition.digest())));
    let declared = spec.declared().iter().find(|tool| tool.name == *name);
    let effect = match (&spec.tools, declared) {
        (Tools::Declared(_), declared) => declared.map(|tool| tool.effect),
        (Tools::FirstUse, _) => locked.and_then(|locked| locked.tools.get(name)?.effect),
    };
    Known {
        pin,
        effect,
        timeout_ms: declared.map_or(spec.timeout_ms, |tool| tool.timeout_ms),
        description: declared.map(|tool| tool.description.text().to_owned()).unwrap_or_default(),
    }
}

impl McpTool {
    /// Whether its server waits for somebody's answer, and so cannot go on with a call.
    pub(crate) fn is_held_up(&self) -> bool {
        match &self.at {
            At::Server(server) => server.is_asking(),
            At::Nowhere => false,
        }
    }

    /// Calls it. What goes wrong is an answer, too.
    pub(crate) async fn run(&self, args: &Value, context: Context<'_>) -> Outcome {
        let At::Server(server) = &self.at else {
            return failed(&CallError::Offline { server: self.id.server.clone() });
        };
        let options = CallOptions {
            // The plane is the one that ends calls; this is for when it does not.
            deadline: self.timeout + GRACE,
            cancel: context.cancel.clone(),
            progress: None,
        };
        let called = if context.watcher.is_there() {
            self.watched(server, (args, options), context).await
        } else {
            server.call(&self.id.tool, args, options).await
        };
        match called {
            Ok(value) => result::outcome(value).from_server(&self.id.server),
            Err(error) => failed(&error),
        }
    }

    /// Calls it and shows how far it is.
    async fn watched(
        &self,
        server: &Server,
        (args, options): (&Value, CallOptions),
        context: Context<'_>,
    ) -> Result<Value, CallError> {
        let (progress, mut notices) = mpsc::channel(PROGRESS);
        let options = CallOptions { progress: Some(progress), ..options };
        let mut feed = Feed::new(context.call.clone(), context.watcher.clone());
        let call = server.call(&self.id.tool, args, options);
        tokio::pin!(call);
        let called = loop {
            tokio::select! {
                biased;
                called = &mut call => break called,
                Some(notice) = notices.recv() => show(&mut feed, &notice, context),
            }
        };
        while let Ok(notice) = notices.try_recv() {
            show(&mut feed, &notice, context);
        }
        feed.finish();
        called
    }
}

fn failed(error: &CallError) -> Outcome {
    Outcome::error(format!("{error}\n{}", error.hint()))
}

fn show(feed: &mut Feed, notice: &Progress, context: Context<'_>) {
    feed.push(context.scope.secrets.redact(&line(notice)).as_bytes());
}

/// A notice of progress as a line.
fn line(notice: &Progress) -> String {
    let of = notice.of.map(|of| format!("/{of}")).unwrap_or_default();
    let words = notice.message.as_deref().unwrap_or_default();
    let words = &words[..words.floor_char_boundary(PROGRESS_BYTES)];
    format!("[{}{of}] {words}\n", notice.done)
}
