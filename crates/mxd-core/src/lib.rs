//! The domain of Matrix, pure.
//!
//! What happened is an [`event::Event`]; what is true now is a [`state::State`], the fold of all events; what
//! may happen next is answered by [`decide::decide`], which turns a state and an input into events and
//! effects, or into a typed [`decide::Refusal`]. Nothing in here does IO, asks a clock or draws a random
//! number: time and new ids arrive with the input, so the same inputs always give the same log.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod change;
pub mod commit;
pub mod decide;
pub mod event;
pub mod id;
pub mod inbox;
pub mod json;
pub mod limits;
pub mod lookup;
pub mod manifest;
pub mod message;
pub mod money;
pub mod price;
pub mod prompt;
pub mod raw;
pub mod session;
pub mod show;
pub mod state;
pub mod time;
pub mod tool;
pub mod tree;
