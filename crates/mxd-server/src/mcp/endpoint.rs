//! The MCP endpoint of the daemon: the tools over HTTP, behind the same door as everything else.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use mxd_core::tool::{
    ApprovalPolicy, CapabilityLayer, CapabilitySet, EffectSet, Fallback, Ruling, SideEffect,
};
use mxd_tools::serve::{Door, Endpoint, Permissions, Server};
use serde_json::Value;
use tower::ServiceExt as _;

use super::{SetUp, Wanted};
use crate::app::App;
use crate::fault::Fault;
use crate::guard::{Visitor, stranger};

/// Bytes of an answer that are handed on.
const MOST_ANSWER: usize = 4 << 20;

/// The endpoint, once it is set up.
#[derive(Clone, Default)]
pub(crate) struct Mcp(Arc<OnceLock<Ready>>);

struct Ready {
    endpoint: Endpoint,
    server: Server,
}

impl Mcp {
    /// Sets the endpoint up for an app whose routes are these, without the doorway: whoever comes here went through it.
    pub(crate) async fn open(&self, app: &App, routes: Router<App>, scratch: &Path) -> SetUp<()> {
        // The app has the endpoint, so the tools must not have the app, or neither would ever go.
        let weak = app.downgrade();
        let ask = move |wanted| {
            let (app, routes) = (weak.upgrade(), routes.clone());
            Box::pin(async move {
                let app = app.ok_or("the daemon ends")?;
                ask(routes.with_state(app), wanted).await
            }) as super::Asking
        };
        let server = Server::new(super::offer(scratch, permissions()?, ask).await?);
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

/// Answers a request of an MCP client. An answer may be a stream; it ends with the session of whoever asked.
pub(crate) async fn answer(State(app): State<App>, visitor: Visitor, request: Request) -> Response {
    let Some(ready) = app.mcp.0.get() else {
        return Fault::starting().into_response();
    };
    let watched = app.clone();
    let session_ended = async move { watched.auth.session_ended(&visitor.who).await };
    let mut session_ended = Box::pin(session_ended);
    let response = tokio::select! {
        biased;
        () = session_ended.as_mut() => return stranger().into_response(),
        response = ready.endpoint.handle(request) => response,
    };
    response.map(|body| Body::from_stream(Body::new(body).into_data_stream().take_until(session_ended)))
}

fn permissions() -> SetUp<Permissions> {
    let effects: EffectSet = SideEffect::ALL.into_iter().collect();
    Ok(Permissions {
        effects,
        capabilities: CapabilitySet::root(CapabilityLayer::granting(["mcp:*:*".parse()?])?),
        approvals: ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow))?,
    })
}

/// Asks a route; an answer that is an error becomes its words.
async fn ask(routes: Router, wanted: Wanted) -> Result<Value, String> {
    let Wanted { method, path, body } = wanted;
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
