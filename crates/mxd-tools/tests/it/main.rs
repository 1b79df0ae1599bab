//! Tools, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod escape;
mod farm;
mod git_inside;
mod processes;
