//! Detached signatures of manifests: who vouches for exactly these words.
//!
//! What is signed is a line that says what it is and the canonical spelling of the manifest, so that a
//! signature of something else can never pass for one of a manifest.

use std::collections::BTreeSet;
use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey};
use secrecy::{ExposeSecret as _, SecretBox};
use serde::Serialize;
use thiserror::Error;

use super::did_key::DidKey;
use super::fault::{Fault, Faults, Problems};
use super::limits;
use super::parse::AgentManifest;
use super::place::Place;
use crate::json;
use crate::tool::{Digest, Pin, Quoted};

const KEYS: &[&str] = &["schema_version", "signer", "manifest", "signature"];
const DOMAIN: &str = "mxd manifest signature 1\n";

/// A signature of a manifest, as its file has it.
#[derive(Clone, PartialEq, Eq)]
pub struct ManifestSignature {
    /// Who signed.
    pub signer: DidKey,
    /// What was signed, by its content.
    pub manifest: Digest,
    signature: [u8; 64],
}

/// Whose signatures count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequiredSigners {
    /// A manifest need not be signed. If it is, the signature has to be right.
    Nobody,
    /// One of these has to have signed.
    OneOf(BTreeSet<DidKey>),
}

/// Why a manifest is not vouched for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum SignatureError {
    #[error("the manifest is not signed")]
    Unsigned,
    #[error("the signature is about the manifest sha256:{signed}, not about sha256:{found}")]
    OtherManifest { signed: Digest, found: Digest },
    #[error("the manifest is signed by {signer}, whose signature does not count here")]
    OtherSigner { signer: DidKey },
    #[error("the signature was not made by {signer} for this manifest")]
    Forged { signer: DidKey },
}

impl SignatureError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unsigned => "Have one of the required signers sign it with `mcl-tools sign`.",
            Self::OtherManifest { .. } => "The manifest was changed: look at the change, then sign it again.",
            Self::OtherSigner { .. } => {
                "Have a required signer sign it, or add this one to the configuration."
            }
            Self::Forged { .. } => "Do not use the manifest: ask its signer for it again.",
        }
    }
}

impl RequiredSigners {
    /// Whether a manifest without a signature may be used.
    pub fn admit_unsigned(&self) -> Result<(), SignatureError> {
        match self {
            Self::Nobody => Ok(()),
            Self::OneOf(_) => Err(SignatureError::Unsigned),
        }
    }
}

/// Signs a manifest. The same seed and manifest always give the same signature.
pub fn sign(manifest: &AgentManifest, seed: &SecretBox<[u8; 32]>) -> ManifestSignature {
    let key = SigningKey::from_bytes(seed.expose_secret());
    let signature = key.sign(&signed_bytes(manifest)).to_bytes();
    ManifestSignature { signer: DidKey::of(&key.verifying_key()), manifest: manifest.address(), signature }
}

/// Who signs with a seed.
pub fn signer(seed: &SecretBox<[u8; 32]>) -> DidKey {
    DidKey::of(&SigningKey::from_bytes(seed.expose_secret()).verifying_key())
}

/// Checks that a required signer signed exactly this manifest.
pub fn verify(
    manifest: &AgentManifest,
    signature: &ManifestSignature,
    required: &RequiredSigners,
) -> Result<(), SignatureError> {
    let ManifestSignature { signer, manifest: signed, signature } = signature;
    let (signer, found) = (*signer, manifest.address());
    if *signed != found {
        return Err(SignatureError::OtherManifest { signed: *signed, found });
    }
    match required {
        RequiredSigners::OneOf(signers) if !signers.contains(&signer) => {
            return Err(SignatureError::OtherSigner { signer });
        }
        RequiredSigners::OneOf(_) | RequiredSigners::Nobody => {}
    }
    let key = signer.key().ok_or(SignatureError::Forged { signer })?;
    let signature = Signature::from_bytes(signature);
    key.verify_strict(&signed_bytes(manifest), &signature).map_err(|_| SignatureError::Forged { signer })
}

fn signed_bytes(manifest: &AgentManifest) -> Vec<u8> {
    [DOMAIN.as_bytes(), manifest.canonical().as_bytes()].concat()
}

impl ManifestSignature {
    /// Reads a signature file, or says everything that is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problems> {
        let text = str::from_utf8(bytes).map_err(|_| Problems::whole(Fault::NotUtf8))?;
        let node = json::read(text, limits::SIGNATURE).map_err(|error| Problems::whole(error.into()))?;
        let mut faults = Faults::of(text);
        let read = read(&Place::root(&node), &mut faults);
        faults.finish(read)
    }
}

fn read(root: &Place<'_>, faults: &mut Faults<'_>) -> Option<ManifestSignature> {
    let fields = root.fields(faults, KEYS)?;
    fields.schema_version(faults);
    let signer = fields.required(faults, "signer").and_then(|place| place.parsed(faults));
    let manifest = fields.required(faults, "manifest").and_then(|place| {
        let text = place.string(faults)?;
        let Ok(Pin::Sha256(digest)) = text.parse() else {
            place.add(faults, Fault::Digest { given: Quoted::of(text) });
            return None;
        };
        Some(digest)
    });
    let signature = fields.required(faults, "signature").and_then(|place| {
        let bytes = from_hex(place.string(faults)?);
        if bytes.is_none() {
            place.add(faults, Fault::SignatureForm);
        }
        bytes
    });
    Some(ManifestSignature { signer: signer?, manifest: manifest?, signature: signature? })
}

fn from_hex(text: &str) -> Option<[u8; 64]> {
    let half = |text: &str| text.parse().ok().map(|digest: Digest| digest.bytes());
    let (first, second) = text.split_at_checked(64)?;
    [half(first)?, half(second)?].concat().try_into().ok()
}

impl fmt::Display for ManifestSignature {
    /// The file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[derive(Serialize)]
        struct File {
            schema_version: u32,
            signer: String,
            manifest: String,
            signature: String,
        }
        let signature = self.signature.iter().map(|byte| format!("{byte:02x}")).collect();
        let manifest = Pin::Sha256(self.manifest).to_string();
        let file = File { schema_version: 1, signer: self.signer.to_string(), manifest, signature };
        let text = serde_json::to_string_pretty(&file).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}

impl fmt::Debug for ManifestSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManifestSignature({} for {})", self.signer, self.manifest)
    }
}
