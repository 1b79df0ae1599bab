//! `/v1`: a path per tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::{Map, Value, json};

use super::{Office, failure, respond, status_of};
use crate::engine::{CallContext, TenantName};
use crate::fault::Fault;

type Asked = (State<Arc<Office>>, Extension<TenantName>);

pub(super) fn routes() -> Router<Arc<Office>> {
    Router::new()
        .route(
            "/v1/compile",
            post(async |asked: Asked, body: Bytes| with_body("tachyon_compile", asked, &body).await),
        )
        .route(
            "/v1/test",
            post(async |asked: Asked, body: Bytes| with_body("tachyon_test", asked, &body).await),
        )
        .route(
            "/v1/simulate",
            post(async |asked: Asked, body: Bytes| with_body("tachyon_simulate", asked, &body).await),
        )
        .route(
            "/v1/deploy",
            post(async |asked: Asked, body: Bytes| with_body("tachyon_deploy", asked, &body).await),
        )
        .route(
            "/v1/call",
            post(async |asked: Asked, body: Bytes| with_body("tachyon_call", asked, &body).await),
        )
        .route(
            "/v1/chains",
            get(async |asked: Asked| call("tachyon_chain_list", asked, json!({})).await).post(
                async |asked: Asked, body: Bytes| with_body("tachyon_chain_register", asked, &body).await,
            ),
        )
        .route("/v1/artifacts/{name}", get(artifact))
        .route("/v1/registry/deployments", get(deployment))
}

async fn artifact(
    state: State<Arc<Office>>,
    tenant: Extension<TenantName>,
    Path(name): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut request = fields(query);
    request.insert("name".into(), name.into());
    call("tachyon_artifact_get", (state, tenant), Value::Object(request)).await
}

async fn deployment(
    state: State<Arc<Office>>,
    tenant: Extension<TenantName>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut request = fields(query);
    if let Some(key) = request.remove("key") {
        request.insert("idempotency_key".into(), key);
    }
    call("tachyon_registry_lookup", (state, tenant), Value::Object(request)).await
}

fn fields(query: BTreeMap<String, String>) -> Map<String, Value> {
    query.into_iter().map(|(name, value)| (name, value.into())).collect()
}

async fn with_body(tool: &str, asked: Asked, body: &[u8]) -> Response {
    let body = if body.is_empty() { b"{}" } else { body };
    match serde_json::from_slice(body) {
        Ok(request) => call(tool, asked, request).await,
        Err(error) => {
            let fault = Fault::invalid(format!("the body is not JSON: {error}"));
            respond(StatusCode::BAD_REQUEST, &failure(fault))
        }
    }
}

async fn call(tool: &str, (State(office), Extension(tenant)): Asked, request: Value) -> Response {
    let answer = office.engine.call(tool, request, &CallContext::of(tenant)).await;
    respond(status_of(&answer), &answer.to_json())
}
