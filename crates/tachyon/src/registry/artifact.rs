//! A compiled contract, named by the hash of everything that is known about it.

use std::collections::BTreeMap;

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Address, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::abi;
use crate::fault::{Code, Fault};

/// A compiled contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Artifact {
    /// The contract's name.
    pub(crate) name: String,
    /// The file it is in.
    pub(crate) path: String,
    /// Its interface.
    pub(crate) abi: Value,
    /// Its creation code; empty for interfaces and abstract contracts.
    pub(crate) bytecode: String,
    /// Its code on the chain, before constructors fill it in.
    #[serde(rename = "deployedBytecode")]
    pub(crate) deployed_bytecode: String,
    /// Libraries whose addresses must be filled in, by `file:Library`, with the places in the creation code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) unlinked: BTreeMap<String, Vec<usize>>,
    /// What made it.
    pub(crate) compiler: CompilerUsed,
    /// The hash of all sources it was compiled from, imports included.
    pub(crate) sources: String,
}

/// What made an artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CompilerUsed {
    /// Which of the ways to compile it was.
    pub(crate) kind: String,
    /// Its own full version.
    pub(crate) version: String,
    /// The SHA-256 of the program.
    pub(crate) sha256: String,
    /// The optimizer.
    pub(crate) optimizer: OptimizerUsed,
    /// Whether the newer pipeline was used.
    pub(crate) via_ir: bool,
    /// The rules it was compiled for; the compiler's own default when empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) evm_version: String,
}

/// The optimizer's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OptimizerUsed {
    /// Whether it ran.
    pub(crate) enabled: bool,
    /// For how many runs it optimised.
    pub(crate) runs: u32,
}

impl Artifact {
    /// The bytes that are kept, always the same for the same artifact.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn id_of(bytes: &[u8]) -> String {
        format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
    }

    /// Its name: the hash of its content, settings and compiler.
    pub(crate) fn id(&self) -> String {
        Self::id_of(&self.to_bytes())
    }

    pub(crate) fn parsed_abi(&self) -> Result<JsonAbi, Fault> {
        abi::parse_abi(&self.abi)
    }

    /// The creation code with the addresses of libraries filled in.
    pub(crate) fn linked(&self, libraries: &BTreeMap<String, Address>) -> Result<Bytes, Fault> {
        let digits = self.bytecode.strip_prefix("0x").unwrap_or(&self.bytecode);
        if digits.is_empty() {
            let message = format!("`{}` is abstract or an interface and has no code to deploy", self.name);
            return Err(Fault::new(Code::DeployFailed, message));
        }
        let mut digits = digits.to_owned().into_bytes();
        for (library, places) in &self.unlinked {
            let short = library.rsplit(':').next().unwrap_or(library);
            let address = libraries.get(library).or_else(|| libraries.get(short)).ok_or_else(|| {
                let message = format!(
                    "`{}` needs the library `{library}`; deploy it first and give its address in `libraries`",
                    self.name
                );
                Fault::new(Code::DeployFailed, message)
            })?;
            let address = hex::encode(address);
            for place in places {
                let hole = digits.get_mut(place * 2..place * 2 + 40);
                let hole = hole.ok_or_else(|| Fault::internal("a library's place is outside of the code"))?;
                hole.copy_from_slice(address.as_bytes());
            }
        }
        let code = hex::decode(digits).map_err(|error| {
            Fault::internal(format!("the code of `{}` is not hexadecimal: {error}", self.name))
        })?;
        Ok(code.into())
    }
}
