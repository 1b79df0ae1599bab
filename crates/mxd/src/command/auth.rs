//! `mxd auth`: lets a browser in, lists who is in, and throws out.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::scope::In;
use crate::client::{Daemon, Failure};
use crate::say::{self, DIM};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mxd auth MIIBIjANBgkq…      the answer for the page that shows this key
  mxd auth list               who is logged in
  mxd auth revoke 01K9ZQ7M    ends a session at once; `all` ends every one"
)]
pub(crate) struct Auth {
    #[command(subcommand)]
    command: Option<Wanted>,
    /// The key that the login page shows.
    #[arg(required = true)]
    public_key: Option<String>,
    /// How the session is called in the list.
    #[arg(long)]
    label: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Wanted {
    /// Lists the sessions.
    List,
    /// Ends a session.
    Revoke {
        /// Its id or the start of it, or `all`.
        session: String,
    },
}

impl Auth {
    pub(crate) async fn run(self, scope: &In) -> Result<(), Failure> {
        let daemon = Daemon::find()?;
        match self.command {
            Some(Wanted::List) => list(scope, &daemon).await,
            Some(Wanted::Revoke { session }) => revoke(scope, &daemon, &session).await,
            None => {
                let body = json!({ "publicKey": self.public_key, "label": self.label });
                let answer: Value = daemon.post("/auth/grant", body).await.map_err(|failure: Failure| {
                    failure.or_hint("Copy the whole command from the login page.")
                })?;
                say::answer(scope.json, &answer, || answer["answer"].as_str().unwrap_or_default().to_owned());
                if !scope.json {
                    say::note("Paste this into the page. It is of use to nobody else, and only once.");
                }
                Ok(())
            }
        }
    }
}

/// The sessions, however the daemon wraps them.
async fn sessions(daemon: &Daemon) -> Result<Value, Failure> {
    let answer: Value = daemon.get("/auth/sessions").await?;
    Ok(answer.get("sessions").cloned().unwrap_or(answer))
}

async fn list(scope: &In, daemon: &Daemon) -> Result<(), Failure> {
    let sessions = sessions(daemon).await?;
    if scope.json {
        say::line(sessions.to_string());
        return Ok(());
    }
    let sessions = sessions.as_array().map(Vec::as_slice).unwrap_or_default();
    if sessions.is_empty() {
        say::note("Nobody is logged in with a browser.");
    }
    for session in sessions {
        let text = |name: &str| session[name].as_str().unwrap_or("-").to_owned();
        say::line(format!("{}  {}  {DIM}expires {}{DIM:#}", text("id"), text("label"), session["expiresAt"]));
    }
    Ok(())
}

async fn revoke(scope: &In, daemon: &Daemon, named: &str) -> Result<(), Failure> {
    let sessions = sessions(daemon).await?;
    let ids = sessions.as_array().into_iter().flatten().filter_map(|session| session["id"].as_str());
    let meant: Vec<&str> = ids.filter(|id| named == "all" || id.starts_with(named)).collect();
    if meant.is_empty() && named != "all" {
        return Err(
            Failure::not_found(format!("no session is called `{named}`")).hint("`mxd auth list` shows them.")
        );
    }
    for id in &meant {
        let _answer: Value = daemon.ask(Method::DELETE, &format!("/auth/sessions/{id}"), None).await?;
    }
    say::answer(scope.json, &json!({ "revoked": meant }), || format!("{} ended", meant.len()));
    Ok(())
}
