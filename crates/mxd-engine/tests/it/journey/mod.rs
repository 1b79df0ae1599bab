//! Journeys: whole stories with real git, real processes in the real sandbox, and a scripted model behind real HTTP.

mod asking;
mod conflict;
mod endings;
mod long;
mod manifests;
mod network;
mod restarts;
mod served;
mod servers;
mod stage;
mod steering;
mod tree;
