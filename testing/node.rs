//! Programs from npm that we did not write, for tests that let them talk to ours.
//!
//! Packages are installed into a folder under the target directory, once, whichever test comes first; the others
//! wait for it. Without npm or without a way to install the packages a test fails and says what is missing: a
//! skipped proof is none.
//!
//! Included by the test binaries of several crates.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages that are installed.
pub(crate) struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Exactly those that a `package.json` names, with a Node.js among them; installed when they are missing or others.
    pub(crate) fn of(name: &str, wanted: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name);
        fs::create_dir_all(&folder).unwrap();
        let turn = File::create(folder.join("turn")).unwrap();
        turn.lock().unwrap();
        let seal = folder.join("installed.json");
        if !fs::read_to_string(&seal).is_ok_and(|installed| installed == wanted) {
            put(&folder.join("package.json"), wanted);
            let _none = fs::remove_dir_all(folder.join("node_modules"));
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]);
            let output = npm.current_dir(&folder).output();
            let remedy = "install Node.js 20 or newer with npm, and check the network";
            let output = output.unwrap_or_else(|error| panic!("{npm:?}: {error}\n{remedy}"));
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{npm:?} failed\n{told}\n{remedy}");
            // Written last, so that an installation that was cut off is not taken for a whole one.
            put(&seal, wanted);
        }
        Self { folder }
    }

    /// Their Node.js.
    pub(crate) fn node(&self) -> Command {
        let mut command = Command::new(self.path("node/bin/node"));
        command.env("NO_COLOR", "1");
        command
    }

    /// A file of theirs.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join("node_modules").join(file)
    }
}

/// Whole, or not at all: others read it at the same time.
fn put(path: &Path, text: &str) {
    use std::io::Write as _;
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap()).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.persist(path).unwrap();
}
