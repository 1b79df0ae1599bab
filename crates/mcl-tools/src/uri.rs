//! From a tool URI to the tool of the manifest that it means.

use mxd_core::manifest::{AgentManifest, DeclaredTool, DigestState, LockFile, NativeEntry, ServerSpec};
use mxd_core::tool::{Pin, PinnedTool, ToolUri};

use crate::answer::Trouble;
use crate::code::Code;

/// A tool of a manifest.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Meant<'a> {
    /// One of a server.
    Server(&'a ServerSpec, &'a DeclaredTool),
    /// A native one.
    Native(&'a NativeEntry),
}

/// Reads a URI and finds its tool.
///
/// A version is that of its server. A digest is that of the server's package, or of the tool's definition as it was
/// accepted.
pub(crate) fn find<'a>(
    text: &str,
    manifest: &'a AgentManifest,
    lock: Option<&LockFile>,
) -> Result<Meant<'a>, Trouble> {
    let uri: ToolUri = text
        .parse()
        .map_err(|error: mxd_core::tool::ToolUriError| Trouble::new(Code::Usage, &error, error.hint()))?;
    let unknown = || {
        let what = format!("{uri} is not in the manifest");
        Trouble::new(Code::Denied, what, "`mcl-tools list-tools` has those that are.")
    };
    match &uri {
        ToolUri::Native(native) => {
            let entry = manifest.native_tools.iter().find(|entry| entry.tool == *native);
            entry.map(Meant::Native).ok_or_else(unknown)
        }
        ToolUri::Mcp(pinned) => {
            let server = manifest.server(&pinned.id.server).ok_or_else(unknown)?;
            let tool = server.declared().iter().find(|tool| tool.name == pinned.id.tool);
            let tool = tool.ok_or_else(unknown)?;
            if !is_meant(pinned, server, lock) {
                let held =
                    server.package.as_ref().map_or_else(String::new, |package| package.version.to_string());
                let what = format!("{} is held to {held}, not to {}", pinned.id, pinned.pin);
                let hint = "Pin the version of its server, the digest of its package, or the accepted one.";
                return Err(Trouble::new(Code::Denied, what, hint));
            }
            Ok(Meant::Server(server, tool))
        }
    }
}

fn is_meant(pinned: &PinnedTool, server: &ServerSpec, lock: Option<&LockFile>) -> bool {
    let Some(package) = &server.package else { return false };
    match &pinned.pin {
        Pin::Version(version) => *version == package.version,
        Pin::Sha256(digest) => {
            let is_package =
                package.digest.state() == DigestState::Real && package.digest.digest() == *digest;
            is_package || lock.is_some_and(|lock| lock.resolve(pinned).is_ok())
        }
    }
}
