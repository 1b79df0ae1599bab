//! The daemon, from outside: over HTTP, with real projects, real git and a scripted model.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test speaks, in its helpers too"
)]

#[path = "../../../../testing/dice.rs"]
mod dice;
mod document;
mod events;
mod fuzz;
mod kills;
mod login;
mod mcp;
#[path = "../../../../testing/python.rs"]
mod python;
mod requests;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod stage;
mod story;
mod trouble;
