//! The three layers of a configuration: where they lie, and which of them wins.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a configuration file is called in every layer.
pub const FILE: &str = "config.json";

/// The folder of a project that belongs to Matrix.
pub const FOLDER: &str = ".mxd";

/// Where a value can come from. A later layer wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The user's own, for all projects.
    User,
    /// The repository's, which is committed and arrives with every clone. It is written by whoever can write to the
    /// repository, so with it agents may do no more than without it: it lowers limits, denies, and adds checks.
    Repository,
    /// The user's own, for one project.
    Project,
}

impl Layer {
    /// All of them, the strongest last.
    pub const ALL: [Self; 3] = [Self::User, Self::Repository, Self::Project];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Repository => "repository",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where the layers of one project lie. Nothing is looked up in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's data folder, usually `~/.mxd`.
    pub data: PathBuf,
    /// The checkout of the project, when there is one.
    pub repository: Option<PathBuf>,
    /// The data folder of the project, when there is one.
    pub project: Option<PathBuf>,
}

impl Places {
    /// The user's own configuration, without any project.
    pub fn user_only(data: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), repository: None, project: None }
    }

    /// The folder that the file of a layer lies in.
    pub fn folder(&self, layer: Layer) -> Option<PathBuf> {
        match layer {
            Layer::User => Some(self.data.clone()),
            Layer::Repository => self.repository.as_deref().map(|root| root.join(FOLDER)),
            Layer::Project => self.project.clone(),
        }
    }

    /// The file of a layer.
    pub fn file(&self, layer: Layer) -> Option<PathBuf> {
        self.folder(layer).map(|folder: PathBuf| folder.join(FILE))
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Origin {
    /// Nobody said anything, so it is what the program does by itself.
    Default,
    /// A file said so.
    #[serde(rename_all = "camelCase")]
    File {
        /// Of which layer.
        layer: Layer,
        /// Which.
        file: PathBuf,
    },
}

impl Origin {
    /// The layer, when a file said so.
    pub fn layer(&self) -> Option<Layer> {
        match self {
            Self::Default => None,
            Self::File { layer, .. } => Some(*layer),
        }
    }

    pub(super) fn file(layer: Layer, file: &Path) -> Self {
        Self::File { layer, file: file.to_owned() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { layer, file } => write!(f, "{layer} ({})", file.display()),
        }
    }
}
