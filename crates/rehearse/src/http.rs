//! The routes: what is asked under which path.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::gates::Gates;
use crate::limits::BODY_BYTES;
use crate::play::{play, refuse};
use crate::stage::{Act, Heard, Stage};
use crate::view::View;
use crate::violation::Violation;
use crate::wire::{Reading, Trouble, Wire};

/// The header by which a client names its conversation.
pub const CONVERSATION_HEADER: &str = "x-rehearse-conversation";

/// What every handler sees.
#[derive(Debug, Clone)]
pub(crate) struct House {
    stage: Arc<Mutex<Stage>>,
    pub(crate) gates: Arc<Gates>,
}

impl House {
    pub(crate) fn new(stage: Stage, gates: Gates) -> Self {
        Self { stage: Arc::new(Mutex::new(stage)), gates: Arc::new(gates) }
    }

    /// The stage. Never held across an await.
    pub(crate) fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn routes(house: House) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/responses", post(responses))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/models", get(models))
        .route("/v1/models/{id}", get(model))
        .route("/rehearse/gates/{name}", post(open_gate))
        .route("/rehearse/requests", get(requests))
        .route("/rehearse/report", get(report))
        .fallback(nowhere)
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(house)
}

/// A body, or why there is none: most likely it is too large.
type Received = Result<Bytes, BytesRejection>;

async fn messages(State(house): State<House>, headers: HeaderMap, body: Received) -> Response {
    ask(house, Wire::Anthropic, &headers, body).await
}

async fn responses(State(house): State<House>, headers: HeaderMap, body: Received) -> Response {
    ask(house, Wire::Responses, &headers, body).await
}

async fn chat(State(house): State<House>, headers: HeaderMap, body: Received) -> Response {
    ask(house, Wire::Chat, &headers, body).await
}

async fn ask(house: House, wire: Wire, headers: &HeaderMap, body: Received) -> Response {
    let (body, mut reading) = match body {
        Ok(body) => read(wire, &body),
        Err(refused) => {
            unread("too-large", format!("Request exceeds the maximum size: {}", refused.body_text()))
        }
    };
    let mut violations = wire.missing_headers(|name| headers.contains_key(name));
    violations.append(&mut reading.violations);
    reading.violations = violations;
    let named = headers.get(CONVERSATION_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let act = house.stage().hear(Heard { wire, reading, named, body });
    match act {
        Act::Play(cue) => play(*cue, house.gates).await,
        Act::Refuse { wire, number, trouble } => refuse(wire, number, &trouble),
    }
}

fn read(wire: Wire, body: &[u8]) -> (Value, Reading) {
    match serde_json::from_slice::<Value>(body) {
        Ok(body) => {
            let reading = wire.read(&body);
            (body, reading)
        }
        Err(error) => unread("not-json", format!("The request body is not valid JSON: {error}")),
    }
}

fn unread(rule: &'static str, message: String) -> (Value, Reading) {
    (Value::Null, Reading { view: View::default(), violations: vec![Violation::new(rule, message)] })
}

/// Counting is no turn: rules other than those of a conversation to be answered do not apply.
async fn count_tokens(body: Bytes) -> Response {
    let (_, reading) = read(Wire::Anthropic, &body);
    let about_counting = |violation: &&Violation| {
        !matches!(violation.rule, "max-tokens") && violation.message != "max_tokens: Field required"
    };
    if let Some(violation) = reading.violations.iter().find(about_counting) {
        let trouble = Trouble { status: 400, kind: None, message: violation.message.clone() };
        return refuse(Wire::Anthropic, 0, &trouble);
    }
    answer(StatusCode::OK, &json!({ "input_tokens": reading.view.count_tokens() }))
}

async fn models(State(house): State<House>, headers: HeaderMap) -> Response {
    let names = house.stage().script().models.clone();
    let anthropic = headers.contains_key("anthropic-version");
    let data: Vec<Value> = names.iter().map(|name| listed(name, anthropic)).collect();
    let list = if anthropic {
        json!({ "data": data, "has_more": false, "first_id": names.first(), "last_id": names.last() })
    } else {
        json!({ "object": "list", "data": data })
    };
    answer(StatusCode::OK, &list)
}

async fn model(State(house): State<House>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let known = house.stage().script().models.contains(&id);
    if known {
        return answer(StatusCode::OK, &listed(&id, headers.contains_key("anthropic-version")));
    }
    let trouble = Trouble { status: 404, kind: None, message: format!("model: {id}") };
    let wire = if headers.contains_key("anthropic-version") { Wire::Anthropic } else { Wire::Responses };
    refuse(wire, 0, &trouble)
}

fn listed(name: &str, anthropic: bool) -> Value {
    if anthropic {
        json!({ "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z" })
    } else {
        json!({ "id": name, "object": "model", "created": 0, "owned_by": "rehearse" })
    }
}

async fn open_gate(State(house): State<House>, Path(name): Path<String>) -> Response {
    match house.gates.open(&name) {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(unknown) => answer(StatusCode::NOT_FOUND, &json!({ "error": unknown.to_string() })),
    }
}

async fn requests(State(house): State<House>) -> Response {
    let requests = json!(house.stage().log().requests());
    answer(StatusCode::OK, &requests)
}

async fn report(State(house): State<House>) -> Response {
    let report = json!(house.stage().report());
    answer(StatusCode::OK, &report)
}

async fn nowhere(request: axum::extract::Request) -> Response {
    let message = format!("rehearse answers no {} {}", request.method(), request.uri().path());
    answer(
        StatusCode::NOT_FOUND,
        &json!({ "type": "error", "error": { "type": "not_found_error", "message": message } }),
    )
}

fn answer(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
