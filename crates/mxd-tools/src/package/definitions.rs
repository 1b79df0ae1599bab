//! The digest of what a server says about its tools, all together.

use std::collections::BTreeMap;

use mxd_core::manifest::Discovered;
use mxd_core::tool::Digest;

/// The SHA-256 of the digests of all definitions, one line per tool, sorted by name. It says which tools a program
/// has, whoever built it.
pub fn definitions_digest(discovered: &Discovered) -> Digest {
    let tools = discovered.tools.iter().map(|tool| (tool.name().as_str(), tool.digest()));
    let lines: BTreeMap<&str, Digest> = tools.collect();
    let lines = lines.iter().map(|(name, digest)| format!("tool {digest} {name}\n"));
    let text: String = std::iter::once("mxd definitions 1\n".to_owned()).chain(lines).collect();
    Digest::of(text.as_bytes())
}
