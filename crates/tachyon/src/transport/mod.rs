//! How callers reach the engine. Each transport only carries messages.

pub(crate) mod http;
pub(crate) mod mcp;
