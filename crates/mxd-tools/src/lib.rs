//! The outside world for agents.
//!
//! Everything an agent does to the machine goes through here: the processes it starts run in a
//! [`sandbox`], so that an agent touches its own worktree and nothing else.

pub mod builtin;
pub mod kept;
pub mod outcome;
pub mod plane;
pub mod sandbox;
pub mod scope;
pub mod secrets;
pub mod shell;
