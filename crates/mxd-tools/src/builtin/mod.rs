//! The tools that every agent has.
//!
//! Each is a file or a folder with its arguments as a type, from which the schema follows; its name, its
//! description, which is written for a model; and `run`. A tool that fails answers so in words.

pub mod background;
pub mod bash;
mod content;
mod context;
mod declared;
pub mod edit_file;
mod glob;
mod list;
pub mod list_files;
pub mod read_file;
pub mod search;
pub mod write_file;

pub use context::Context;
pub use declared::{Misfit, definitions, is_built_in, misfits};
pub use list::{BuiltIn, Listing, SERVER, tools};
pub(crate) use list::{read, schema};
