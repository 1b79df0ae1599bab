//! The spelling of manifests, plans and the command line: `matrix://tool/mcp/<server>/<tool>@<pin>`.
//!
//! The native form `matrix://tool/<namespace>/<name>@<pin>` is read, too, so that manifests can list such
//! tools; nothing can call them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::id::{NameError, PinnedTool, ToolId, ToolName};
use super::limits;
use super::pin::{Pin, PinError};
use super::spelling::text_serde;
use super::text::Quoted;

const SCHEME: &str = "matrix://tool/";
const PROVIDER: &str = "mcp";

/// A tool URI, of either form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolUri {
    /// A tool of an MCP server.
    Mcp(PinnedTool),
    /// A native tool.
    Native(NativeTool),
}

/// A tool that belongs to no server. It has a place in manifests; it cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NativeTool {
    /// The family it belongs to.
    pub namespace: Namespace,
    /// Its name there.
    pub name: ToolName,
    /// Its version.
    pub pin: Pin,
}

macro_rules! namespaces {
    ($($(#[$doc:meta])* $variant:ident = $word:literal;)+) => {
        /// The families of native tools. The set is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Namespace {
            $($(#[$doc])* $variant,)+
        }

        impl Namespace {
            /// All families.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its word.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

namespaces! {
    /// `argus`
    Argus = "argus";
    /// `orob`
    Orob = "orob";
    /// `plv`
    Plv = "plv";
    /// `pofq`
    Pofq = "pofq";
    /// `registry`
    Registry = "registry";
    /// `payments`
    Payments = "payments";
    /// `attest`
    Attest = "attest";
    /// `chain`
    Chain = "chain";
}

/// Why a text is no tool URI.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolUriError {
    /// There is no `@`, or nothing behind it.
    #[error("the tool `{uri}` is not pinned")]
    UnpinnedTool {
        /// What was given.
        uri: Quoted,
    },
    /// Anything else.
    #[error("`{uri}` is no tool URI: {reason}")]
    InvalidUri {
        /// What was given.
        uri: Quoted,
        /// What is wrong with it.
        reason: UriFault,
    },
}

/// What is wrong with a tool URI.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum UriFault {
    #[error("it has {given} bytes, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("it does not begin with matrix://tool/")]
    Scheme,
    #[error("between matrix://tool/ and @ there are {given} parts instead of two or three")]
    Parts { given: usize },
    #[error("`{given}` provides no tools, only mcp does")]
    Provider { given: Quoted },
    #[error("`{given}` is no namespace of native tools")]
    Namespace { given: Quoted },
    #[error("it names a native tool where one of a server is needed")]
    Native,
    #[error("{0}")]
    Name(#[from] NameError),
    #[error("{0}")]
    Pin(#[from] PinError),
}

impl ToolUriError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        let Self::InvalidUri { reason, .. } = self else {
            return "Put the version behind it: @1.2.3 or @sha256:<64 hexadecimal digits>.";
        };
        match reason {
            UriFault::TooLong { .. } => "Use shorter names.",
            UriFault::Scheme | UriFault::Provider { .. } | UriFault::Native => {
                "Write matrix://tool/mcp/<server>/<tool>@<pin>."
            }
            UriFault::Parts { .. } => "Names have no `/`: matrix://tool/mcp/<server>/<tool>@<pin>.",
            UriFault::Namespace { .. } => {
                "Native tools are in argus, orob, plv, pofq, registry, payments, attest and chain; \
                 tools of servers read matrix://tool/mcp/<server>/<tool>@<pin>."
            }
            UriFault::Name(name) => name.hint(),
            UriFault::Pin(pin) => pin.hint(),
        }
    }
}

impl FromStr for ToolUri {
    type Err = ToolUriError;

    fn from_str(text: &str) -> Result<Self, ToolUriError> {
        let uri = || Quoted::of(text);
        let invalid = |reason| ToolUriError::InvalidUri { uri: uri(), reason };
        if text.len() > limits::URI_BYTES {
            return Err(invalid(UriFault::TooLong { given: text.len(), limit: limits::URI_BYTES }));
        }
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| invalid(UriFault::Scheme))?;
        // The last one: only the pin behind it is known to have none.
        let (path, pin) = match rest.rsplit_once('@') {
            None | Some((_, "")) => return Err(ToolUriError::UnpinnedTool { uri: uri() }),
            Some(parts) => parts,
        };
        let pin = pin.parse().map_err(|error: PinError| invalid(error.into()))?;
        from_path(path, pin).map_err(invalid)
    }
}

fn from_path(path: &str, pin: Pin) -> Result<ToolUri, UriFault> {
    let parts: Vec<&str> = path.split('/').collect();
    match *parts.as_slice() {
        [PROVIDER, server, tool] => {
            let id = ToolId { server: server.parse()?, tool: tool.parse()? };
            Ok(ToolUri::Mcp(PinnedTool { id, pin }))
        }
        [provider, _, _] => Err(UriFault::Provider { given: Quoted::of(provider) }),
        [namespace, name] => {
            let known = Namespace::ALL.iter().find(|known| known.name() == namespace);
            let namespace = *known.ok_or_else(|| UriFault::Namespace { given: Quoted::of(namespace) })?;
            Ok(ToolUri::Native(NativeTool { namespace, name: name.parse()?, pin }))
        }
        _ => Err(UriFault::Parts { given: parts.len() }),
    }
}

impl FromStr for PinnedTool {
    type Err = ToolUriError;

    fn from_str(text: &str) -> Result<Self, ToolUriError> {
        match text.parse()? {
            ToolUri::Mcp(tool) => Ok(tool),
            ToolUri::Native(_) => {
                Err(ToolUriError::InvalidUri { uri: Quoted::of(text), reason: UriFault::Native })
            }
        }
    }
}

impl fmt::Display for ToolUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mcp(tool) => tool.fmt(f),
            Self::Native(tool) => tool.fmt(f),
        }
    }
}

impl fmt::Display for NativeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}@{}", self.namespace.name(), self.name, self.pin)
    }
}

impl fmt::Display for PinnedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{PROVIDER}/{}/{}@{}", self.id.server, self.id.tool, self.pin)
    }
}

impl fmt::Debug for PinnedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedTool({self})")
    }
}

text_serde!(ToolUri);
text_serde!(PinnedTool);
