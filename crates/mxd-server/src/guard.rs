//! The doorway: every request is looked at here before anything else sees it.
//!
//! The name by which we were called has to be ours, or a page of another site could have its name lead here. A page
//! that calls has to be ours. Then comes who it is. And every answer carries what keeps browsers from being helpful.

use std::net::SocketAddr;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::{App, fixed};
use crate::auth::{Policy, Who};
use crate::clock;
use crate::fault::{Answer, Fault};

/// The cookie of a browser's session.
pub(crate) const COOKIE: &str = "mxd_session";

/// What a page of ours may do: nothing but talk to us.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                   font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                   frame-ancestors 'none'";

/// What an answer that is only data may do, if a browser shows it by itself: nothing.
const CSP_OF_DATA: &str = "default-src 'none'; frame-ancestors 'none'";

const CORP: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// By which names the daemon is called.
#[derive(Debug, Clone)]
pub(crate) struct Doorway {
    hosts: Vec<String>,
}

impl Doorway {
    /// For a daemon at this address, which the user may call by further names.
    pub(crate) fn new(address: SocketAddr, names: &[String]) -> Self {
        let port = address.port();
        let mut hosts: Vec<String> =
            ["localhost", "127.0.0.1", "[::1]"].iter().map(|name| format!("{name}:{port}")).collect();
        if !address.ip().is_loopback() && !address.ip().is_unspecified() {
            hosts.push(address.to_string());
        }
        hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        Self { hosts }
    }

    fn check_host(&self, parts: &Parts) -> Answer<()> {
        let headers: Vec<&str> = parts
            .headers
            .get_all(header::HOST)
            .iter()
            .map(|host| host.to_str().unwrap_or_default())
            .collect();
        // Whoever reads the other one of two names would see another request than we do.
        let named: Vec<&str> = parts
            .uri
            .authority()
            .map(|name| name.as_str())
            .into_iter()
            .chain(headers.iter().copied())
            .collect();
        let is_ours = |named: &&str| self.hosts.iter().any(|host| host.eq_ignore_ascii_case(named));
        if headers.len() <= 1 && !named.is_empty() && named.iter().all(is_ours) {
            return Ok(());
        }
        Err(Fault::new(
            StatusCode::FORBIDDEN,
            "wrong_host",
            "the daemon was called by a name that is not its own",
        )
        .hint("Use http://127.0.0.1 or http://localhost with the port of the daemon."))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Answer<()> {
        let refused = || {
            Fault::new(StatusCode::FORBIDDEN, "wrong_origin", "a page of another site cannot use the daemon")
                .hint("Use the page of the daemon itself.")
        };
        if let Some(origin) = headers.get(header::ORIGIN) {
            let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            let ours = host.is_some_and(|host| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)));
            return if ours { Ok(()) } else { Err(refused()) };
        }
        match headers.get("sec-fetch-site").and_then(|site| site.to_str().ok()) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(refused()),
        }
    }
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visitor {
    pub(crate) who: Who,
}

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        parts.extensions.get::<Self>().cloned().ok_or_else(stranger)
    }
}

pub(crate) fn stranger() -> Fault {
    Fault::new(StatusCode::UNAUTHORIZED, "unauthenticated", "one has to log in first")
        .hint("Open the page and follow it, or use the command line on the machine of the daemon.")
}

/// Looks at every request.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    app.count_request();
    // Only the pattern of the path: names that people chose, and what stands behind it, are not written.
    let is_route = request.extensions().get::<MatchedPath>().is_some();
    let asked = tracing::enabled!(tracing::Level::DEBUG).then(|| {
        let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
        (request.method().clone(), path.unwrap_or_else(|| "the page".to_owned()), clock::now())
    });
    let mut response = match admit(&app, request) {
        Ok(request) => next.run(request).await,
        Err(fault) => fault.into_response(),
    };
    if let Some((method, path, began)) = asked {
        let ms = clock::now().0.saturating_sub(began.0);
        tracing::debug!(%method, path, status = response.status().as_u16(), ms, "answered");
    }
    harden(response.headers_mut());
    if !is_route {
        harden_page(response.headers_mut());
    }
    response
}

fn admit(app: &App, request: Request) -> Answer<Request> {
    let (mut parts, body) = request.into_parts();
    app.doorway.check_host(&parts)?;
    app.doorway.check_origin(&parts.headers)?;
    let visitor = recognise(app, &parts)?;
    let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    if !is_open(app, &parts.method, path) {
        if visitor.is_none() {
            return Err(stranger());
        }
        if !app.is_ready() {
            return Err(Fault::starting());
        }
    }
    if let Some(visitor) = visitor {
        parts.extensions.insert(visitor);
    }
    Ok(Request::from_parts(parts, body))
}

/// Routes for everybody: those that are marked, and the page, which is no route of its own.
fn is_open(app: &App, method: &Method, path: Option<&str>) -> bool {
    match path {
        None => true,
        Some(path) => app.open_routes.iter().any(|(of, open)| of == method && *open == path),
    }
}

fn recognise(app: &App, parts: &Parts) -> Answer<Option<Visitor>> {
    if app.auth.policy() == Policy::Open {
        return Ok(Some(Visitor { who: Who::Anybody }));
    }
    if let Some(given) = parts.headers.get(header::AUTHORIZATION) {
        let token = given.to_str().ok().and_then(|given| given.split_once(' '));
        let token = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let who = token.and_then(|(_, token)| app.auth.who(token.trim()));
        // A token that is shown and does not hold is told, also where none is needed.
        return who.map(|who| Some(Visitor { who })).ok_or_else(stranger);
    }
    if let Some(who) = cookie(&parts.headers).and_then(|token| app.auth.who(token)) {
        check_sender(&parts.method, &parts.headers)?;
        // The local token is for a header; a cookie with it was not made by us.
        return Ok(match who {
            Who::Session(_) => Some(Visitor { who }),
            Who::Local | Who::Anybody => None,
        });
    }
    Ok(stream_visitor(app, parts))
}

/// A browser sends its cookie with whatever a page asks for, so the page has to be named.
fn check_sender(method: &Method, headers: &HeaderMap) -> Answer<()> {
    let safe = *method == Method::GET || *method == Method::HEAD;
    let named = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if safe || named {
        return Ok(());
    }
    Err(Fault::new(
        StatusCode::FORBIDDEN,
        "wrong_origin",
        "a request with a cookie has to say from where it comes",
    )
    .hint("Send the header Origin, or use a token."))
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

/// The only token that may stand in a URL: for this one route, this one project and a minute.
fn stream_visitor(app: &App, parts: &Parts) -> Option<Visitor> {
    if parts.method != Method::GET || parts.uri.path() != "/events" {
        return None;
    }
    let query = parts.uri.query()?;
    let value = |name: &str| {
        query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    };
    let who = app.auth.opens_stream(value("token")?, value("projectId")?)?;
    Some(Visitor { who })
}

/// What every answer carries.
fn harden(headers: &mut HeaderMap) {
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, fixed(CSP_OF_DATA));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, fixed("no-store"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, fixed("nosniff"));
    headers.insert(CORP, fixed("same-origin"));
}

/// What the page carries besides, and whatever else is no route: it runs, has links, and could be put into a frame.
fn harden_page(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, fixed(CSP));
    headers.insert(header::X_FRAME_OPTIONS, fixed("DENY"));
    headers.insert(header::REFERRER_POLICY, fixed("no-referrer"));
    headers.insert("cross-origin-opener-policy", fixed("same-origin"));
    headers.insert("permissions-policy", fixed("camera=(), microphone=(), geolocation=()"));
}
