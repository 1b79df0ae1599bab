//! Connections to MCP servers.
//!
//! A [`Connection`] is one conversation with one server: a program in a sandbox, or a service elsewhere. What the
//! server says it offers is kept byte for byte and held against what was declared and accepted. [`Servers`] are those of
//! an agent: each is watched over, looked for again when it is lost, and put aside when it offers something else than
//! it should. Nothing a server does keeps the others from answering.

mod advice;
mod answer;
mod call;
mod connection;
mod envelope;
mod error;
mod guess;
mod handshake;
mod http;
mod limits;
mod lines;
mod list;
mod offer;
mod pen;
mod pool;
mod reading;
mod server;
mod servers;
mod shelf;
mod start;
mod surroundings;
mod talk;
mod told;
mod tools;
mod traffic;
mod wire;

pub use connection::{CallOptions, Connection, Era, Introduction, Progress};
pub use error::{CallError, Cause, ConnectError, Details, Loss};
pub use guess::class_of;
pub use limits::{Backoff, Limits};
pub use pool::Pool;
pub use reading::{ReadingTool, reading_tools};
pub use servers::{Change, Servers, Status, Unaccepted, View, Wanted};
pub use shelf::{Argument, Prompt, Prompts, Resource, Resources};
pub use surroundings::{Answerer, Answering, Answers, Question, Refusal, SecretLookup, Surroundings};
pub use told::finding;
pub use tools::McpTool;
