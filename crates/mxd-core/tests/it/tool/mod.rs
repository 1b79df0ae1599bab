//! Tools from outside: names, rules, skills and the gate.

mod any;
mod approvals;
mod args;
mod capabilities;
mod gate;
mod names;
mod orchestrator;
mod patterns;
mod skills;
mod specs;
