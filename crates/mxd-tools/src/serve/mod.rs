//! The tools of a [`Plane`](crate::plane::Plane), offered to the clients of others over MCP.
//!
//! What is listed and what is called is the registry of the plane, through the one path of every call: nothing is
//! written twice. [`Server`] speaks both eras of the protocol, the one that begins with `initialize` and the
//! stateless one of 2026-07-28. [`stdio`] carries it over lines, [`Endpoint`] over HTTP, and [`selftest`] holds what
//! is listed against what is there.

mod answer;
mod approval;
mod flight;
mod http;
pub mod limits;
mod lines;
mod listing;
mod progress;
mod selftest;
mod server;
mod session;

pub use http::{Answer, Door, Endpoint, PATH, Token, TokenError, fresh_token};
pub use lines::stdio;
pub use selftest::{Finding, Report, selftest};
pub use server::{OF_A_FOLDER, Offer, Permissions, Server};
