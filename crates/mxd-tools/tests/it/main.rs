//! Tools, from outside.

mod background;
mod bash;
mod processes;
mod results;
mod scene;
mod schema;
mod secrets;
