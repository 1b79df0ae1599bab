//! The engine, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

#[path = "../../../../testing/dice.rs"]
mod dice;
mod git;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
