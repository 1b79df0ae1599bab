//! Git for agents, with real repositories.

mod crashes;
mod create;
mod crowd;
mod hostile;
mod identity;
mod locks;
mod looking;
mod merging;
mod remove;
mod yard;
