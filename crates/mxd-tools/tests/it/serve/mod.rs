//! The server for the clients of others, from outside.

mod approvals;
mod calls;
mod client;
mod handshake;
mod hostile;
mod http;
