//! The toolbox from outside: the real program, its files, and a node that does what the test wants.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test speaks")]

mod abi;
mod artifacts;
mod chain;
mod crashes;
mod http;
mod journal;
mod keys;
mod mcp;
mod money;
mod node;
mod program;
mod uploads;
