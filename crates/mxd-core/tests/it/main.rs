//! Tests of the domain from outside, in one binary.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test speaks, in its helpers too"
)]

mod adopted;
mod dependencies;
#[path = "../../../../testing/dice.rs"]
mod dice;
mod edits;
mod fold;
#[path = "../../../../testing/golden.rs"]
mod golden;
mod history;
mod ids;
mod json;
mod late;
mod lifecycle;
mod manifest;
mod messages;
mod notices;
mod prompt;
mod properties;
mod refusals;
mod reports;
mod round_trip;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod session;
mod status;
mod together;
mod tool;
mod vocabulary;
mod world;
