//! The tools every agent has: the server `mxd`.

pub mod background;
pub mod bash;
