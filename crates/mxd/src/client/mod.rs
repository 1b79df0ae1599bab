//! The daemon, as the command line sees it: one address, one token, JSON there and back.

mod failure;
mod find;
mod stream;
pub(crate) mod view;

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::failure::Failure;
pub(crate) use self::find::data_folder;
pub(crate) use self::stream::{Happening, Stream};

/// How long a daemon may take for an answer, unless it is asked to wait. Streams have no end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Daemon {
    base: String,
    token: Option<String>,
    http: reqwest::Client,
    patience: Duration,
}

impl Daemon {
    /// The daemon of this user, or the one that `MXD_DAEMON_URL` names.
    pub(crate) fn find() -> Result<Self, Failure> {
        let (base, token) = find::daemon()?;
        Self::at(base, token)
    }

    /// A daemon at an address.
    pub(crate) fn at(base: String, token: Option<String>) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .build()
            .map_err(|error| Failure::new(format!("cannot speak HTTP: {error}")))?;
        Ok(Self { base: base.trim_end_matches('/').to_owned(), token, http, patience: PATIENCE })
    }

    /// The same for whoever waits longer for an answer.
    #[must_use]
    pub(crate) fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Where it is.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Reads something.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.ask(Method::GET, path, None).await
    }

    /// Wants something of it.
    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: Value) -> Result<T, Failure> {
        self.ask(Method::POST, path, Some(body)).await
    }

    /// Sends a request and reads the answer.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<T, Failure> {
        let mut request = self.request(method, path).timeout(self.patience);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(|error| Failure::unreachable(&self.base, &error))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|error| Failure::unreachable(&self.base, &error))?;
        if !status.is_success() {
            return Err(Failure::refused(status, &text));
        }
        let text = if text.is_empty() || status == StatusCode::NO_CONTENT { "null" } else { &text };
        serde_json::from_str(text).map_err(|error| {
            Failure::new(format!("{path} was answered with something else than expected: {error}"))
                .hint("The daemon may be of another version: `mxd daemon restart`.")
        })
    }

    /// Listens to a project from here on.
    pub(crate) async fn listen(&self, project: &str) -> Result<Stream, Failure> {
        Stream::open(self.request(Method::GET, &format!("/events?projectId={project}")), &self.base).await
    }

    /// Listens to a project from where another stream ended, also one of a daemon that is gone.
    pub(crate) async fn listen_on(&self, project: &str, ended: &Stream) -> Result<Stream, Failure> {
        let request = self.request(Method::GET, &format!("/events?projectId={project}"));
        let request = match ended.cursor() {
            Some(cursor) => request.header("last-event-id", cursor),
            None => request,
        };
        Stream::open(request, &self.base).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}
