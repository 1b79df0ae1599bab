//! The digest of a package, and whether it is one or only stands in for one.

use std::fmt;
use std::str::FromStr;

use super::fault::Fault;
use crate::tool::{Digest, Pin, Quoted};

/// The digest of a package: `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageDigest {
    digest: Digest,
    state: DigestState,
}

/// Whether a digest says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestState {
    /// It can be the digest of a package.
    Real,
    /// Somebody filled it in by hand: zeros, a repeated pattern, or the digest of nothing.
    Placeholder,
}

impl PackageDigest {
    /// The digest.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether it says anything.
    pub fn state(&self) -> DigestState {
        self.state
    }
}

impl From<Digest> for PackageDigest {
    fn from(digest: Digest) -> Self {
        let state = if is_placeholder(digest) { DigestState::Placeholder } else { DigestState::Real };
        Self { digest, state }
    }
}

impl FromStr for PackageDigest {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        match text.parse() {
            Ok(Pin::Sha256(digest)) => Ok(digest.into()),
            Ok(Pin::Version(_)) | Err(_) => Err(Fault::Digest { given: Quoted::of(text) }),
        }
    }
}

impl fmt::Display for PackageDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Pin::Sha256(self.digest).fmt(f)
    }
}

/// Runs this long do not happen by chance.
const RUN: usize = 16;
/// A hash with fewer different digits does not happen by chance.
const DIFFERENT_DIGITS: usize = 6;

fn is_placeholder(digest: Digest) -> bool {
    let text = digest.to_string();
    let digits = text.as_bytes();
    let has_run = digits.windows(RUN).any(|run| run.iter().all(|digit| *digit == run[0]));
    let has_period = [1, 2, 4, 8, 16, 32].iter().any(|period| digits[*period..] == digits[..64 - period]);
    let mut different = digits.to_vec();
    different.sort_unstable();
    different.dedup();
    has_run || has_period || different.len() < DIFFERENT_DIGITS || digest == Digest::of(b"")
}
