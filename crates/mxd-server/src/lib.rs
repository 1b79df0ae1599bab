//! The daemon of Matrix: HTTP, live streams, log-in, the embedded page.
//!
//! [`serve`] begins it. Everything it answers is declared once, in the table of [`openapi`]'s document; what it knows of
//! the projects it knows from [`mxd_engine::home::Home`].

mod api;
mod app;
mod auth;
mod clock;
mod daemon;
mod fault;
mod feed;
mod guard;
mod history;
mod journal;
pub mod limits;
mod listen;
pub mod mcp;
mod metrics;
mod page;
mod patience;
mod routes;
mod take;
mod telemetry;
mod view;

pub use app::Build;
pub use auth::{Contact, ContactError, Policy};
pub use daemon::{Options, Running, StartError, serve};
pub use journal::Journal;
pub use listen::raise_file_limit;
pub use telemetry::{Collector, CollectorError};

/// The OpenAPI document of all routes.
pub fn openapi() -> serde_json::Value {
    routes::api().finish().1
}
