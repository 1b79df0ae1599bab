//! The page in a browser, already logged in.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::client::{Daemon, Failure};
use crate::say;

/// Programs that open an address, by system.
const OPENERS: &[&str] = &["xdg-open", "open", "wslview"];

/// A page of a daemon.
pub(crate) struct Page<'a> {
    pub(crate) daemon: &'a Daemon,
    /// Its path.
    pub(crate) place: String,
}

impl Page<'_> {
    /// The address that logs in, once and soon: the ticket stands behind the `#`, which no browser sends anywhere.
    pub(crate) async fn address(&self) -> Result<String, Failure> {
        let ticket: Value = self.daemon.post("/auth/ticket", json!({})).await?;
        let ticket = ticket["ticket"].as_str().unwrap_or_default();
        Ok(format!("{}{}#ticket={ticket}", self.daemon.base(), self.place))
    }

    /// Opens it, or says where it is; whether a browser took it.
    pub(crate) async fn open(&self) -> bool {
        let Ok(address) = self.address().await else {
            say::note(format!("The page is at {}.", self.daemon.base()));
            return false;
        };
        for opener in OPENERS {
            let mut command = Command::new(opener);
            command.arg(&address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            if command.status().await.is_ok_and(|status| status.success()) {
                return true;
            }
        }
        say::note(format!(
            "No browser could be opened. This address works once, within a minute:\n{address}"
        ));
        false
    }
}
