//! Tools, from outside.

mod processes;
mod proxy;
