//! What a project has: the servers and tools of its manifest, or else everything built in and the servers of its settings.

use std::path::Path;

use mxd_core::manifest::{
    self, AgentManifest, Identity, LockFile, ManifestSignature, Placeholders, Problems, RequiredSigners,
    ResourceAccess, ServerSpec, SignatureError,
};
use mxd_core::tool::{
    CapabilityLayer, CapabilitySetError, EffectSet, ServerName, SideEffect, ToolId, ToolName, ToolPattern,
};
use mxd_tools::{builtin, mcp};

use super::ledger::{AcceptedManifest, Ledger, LedgerError};
use crate::config::{Config, Layer, beneath};

/// Bytes of a manifest, and of the lock file beside it.
const MANIFEST_BYTES: usize = 1 << 20;
const LOCK_BYTES: usize = 16 << 20;
/// Bytes of its signature.
const SIGNATURE_BYTES: usize = 4 << 10;

/// Who says that a server is to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The manifest of the project.
    Manifest,
    /// The settings: this layer of them.
    Settings(Layer),
}

/// A server of the project.
#[derive(Debug, Clone)]
pub(crate) struct Supplied {
    pub(crate) spec: ServerSpec,
    pub(crate) source: Source,
}

/// What a project has.
#[derive(Debug)]
pub(crate) struct Stock {
    /// What tools may do to the world.
    pub(crate) effects: EffectSet,
    /// Which tools there are.
    pub(crate) grants: CapabilityLayer,
    /// The servers beside the built-in one.
    pub(crate) servers: Vec<Supplied>,
}

/// Why a project has nothing: what it should have is not known.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StockError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("the manifest {path} is not there; correct `manifest` in your settings, or write it")]
    Missing { path: String },
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("the manifest {path} has problems; `mcl-tools -m {path} verify` tells more: {problems}")]
    Manifest { path: String, problems: Problems },
    #[error("the lock file {path} has problems: {problems}")]
    Lock { path: String, problems: Problems },
    #[error("the manifest {path} does not describe the built-in tools as they are: {why}")]
    BuiltIn { path: String, why: String },
    #[error("the signature {path} has problems: {problems}")]
    Signature { path: String, problems: Problems },
    #[error("{source}, {path}. {}", source.hint())]
    NotVouched { path: String, source: SignatureError },
    #[error("the manifest {path} lists too much: {source}")]
    TooMany { path: String, source: CapabilitySetError },
}

impl Stock {
    /// What the settings say, with the manifest as it was accepted. The first manifest a project has is accepted by being
    /// named: only the user can name it.
    pub(crate) fn open(config: &Config, checkout: &Path, ledger: &Ledger) -> Result<Self, StockError> {
        let Some(path) = &config.manifest else { return Ok(Self::of_settings(config)) };
        let accepted = match ledger.manifest(path) {
            Some(accepted) => accepted,
            None => accept((path, &config.manifest_signers), checkout, ledger)?,
        };
        // Also what was accepted before anybody had to sign it.
        vouched(&accepted, &config.manifest_signers)?;
        Self::of_manifest(path, &accepted.text)
    }

    fn of_settings(config: &Config) -> Self {
        let supplied = |server: &crate::config::ConfiguredServer| Supplied {
            spec: server.spec.clone(),
            source: Source::Settings(server.layer),
        };
        Self {
            effects: SideEffect::ALL.into_iter().collect(),
            grants: everything(),
            servers: config.mcp_servers.iter().map(supplied).collect(),
        }
    }

    fn of_manifest(path: &str, text: &str) -> Result<Self, StockError> {
        let manifest = parse(path, text)?;
        let grants = manifest.servers.iter().flat_map(|server| {
            if builtin::is_built_in(server) {
                server.declared().iter().filter_map(|tool| exactly(&server.name, &tool.name)).collect()
            } else {
                all_of(&server.name).into_iter().collect::<Vec<_>>()
            }
        });
        let grants = grants.chain(reading(&manifest.servers));
        let grants = CapabilityLayer::granting(grants)
            .map_err(|source| StockError::TooMany { path: path.to_owned(), source })?;
        let foreign = manifest.servers.into_iter().filter(|server| !builtin::is_built_in(server));
        let servers = foreign.map(|spec| Supplied { spec, source: Source::Manifest }).collect();
        Ok(Self { effects: manifest.allowed, grants, servers })
    }

    /// A server by its name.
    pub(crate) fn server(&self, name: &ServerName) -> Option<&Supplied> {
        self.servers.iter().find(|supplied| supplied.spec.name == *name)
    }

    /// Whether a manifest that a task names means the same server.
    pub(crate) fn has(&self, other: &ServerSpec) -> bool {
        self.server(&other.name).is_some_and(|Supplied { spec, .. }| {
            Identity::from(&spec.transport) == Identity::from(&other.transport)
                && spec.package.as_ref().is_none_or(|package| other.package.as_ref() == Some(package))
        })
    }
}

