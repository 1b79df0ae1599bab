//! Logging in and out, and what opens a live stream.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Given;
use crate::api::{Api, Route};
use crate::app::App;
use crate::auth::{Policy, PublicKey, SessionView, Who};
use crate::clock;
use crate::fault::{Answer, Fault};
use crate::guard::{COOKIE, Visitor};
use crate::take::{Input, Path};

pub(super) fn routes(api: Api) -> Api {
    api.add(Route::get("/auth/status", "Whether one is logged in").gives::<Status>().open(), status)
        .add(
            Route::post("/auth/challenge", "Begins the log-in of a browser")
                .takes::<ChallengeWish>()
                .gives::<Challenge>()
                .open(),
            challenge,
        )
        .add(
            Route::post("/auth/grant", "Lets a browser in; only for the command line")
                .takes::<GrantWish>()
                .gives::<Granted>(),
            grant,
        )
        .add(
            Route::post(
                "/auth/ticket",
                "A log-in for the browser that the command line opens, once and within a minute",
            )
            .gives::<Ticket>(),
            ticket,
        )
        .add(
            Route::post("/auth/login", "Ends the log-in of a browser")
                .takes::<Login>()
                .gives::<Session>()
                .open(),
            login,
        )
        .add(Route::post("/auth/logout", "Ends one's own session").gives::<LoggedOut>(), logout)
        .add(
            Route::post(
                "/auth/stream-token",
                "A token for one live stream, for a minute and no longer than the session that asks",
            )
            .takes::<StreamWish>()
            .gives::<Session>(),
            stream_token,
        )
        .add(Route::get("/auth/sessions", "All sessions").gives::<Sessions>(), sessions)
        .add(Route::delete("/auth/sessions/{session}", "Ends a session").gives::<Revoked>(), revoke)
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Status {
    /// Whether one has to log in at all.
    enabled: bool,
    authenticated: bool,
    /// How: `token`, `session` or `open`.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
}

/// The public key of a browser.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChallengeWish {
    /// RSA, in the form SPKI, as base64.
    public_key: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Challenge {
    challenge_id: String,
    /// What the user calls to get the answer.
    command: String,
    expires_at: u64,
}

/// The key that the user was shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GrantWish {
    public_key: String,
    /// What the session is called in the list.
    #[serde(default)]
    label: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Granted {
    /// The answer to the challenge, encrypted (RSA-OAEP with SHA-256), as base64.
    answer: String,
}

/// The decrypted answer to a challenge, or a ticket.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Login {
    #[serde(default)]
    challenge_id: Option<String>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    ticket: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ticket {
    ticket: String,
    expires_at: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    token: String,
    expires_at: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LoggedOut {
    logged_out: bool,
}

/// Which stream.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StreamWish {
    project_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sessions {
    sessions: Vec<SessionView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Revoked {
    revoked: bool,
}

async fn status(State(app): State<App>, visitor: Option<axum::Extension<Visitor>>) -> Given<Status> {
    let via = visitor.map(|axum::Extension(visitor)| match visitor.who {
        Who::Local => "token".to_owned(),
        Who::Session(_) => "session".to_owned(),
        Who::Anybody => "open".to_owned(),
    });
    let enabled = app.auth.policy() == Policy::Enforced;
    Given(Status { enabled, authenticated: via.is_some(), via })
}

async fn challenge(State(app): State<App>, Input(wish): Input<ChallengeWish>) -> Answer<Given<Challenge>> {
    app.auth.limiter.attempt()?;
    let challenged = app.auth.challenge(PublicKey::parse(&wish.public_key)?)?;
    Ok(Given(Challenge {
        challenge_id: challenged.id,
        command: challenged.command,
        expires_at: challenged.expires.0,
    }))
}

async fn grant(
    State(app): State<App>,
    visitor: Visitor,
    Input(wish): Input<GrantWish>,
) -> Answer<Given<Granted>> {
    local_only(&visitor)?;
    let answer = app.auth.grant(&PublicKey::parse(&wish.public_key)?, wish.label)?;
    Ok(Given(Granted { answer }))
}

/// A browser that is in must not let others in: whoever stole its session could stay for ever.
fn local_only(visitor: &Visitor) -> Answer<()> {
    if visitor.who == Who::Local {
        return Ok(());
    }
    Err(Fault::new(StatusCode::FORBIDDEN, "local_only", "only the command line can do this")
        .hint("Call `mxd auth` on the machine of the daemon."))
}

async fn ticket(State(app): State<App>, visitor: Visitor) -> Answer<Given<Ticket>> {
    local_only(&visitor)?;
    let fresh = app.auth.ticket()?;
    Ok(Given(Ticket { ticket: fresh.token, expires_at: fresh.expires.0 }))
}

async fn login(State(app): State<App>, Input(wish): Input<Login>) -> Answer<Response> {
    app.auth.limiter.attempt()?;
    let opened = match (&wish.challenge_id, &wish.answer, &wish.ticket) {
        (Some(challenge), Some(answer), None) => app.auth.login(challenge, answer),
        (None, None, Some(ticket)) => app.auth.redeem(ticket),
        _ => Err(Fault::unfit("challengeId and answer, or ticket: one of the two log-ins is needed")),
    };
    match &opened {
        Ok(fresh) => tracing::info!(expires = fresh.expires.0, "a browser has logged in"),
        Err(fault) => tracing::warn!(code = fault.code(), "a log-in was refused"),
    }
    let fresh = opened?;
    let seconds = fresh.expires.0.saturating_sub(clock::now().0) / 1_000;
    let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}", fresh.token);
    let session = Session { token: fresh.token, expires_at: fresh.expires.0 };
    let mut response = Given(session).into_response();
    set_cookie(&mut response, &cookie);
    Ok(response)
}

fn set_cookie(response: &mut Response, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

async fn logout(State(app): State<App>, visitor: Visitor) -> Answer<Response> {
    let logged_out = match &visitor.who {
        Who::Session(id) => app.auth.revoke(id)?,
        Who::Local | Who::Anybody => false,
    };
    let mut response = Given(LoggedOut { logged_out }).into_response();
    set_cookie(&mut response, &format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"));
    Ok(response)
}

async fn stream_token(
    State(app): State<App>,
    visitor: Visitor,
    Input(wish): Input<StreamWish>,
) -> Answer<Given<Session>> {
    let project = app.registered(&wish.project_id)?.entry.id;
    let fresh = app.auth.stream_token(visitor.who, project)?;
    Ok(Given(Session { token: fresh.token, expires_at: fresh.expires.0 }))
}

async fn sessions(State(app): State<App>) -> Given<Sessions> {
    Given(Sessions { sessions: app.auth.sessions() })
}

async fn revoke(State(app): State<App>, Path(session): Path<String>) -> Answer<Given<Revoked>> {
    if app.auth.revoke(&session)? {
        return Ok(Given(Revoked { revoked: true }));
    }
    Err(Fault::not_found("no_such_session", "there is no such session").hint("List the sessions."))
}
