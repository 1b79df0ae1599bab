//! What `tachyon_compile` and `tachyon_test` have in common: the sources, and how to compile them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Engine;
use crate::compile::{self, Compiled, Settings, Upload};
use crate::fault::Fault;
use crate::registry::OptimizerUsed;

/// Sources and settings of a compilation.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Build {
    /// Source files by path. Use either this or `project_root`.
    #[serde(default)]
    sources: Option<BTreeMap<String, String>>,
    /// A project folder on the server's machine, below one that its operator allowed.
    #[serde(default)]
    project_root: Option<PathBuf>,
    /// Whether to optimise; yes when left out.
    #[serde(default)]
    optimize: Option<bool>,
    /// For how many runs to optimise; 200 when left out.
    #[serde(default)]
    optimizer_runs: Option<u32>,
    /// Whether to use the newer pipeline.
    #[serde(default)]
    via_ir: bool,
    /// The rules to compile for, like `cancun`.
    #[serde(default)]
    evm_version: Option<String>,
    /// Exactly this compiler, like `0.8.30`.
    #[serde(default)]
    solc_version: Option<String>,
    /// Other names for imports, like `@lib/=vendor/lib/`.
    #[serde(default)]
    remappings: Vec<String>,
}

impl Build {
    pub(super) async fn compiled(self, engine: &Engine) -> Result<Compiled, Fault> {
        let remappings = self.remappings;
        let upload = match (self.sources, self.project_root) {
            (Some(files), None) => Upload::Files { files, remappings },
            (None, Some(root)) => Upload::Project { root, remappings },
            _ => return Err(Fault::invalid("give either `sources` or `project_root`")),
        };
        let settings = Settings {
            optimizer: OptimizerUsed {
                enabled: self.optimize.unwrap_or(true),
                runs: self.optimizer_runs.unwrap_or(200),
            },
            via_ir: self.via_ir,
            evm_version: self.evm_version.unwrap_or_default(),
            solc_version: self.solc_version.unwrap_or_default(),
        };
        compile::compile(&engine.toolchain(), &upload, &settings).await
    }
}
