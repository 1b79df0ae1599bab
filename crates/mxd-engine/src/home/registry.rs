//! The list of projects on disk: which there are, what they are called, and where they are.
//!
//! `projects.json` says which projects are registered. Beside the log of each project lies `project.json` with the same
//! entry, so that a project that was taken out finds its history again when it is registered again.

use std::path::{Path, PathBuf};

use mxd_core::id::ProjectId;
use mxd_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::error::HomeError;
use super::private;

/// Projects of one user.
pub const MOST_PROJECTS: usize = 1_000;

/// The newest form of the list that is understood.
const VERSION: u32 = 1;

/// A project, as the list has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The checkout of the user's.
    pub path: PathBuf,
    /// When it was first registered.
    pub created_at: Millis,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    version: u32,
    projects: Vec<Entry>,
}

/// Where the list and the projects are.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    data: PathBuf,
}

impl Shelf {
    pub(super) fn new(data: &Path) -> Self {
        Self { data: data.to_owned() }
    }

    fn list(&self) -> PathBuf {
        self.data.join("projects.json")
    }

    /// Everything of ours about a project.
    pub(super) fn folder(&self, id: ProjectId) -> PathBuf {
        self.data.join("projects").join(id.to_string())
    }

    /// The registered projects, in the order of their registration.
    pub(super) fn read(&self) -> Result<Vec<Entry>, HomeError> {
        let path = self.list();
        let Some(bytes) = private::read(&path).map_err(HomeError::file("read", &path))? else {
            return Ok(Vec::new());
        };
        let wrong = |why: String| HomeError::Registry { path: path.clone(), why };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if document.version > VERSION {
            let why = format!("its version is {}, and this program reads up to {VERSION}", document.version);
            return Err(wrong(why));
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = document.projects.iter().find(|entry| !seen.insert(entry.id)) {
            return Err(wrong(format!("the project {} is there twice", twice.id)));
        }
        Ok(document.projects)
    }

    /// Writes the list.
    pub(super) fn write(&self, projects: Vec<Entry>) -> Result<(), HomeError> {
        let path = self.list();
        self.publish(&path, &Document { version: VERSION, projects })
    }

    /// Writes a project's own entry.
    pub(super) fn write_own(&self, entry: &Entry) -> Result<(), HomeError> {
        let folder = self.folder(entry.id);
        private::make_folder(&folder).map_err(HomeError::file("make", &folder))?;
        self.publish(&folder.join("project.json"), entry)
    }

    fn publish(&self, path: &Path, document: &impl Serialize) -> Result<(), HomeError> {
        let text = serde_json::to_string_pretty(document)
            .map_err(|error| HomeError::Registry { path: path.to_owned(), why: error.to_string() })?;
        private::publish(path, format!("{text}\n").as_bytes()).map_err(HomeError::file("write", path))
    }

    /// The newest project that was at this path and is kept, but not registered.
    pub(super) fn kept(&self, path: &Path, registered: &[Entry]) -> Option<Entry> {
        let folders = std::fs::read_dir(self.data.join("projects")).ok()?;
        let own = folders.filter_map(|folder| {
            let bytes = private::read(&folder.ok()?.path().join("project.json")).ok()??;
            serde_json::from_slice::<Entry>(&bytes).ok()
        });
        let free = |entry: &Entry| !registered.iter().any(|other| other.id == entry.id);
        own.filter(|entry| entry.path == path && free(entry)).max_by_key(|entry| entry.id)
    }
}
