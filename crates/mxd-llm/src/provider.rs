//! A provider: one method that asks, and data.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use mxd_core::prompt::Request;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::breaker::Breaker;
use crate::call::{self, or_cancelled};
use crate::chunk::Chunk;
use crate::error::{Class, LlmError};
use crate::http::{Ask, Http, Timeouts, secret_header};
use crate::limits;
use crate::prefix::{EncodedPrefix, EncodedRequest};
use crate::retry::Backoff;
use crate::wire::Wire;

/// The answer to a request, piece by piece. It ends after [`Chunk::End`] or an error. Dropping it aborts the
/// request; so does its token, wherever the stream waits.
pub type ChunkStream = Pin<Box<dyn Stream<Item = Result<Chunk, LlmError>> + Send>>;

/// How a provider is reached. All values: nothing is read from the environment.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// The protocol it speaks.
    pub wire: Wire,
    /// Where it is, without the part of the path that the wire adds.
    pub base_url: String,
    /// The key; servers of one's own often want none.
    pub key: Option<SecretString>,
    /// Whether the key is a token of a subscription, which Anthropic takes as a bearer token and not as a key.
    pub is_bearer: bool,
    /// The address of a proxy to go through; it may hold a password.
    pub proxy: Option<SecretString>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// When to ask again.
    pub backoff: Backoff,
    /// The breaker; clones of it join several providers of one service.
    pub breaker: Breaker,
    /// A source of random numbers from 0 up to 1.
    pub roll: fn() -> f64,
}

impl ProviderConfig {
    /// The vendor's own service with default limits.
    pub fn new(wire: Wire, key: Option<SecretString>) -> Self {
        Self {
            wire,
            base_url: wire.default_base_url().to_owned(),
            key,
            is_bearer: false,
            proxy: None,
            timeouts: Timeouts::default(),
            backoff: Backoff::default(),
            breaker: Breaker::new(crate::BreakerSettings::default()),
            roll: fastrand::f64,
        }
    }
}

/// A service that answers requests. Clones share connections and the breaker.
#[derive(Debug, Clone)]
pub struct Provider {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: ProviderConfig,
    pub(crate) http: Http,
    base: Url,
}

/// A model that a provider says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name.
    pub name: String,
    /// Its context window, where the provider tells.
    pub context_window: Option<u64>,
    /// Tokens it writes at most, where the provider tells.
    pub max_output_tokens: Option<u64>,
}

impl Provider {
    /// Checks the configuration; no request is made.
    pub fn new(config: ProviderConfig) -> Result<Self, LlmError> {
        let refuse = |reason: String| LlmError::new(Class::Config, format!("the base URL {reason}"));
        // The URL is not repeated in messages: people put secrets into it.
        let base = Url::parse(&config.base_url).map_err(|error| refuse(format!("is not one: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(refuse("must begin with http:// or https://".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(refuse("must not hold a name or password; give the key by itself".to_owned()));
        }
        let http = Http::new(config.timeouts, config.proxy.as_ref())?;
        Ok(Self { inner: Arc::new(Inner { config, http, base }) })
    }

    /// The wire it speaks.
    pub fn wire(&self) -> Wire {
        self.inner.config.wire
    }

    /// Asks. Failures that can pass are retried; a [`Chunk::Retrying`] tells each time.
    pub fn stream(&self, request: EncodedRequest, cancel: CancellationToken) -> ChunkStream {
        call::stream(Arc::clone(&self.inner), request, cancel)
    }

    /// How many tokens the provider counts in a request. Only the Anthropic wire can.
    pub async fn count_tokens(&self, request: &Request, cancel: &CancellationToken) -> Result<u64, LlmError> {
        #[derive(Deserialize)]
        struct Counted {
            input_tokens: u64,
        }
        if self.wire() != Wire::Anthropic {
            let message = format!("the {} wire cannot count tokens", self.wire());
            return Err(LlmError::new(Class::Config, message));
        }
        let body = EncodedPrefix::counting(request)?.body;
        let url = self.inner.url("/v1/messages/count_tokens", None);
        let ask = self.inner.ask(Method::POST, url, Some(body))?;
        let counted: Counted = self.inner.json(ask, cancel).await?;
        Ok(counted.input_tokens)
    }

    /// The models the provider says it has.
    pub async fn models(&self, cancel: &CancellationToken) -> Result<Vec<ListedModel>, LlmError> {
        let mut models = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..limits::LIST_PAGES {
            let url = self.inner.url(self.wire().models_path(), after.as_deref());
            let ask = self.inner.ask(Method::GET, url, None)?;
            let page: Page = self.inner.json(ask, cancel).await?;
            models.extend(page.data.into_iter().map(ListedModel::from));
            after = page.last_id.filter(|_| page.has_more);
            if after.is_none() {
                break;
            }
        }
        Ok(models)
    }
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Entry>,
    #[serde(default)]
    has_more: bool,
    #[serde(default)]
    last_id: Option<String>,
}

/// Every server has its own name for the same number.
#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    max_input_tokens: Option<u64>,
    #[serde(default)]
    context_length: Option<u64>,
    #[serde(default)]
    max_model_len: Option<u64>,
    #[serde(default)]
    max_tokens: Option<u64>,
}

impl From<Entry> for ListedModel {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.id,
            context_window: entry.max_input_tokens.or(entry.context_length).or(entry.max_model_len),
            max_output_tokens: entry.max_tokens,
        }
    }
}

