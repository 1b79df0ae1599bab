//! Tools, from outside.

mod farm;
mod git_inside;
mod processes;
mod real_work;
