//! Settings: the three layers, what holds of them, and where it comes from.

use std::collections::BTreeMap;

use axum::extract::State;
use mxd_engine::config::{self, Config, Layer, Places, Row};
use mxd_engine::home::{HomeError, Registered};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::{Answer, Fault};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/config/global", "The user's own settings"), global)
        .add(
            Route::patch("/config/global", "Changes the user's own settings; null takes a key out")
                .takes::<Map<String, Value>>()
                .gives::<Changed>(),
            patch_global,
        )
        .add(Route::get("/projects/{project}/config", "The user's settings for one project"), local)
        .add(
            Route::patch("/projects/{project}/config", "Changes the user's settings for one project")
                .takes::<Map<String, Value>>()
                .gives::<Changed>(),
            patch_local,
        )
        .add(Route::get("/projects/{project}/config/repo", "The settings of the repository"), repo)
        .add(
            Route::patch("/projects/{project}/config/repo", "Changes the settings of the repository")
                .takes::<Map<String, Value>>()
                .gives::<Changed>(),
            patch_repo,
        )
        .add(
            Route::get("/projects/{project}/config/all", "All layers, what holds, and where it comes from")
                .gives::<All>(),
            all,
        )
        .add(Route::get("/config/schema", "The JSON Schema of a settings file"), schema)
}

/// What became of a change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Changed {
    /// The layer, as it is now.
    config: Value,
    /// Projects that go on with the new settings.
    restarted: Vec<String>,
    /// Projects in which agents work: they go on with the old settings until they are restarted, apart from approval
    /// rules and from the hosts of commands, which hold at once.
    restart_needed: Vec<String>,
    /// Projects that cannot be opened with the new settings.
    broken: Vec<BrokenProject>,
    /// Projects that have a budget of their own, which another `budgetUsd` does not change.
    budget_kept: Vec<String>,
}

/// A project that does not open.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BrokenProject {
    id: String,
    problem: String,
}

/// Everything about the settings of a project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct All {
    global: Value,
    repo: Value,
    local: Value,
    /// What holds, by key.
    resolved: BTreeMap<String, Value>,
    /// Where it comes from, by key.
    origins: BTreeMap<String, Value>,
    /// What is wrong with the files; then nothing holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

async fn look(places: Places, layer: Layer) -> Answer<Value> {
    let shown = tokio::task::spawn_blocking(move || config::shown(&places, layer)).await?;
    shown.map_err(|problems| {
        Fault::new(axum::http::StatusCode::CONFLICT, "configuration", problems.to_string())
            .hint("Repair the file.")
    })
}

async fn change(
    app: &App,
    (places, layer): (Places, Layer),
    patch: Map<String, Value>,
    concerned: Vec<Registered>,
) -> Answer<Given<Changed>> {
    let again = places.clone();
    tokio::task::spawn_blocking(move || config::patch(&places, layer, &patch)).await??;
    let (home, written) = (app.home.clone(), again.clone());
    tokio::task::spawn_blocking(move || home.know_secrets(&written)).await?;
    let config = look(again, layer).await?;
    let mut changed = Changed {
        config,
        restarted: Vec::new(),
        restart_needed: Vec::new(),
        broken: Vec::new(),
        budget_kept: Vec::new(),
    };
    for registered in concerned {
        let id = registered.entry.id;
        if is_at_work(&registered) {
            changed.restart_needed.push(id.to_string());
            continue;
        }
        match app.home.restart(id).await {
            Ok(registered) if keeps_budget(&registered) => {
                changed.budget_kept.push(id.to_string());
                changed.restarted.push(id.to_string());
            }
            Ok(_) => changed.restarted.push(id.to_string()),
            // One that somebody takes out meanwhile is nobody's concern.
            Err(HomeError::Unknown { .. }) => {}
            Err(error) => {
                changed.broken.push(BrokenProject { id: id.to_string(), problem: error.to_string() })
            }
        }
    }
    Ok(Given(changed))
}

/// Whether the limit of a root is another than the settings say.
fn keeps_budget(registered: &Registered) -> bool {
    registered.now().project().is_some_and(|project| {
        let wanted = project.config().budget;
        let has = project.look(|state| state.tree().root().and_then(|root| root.task()?.budget_usd));
        wanted.is_some() && has != wanted
    })
}

/// Whether a restart would break something off.
fn is_at_work(registered: &Registered) -> bool {
    registered.now().project().is_some_and(|project| {
        project.look(|state| {
            state.sessions().values().any(|session| session.is_busy() || !session.background().is_empty())
        })
    })
}

async fn global(State(app): State<App>) -> Answer<Given<Value>> {
    look(app.home.places(None), Layer::User).await.map(Given)
}

async fn patch_global(
    State(app): State<App>,
    Input(patch): Input<Map<String, Value>>,
) -> Answer<Given<Changed>> {
    change(&app, (app.home.places(None), Layer::User), patch, app.home.projects()).await
}

async fn layer(app: &App, project: &str, layer: Layer) -> Answer<Given<Value>> {
    let registered = app.registered(project)?;
    look(app.home.places(Some(&registered.entry)), layer).await.map(Given)
}

async fn patch_layer(
    app: &App,
    project: &str,
    layer: Layer,
    patch: Map<String, Value>,
) -> Answer<Given<Changed>> {
    let registered = app.registered(project)?;
    let places = app.home.places(Some(&registered.entry));
    change(app, (places, layer), patch, vec![registered]).await
}

async fn local(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Value>> {
    layer(&app, &project, Layer::Project).await
}

async fn patch_local(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(patch): Input<Map<String, Value>>,
) -> Answer<Given<Changed>> {
    patch_layer(&app, &project, Layer::Project, patch).await
}

async fn repo(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<Value>> {
    layer(&app, &project, Layer::Repository).await
}

async fn patch_repo(
    State(app): State<App>,
    Path(project): Path<String>,
    Input(patch): Input<Map<String, Value>>,
) -> Answer<Given<Changed>> {
    patch_layer(&app, &project, Layer::Repository, patch).await
}

async fn all(State(app): State<App>, Path(project): Path<String>) -> Answer<Given<All>> {
    let registered = app.registered(&project)?;
    let places = app.home.places(Some(&registered.entry));
    let global = look(places.clone(), Layer::User).await?;
    let repo = look(places.clone(), Layer::Repository).await?;
    let local = look(places.clone(), Layer::Project).await?;
    let loaded = tokio::task::spawn_blocking(move || Config::load(&places)).await?;
    let (rows, problem) = match loaded {
        Ok(config) => (config.rows(), None),
        Err(problems) => (Vec::new(), Some(problems.to_string())),
    };
    let (mut resolved, mut origins) = (BTreeMap::new(), BTreeMap::new());
    for Row { path, value, origin } in rows {
        origins.insert(path.clone(), serde_json::to_value(origin).unwrap_or_default());
        resolved.insert(path, value);
    }
    Ok(Given(All { global, repo, local, resolved, origins, problem }))
}

async fn schema() -> Given<Value> {
    Given(config::schema())
}
