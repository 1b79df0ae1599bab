//! The append-only log.
