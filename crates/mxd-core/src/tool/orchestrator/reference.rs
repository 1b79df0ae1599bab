//! How models name tasks and projects: by id, or by as much of it as is unique.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::id::TaskId;
use crate::lookup::{self, LookupError};

/// A task or folder as a model names it: its id, or the first characters of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("minLength" = lookup::SHORTEST_PREFIX, "maxLength" = 26))]
pub struct TaskRef(String);

impl TaskRef {
    /// What the model wrote.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The node that is meant.
    ///
    /// # Errors
    ///
    /// When it names none, or several.
    pub fn resolve<V>(&self, nodes: &BTreeMap<TaskId, V>) -> Result<TaskId, LookupError> {
        lookup::resolve(&self.0, nodes)
    }
}

impl From<TaskId> for TaskRef {
    fn from(id: TaskId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
