//! HTTP, with a limit on every wait.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Proxy, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout, timeout_at};

use crate::classify::{Answer, from_answer};
use crate::error::{Class, LlmError};
use crate::limits;
use crate::retry::retry_after;

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From sending the request to the first byte of the answer's body.
    pub first_byte: Duration,
    /// Between two pieces of the answer. Providers send signs of life far more often.
    pub silence: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(300),
            silence: Duration::from_secs(120),
        }
    }
}

/// The client of a provider.
pub(crate) struct Http {
    client: Client,
    timeouts: Timeouts,
}

impl fmt::Debug for Http {
    /// Without the client, which shows its proxy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("timeouts", &self.timeouts).finish_non_exhaustive()
    }
}

/// A request to be sent.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

impl Http {
    /// A client that follows no redirect, because it would carry the key along, and uses no proxy but this one.
    pub(crate) fn new(timeouts: Timeouts, proxy: Option<&SecretString>) -> Result<Self, LlmError> {
        let failed = |what: &str, error: reqwest::Error| {
            LlmError::new(Class::Config, format!("{what}: {}", told(&error.without_url())))
        };
        let mut builder = Client::builder()
            .user_agent(concat!("mxd/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeouts.connect)
            .redirect(Policy::none())
            .no_proxy();
        if let Some(proxy) = proxy {
            builder = builder.proxy(
                Proxy::all(proxy.expose_secret()).map_err(|error| failed("the proxy's address", error))?,
            );
        }
        let client = builder.build().map_err(|error| failed("the HTTP client cannot be built", error))?;
        Ok(Self { client, timeouts })
    }

    /// Sends a request and waits for a success.
    pub(crate) async fn send(&self, ask: Ask) -> Result<Reply, LlmError> {
        let deadline = Instant::now() + self.timeouts.first_byte;
        let mut request = self.client.request(ask.method, ask.url).headers(ask.headers);
        if let Some(body) = ask.body {
            request = request.body(body);
        }
        let sent = timeout_at(deadline, request.send()).await;
        let response = sent.map_err(|_| self.late())?.map_err(network)?;
        let reply = Reply { response, deadline: Some(deadline), timeouts: self.timeouts };
        if reply.response.status().is_success() { Ok(reply) } else { Err(reply.into_error().await) }
    }

    fn late(&self) -> LlmError {
        no_answer(self.timeouts.first_byte)
    }
}

/// An answer whose body is being read. Dropping it aborts the request.
#[derive(Debug)]
pub(crate) struct Reply {
    response: Response,
    /// Until the first byte is here.
    deadline: Option<Instant>,
    timeouts: Timeouts,
}

impl Reply {
    /// The next piece of the body, `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, LlmError> {
        let piece = match self.deadline {
            Some(deadline) => timeout_at(deadline, self.response.chunk())
                .await
                .map_err(|_| no_answer(self.timeouts.first_byte))?,
            None => timeout(self.timeouts.silence, self.response.chunk()).await.map_err(|_| {
                let silence = self.timeouts.silence;
                LlmError::new(Class::Timeout, format!("the answer stopped: nothing came for {silence:?}"))
            })?,
        };
        let piece = piece.map_err(network)?;
        self.deadline = None;
        Ok(piece)
    }

    /// The whole body as text, up to a limit.
    pub(crate) async fn text(&mut self, limit: usize) -> Result<String, LlmError> {
        let mut body = Vec::new();
        while let Some(piece) = self.chunk().await? {
            body.extend_from_slice(&piece[..piece.len().min(limit - body.len())]);
            if body.len() >= limit {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// What kind of body it says it is.
    pub(crate) fn content_type(&self) -> &str {
        header(&self.response, "content-type").unwrap_or_default()
    }

    async fn into_error(mut self) -> LlmError {
        // A body that does not come is no reason to forget the status.
        let patience = limits::ERROR_BODY_WAIT.min(self.timeouts.silence);
        let body = timeout(patience, self.text(limits::ERROR_BYTES)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let word = |name: &str| header(&self.response, name).map(str::to_owned);
        from_answer(Answer {
            status: self.response.status().as_u16(),
            body: &body,
            retry_after: retry_after(word),
            request_id: word("request-id").or_else(|| word("x-request-id")),
        })
    }
}

/// A header that no log shows.
pub(crate) fn secret_header(
    headers: &mut HeaderMap,
    name: &'static str,
    value: &str,
) -> Result<(), LlmError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| LlmError::new(Class::Config, "the API key has characters no header can hold"))?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(())
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

fn no_answer(waited: Duration) -> LlmError {
    LlmError::new(Class::Timeout, format!("the provider did not begin to answer within {waited:?}"))
}

fn network(error: reqwest::Error) -> LlmError {
    let class = if error.is_timeout() { Class::Timeout } else { Class::Network };
    let what = if error.is_connect() { "cannot connect to the provider" } else { "the connection failed" };
    LlmError::new(class, format!("{what}: {}", told(&error.without_url())))
}

/// An error with all its causes: the last one is usually the one that helps.
fn told(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
