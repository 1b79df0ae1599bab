//! The providers from outside: what goes out, what comes back, and what happens when a server misbehaves.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

#[path = "../../../../testing/dice.rs"]
mod dice;
mod fixtures;
mod models;
mod prefixes;
mod requests;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod sse;
mod streams;
