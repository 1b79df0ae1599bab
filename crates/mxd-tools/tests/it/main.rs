//! Tools, from outside.

mod confine;
mod edit_file;
mod ground;
mod limits;
mod list_files;
mod processes;
mod race;
mod read_file;
mod search;
mod write_file;
