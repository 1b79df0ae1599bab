//! Git for agents, with real repositories.

mod content;
pub(crate) mod crashes;
mod create;
mod crowd;
mod hostile;
mod identity;
mod locks;
mod looking;
mod merging;
mod private;
mod remove;
mod yard;
