//! A folder in which packages are installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use mxd_core::manifest::{Package, Placeholders, Program};
use mxd_core::tool::Digest;
use mxd_tools::package::{Measured, PackageError, Packages, Places, Runnable, Store};
use tempfile::TempDir;

pub(super) struct Ground {
    folder: TempDir,
    pub(super) packages: Packages,
}

impl Ground {
    pub(super) fn new() -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = Places {
            near: vec![root.join("near")],
            path: format!("{}/bin:/usr/bin:/bin", root.display()),
            home: root.join("home"),
            beside: root.join("beside"),
        };
        for name in ["near", "bin", "home", "beside"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let store = Store::open(&root.join("store")).unwrap();
        Self { folder, packages: Packages { store, places, placeholders: Placeholders::Refuse } }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        write(&self.path(name), bytes.as_ref(), false);
    }

    pub(super) fn program(&self, name: &str, bytes: impl AsRef<[u8]>) {
        write(&self.path(name), bytes.as_ref(), true);
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_dir_all(self.path(name)).unwrap();
    }

    /// An npm package with one file, and what it depends on.
    pub(super) fn npm(&self, folder: &str, (name, version): (&str, &str), needs: &[&str]) {
        let needs: serde_json::Map<String, serde_json::Value> =
            needs.iter().map(|need| ((*need).to_owned(), "*".into())).collect();
        let description = serde_json::json!({
            "name": name, "version": version, "bin": { "run": "index.js" }, "dependencies": needs,
        });
        self.write(&format!("{folder}/package.json"), description.to_string());
        self.program(&format!("{folder}/index.js"), format!("#!/usr/bin/env node\nconsole.log('{name}')\n"));
    }

    /// A virtual environment without anything installed.
    pub(super) fn venv(&self) {
        self.write("near/.venv/pyvenv.cfg", "home = /usr/bin\n");
        fs::create_dir_all(self.path("near/.venv/bin")).unwrap();
        fs::create_dir_all(self.path("near/.venv/lib/python3.11/site-packages")).unwrap();
        symlink("/bin/sh", self.path("near/.venv/bin/python")).unwrap();
    }

    /// A distribution with one module.
    pub(super) fn pypi(&self, (name, version): (&str, &str), needs: &[&str]) {
        let (site, info) = ("near/.venv/lib/python3.11/site-packages", format!("{name}-{version}.dist-info"));
        let needs: String = needs.iter().map(|need| format!("Requires-Dist: {need}\n")).collect();
        self.write(
            &format!("{site}/{info}/METADATA"),
            format!("Name: {name}\nVersion: {version}\n{needs}\nwords\n"),
        );
        self.write(
            &format!("{site}/{info}/entry_points.txt"),
            format!("[console_scripts]\n{name} = {name}:main\n"),
        );
        self.write(&format!("{site}/{info}/INSTALLER"), "pip\n");
        self.write(&format!("{site}/{name}/__init__.py"), format!("def main(): print('{name}')\n"));
        let record = format!(
            "../../../bin/{name},sha256=x,1\n{info}/METADATA,,\n{info}/entry_points.txt,,\n{info}/INSTALLER,,\n\
             {info}/RECORD,,\n{name}/__init__.py,,\n{name}/__pycache__/__init__.cpython-311.pyc,,\n"
        );
        self.write(&format!("{site}/{info}/RECORD"), record);
    }

    pub(super) fn measure(&self, words: &[&str]) -> Result<Measured, PackageError> {
        self.packages.measure(&command(words))
    }

    pub(super) fn digest(&self, words: &[&str]) -> Digest {
        self.measure(words).unwrap().digest
    }

    pub(super) fn prepare(
        &self,
        words: &[&str],
        (version, digest): (&str, Digest),
    ) -> Result<Runnable, PackageError> {
        let package = Package { version: version.parse().unwrap(), digest: digest.into() };
        self.packages.prepare(&"some".parse().unwrap(), &command(words), &package)
    }
}

pub(super) fn command(words: &[&str]) -> Program {
    let (command, args) = words.split_first().unwrap();
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    Program { command: (*command).to_owned(), args, env: Vec::new() }
}

pub(super) fn write(path: &Path, bytes: &[u8], executable: bool) {
    use std::io::Write as _;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
