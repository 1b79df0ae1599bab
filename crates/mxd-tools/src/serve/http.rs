//! The server over streamable HTTP: one address, a token, and no page of a browser.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::limits::{
    HEAD_PATIENCE, MAX_CONNECTIONS, MAX_MESSAGE_BYTES, MAX_SESSIONS, MAX_TOKEN_BYTES, MIN_TOKEN_BYTES,
    SESSION_IDLE,
};
use super::server::Server;
use super::session::Session;

/// Where the server is found.
pub const PATH: &str = "/mcp";

/// What a client has to show.
#[derive(Debug, Clone)]
pub enum Door {
    /// A token, as `Authorization: Bearer …`.
    Token(Token),
    /// Nothing: whoever reaches the address is let in. Every user of the machine does.
    Open,
}

/// A token that clients have to show. Only its hash is kept.
#[derive(Debug, Clone)]
pub struct Token {
    hash: [u8; 32],
}

/// A text that cannot be a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has {MIN_TOKEN_BYTES} to {MAX_TOKEN_BYTES} letters, digits and signs without spaces; this one has {given} bytes"
)]
pub struct TokenError {
    /// How many bytes the text has.
    pub given: usize,
}

impl Token {
    /// This token.
    ///
    /// # Errors
    ///
    /// When it could be guessed, or not be sent.
    pub fn new(token: &str) -> Result<Self, TokenError> {
        let fits = (MIN_TOKEN_BYTES..=MAX_TOKEN_BYTES).contains(&token.len());
        if !fits || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError { given: token.len() });
        }
        Ok(Self { hash: Sha256::digest(token).into() })
    }

    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, token)) = given.and_then(|given| given.split_once(' ')) else { return false };
        let hash: [u8; 32] = Sha256::digest(token.trim()).into();
        scheme.eq_ignore_ascii_case("bearer") && bool::from(hash.ct_eq(&self.hash))
    }
}

/// A new token that nobody can guess.
///
/// # Errors
///
/// When the system has no randomness.
pub fn fresh_token() -> Result<String, getrandom::Error> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    Ok(hex::encode(random))
}

/// What answers requests.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A server behind its door, for whoever has HTTP requests. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint {
    service: StreamableHttpService<Session, LocalSessionManager>,
    door: Door,
}

impl Endpoint {
    /// For this server.
    pub fn new(server: &Server, door: Door) -> Self {
        // A browser says from whose page a request comes; only pages of this machine have any business here. No name
        // but those of this machine is ours, and those are the ones the SDK takes by itself.
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
            .with_cancellation_token(server.end().clone());
        let (server, seats) = (server.clone(), Arc::new(Semaphore::new(MAX_SESSIONS)));
        let open = move || match seats.clone().try_acquire_owned() {
            Ok(seat) => Ok(Session::seated(server.clone(), seat)),
            Err(_) => Err(io::Error::other(format!("there are {MAX_SESSIONS} conversations already"))),
        };
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        Self { service: StreamableHttpService::new(open, Arc::new(sessions), config), door }
    }

    /// Answers a request.
    pub async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "there is nothing here but /mcp\n");
        }
        if let Door::Token(token) = &self.door
            && !token.is_shown(request.headers())
        {
            let mut answer = refusal(StatusCode::UNAUTHORIZED, "the bearer token is missing or wrong\n");
            answer.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
            return answer;
        }
        self.service.handle(request).await
    }

    /// Serves everybody who connects. Dropped, it ends all connections.
    ///
    /// # Errors
    ///
    /// When nobody can connect any more.
    pub async fn listen(self, listener: TcpListener) -> io::Result<Infallible> {
        let mut connections = JoinSet::new();
        loop {
            while connections.len() >= MAX_CONNECTIONS {
                connections.join_next().await;
            }
            while connections.try_join_next().is_some() {}
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // Somebody who hung up while waiting is no reason to turn the others away.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            connections.spawn(self.clone().connected(stream));
        }
    }

    async fn connected(self, stream: TcpStream) {
        // Small answers in several writes wait for each other otherwise.
        let _slower = stream.set_nodelay(true);
        let answer = service_fn(move |request: Request<Incoming>| {
            let endpoint = self.clone();
            async move { Ok::<_, Infallible>(endpoint.handle(request).await) }
        });
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
        let _broken = builder.serve_connection(TokioIo::new(stream), answer).await;
    }
}

fn refusal(status: StatusCode, words: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
