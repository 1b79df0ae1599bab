//! `POST /rpc`: one JSON-RPC 2.0 request, whose method is a tool and whose result is its envelope.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{Office, respond};
use crate::engine::{CallContext, TenantName, Tool};

pub(super) async fn answer(
    State(office): State<Arc<Office>>,
    Extension(tenant): Extension<TenantName>,
    body: Bytes,
) -> Response {
    let wrong = |id: &Value, code: i32, message: String| {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        respond(StatusCode::OK, &error)
    };
    let request: Value = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return wrong(&Value::Null, -32700, format!("not JSON: {error}")),
    };
    let id = request.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    // Without an id nobody would learn what became of the money.
    let Some(id) = id else {
        return wrong(
            &Value::Null,
            -32600,
            "one request object with an id is taken; no batches, no notifications".into(),
        );
    };
    let method = request["method"].as_str().unwrap_or_default();
    if request["jsonrpc"] != "2.0" || method.is_empty() {
        return wrong(&id, -32600, "`jsonrpc` must be \"2.0\" and `method` a string".into());
    }
    if Tool::named(method).is_none() {
        return wrong(&id, -32601, format!("there is no method `{method}`"));
    }
    let params = request.get("params").cloned().unwrap_or_default();
    if !(params.is_object() || params.is_null()) {
        return wrong(&id, -32602, "`params` must be an object".into());
    }
    let told = office.engine.call(method, params, &CallContext::of(tenant)).await;
    respond(StatusCode::OK, &json!({ "jsonrpc": "2.0", "id": id, "result": told.to_json() }))
}
