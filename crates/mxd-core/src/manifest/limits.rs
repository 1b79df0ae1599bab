//! Every limit of manifests, their signatures and lock files, as data in one place.

use crate::json::Bounds;

/// A manifest, or the servers of a configuration.
pub const MANIFEST: Bounds = Bounds { bytes: 1024 * 1024, depth: 16 };
/// A signature file.
pub const SIGNATURE: Bounds = Bounds { bytes: 4096, depth: 2 };
/// A lock file: it holds the whole definition of every tool.
pub const LOCK: Bounds = Bounds { bytes: 64 * 1024 * 1024, depth: 72 };
/// The definition of one tool, as its server gives it.
pub const DEFINITION: Bounds = Bounds { bytes: 512 * 1024, depth: 64 };
/// Problems of one file that are told; the rest is counted.
pub const PROBLEMS: usize = 100;
/// Servers of one file.
pub const SERVERS: usize = 64;
/// Tools of one server.
pub const TOOLS_PER_SERVER: usize = 512;
/// Native tools of one manifest.
pub const NATIVE_TOOLS: usize = 256;
/// Characters of an agent's name.
pub const AGENT_NAME_CHARS: usize = 64;
/// Bytes of a command or of one of its arguments.
pub const ARGUMENT_BYTES: usize = 4096;
/// Arguments of a command.
pub const ARGUMENTS: usize = 128;
/// Variables, or headers, of one server.
pub const CREDENTIALS: usize = 64;
/// Characters of the name of a variable or a header.
pub const CREDENTIAL_NAME_CHARS: usize = 128;
/// Bytes of the value of a variable or a header.
pub const CREDENTIAL_BYTES: usize = 8192;
/// Bytes of an endpoint.
pub const ENDPOINT_BYTES: usize = 2048;
/// Bytes of the description of an agent, or of a tool in its manifest.
pub const DESCRIPTION_BYTES: usize = 4096;
/// How long a call may take when nobody says so.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// How long a call may take at most: an hour.
pub const TIMEOUT_MS: u64 = 3_600_000;
/// How often a lost server is looked for when nobody says so.
pub const DEFAULT_RECONNECT_ATTEMPTS: u64 = 5;
/// How often a lost server is looked for at most.
pub const RECONNECT_ATTEMPTS: u64 = 100;
