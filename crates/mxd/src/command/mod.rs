//! The commands that talk to the daemon, one file per subject.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod config;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod project;
pub(crate) mod read;
pub(crate) mod scope;
pub(crate) mod send;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod steer;
pub(crate) mod task;
pub(crate) mod wait;
