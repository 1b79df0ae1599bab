//! The daemon, from outside: over HTTP, with real projects, real git and a scripted model.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test speaks, in its helpers too"
)]

mod crowd;
mod details;
#[path = "../../../../testing/dice.rs"]
mod dice;
mod document;
mod events;
mod fuzz;
mod hosts;
mod http_page;
mod kills;
mod login;
mod mcp;
mod process;
#[path = "../../../../testing/python.rs"]
mod python;
#[path = "../../../../testing/repository.rs"]
mod repository;
mod requests;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod session_end;
mod stage;
mod story;
mod telemetry;
mod trouble;
