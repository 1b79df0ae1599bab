//! HTTP: JSON-RPC 2.0 under `/rpc` and REST under `/v1`, for tenants with a token.

mod rest;
mod rpc;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http_body_util::LengthLimitError;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::config::{Config, ConfigError};
use crate::engine::{Engine, TenantName, Tool};
use crate::fault::{Code, Envelope, Fault};
use crate::limits;

/// What every request needs.
pub(crate) struct Office {
    engine: Arc<Engine>,
    /// Tokens and whose they are.
    tenants: Vec<(SecretString, TenantName)>,
    /// How long a client may take to say what it wants.
    patience: Duration,
}

impl Office {
    pub(crate) fn new(config: Config) -> Result<Self, ConfigError> {
        let tenants = config.tenant_tokens()?;
        let patience = config.client_seconds.map_or(limits::CLIENT_TIME, Duration::from_secs);
        Ok(Self { engine: Arc::new(Engine::new(config)), tenants, patience })
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

/// Serves until the process is told to end; what is under way may still finish.
pub(crate) async fn serve(
    listener: TcpListener,
    office: Office,
    end: impl Future<Output = ()> + Send,
) -> std::io::Result<()> {
    let patience = office.patience;
    let service = TowerToHyperService::new(routes(Arc::new(office)));
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(limits::CONNECTIONS)));
    tokio::pin!(end);
    loop {
        let accepted = async {
            // Whoever comes while all places are taken waits in the system's queue.
            let place = room.clone().acquire_owned().await.map_err(std::io::Error::other)?;
            Ok::<_, std::io::Error>((listener.accept().await?.0, place))
        };
        let (stream, place) = tokio::select! {
            biased;
            () = &mut end => break,
            accepted = accepted => match accepted {
                Ok(accepted) => accepted,
                // A connection that broke before it began, or no descriptor left for it: others may have more luck.
                Err(_) => {
                    tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(limits::HEADER_BYTES);
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service.clone()));
        tokio::spawn(async move {
            // A client that vanishes, stalls or talks nonsense concerns nobody else.
            let _ = tokio::time::timeout(limits::CONNECTION_TIME, connection).await;
            drop(place);
        });
    }
    let _ = tokio::time::timeout(limits::SHUTDOWN_TIME, graceful.shutdown()).await;
    Ok(())
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
        .layer(DefaultBodyLimit::disable())
        .with_state(office)
}

/// Says that it is there, and nothing about what is inside.
async fn health() -> Response {
    let data = json!({ "service": "tachyon", "version": env!("CARGO_PKG_VERSION"), "tools": Tool::names() });
    respond(StatusCode::OK, &json!({ "ok": true, "data": data }))
}

async fn authenticate(State(office): State<Arc<Office>>, request: Request, next: Next) -> Response {
    let Some(tenant) = office.tenant(request.headers()) else {
        let fault = Fault::invalid("the bearer token is missing or not known");
        return respond(StatusCode::UNAUTHORIZED, &failure(fault));
    };
    let (mut parts, body) = request.into_parts();
    let body = match received(body, office.patience).await {
        Ok(body) => body,
        Err((status, what)) => return respond(status, &failure(Fault::invalid(what))),
    };
    parts.extensions.insert(tenant);
    next.run(Request::from_parts(parts, Body::from(body))).await
}

/// The whole body, if it comes within its limits.
async fn received(body: Body, patience: Duration) -> Result<Bytes, (StatusCode, String)> {
    let most = limits::MESSAGE_BYTES;
    match tokio::time::timeout(patience, axum::body::to_bytes(body, most)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error))
            if std::error::Error::source(&error).is_some_and(|cause| cause.is::<LengthLimitError>()) =>
        {
            Err((StatusCode::PAYLOAD_TOO_LARGE, format!("the body has more than {most} bytes")))
        }
        Ok(Err(error)) => Err((StatusCode::BAD_REQUEST, format!("the body broke off: {error}"))),
        Err(_) => {
            let what = format!("the body did not come within {} seconds", patience.as_secs());
            Err((StatusCode::REQUEST_TIMEOUT, what))
        }
    }
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
