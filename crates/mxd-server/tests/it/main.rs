//! The daemon, from outside: over HTTP, with real projects, real git and a scripted model.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test speaks, in its helpers too"
)]

mod document;
mod events;
mod login;
mod requests;
mod stage;
mod story;
mod trouble;
