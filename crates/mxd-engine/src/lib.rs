//! Where core, log, models and tools meet.
