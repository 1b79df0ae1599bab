//! Tools, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod background;
mod bash;
mod farm;
mod git_inside;
mod plane;
mod processes;
mod real_work;
mod results;
mod scene;
mod schema;
mod secrets;
