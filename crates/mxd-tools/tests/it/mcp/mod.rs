//! Connections to servers, from outside.

mod called;
mod canary;
mod hostile;
mod life;
mod pool;
mod reading;
mod real;
mod remote;
mod scene;
mod web;
