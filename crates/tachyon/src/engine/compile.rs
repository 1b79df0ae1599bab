//! `tachyon_compile`: sources to artifacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::build::Build;
use super::context::is_name;
use super::{CallContext, Engine};
use crate::compile::Diagnostic;
use crate::fault::{Code, Fault};
use crate::registry::{Artifact, ArtifactEntry, CompilerUsed};

/// What to compile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    #[serde(flatten)]
    build: Build,
    /// A name for the project; otherwise the hash of sources and settings is its name.
    #[serde(default)]
    project_id: Option<String>,
    /// Contracts to give; all of the sources' own when left out.
    #[serde(default)]
    targets: Option<Vec<String>>,
}

/// What came out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// The name to give as `project_id` elsewhere.
    project_id: String,
    /// The contracts.
    artifacts: Vec<ShownArtifact>,
    /// What the compiler warned of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Diagnostic>,
}

/// A compiled contract.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownArtifact {
    /// Its name by content; `tachyon_deploy` takes it as `contract`.
    artifact_id: String,
    /// The contract's name.
    name: String,
    /// The file it is in.
    path: String,
    /// Its interface.
    abi: Value,
    /// Its creation code.
    bytecode: String,
    /// Its code on the chain.
    #[serde(rename = "deployedBytecode")]
    deployed_bytecode: String,
    /// Whether it can be deployed: not an interface, not abstract.
    deployable: bool,
    /// Libraries whose addresses `tachyon_deploy` needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlinked: Vec<String>,
    /// What made it.
    compiler: CompilerUsed,
}

impl ShownArtifact {
    fn new(artifact_id: String, artifact: Artifact) -> Self {
        Self {
            artifact_id,
            deployable: artifact.bytecode.len() > 2,
            name: artifact.name,
            path: artifact.path,
            abi: artifact.abi,
            bytecode: artifact.bytecode,
            deployed_bytecode: artifact.deployed_bytecode,
            unlinked: artifact.unlinked.into_keys().collect(),
            compiler: artifact.compiler,
        }
    }
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    if let Some(label) = request.project_id.as_deref().filter(|label| !is_name(label)) {
        return Err(Fault::invalid(format!(
            "`{label}` cannot name a project; use small letters, digits, `-` and `_`"
        )));
    }
    context.progress.tell("compiling");
    let compiled = request.build.compiled(engine).await?;
    let project_id = request.project_id.unwrap_or_else(|| compiled.digest[..16].to_owned());
    let targets = request.targets.unwrap_or_default();
    let wanted = |artifact: &Artifact| match targets.is_empty() {
        true => compiled.own_files.contains(&artifact.path),
        false => targets.iter().any(|target| {
            *target == artifact.name || *target == format!("{}:{}", artifact.path, artifact.name)
        }),
    };
    let kept: Vec<(ArtifactEntry, Artifact)> = compiled
        .artifacts
        .into_iter()
        .filter(wanted)
        .map(|artifact| {
            let entry = ArtifactEntry {
                artifact_id: artifact.id(),
                project_id: project_id.clone(),
                name: artifact.name.clone(),
                path: artifact.path.clone(),
            };
            (entry, artifact)
        })
        .collect();
    if let Some(missing) = targets.iter().find(|target| {
        let name = target.rsplit(':').next().unwrap_or(target);
        !kept.iter().any(|(entry, _)| entry.name == name)
    }) {
        return Err(Fault::new(Code::ArtifactNotFound, format!("the sources have no contract `{missing}`")));
    }
    engine.tenant(&context.tenant)?.registry.keep(&kept)?;
    let artifacts = kept.into_iter().map(|(entry, artifact)| ShownArtifact::new(entry.artifact_id, artifact));
    Ok(Response { project_id, artifacts: artifacts.collect(), warnings: compiled.warnings })
}
