//! The configuration from outside: layers, problems, credentials, writing, and its page.

mod authority;
mod layers;
mod models;
mod page;
mod problems;
mod scene;
mod secrets;
mod takes_away;
mod writing;
