//! One story of agents, played with the real program in many repositories.
//!
//! A [`Scene`] is a repository under some condition: a script of the shell makes it in an empty home folder, as a user would
//! have it. [`play`] starts the daemon there, has a scripted model split the work in two, edit, run the project's own tests,
//! commit, merge, meet a conflict, resolve it and remove what is not needed any more, and then looks from outside at what
//! became of the repository. Tests of `mxd` play the [`conditions`] that are quick; the program of this crate plays all of them
//! and the [`projects`], and writes the table.

pub mod conditions;
mod judge;
mod play;
pub mod projects;
mod scene;
mod shell;
mod story;
pub mod table;
mod user;

pub use play::{Program, play};
pub use scene::{Expected, Outcome, Scene};
