//! Git for agents, with real repositories.

pub(crate) mod crashes;
mod create;
mod crowd;
mod hostile;
mod locks;
mod looking;
mod merging;
mod remove;
mod yard;
