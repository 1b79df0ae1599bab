//! Where core, log, models and tools meet.

pub mod config;
pub mod prompt;
