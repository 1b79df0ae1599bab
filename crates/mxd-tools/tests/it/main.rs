//! Tools, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod background;
mod bash;
mod confine;
mod disk_limit;
mod edit_file;
mod escape;
mod farm;
mod git_inside;
mod ground;
mod limits;
mod list_files;
mod mcp;
#[path = "../../../../testing/npm.rs"]
mod npm;
mod package;
mod plane;
mod processes;
mod proxy;
#[path = "../../../../testing/python.rs"]
mod python;
mod race;
mod read_file;
mod real_work;
mod resource_attacks;
mod results;
mod scene;
mod schema;
mod search;
mod secrets;
mod serve;
mod tether;
mod write_file;
