//! A user, a repository and a project in a scratch folder.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use mxd_engine::config::{Config, Fault, Layer, Places, Problems};
use serde_json::Value;
use tempfile::TempDir;

pub(super) struct Scene {
    pub(super) places: Places,
    _scratch: TempDir,
}

impl Scene {
    pub(super) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let (data, repository) = (scratch.path().join("data"), scratch.path().join("repository"));
        let project = data.join("projects/one");
        for folder in [&data, &repository, &project] {
            fs::create_dir_all(folder).unwrap();
        }
        let places = Places { data, repository: Some(repository), project: Some(project) };
        Self { places, _scratch: scratch }
    }

    /// A scene with these files.
    pub(super) fn of(files: &[(Layer, Value)]) -> Self {
        let scene = Self::new();
        for (layer, value) in files {
            scene.write(*layer, &value.to_string());
        }
        scene
    }

    pub(super) fn file(&self, layer: Layer) -> PathBuf {
        self.places.file(layer).unwrap()
    }

    pub(super) fn write(&self, layer: Layer, text: &str) {
        let file = self.file(layer);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::File::create(&file).unwrap().write_all(text.as_bytes()).unwrap();
        self.chmod(layer, 0o600);
    }

    pub(super) fn chmod(&self, layer: Layer, mode: u32) {
        fs::set_permissions(self.file(layer), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn read(&self, layer: Layer) -> String {
        fs::read_to_string(self.file(layer)).unwrap()
    }

    pub(super) fn load(&self) -> Config {
        Config::load(&self.places).unwrap_or_else(|problems| panic!("{problems}"))
    }

    pub(super) fn is_good(&self) -> bool {
        Config::load(&self.places).is_ok()
    }

    pub(super) fn problems(&self) -> Problems {
        Config::load(&self.places).expect_err("something is wrong")
    }

    /// The problems as path and fault.
    pub(super) fn faults(&self) -> Vec<(String, Fault)> {
        self.problems().problems.into_iter().map(|problem| (problem.path, problem.fault)).collect()
    }

    /// The paths of the problems.
    pub(super) fn paths(&self) -> Vec<String> {
        self.problems().problems.into_iter().map(|problem| problem.path).collect()
    }
}
