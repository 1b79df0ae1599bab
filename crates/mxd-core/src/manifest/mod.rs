//! Manifests: what an agent has, exactly, and how that is held.
//!
//! An [`AgentManifest`] is read strictly and says all that is wrong with it at once ([`Problems`]). Its
//! credentials are references ([`Template`]) that are resolved when a server starts. It is known by the hash
//! of its canonical spelling and can be signed ([`sign`], [`verify`]). What its servers then offer is held
//! against it and against the [`LockFile`] ([`compare`]). Servers of a configuration ([`parse_mcp_servers`])
//! become the same [`ServerSpec`] and have nothing but the lock file to be held to.

mod agent;
mod base58;
mod common;
mod compare;
mod credential;
mod definition;
mod did_key;
mod fault;
pub mod limits;
mod literal;
mod lock;
mod package;
mod parse;
mod place;
mod quick;
mod server;
mod signature;

pub use agent::Agent;
pub use compare::{Comparison, Finding, Report, compare};
pub use credential::{EnvName, HeaderName, Part, Resolved, Template, Unfit, Unresolved};
pub use definition::{DefinitionError, Discovered, ToolDefinition};
pub use did_key::DidKey;
pub use fault::{Fault, Problem, Problems};
pub use literal::Finding as LiteralFinding;
pub use lock::{Identity, LockFile, LockedServer, LockedTool, Unlocked};
pub use package::{DigestState, PackageDigest};
pub use parse::{AgentManifest, NativeEntry, Placeholders};
pub use quick::parse_mcp_servers;
pub use server::{
    DeclaredTool, Package, Program, Reconnect, Remote, ResourceAccess, Sampling, ServerSpec, Tools,
    Transport, effects_of_server,
};
pub use signature::{ManifestSignature, RequiredSigners, SignatureError, sign, signer, verify};
