//! What a compiler answers, as far as it is used here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::unbuilt;
use crate::fault::Fault;
use crate::registry::{Artifact, CompilerUsed};

/// The standard JSON output.
#[derive(Debug, Deserialize)]
pub(super) struct Told {
    #[serde(default)]
    pub(super) errors: Vec<ToldError>,
    #[serde(default)]
    contracts: BTreeMap<String, BTreeMap<String, ToldContract>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToldError {
    pub(super) severity: String,
    pub(super) message: String,
    pub(super) error_code: Option<String>,
    pub(super) source_location: Option<ToldPlace>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToldPlace {
    pub(super) file: String,
    pub(super) start: i64,
}

#[derive(Debug, Deserialize)]
struct ToldContract {
    #[serde(default)]
    abi: Value,
    #[serde(default)]
    evm: ToldEvm,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToldEvm {
    bytecode: ToldCode,
    deployed_bytecode: ToldCode,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToldCode {
    object: String,
    link_references: BTreeMap<String, BTreeMap<String, Vec<Hole>>>,
}

#[derive(Debug, Deserialize)]
struct Hole {
    start: usize,
}

impl Told {
    pub(super) fn parse(text: &[u8]) -> Result<Self, Fault> {
        serde_json::from_slice(text)
            .map_err(|error| unbuilt(format!("the compiler's answer cannot be read: {error}")))
    }

    /// Every contract, in the order of files and names.
    pub(super) fn artifacts(self, compiler: &CompilerUsed, sources: &str) -> Result<Vec<Artifact>, Fault> {
        let mut artifacts = Vec::new();
        for (path, contracts) in self.contracts {
            for (name, told) in contracts {
                let mut unlinked = BTreeMap::new();
                for (file, libraries) in told.evm.bytecode.link_references {
                    for (library, holes) in libraries {
                        let places = holes.into_iter().map(|hole| hole.start).collect();
                        unlinked.insert(format!("{file}:{library}"), places);
                    }
                }
                artifacts.push(Artifact {
                    name,
                    path: path.clone(),
                    abi: told.abi,
                    bytecode: format!("0x{}", told.evm.bytecode.object),
                    deployed_bytecode: format!("0x{}", told.evm.deployed_bytecode.object),
                    unlinked,
                    compiler: compiler.clone(),
                    sources: sources.to_owned(),
                });
            }
        }
        Ok(artifacts)
    }
}
