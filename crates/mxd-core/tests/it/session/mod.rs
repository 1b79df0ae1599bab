//! The session machine from outside: agents, their tools and their users, played on a stage.

mod approvals;
mod attempts;
mod audit;
mod billing;
mod budgets;
mod compaction;
mod conversation;
mod failing;
mod finishing;
mod forks;
mod given;
mod halting;
mod journey;
mod places;
mod questions;
mod refitting;
mod regressions;
mod resuming;
mod same_turn;
mod samplings;
mod script;
mod showing;
mod simulation;
mod stage;
mod turns;
mod workplaces;
