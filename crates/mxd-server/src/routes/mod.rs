//! All routes, by subject.

mod asks;
mod auth;
mod background;
mod blobs;
mod config;
mod control;
mod events;
mod messages;
mod money;
mod projects;
mod readiness;
mod search;
mod servers;
mod system;
mod task_files;
mod tasks;
mod wait;
mod work;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::api::Api;

/// The table of all routes.
pub(crate) fn api() -> Api {
    let api = system::routes(Api::new());
    let api = auth::routes(api);
    let api = projects::routes(api);
    let api = readiness::routes(api);
    let api = task_files::routes(api);
    let api = tasks::routes(api);
    let api = messages::routes(api);
    let api = control::routes(api);
    let api = asks::routes(api);
    let api = events::routes(api);
    let api = wait::routes(api);
    let api = work::routes(api);
    let api = money::routes(api);
    let api = search::routes(api);
    let api = servers::routes(api);
    let api = config::routes(api);
    let api = background::routes(api);
    blobs::routes(api)
}

/// An answer as JSON.
#[derive(Debug)]
pub(crate) struct Given<T>(pub(crate) T);

/// An answer as JSON that says that something is new.
#[derive(Debug)]
pub(crate) struct Made<T>(pub(crate) T);

/// An answer as JSON that says that something will be done.
#[derive(Debug)]
pub(crate) struct Taken<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Given<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Made<T> {
    fn into_response(self) -> Response {
        json(StatusCode::CREATED, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Taken<T> {
    fn into_response(self) -> Response {
        json(StatusCode::ACCEPTED, &self.0)
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let text = match serde_json::to_vec(value) {
        Ok(text) => text,
        Err(error) => return crate::fault::Fault::internal(error.to_string()).into_response(),
    };
    let kind = (axum::http::header::CONTENT_TYPE, "application/json");
    (status, [kind], text).into_response()
}
