//! The daemon itself: whether it lives, what it is, what it counts.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use mxd_engine::config::{Config, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Given, Taken};
use crate::api::{Api, Route};
use crate::app::App;
use crate::fault::Answer;
use crate::guard::{Visitor, stranger};
use crate::metrics;
use crate::take::Asked;

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/health", "Whether the daemon lives").asks::<HealthQuery>().gives::<Health>().open(),
        health,
    )
    .add(Route::get("/version", "Which program this is").gives::<Version>().open(), version)
    .add(Route::get("/stats", "What the daemon has counted").gives::<Stats>(), stats)
    .add(Route::get("/metrics", "The same for Prometheus").gives_other("text/plain"), prometheus)
    .add(
        Route::post("/restart-daemon", "Ends the daemon; whoever watches over it starts it again")
            .gives::<Ending>()
            .status(202),
        restart,
    )
    .add(Route::get("/openapi.json", "This document"), document)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HealthQuery {
    /// Whether the settings of the model are looked at, too. For this one has to be logged in.
    #[serde(default, rename = "check_model")]
    check_model: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Health {
    status: Status,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_hash: Option<String>,
    uptime_ms: u64,
    /// Changes with every start.
    epoch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelHealth>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Starting,
}

/// Whether the user's own settings name a model that can be asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModelHealth {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

async fn health(
    State(app): State<App>,
    visitor: Option<axum::Extension<Visitor>>,
    Asked(query): Asked<HealthQuery>,
) -> Answer<Given<Health>> {
    // The settings are nobody's business who has not logged in.
    if query.check_model && visitor.is_none() {
        return Err(stranger());
    }
    let status = if app.is_ready() { Status::Ok } else { Status::Starting };
    let model = if query.check_model { Some(model(&app).await?) } else { None };
    Ok(Given(Health {
        status,
        version: app.build.version.clone(),
        git_hash: app.build.git_hash.clone(),
        uptime_ms: app.uptime_ms(),
        epoch: app.epoch.to_string(),
        model,
    }))
}

async fn model(app: &App) -> Answer<ModelHealth> {
    let places = app.home.places(None);
    let found = tokio::task::spawn_blocking(move || {
        let config = Config::load(&places).map_err(|problems| problems.to_string())?;
        let model = config.agent_model(Role::Root).map_err(|error| error.to_string())?;
        Ok::<_, String>(model.model.name)
    });
    Ok(match found.await? {
        Ok(name) => ModelHealth { ok: true, name: Some(name), problem: None },
        Err(problem) => ModelHealth { ok: false, name: None, problem: Some(problem) },
    })
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Version {
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_hash: Option<String>,
}

async fn version(State(app): State<App>) -> Given<Version> {
    Given(Version { version: app.build.version.clone(), git_hash: app.build.git_hash.clone() })
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Stats {
    uptime_ms: u64,
    requests: u64,
    projects: u64,
    tasks: u64,
    /// Live streams at this moment.
    streams: u64,
    /// Tasks by status.
    counts: BTreeMap<String, u64>,
}

async fn stats(State(app): State<App>) -> Given<Stats> {
    let census = metrics::census(&app);
    Given(Stats {
        uptime_ms: app.uptime_ms(),
        requests: app.requests.load(Ordering::Relaxed),
        projects: census.projects,
        tasks: census.counts.values().sum(),
        streams: census.streams,
        counts: census.counts,
    })
}

async fn prometheus(State(app): State<App>) -> Response {
    let kind = (axum::http::header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    ([kind], metrics::text(&app)).into_response()
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ending {
    ending: bool,
}

async fn restart(State(app): State<App>) -> Taken<Ending> {
    app.end.cancel();
    Taken(Ending { ending: true })
}

async fn document(State(app): State<App>) -> Given<Value> {
    Given(app.document.clone())
}
