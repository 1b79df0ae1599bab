//! The ground an agent's file tools stand on, and nothing beside it.
//!
//! File tools run inside of the daemon, so no kernel sandbox holds them. What holds them is this: a path is
//! resolved component by component, each opened relative to the folder before it and never through a link
//! (`resolve`); links are read as text and walked the same way. What comes out is a [`Place`]: descriptors of the
//! folders that were walked and a last name. Everything after that uses the descriptors, so whoever swaps a
//! folder for a link in between finds the tool still in the folder that was checked. `tree` walks folders by
//! the same rule, and [`Files`] orders the edits of one file and remembers what the agent has seen of it.

mod error;
mod file;
mod ground;
mod memory;
mod near;
mod resolve;
mod rules;
mod tree;

pub use error::ConfineError;
pub use file::{MAX_READ_WHOLE, Opened, Replaced, Standing, Target};
pub use ground::Confinement;
pub use memory::{Files, Seen};
pub use resolve::{Place, What};
pub use tree::{Entry, EntryKind, Tree, Walked};

/// How files are called that were being written when the program was killed. Nobody should commit them.
pub const UNFINISHED: &str = ".mxd-*.tmp";

/// The most links one path may lead through, as in the kernel.
pub const MAX_LINKS: usize = 40;

/// The most folders one path may lead through; each holds a descriptor while the path is in use.
pub const MAX_DEPTH: usize = 128;

/// The longest path, in bytes.
pub const MAX_PATH: usize = 4096;
