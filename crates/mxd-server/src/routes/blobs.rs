//! Bodies that are too large for a line of the log, given out so that no browser runs them.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use mxd_store::{BlobId, ReadError};

use crate::api::{Api, Route};
use crate::app::{App, fixed};
use crate::fault::{Answer, Fault};
use crate::take::Path;

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::get("/projects/{project}/blobs/{digest}", "A large body")
            .gives_other("application/octet-stream"),
        blob,
    )
}

async fn blob(State(app): State<App>, Path((project, digest)): Path<(String, String)>) -> Answer<Response> {
    let project = app.project(&project).await?;
    let named = if digest.starts_with("sha256:") { digest } else { format!("sha256:{digest}") };
    let id: BlobId = named.parse().map_err(|_| missing(&named))?;
    let read = tokio::task::spawn_blocking(move || project.log().blobs().get(id)).await?;
    let bytes = read.map_err(|error| match error {
        ReadError::BlobMissing { id } => missing(&id),
        other => other.into(),
    })?;
    let kind = media_type(&bytes);
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, fixed(kind));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        fixed("sandbox; default-src 'none'; frame-ancestors 'none'"),
    );
    headers.insert(header::CACHE_CONTROL, fixed("private, max-age=31536000, immutable"));
    if !kind.starts_with("image/") {
        headers.insert(header::CONTENT_DISPOSITION, fixed("attachment"));
    }
    Ok(response)
}

fn missing(id: &str) -> Fault {
    Fault::not_found("no_such_blob", format!("there is no body {id}"))
        .hint("It may have gone with the conversation it belonged to.")
}

/// By what the bytes are, and never by what somebody says of them.
fn media_type(bytes: &[u8]) -> &'static str {
    let starts = |mark: &[u8]| bytes.starts_with(mark);
    if starts(b"\x89PNG\r\n\x1a\n") {
        "image/png"
    } else if starts(b"\xff\xd8\xff") {
        "image/jpeg"
    } else if starts(b"GIF8") {
        "image/gif"
    } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP".as_slice()) {
        "image/webp"
    } else if std::str::from_utf8(bytes).is_ok() {
        "text/plain; charset=utf-8"
    } else {
        "application/octet-stream"
    }
}
