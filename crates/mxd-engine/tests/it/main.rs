//! The engine, from outside.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test speaks, in its helpers too"
)]

mod config;
#[path = "../../../../testing/dice.rs"]
mod dice;
mod git;
#[path = "../../../../testing/golden.rs"]
mod golden;
#[path = "../ground/mod.rs"]
mod ground;
mod home;
mod journey;
#[path = "../../../../testing/npm.rs"]
mod npm;
mod prompt;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
#[path = "../ground/waiting.rs"]
mod waiting;
