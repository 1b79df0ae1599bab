//! Journeys: whole stories with real git, real processes in the real sandbox, and a scripted model behind real HTTP.

mod accidents;
mod asking;
mod at_once;
mod booting;
mod conflict;
mod endings;
mod failing;
mod forks;
mod leaving;
mod leftovers;
mod live;
mod long;
mod manifests;
mod neighbours;
mod network;
mod other_model;
mod own_program;
mod programs;
mod reading;
mod restarts;
mod sampling;
mod served;
mod servers;
pub(crate) mod stage;
mod steering;
mod tree;
mod truth;
