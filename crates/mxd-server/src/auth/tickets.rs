//! Tickets: what the command line gives to the browser that it opens itself. One log-in, within a minute.

use axum::http::StatusCode;
use mxd_core::time::Millis;

use super::token::Hashed;
use super::{Fresh, token, too_many};
use crate::fault::{Answer, Fault};

/// How long a ticket holds.
const HOLDS_MS: u64 = 60_000;
/// Tickets at the same time.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct Tickets(Vec<(Hashed, Millis)>);

impl Tickets {
    /// A new one.
    pub(super) fn issue(&mut self, now: Millis) -> Answer<Fresh> {
        self.0.retain(|(_, expires)| *expires > now);
        if self.0.len() >= MOST {
            return Err(too_many("tickets"));
        }
        let fresh = Fresh { token: token::fresh()?, expires: Millis(now.0 + HOLDS_MS) };
        self.0.push((Hashed::of(&fresh.token), fresh.expires));
        Ok(fresh)
    }

    /// Takes one back. It is gone, whether it still held or not.
    pub(super) fn redeem(&mut self, ticket: &str, now: Millis) -> Answer<()> {
        let shown = Hashed::of(ticket);
        let held = self.0.iter().any(|(known, expires)| known.matches(&shown) && *expires > now);
        self.0.retain(|(known, _)| !known.matches(&shown));
        if held {
            return Ok(());
        }
        Err(Fault::new(StatusCode::UNAUTHORIZED, "ticket", "the ticket was used or is too old")
            .hint("Open the page again with `mxd up`."))
    }
}
