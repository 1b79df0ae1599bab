//! The scripted model as its clients meet it: over HTTP.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]
#![expect(clippy::disallowed_methods, reason = "tests write files as a careless person would")]

mod again;
mod anthropic;
mod anthropic_rules;
mod caches;
mod chat;
mod client;
mod faults;
mod prefix;
mod program;
mod responses;
mod scripts;
mod stage;
