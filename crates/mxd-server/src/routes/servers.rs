//! The MCP servers of a project's agents: how they are, and the user's word about what they offer.

use std::collections::BTreeMap;

use axum::extract::State;
use mxd_core::tool::{ServerName, SideEffect, ToolName, visible};
use mxd_engine::agents::SupplyError;
use mxd_engine::provision::{ServerReport, ServerState, ToolChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/servers", "The MCP servers of the agents").gives::<Servers>(),
        list,
    )
    .add(
        Route::post("/projects/{project}/servers/{alias}/accept", "Accepts what a server offers now")
            .takes::<Accept>()
            .gives::<ServerView>(),
        accept,
    )
    .add(
        Route::post("/projects/{project}/servers/{alias}/retry", "Looks for a server again")
            .gives::<Servers>(),
        retry,
    )
}

/// Characters of one side of a change that are shown.
const MOST_SHOWN: usize = 4_000;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Servers {
    servers: Vec<ServerView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServerView {
    alias: String,
    status: StatusName,
    /// Why it cannot be used, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    tools: Vec<ToolView>,
    /// What it offers otherwise than was accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drift: Vec<String>,
    /// The same, with the words that were accepted and those that are offered now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChangeView>,
    /// How many agents are connected to it.
    agents: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Idle,
    Connecting,
    Ready,
    Drifted,
    Unaccepted,
    Down,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ToolView {
    name: String,
    /// What it does to the world; a tool without a class is not called.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// The digest of what was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

/// A place at which a server offers something else than was accepted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChangeView {
    tool: String,
    /// Where in its definition; empty for the whole of it.
    path: String,
    /// What was accepted, with every character that cannot be seen spelt out; left out for what is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    /// What it says now, in the same way; left out for what is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
}

impl From<ToolChange> for ChangeView {
    fn from(change: ToolChange) -> Self {
        Self {
            tool: change.tool.to_string(),
            path: visible(&change.path),
            was: change.was.as_deref().map(shown),
            now: change.now.as_deref().map(shown),
        }
    }
}

/// The words of a server as a person can read all of them, up to a limit.
fn shown(words: &str) -> String {
    let words = visible(words);
    match words.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}… ({} more bytes)", &words[..end], words.len() - end),
        None => words,
    }
}

/// What is accepted besides what the server says.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Accept {
    /// Classes of tools that have none, by name: `read`, `write`, `shell`, `network` or `spend`.
    #[serde(default)]
    classes: BTreeMap<String, String>,
}

impl From<ServerReport> for ServerView {
    fn from(report: ServerReport) -> Self {
        let (status, problem) = match &report.state {
            ServerState::Idle => (StatusName::Idle, None),
            ServerState::Connecting { why } => (StatusName::Connecting, why.clone()),
            ServerState::Ready => (StatusName::Ready, None),
            ServerState::Drifted(_) => (StatusName::Drifted, None),
            ServerState::Unaccepted => (StatusName::Unaccepted, None),
            ServerState::Down { why, hint } => (StatusName::Down, Some(format!("{why}. {hint}"))),
        };
        let tools = report.tools.iter().map(|tool| ToolView {
            name: tool.name.to_string(),
            class: tool.class.map(|class| class.to_string()),
            digest: tool.digest.as_ref().map(ToString::to_string),
        });
        Self {
            alias: report.name.to_string(),
            status,
            problem,
            tools: tools.collect(),
            drift: report.state.differences(),
            changes: report.state.changes().into_iter().map(ChangeView::from).collect(),
            agents: report.agents as u64,
        }
    }
}

fn refused(error: &SupplyError) -> Fault {
    Fault::conflict("servers", error.to_string()).hint("See to the manifest or the settings, then try again.")
}

fn named(alias: &str) -> Answer<ServerName> {
    alias
        .parse()
        .map_err(|_| Fault::not_found("no_such_server", "there is no such server").hint("List the servers."))
}

async fn list(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Servers>> {
    let project = app.project(&project).await?;
    let servers = project.servers().await.map_err(|error| refused(&error))?;
    Ok(Given(Servers { servers: servers.into_iter().map(ServerView::from).collect() }))
}

async fn accept(
    State(app): State<App>,
    Path((project, alias)): Path<(String, String)>,
    Input(wish): Input<Accept>,
) -> Answer<Given<ServerView>> {
    let project = app.project(&project).await?;
    let mut classes: BTreeMap<ToolName, SideEffect> = BTreeMap::new();
    for (tool, class) in &wish.classes {
        let tool =
            tool.parse().map_err(|_| Fault::unfit(format!("classes: `{tool}` is no name of a tool")))?;
        let class = class.parse().map_err(|_| Fault::unfit(format!("classes: `{class}` is no class")))?;
        classes.insert(tool, class);
    }
    let report = project.accept_server(&named(&alias)?, &classes).await.map_err(|error| refused(&error))?;
    Ok(Given(report.into()))
}

async fn retry(
    State(app): State<App>,
    Path((project, alias)): Path<(String, String)>,
) -> Answer<Given<Servers>> {
    let open = app.project(&project).await?;
    open.retry_server(&named(&alias)?).await;
    list(State(app), Path(project)).await
}
