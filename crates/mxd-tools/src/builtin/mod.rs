//! The tools that every agent has.
//!
//! Each is a file or a folder with its arguments as a type, from which the schema follows; its name, its
//! description, which is written for a model; and `run`. A tool that fails answers so in words.

pub mod background;
pub mod bash;
mod context;
mod list;

pub use context::Context;
pub use list::{BuiltIn, Listing, SERVER, tools};
