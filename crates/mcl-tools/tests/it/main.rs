//! The program, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]
#![expect(clippy::disallowed_methods, reason = "tests write files as a careless person would")]

mod calls;
mod digests;
mod live;
mod plans;
#[path = "../../../../testing/python.rs"]
mod python;
mod shelf;
mod shipped;
mod signing;
mod stage;
mod statics;
