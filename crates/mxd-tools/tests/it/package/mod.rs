//! Packages: what commands refer to, digests, and verified copies.

mod commands;
mod digests;
mod ground;
mod installed;
mod store;
