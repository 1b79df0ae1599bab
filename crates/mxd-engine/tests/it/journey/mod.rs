//! Journeys: whole stories with real git, real processes in the real sandbox, and a scripted model behind real HTTP.

mod accidents;
mod booting;
mod conflict;
mod endings;
mod failing;
mod forks;
mod leaving;
mod live;
mod long;
mod neighbours;
mod programs;
mod restarts;
pub(crate) mod stage;
mod steering;
mod tree;
