//! Tools, from outside.

mod processes;
