//! Tools, from outside.

mod escape;
mod farm;
mod git_inside;
mod processes;
