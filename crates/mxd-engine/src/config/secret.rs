//! Credentials in a configuration: a reference to a variable, or a literal that nothing here can print.

use std::fmt;

use mxd_core::manifest::EnvName;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de};

/// What a reference begins with.
pub(super) const REFERENCE: &str = "$env:";

/// Characters of a credential.
const MAX_CHARS: usize = 8 * 1024;

/// A credential.
#[derive(Clone)]
pub enum Secret {
    /// What the variable of this name holds when the credential is used.
    Env(EnvName),
    /// The credential itself; only in the user layer.
    Literal(SecretString),
}

/// Why a credential cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The variable is not there.
    #[error("the variable {name}, which `{path}` refers to, is not set or empty")]
    Unset {
        /// Which variable.
        name: EnvName,
        /// Which key of the configuration.
        path: String,
    },
    /// What it holds cannot be sent.
    #[error("the credential that `{path}` refers to holds a line break or a control character")]
    Control {
        /// Which key of the configuration.
        path: String,
    },
}

impl SecretError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unset { name, .. } => {
                format!("Set {name} where the daemon runs and start it again, or name another variable.")
            }
            Self::Control { .. } => {
                "Store the credential again, without the line break at its end.".to_owned()
            }
        }
    }
}

impl Secret {
    /// The credential, where variables are looked up by the caller.
    ///
    /// # Errors
    ///
    /// When the variable is not there, or holds what no header can.
    pub fn resolve(
        &self,
        path: &str,
        lookup: &dyn Fn(&str) -> Option<SecretString>,
    ) -> Result<SecretString, SecretError> {
        let secret = match self {
            Self::Literal(secret) => secret.clone(),
            Self::Env(name) => lookup(name.as_str())
                .filter(|secret| !secret.expose_secret().is_empty())
                .ok_or_else(|| SecretError::Unset { name: name.clone(), path: path.to_owned() })?,
        };
        if secret.expose_secret().chars().any(char::is_control) {
            return Err(SecretError::Control { path: path.to_owned() });
        }
        Ok(secret)
    }
}

/// Whether a text is a credential itself and no reference to one.
pub(super) fn is_literal(text: &str) -> bool {
    !text.starts_with(REFERENCE)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "{REFERENCE}{name}"),
            Self::Literal(_) => f.write_str("[secret]"),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix(REFERENCE) {
            // What is wrong is not repeated: a key may have been glued to the mark.
            Some(name) => name.parse().map(Self::Env).map_err(|_| de::Error::custom("no name of a variable")),
            None => Ok(Self::Literal(text.into())),
        }
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Secret".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_CHARS })
    }
}
