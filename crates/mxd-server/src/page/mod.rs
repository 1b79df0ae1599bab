//! The page, built into the program; and what is nowhere.

use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};

use crate::fault::Fault;

/// What is shown where no page was built in.
const INSTEAD: &str = include_str!("instead.html");

/// Answers what no route answers.
pub(crate) async fn answer(request: Request) -> Response {
    let path = request.uri().path();
    if path == "/" || path == "/ui" || path.starts_with("/ui/") {
        return ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], INSTEAD).into_response();
    }
    Fault::not_found("no_such_route", "there is nothing at this path")
        .hint("/openapi.json lists what there is.")
        .into_response()
}
