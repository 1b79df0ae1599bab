//! What handlers take from a request: JSON bodies and queries, refused with a readable error when they do not fit.

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::fault::Fault;
use crate::limits;

/// The JSON body of a request. An empty body is an empty object.
#[derive(Debug)]
pub(crate) struct Input<T>(pub(crate) T);

/// The same for a message, which may bring pictures.
#[derive(Debug)]
pub(crate) struct LargeInput<T>(pub(crate) T);

/// The names in the path of a request.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

/// The query of a request.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Input<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        read(request, limits::BODY_BYTES).await.map(Self)
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for LargeInput<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        read(request, limits::MESSAGE_BYTES).await.map(Self)
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(names)| Self(names))
            .map_err(|rejection| Fault::invalid(rejection.body_text()))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        let query = Query::try_from_uri(&parts.uri);
        query.map(|Query(query)| Self(query)).map_err(|rejection| Fault::invalid(rejection.body_text()))
    }
}

async fn read<T: DeserializeOwned>(request: Request, limit: usize) -> Result<T, Fault> {
    let (parts, body) = request.into_parts();
    let bytes = bytes(body, limit).await?;
    if bytes.is_empty() {
        return parse(b"{}");
    }
    check_type(&parts.headers)?;
    parse(&bytes)
}

async fn bytes(body: Body, limit: usize) -> Result<bytes::Bytes, Fault> {
    if body.size_hint().lower() > limit as u64 {
        // Whoever still sends would not hear an answer before the connection ends.
        let rest = axum::body::to_bytes(body, limits::REST_BYTES);
        let _unread = tokio::time::timeout(limits::REST_PATIENCE, rest).await;
        return Err(Fault::too_large(limit));
    }
    let read = axum::body::to_bytes(body, limit);
    match tokio::time::timeout(limits::BODY_PATIENCE, read).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => Err(Fault::too_large(limit)),
        Ok(Err(_)) => Err(Fault::invalid("the body broke off")),
        Err(_) => {
            Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body took too long to arrive"))
        }
    }
}

fn is_limit(error: &axum::Error) -> bool {
    // The error of the limit is wrapped, and its type is not ours to name.
    error.to_string().contains("length limit")
}

/// A page of another origin can send text without asking, but not JSON.
fn check_type(headers: &HeaderMap) -> Result<(), Fault> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "a body has to be application/json";
    Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message)
        .hint("Set the header content-type to application/json."))
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner());
        match inner.classify() {
            serde_json::error::Category::Data if path == "." => Fault::unfit(inner.to_string()),
            serde_json::error::Category::Data => Fault::unfit(format!("{path}: {inner}")),
            _ => Fault::invalid(format!("no JSON: {inner}")),
        }
    })?;
    reader.end().map_err(|error| Fault::invalid(format!("no JSON: {error}")))?;
    Ok(value)
}
