//! Where core, log, models and tools meet.

pub mod config;
pub mod git;
pub mod prompt;
