//! The engine, from outside.

#[path = "../../../../testing/dice.rs"]
mod dice;
mod git;
#[path = "../../../../testing/rounds.rs"]
mod rounds;