/// Accepts the manifest of the project as it is in the repository now, with the lock file beside it.
pub(crate) fn accept(
    (path, signers): (&str, &RequiredSigners),
    checkout: &Path,
    ledger: &Ledger,
) -> Result<AcceptedManifest, StockError> {
    let signature = signature_path(path);
    let unreadable =
        |why: &dyn ToString| StockError::Unreadable { path: signature.clone(), why: why.to_string() };
    let bytes = beneath::read(checkout, Path::new(&signature), SIGNATURE_BYTES);
    let signed = bytes.map_err(|error| unreadable(&error))?.map(String::from_utf8).transpose();
    let signed = signed.map_err(|error| unreadable(&error))?;
    let manifest = AcceptedManifest { path: path.to_owned(), text: read(path, checkout)?, signature: signed };
    vouched(&manifest, signers)?;
    let beside = lock_path(path);
    let unreadable =
        |why: &dyn ToString| StockError::Unreadable { path: beside.clone(), why: why.to_string() };
    let lock = beneath::read(checkout, Path::new(&beside), LOCK_BYTES).map_err(|error| unreadable(&error))?;
    let lock = lock.map(|bytes| LockFile::parse(&bytes)).transpose();
    let lock = lock.map_err(|problems| StockError::Lock { path: beside.clone(), problems })?;
    ledger.accept_manifest(manifest.clone(), lock)?;
    Ok(manifest)
}

/// Whether somebody vouches for a manifest whose word counts. A signature that is there has to be right in any case.
fn vouched(accepted: &AcceptedManifest, signers: &RequiredSigners) -> Result<(), StockError> {
    let AcceptedManifest { path, text, signature } = accepted;
    let manifest = parse(path, text)?;
    let vouched = match signature {
        None => signers.admit_unsigned(),
        Some(signature) => {
            let problems = |problems| StockError::Signature { path: signature_path(path), problems };
            let signature = ManifestSignature::parse(signature.as_bytes()).map_err(problems)?;
            manifest::verify(&manifest, &signature, signers)
        }
    };
    vouched.map_err(|source| StockError::NotVouched { path: path.clone(), source })
}

/// The text of a manifest of the repository.
pub(crate) fn read(path: &str, checkout: &Path) -> Result<String, StockError> {
    let unreadable =
        |why: &dyn ToString| StockError::Unreadable { path: path.to_owned(), why: why.to_string() };
    let bytes =
        beneath::read(checkout, Path::new(path), MANIFEST_BYTES).map_err(|error| unreadable(&error))?;
    let bytes = bytes.ok_or_else(|| StockError::Missing { path: path.to_owned() })?;
    String::from_utf8(bytes).map_err(|error| unreadable(&error))
}

/// Reads a manifest and holds what it says about the built-in tools against what they are.
pub(crate) fn parse(path: &str, text: &str) -> Result<AgentManifest, StockError> {
    let manifest = AgentManifest::parse(text.as_bytes(), Placeholders::Refuse)
        .map_err(|problems| StockError::Manifest { path: path.to_owned(), problems })?;
    let built_in = manifest.servers.iter().filter(|server| builtin::is_built_in(server));
    let misfit = built_in.flat_map(|server| builtin::misfits(server, Placeholders::Refuse)).next();
    match misfit {
        Some(misfit) => {
            Err(StockError::BuiltIn { path: path.to_owned(), why: format!("{misfit}. {}", misfit.hint()) })
        }
        None => Ok(manifest),
    }
}

/// `agents/mine.json` has its lock in `agents/mine.lock.json`.
fn lock_path(manifest: &str) -> String {
    format!("{}.lock.json", manifest.strip_suffix(".json").unwrap_or(manifest))
}

/// `agents/mine.json` has its signature in `agents/mine.json.sig`.
fn signature_path(manifest: &str) -> String {
    format!("{manifest}.sig")
}

fn everything() -> CapabilityLayer {
    let any: Option<ToolPattern> = "mcp:*:*".parse().ok();
    CapabilityLayer::granting(any).unwrap_or_default()
}

/// The tools that read what servers have beside tools, when there are servers that may be read.
pub(crate) fn reading<'a>(servers: impl IntoIterator<Item = &'a ServerSpec>) -> Vec<ToolPattern> {
    if servers.into_iter().all(|server| server.resources == ResourceAccess::Closed) {
        return Vec::new();
    }
    let tool = |name: &str| exactly(&builtin::SERVER.parse().ok()?, &name.parse().ok()?);
    mcp::reading_tools().filter_map(tool).collect()
}

/// The pattern of one tool.
pub(crate) fn exactly(server: &ServerName, tool: &ToolName) -> Option<ToolPattern> {
    ToolId { server: server.clone(), tool: tool.clone() }.to_string().parse().ok()
}

/// The pattern of all tools of a server.
pub(crate) fn all_of(server: &ServerName) -> Option<ToolPattern> {
    format!("mcp:{server}:*").parse().ok()
}
