//! An EVM toolbox for agents: one engine, and thin transports over it.
//!
//! [`Engine::call`] is the only way in. Everything a tenant has is below one folder, in append-only files that survive a crash
//! at any byte; transactions are simulated, reserved on disk, and only then sent.

mod abi;
mod chain;
mod child;
pub mod cli;
mod clock;
mod compile;
mod config;
mod engine;
mod fault;
mod forge;
mod journal;
mod limits;
mod policy;
mod registry;
mod runner;
mod selftest;
mod transport;

pub use config::{Config, ConfigError};
pub use engine::{CallContext, Engine, Progress, TenantName, Tool};
pub use fault::{Code, Envelope, Fault};
