//! Where core, log, models and tools meet.

pub mod agents;
mod clock;
pub mod config;
mod conversation;
pub mod git;
pub mod home;
mod keyring;
pub mod project;
pub mod prompt;
pub mod provision;
pub mod readiness;

pub use keyring::Keyring;
