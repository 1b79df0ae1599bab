//! Solidity to artifacts: sources are gathered into one closed input, and a compiler that fits turns it into code.

mod diagnostics;
mod imports;
pub(crate) mod install;
mod output;
mod pragma;
mod program;
mod scan;
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use revm::primitives::hardfork::SpecId;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use crate::fault::{Code, Fault};
use crate::limits;
use crate::registry::{Artifact, CompilerUsed, OptimizerUsed};
pub(crate) use diagnostics::Diagnostic;
pub(crate) use program::Program;
pub(crate) use sources::Upload;

/// The rules compilers can compile for, and those of the machine. Nothing else is let through to a compiler.
const EVM_VERSIONS: [(&str, SpecId); 14] = [
    ("homestead", SpecId::HOMESTEAD),
    ("tangerineWhistle", SpecId::TANGERINE),
    ("spuriousDragon", SpecId::SPURIOUS_DRAGON),
    ("byzantium", SpecId::BYZANTIUM),
    // On the main network the two began with the same block.
    ("constantinople", SpecId::PETERSBURG),
    ("petersburg", SpecId::PETERSBURG),
    ("istanbul", SpecId::ISTANBUL),
    ("berlin", SpecId::BERLIN),
    ("london", SpecId::LONDON),
    ("paris", SpecId::MERGE),
    ("shanghai", SpecId::SHANGHAI),
    ("cancun", SpecId::CANCUN),
    ("prague", SpecId::PRAGUE),
    ("osaka", SpecId::OSAKA),
];

/// Where compilers and libraries are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Toolchain {
    /// A compiler to use before all others.
    pub(crate) configured: Option<PathBuf>,
    /// Where installed compilers are kept.
    pub(crate) installed: PathBuf,
    /// Folders of libraries, as `node_modules` is one.
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders whose projects may be compiled in place.
    pub(crate) project_roots: Vec<PathBuf>,
    /// How long a compiler may run.
    pub(crate) time: Duration,
}

/// How to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) optimizer: OptimizerUsed,
    pub(crate) via_ir: bool,
    /// The compiler's own default when empty.
    pub(crate) evm_version: String,
    /// Exactly this compiler; any that fits when empty.
    pub(crate) solc_version: String,
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.evm_version.is_empty() || self.rules().is_some() {
            return Ok(());
        }
        let known = EVM_VERSIONS.map(|(name, _)| name).join(", ");
        Err(Fault::invalid(format!("`evm_version` is not one of {known}")))
    }

    /// What a machine must do that runs what is compiled; nothing in particular where the caller named no rules.
    pub(crate) fn rules(&self) -> Option<SpecId> {
        EVM_VERSIONS.iter().find(|(name, _)| *name == self.evm_version).map(|(_, rules)| *rules)
    }
}

/// What a compilation gave.
pub(crate) struct Compiled {
    /// Every contract, those of libraries too.
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The files the caller brought, in contrast to those they import.
    pub(crate) own_files: Vec<String>,
    /// The hash of sources, settings and compiler.
    pub(crate) digest: String,
    /// What it was made from and with.
    pub(crate) kit: Kit,
}

/// Everything another tool needs to compile the same once more.
pub(crate) struct Kit {
    /// All files by name, imported ones too.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) remappings: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) program: Program,
}

/// Compilers at work, at most so many.
pub(crate) static TURNS: Semaphore = Semaphore::const_new(limits::COMPILERS_AT_ONCE);

/// Compiles an upload or a project folder.
pub(crate) async fn compile(
    toolchain: &Toolchain,
    upload: &Upload,
    settings: &Settings,
) -> Result<Compiled, Fault> {
    settings.check()?;
    let gathered = sources::gather(toolchain, upload)?;
    let wanted = pragma::Wanted::of(gathered.files.values().map(|file| file.text.as_str()))?;
    let program = program::choose(toolchain, &wanted, &settings.solc_version).await?;
    let texts: BTreeMap<&str, &str> =
        gathered.files.iter().map(|(name, file)| (name.as_str(), file.text.as_str())).collect();
    let input = standard_input(&texts, &gathered.remappings, settings);
    let _turn = TURNS.acquire().await.map_err(|_| Fault::internal("the engine is closing"))?;
    let told = program.run(&input.to_string(), toolchain.time).await?;
    let told = output::Told::parse(&told)?;
    let (errors, warnings) = diagnostics::split(&told.errors, &texts);
    if !errors.is_empty() {
        let first = errors.first().map(Diagnostic::line).unwrap_or_default();
        let message = format!("{} errors; the first: {first}", errors.len());
        let details = json!({ "diagnostics": errors.iter().chain(&warnings).collect::<Vec<_>>() });
        return Err(Fault::new(Code::CompilerSolcFailed, message).with_details(details));
    }
    let compiler = CompilerUsed {
        kind: program.kind().into(),
        version: program.version().into(),
        sha256: program.sha256().into(),
        optimizer: settings.optimizer,
        via_ir: settings.via_ir,
        evm_version: settings.evm_version.clone(),
    };
    let digest = digest(&input, &compiler);
    let sources = digest_of_sources(&texts);
    let artifacts = told.artifacts(&compiler, &sources)?;
    let own = gathered.files.iter().filter(|(_, file)| file.own);
    let own_files = own.map(|(name, _)| name.clone()).collect();
    let files = gathered.files.into_iter().map(|(name, file)| (name, file.text)).collect();
    let kit = Kit { files, remappings: gathered.remappings, settings: settings.clone(), program };
    Ok(Compiled { artifacts, warnings, own_files, digest, kit })
}

fn standard_input(texts: &BTreeMap<&str, &str>, remappings: &[String], settings: &Settings) -> Value {
    let sources: serde_json::Map<String, Value> =
        texts.iter().map(|(name, text)| ((*name).to_owned(), json!({ "content": text }))).collect();
    let mut input = json!({
        "language": "Solidity",
        "sources": sources,
        "settings": {
            "optimizer": { "enabled": settings.optimizer.enabled, "runs": settings.optimizer.runs },
            "remappings": remappings,
            "outputSelection": { "*": { "*": [
                "abi", "evm.bytecode.object", "evm.bytecode.linkReferences", "evm.deployedBytecode.object"
            ] } },
        },
    });
    if settings.via_ir {
        input["settings"]["viaIR"] = true.into();
    }
    if !settings.evm_version.is_empty() {
        input["settings"]["evmVersion"] = settings.evm_version.clone().into();
    }
    input
}

fn digest(input: &Value, compiler: &CompilerUsed) -> String {
    let mut hash = Sha256::new();
    hash.update(input.to_string());
    hash.update(json!(compiler).to_string());
    hex::encode(hash.finalize())
}

fn digest_of_sources(texts: &BTreeMap<&str, &str>) -> String {
    let mut hash = Sha256::new();
    for (name, text) in texts {
        // Lengths keep apart what would otherwise read the same.
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name);
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    format!("sha256:{}", hex::encode(hash.finalize()))
}

/// A build that could not be run.
fn unbuilt(message: impl Into<String>) -> Fault {
    Fault::new(Code::CompilerForgeFailed, message)
}

/// A file inside of a folder, also when links are followed; nothing else is read.
fn file_within(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name).canonicalize().ok()?;
    let folder = folder.canonicalize().ok()?;
    (path.starts_with(&folder) && path.is_file()).then_some(path)
}
