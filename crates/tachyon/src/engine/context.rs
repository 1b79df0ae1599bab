//! What a call brings with it: who calls, a way to stop it, and a way to tell how far it is.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::fault::Fault;
use crate::limits;

/// Whose registry, chain and artifacts a call uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantName(String);

impl TenantName {
    /// A name of small letters, digits, `-` and `_`.
    pub fn new(name: &str) -> Result<Self, Fault> {
        if is_name(name) {
            return Ok(Self(name.to_owned()));
        }
        let most = limits::NAME_BYTES;
        Err(Fault::invalid(format!(
            "`{name}` is not a name of small letters, digits, `-` and `_`, at most {most}"
        )))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether this can be the name of something, and of a file.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    (1..=limits::NAME_BYTES).contains(&name.len()) && name.bytes().all(plain)
}

/// Tells the caller how far a call is. Telling never waits: what nobody reads is dropped.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<mpsc::Sender<String>>);

impl Progress {
    /// Tells whoever reads the other end.
    pub fn to(listener: mpsc::Sender<String>) -> Self {
        Self(Some(listener))
    }

    pub(crate) fn tell(&self, what: impl Into<String>) {
        if let Some(listener) = &self.0 {
            let _ = listener.try_send(what.into());
        }
    }
}

/// What a call brings with it.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Who calls.
    pub tenant: TenantName,
    /// Cancelled when the caller does not want the answer any more.
    pub cancel: CancellationToken,
    /// Who wants to know how far it is.
    pub progress: Progress,
}

impl CallContext {
    /// A call of this tenant that nobody watches.
    pub fn of(tenant: TenantName) -> Self {
        Self { tenant, cancel: CancellationToken::new(), progress: Progress::default() }
    }
}
