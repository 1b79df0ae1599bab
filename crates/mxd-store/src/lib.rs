//! The append-only log of Matrix, and what belongs to it.
//!
//! A log is a directory. Truth is JSONL in segments: one line per commit, numbered without gaps, each with a
//! checksum; the first line of a segment carries the hash of the one before. Large bodies lie beside it as
//! content-addressed blobs. Snapshot, catalog and indexes are caches.
//!
//! This crate does not know what events mean. It promises:
//!
//! * what was acknowledged is there after any crash, in order, once;
//! * a commit is there as a whole or not at all;
//! * damage is found, named and set apart, and the rest still loads;
//! * nothing is deleted unless the owner asked for it, and then the log says so.

mod blobs;
pub mod disk;
mod error;
mod layout;
pub mod limits;
mod line;
mod log;
mod segment;

pub use blobs::{BlobId, Blobs, NotABlobId, Pin};
pub use error::{AppendError, OpenError, ReadError};
pub use line::{Draft, Line};
pub use log::{
    Commit, Damage, Log, Options, Problem, Proof, Prune, PruneError, Pruned, Replay, Report, Ticket, Torn,
    Upkeep, export, verify,
};
