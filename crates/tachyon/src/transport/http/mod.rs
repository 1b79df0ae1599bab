//! HTTP: JSON-RPC 2.0 under `/rpc` and REST under `/v1`, for tenants with a token.

mod rest;
mod rpc;

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;

use crate::engine::{Engine, TenantName, Tool};
use crate::fault::{Code, Envelope, Fault};
use crate::limits;

/// What every request needs.
pub(crate) struct Office {
    engine: Arc<Engine>,
    /// Tokens and whose they are.
    tenants: Vec<(SecretString, TenantName)>,
}

impl Office {
    pub(crate) fn new(engine: Arc<Engine>, tenants: Vec<(SecretString, TenantName)>) -> Self {
        Self { engine, tenants }
    }

    /// Whose token it is. Every one is compared by its hash, so that the time taken tells nothing.
    fn tenant(&self, headers: &HeaderMap) -> Option<TenantName> {
        let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = given.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let given = Sha256::digest(token.trim());
        let mut found = None;
        for (token, tenant) in &self.tenants {
            if Sha256::digest(token.expose_secret()) == given {
                found = Some(tenant.clone());
            }
        }
        found
    }
}

/// Serves until the process is told to end.
pub(crate) async fn serve(
    listener: TcpListener,
    office: Office,
    end: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    axum::serve(listener, routes(Arc::new(office))).with_graceful_shutdown(end).await
}

fn routes(office: Arc<Office>) -> Router {
    let private = Router::new()
        .route("/rpc", axum::routing::post(rpc::answer))
        .merge(rest::routes())
        .route_layer(middleware::from_fn_with_state(office.clone(), authenticate));
    Router::new()
        .route("/healthz", get(health))
        .merge(private)
        .fallback(async || {
            respond(StatusCode::NOT_FOUND, &failure(Fault::invalid("there is nothing at this address")))
        })
        .layer(DefaultBodyLimit::max(limits::MESSAGE_BYTES))
        .with_state(office)
}

/// Says that it is there, and nothing about what is inside.
async fn health() -> Response {
    let data = json!({ "service": "tachyon", "version": env!("CARGO_PKG_VERSION"), "tools": Tool::names() });
    respond(StatusCode::OK, &json!({ "ok": true, "data": data }))
}

async fn authenticate(State(office): State<Arc<Office>>, mut request: Request, next: Next) -> Response {
    let Some(tenant) = office.tenant(request.headers()) else {
        let fault = Fault::invalid("the bearer token is missing or not known");
        return respond(StatusCode::UNAUTHORIZED, &failure(fault));
    };
    request.extensions_mut().insert(tenant);
    next.run(request).await
}

fn failure(fault: Fault) -> Value {
    Envelope::new(Err(fault)).to_json()
}

fn respond(status: StatusCode, json: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Body::from(Bytes::from(json.to_string()))).into_response()
}

/// The HTTP status of an answer.
fn status_of(answer: &Envelope) -> StatusCode {
    match answer.fault().map(|fault| fault.code) {
        None => StatusCode::OK,
        Some(Code::InvalidRequest) => StatusCode::BAD_REQUEST,
        Some(Code::ChainNotFound | Code::ArtifactNotFound | Code::RegistryNotFound) => StatusCode::NOT_FOUND,
        Some(Code::WalletPolicyDenied) => StatusCode::FORBIDDEN,
        Some(Code::DeployIdempotentHit) => StatusCode::CONFLICT,
        Some(Code::ChainRpcFailed) => StatusCode::BAD_GATEWAY,
        Some(Code::InternalError) => StatusCode::INTERNAL_SERVER_ERROR,
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
    }
}
