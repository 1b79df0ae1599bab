//! The providers from outside: what goes out, what comes back, and what happens when a server misbehaves.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod breaker;
mod calls;
mod cancel;
#[path = "../../../../testing/dice.rs"]
mod dice;
mod fixtures;
mod histories;
mod models;
mod prefixes;
mod questions;
mod rehearsed;
mod requests;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod secrets;
mod server;
mod sse;
mod streams;
