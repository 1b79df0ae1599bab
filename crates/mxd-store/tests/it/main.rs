//! The log from outside: what it promises, and the ways in which a disk can fail it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]
#![expect(clippy::disallowed_methods, reason = "tests write files as a careless person would")]

mod bad_input;
mod basics;
mod blobs;
mod common;
mod damage;
#[path = "../../../../testing/dice.rs"]
mod dice;
mod fold;
mod group;
mod hooks;
mod power;
mod prune;
mod reopened;
#[path = "../../../../testing/fold.rs"]
mod replay;
mod room;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
mod sim;
mod space;