impl Inner {
    /// An address of the provider; the list of models has pages.
    fn url(&self, path: &str, after: Option<&str>) -> Url {
        let mut url = self.base.clone();
        let whole = format!("{}{path}", url.path().trim_end_matches('/'));
        url.set_path(&whole);
        if let Some(after) = after {
            url.query_pairs_mut().append_pair("after_id", after);
        }
        url
    }

    /// The request for an answer.
    pub(crate) fn question(&self, request: &EncodedRequest) -> Result<Ask, LlmError> {
        if request.wire != self.config.wire {
            let message = format!(
                "a request for the {} wire cannot go to a {} provider",
                request.wire, self.config.wire
            );
            return Err(LlmError::new(Class::Config, message));
        }
        let url = self.url(self.config.wire.path(), None);
        self.ask(Method::POST, url, Some(request.body.clone()))
    }

    fn ask(&self, method: Method, url: Url, body: Option<bytes::Bytes>) -> Result<Ask, LlmError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.config.key {
            match self.config.wire {
                Wire::Anthropic if !self.config.is_bearer => {
                    secret_header(&mut headers, "x-api-key", key.expose_secret())?
                }
                Wire::Anthropic | Wire::Responses | Wire::Chat => {
                    let value = SecretString::from(format!("Bearer {}", key.expose_secret()));
                    secret_header(&mut headers, "authorization", value.expose_secret())?;
                }
            }
        }
        if self.config.wire == Wire::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
            if self.config.is_bearer {
                headers.insert("anthropic-beta", HeaderValue::from_static("oauth-2025-04-20"));
            }
        }
        Ok(Ask { method, url, headers, body })
    }

    async fn json<T: serde::de::DeserializeOwned>(
        &self,
        ask: Ask,
        cancel: &CancellationToken,
    ) -> Result<T, LlmError> {
        let read = async {
            let mut reply = self.http.send(ask).await?;
            crate::decoder::parse(&reply.text(limits::RESPONSE_BYTES).await?)
        };
        let read = or_cancelled(cancel, read).await.and_then(|read| read);
        read.map_err(|error| self.scrubbed(error))
    }

    /// The error without the key, should the server have repeated it.
    pub(crate) fn scrubbed(&self, mut error: LlmError) -> LlmError {
        if let Some(key) = &self.config.key {
            error.message = without_key(&error.message, key.expose_secret());
        }
        error
    }
}

/// Where the key stands in a message, a mark stands instead; also for the first part of a key at the end, where
/// a long message was cut.
fn without_key(message: &str, key: &str) -> String {
    const SHORTEST: usize = 4;
    if key.len() < SHORTEST {
        return message.to_owned();
    }
    let message = message.replace(key, "[key]");
    let whole = message.trim_end_matches('…');
    let starts = key.char_indices().map(|(at, _)| &key[..at]).filter(|start| start.len() >= SHORTEST);
    match starts.rev().find_map(|start| whole.strip_suffix(start)) {
        Some(kept) => format!("{kept}[key]…"),
        None => message,
    }
}
