//! Tools, from outside.

mod background;
mod bash;
mod farm;
mod git_inside;
mod processes;
mod real_work;
mod results;
mod scene;
mod schema;
mod secrets;
