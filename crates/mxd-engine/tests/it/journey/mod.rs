//! Journeys: whole stories with real git, real processes in the real sandbox, and a scripted model behind real HTTP.

mod conflict;
mod endings;
mod leaving;
mod long;
mod restarts;
mod stage;
mod steering;
mod tree;
