//! What a client is told when its request goes nowhere, in words that a model can act upon.

use std::fmt;
use std::io;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::dial::told;
use super::host::{Destination, HostError};
use super::rules::Denial;

/// Why a request goes nowhere.
#[derive(Debug)]
pub(super) enum Refusal {
    Malformed(Malformed),
    Denied { to: Destination, denial: Denial },
    Token,
    TooManyConnections { limit: usize },
    TooManyTunnels { to: Destination, limit: usize },
    Unresolved { to: Destination, why: io::Error },
    Unreachable { to: Destination, why: io::Error },
    Broken { to: Destination },
    ConnectLate { to: Destination },
    Silent { to: Destination },
}

/// What is wrong with a request. It says nothing of what the request held: that may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("this is a proxy: send the whole URL (`GET http://host/path`) or `CONNECT host:port`")]
    NotForProxies,
    #[error("only http:// URLs are sent on; for https and everything else use CONNECT host:port")]
    Scheme,
    #[error("the URL holds a user name or password; send them in the Authorization header instead")]
    Credentials,
    #[error("the host is not sound: {0}")]
    Host(#[from] HostError),
    #[error("an HTTP/1.1 request must have exactly one Host header")]
    NoHost,
    #[error("the Host header names another host than the URL; both must be the same")]
    HostMismatch,
    #[error("a CONNECT request must have no body")]
    ConnectBody,
    #[error("the only transfer encoding understood is `chunked`")]
    TransferEncoding,
}

impl Refusal {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Denied { .. } => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            Self::TooManyConnections { .. } | Self::TooManyTunnels { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unresolved { .. } | Self::Unreachable { .. } | Self::Broken { .. } => {
                StatusCode::BAD_GATEWAY
            }
            Self::ConnectLate { .. } | Self::Silent { .. } => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    pub(super) fn answer(&self) -> Response<Full<Bytes>> {
        let mut answer = Response::new(Full::from(format!("{self}\n")));
        *answer.status_mut() = self.status();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        // What follows may be a body nobody has read.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if matches!(self, Self::Token) {
            headers.insert(PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"mxd\""));
        }
        answer
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "Bad request: {what}."),
            Self::Denied { to, denial } => denied(f, to, denial),
            Self::Token => f.write_str(
                "The proxy asks for its token. Use the address in HTTP_PROXY or HTTPS_PROXY as it is, with user \
                 name and password.",
            ),
            Self::TooManyConnections { limit } => write!(
                f,
                "Too many connections: {limit} are open, and no more are possible. Close some, or do less at once."
            ),
            Self::TooManyTunnels { to, limit } => write!(
                f,
                "No tunnel to {to}: {limit} are open, and no more are possible. Close some, or do less at once."
            ),
            Self::Unresolved { to, why } => write!(
                f,
                "The host {} cannot be found: {}. Check its spelling, and whether this machine is online.",
                to.host,
                told(why)
            ),
            Self::Unreachable { to, why } => write!(
                f,
                "No connection to {to}: {}. Check the port, and whether a server runs there.",
                told(why)
            ),
            Self::Broken { to } => write!(f, "{to} gave no sound HTTP answer. Try again, or check the port."),
            Self::ConnectLate { to } => {
                write!(f, "No connection to {to} in time. It may be down or behind a firewall; try again later.")
            }
            Self::Silent { to } => write!(f, "{to} was silent for too long. Try again later, or ask it for less."),
        }
    }
}

fn denied(f: &mut fmt::Formatter<'_>, to: &Destination, denial: &Denial) -> fmt::Result {
    let rule = to.as_rule();
    write!(f, "The host {} is not allowed at port {}: {denial}. ", to.host, to.port)?;
    match denial {
        Denial::NoRule => write!(f, "Ask the user to add `{rule}` to the allowed hosts."),
        Denial::Refused => {
            f.write_str("Do not try to reach it by other means; do without it, or ask the user why.")
        }
        Denial::Unanswered => {
            write!(f, "Go on with something else and try again later, or ask the user to allow `{rule}`.")
        }
        Denial::Rule(_) => {
            f.write_str("The user has ruled it out; do without it, or ask the user to remove that rule.")
        }
        Denial::Private(_) => {
            write!(
                f,
                "Ask the user to allow private addresses for `{rule}` if this machine or network is meant."
            )
        }
    }
}
