//! `keygen`, `sign`, and what `verify` says about signatures.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use mxd_core::manifest::{self, AgentManifest, DidKey, Placeholders, RequiredSigners};
use secrecy::{ExposeSecret as _, SecretBox};
use serde_json::json;

use crate::answer::{Answer, Failure, Trouble};
use crate::cli::{Common, Keygen, Sign};
use crate::code::Code;
use crate::files;

/// Bytes of a key file.
const KEY_BYTES: usize = 128;

/// The private half of a key.
type Seed = SecretBox<[u8; 32]>;

pub(crate) fn keygen(keygen: &Keygen) -> Result<Answer, Failure> {
    let mut failed = None;
    let seed: Seed = SecretBox::init_with_mut(|seed: &mut [u8; 32]| failed = getrandom::fill(seed).err());
    if let Some(error) = failed {
        let what = format!("the system has no random numbers: {error}");
        return Err(Trouble::new(Code::Trouble, what, "Try again.").into());
    }
    let text = secrecy::SecretString::from(format!("{}\n", hex::encode(seed.expose_secret())));
    files::write_secret(&keygen.output, text.expose_secret())?;
    let signer = manifest::signer(&seed);
    let text = format!("{signer}\nThe key is in {}: keep it secret, and keep it.\n", keygen.output.display());
    let result = json!({ "signer": signer, "key": keygen.output });
    Ok(Answer { result, text, ..Answer::default() })
}

pub(crate) fn sign(common: &Common, sign: &Sign) -> Result<Answer, Failure> {
    let manifest = files::manifest(&common.manifest, Placeholders::Refuse)?;
    let signature = manifest::sign(&manifest, &seed(&sign.key)?);
    let output = sign.output.clone().unwrap_or_else(|| files::signature_path(&common.manifest));
    files::write(&output, signature.to_string())?;
    let address = format!("sha256:{}", manifest.address());
    let text = format!("{} signed {address}\nThe signature is in {}.\n", signature.signer, output.display());
    let result = json!({ "signer": signature.signer, "manifest": address, "signature": output });
    Ok(Answer { result, text, ..Answer::default() })
}

/// The key in a file that nobody else can read.
fn seed(path: &Path) -> Result<Seed, Trouble> {
    let shown = path.display();
    let bad = |what: String, hint: &str| Trouble::new(Code::Invalid, what, hint);
    let text = secrecy::SecretSlice::from(files::read(path, KEY_BYTES)?);
    let mode = fs::metadata(path).map_or(0o777, |about| about.permissions().mode());
    if mode & 0o077 != 0 {
        let hint = format!("Take it back: chmod 600 {shown}. If others have seen it, make a new one.");
        return Err(bad(format!("the key in {shown} can be read by others"), &hint));
    }
    let mut bytes = [0; 32];
    let is_key = hex::decode_to_slice(text.expose_secret().trim_ascii(), &mut bytes).is_ok();
    if !is_key {
        return Err(bad(format!("{shown} holds no key"), "Make one with `mcl-tools keygen`."));
    }
    Ok(SecretBox::new(Box::new(bytes)))
}

/// Who vouches for a manifest, or why nobody does.
pub(crate) fn checked(
    common: &Common,
    manifest: &AgentManifest,
    signers: &[DidKey],
) -> Result<Option<DidKey>, Failure> {
    let required = match signers {
        [] => RequiredSigners::Nobody,
        signers => RequiredSigners::OneOf(signers.iter().copied().collect::<BTreeSet<_>>()),
    };
    let wrong = |error: manifest::SignatureError| Trouble::new(Code::Signature, &error, error.hint());
    match files::signature(&files::signature_path(&common.manifest))? {
        None => {
            required.admit_unsigned().map_err(wrong)?;
            Ok(None)
        }
        Some(signature) => {
            manifest::verify(manifest, &signature, &required).map_err(wrong)?;
            Ok(Some(signature.signer))
        }
    }
}
