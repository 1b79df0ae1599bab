//! What of the texts for agents has to be looked up: the project's memory.
//!
//! The texts themselves are [`mxd_core::prompt::text`].

mod memory;

pub use memory::load_memory;
