//! Where core, log, models and tools meet.

pub mod git;
