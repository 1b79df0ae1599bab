//! `tachyon_artifact_get`: a compiled contract, by name or by content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tenant::Tenant;
use super::{CallContext, Engine};
use crate::fault::{Code, Fault};
use crate::registry::Artifact;

/// Which artifact.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// A contract's name, `file:Name`, or an artifact id.
    name: String,
    /// The project it is in, where several have one of that name.
    #[serde(default)]
    project_id: Option<String>,
}

/// The artifact.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// Its id, the hash of all that follows.
    artifact_id: String,
    /// The artifact.
    artifact: Artifact,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let tenant = engine.tenant(&context.tenant)?;
    let (artifact_id, artifact) = find(&tenant, &request.name, request.project_id.as_deref())?;
    Ok(Response { artifact_id, artifact })
}

/// The one artifact that is meant. Two files with a contract of the same name are not guessed between.
pub(super) fn find(tenant: &Tenant, name: &str, project: Option<&str>) -> Result<(String, Artifact), Fault> {
    if name.starts_with("sha256:") {
        return Ok((name.to_owned(), tenant.registry.artifact(name)?));
    }
    let found: Vec<(String, String, String)> = tenant.registry.read(|book| {
        let named = book.artifacts_named(name, project).into_iter();
        named.map(|entry| (entry.project_id.clone(), entry.path.clone(), entry.artifact_id.clone())).collect()
    })?;
    // Without a project the newest compilation is meant.
    let Some((newest, _, _)) = found.last() else {
        let place = project.map(|project| format!(" in project `{project}`")).unwrap_or_default();
        return Err(Fault::new(
            Code::ArtifactNotFound,
            format!("no contract `{name}`{place}; compile it first"),
        ));
    };
    let candidates: Vec<_> = found.iter().filter(|(project, _, _)| project == newest).collect();
    match candidates.as_slice() {
        [(_, _, id)] => Ok((id.clone(), tenant.registry.artifact(id)?)),
        several => {
            let files: Vec<String> = several.iter().map(|(_, path, _)| format!("`{path}:{name}`")).collect();
            Err(Fault::invalid(format!("`{name}` is in several files; give one of {}", files.join(", "))))
        }
    }
}
