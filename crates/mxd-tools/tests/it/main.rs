//! Tools, from outside.

mod background;
mod bash;
mod processes;
mod scene;
mod secrets;
