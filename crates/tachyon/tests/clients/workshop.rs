//! What these tests need from elsewhere, installed once below the target directory.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The compiler and the libraries of the story.
const SOLC: &str = "0.8.30";
const LIBRARIES: [&str; 2] = ["@openzeppelin/contracts@5.4.0", "@layerzerolabs/toolbox-foundry@0.1.13"];
const NODES: [&str; 2] = ["@foundry-rs/anvil@1.7.1", "ganache@7.9.2"];

pub(crate) fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

pub(crate) fn run(command: &mut Command, remedy: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}\n{remedy}"));
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed\n{told}{error}\n{remedy}");
    told.into_owned()
}

/// A folder with everything in it.
pub(crate) struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// Installs what is missing. Tests in other processes wait meanwhile.
    pub(crate) fn open() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tachyon-workshop");
        fs::create_dir_all(folder.join("nodes")).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        let shop = Self { folder };
        let wanted = format!(
            "{SOLC} {LIBRARIES:?} {NODES:?} {}",
            fs::read_to_string(here().join("requirements.txt")).unwrap()
        );
        // Written last, so that an installation that was cut off is not taken for a whole one.
        let seal = shop.folder.join("installed");
        if fs::read_to_string(&seal).is_ok_and(|installed| installed == wanted) {
            return shop;
        }
        shop.install();
        File::create(seal).unwrap().write_all(wanted.as_bytes()).unwrap();
        shop
    }

    fn install(&self) {
        let venv = "install python3 with its venv module (on Debian: apt install python3-venv)";
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(self.folder.join("venv")), venv);
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        let network = "packages must be installable: check the network";
        run(Command::new(self.python()).args(pip).arg(here().join("requirements.txt")), network);
        let tachyon = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
            command.arg("--data").arg(self.folder.join("data"));
            command
        };
        let node = "install Node.js with npm, and check the network";
        run(tachyon().args(["solc", "install", SOLC]), node);
        for library in LIBRARIES {
            run(tachyon().args(["library", "add", library]), node);
        }
        let npm = ["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").args(npm).args(NODES).current_dir(self.folder.join("nodes")), node);
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("venv/bin/python")
    }

    /// A fresh data folder.
    pub(crate) fn data(&self) -> TempDir {
        tempfile::tempdir().unwrap()
    }

    /// A configuration that finds compiler and libraries.
    pub(crate) fn config(&self, data: &TempDir) -> PathBuf {
        let path = data.path().join("config.json");
        let modules = self.folder.join("data/libraries/node_modules");
        let config = serde_json::json!({
            "solc": self.folder.join(format!("data/solc/{SOLC}/soljson.js")),
            "libraries": [&modules, modules.join("@layerzerolabs/toolbox-foundry/lib")],
        });
        File::create(&path).unwrap().write_all(config.to_string().as_bytes()).unwrap();
        path
    }

    /// The program of a node.
    pub(crate) fn node(&self, name: &str) -> Command {
        let modules = self.folder.join("nodes/node_modules");
        match name {
            "anvil" => {
                let packages =
                    fs::read_dir(modules.join("@foundry-rs")).unwrap().map(|entry| entry.unwrap().path());
                let mut programs = packages.map(|package| package.join("bin/anvil"));
                Command::new(programs.find(|program| program.is_file()).expect("no anvil for this machine"))
            }
            _ => {
                let mut command = Command::new("node");
                command.arg(modules.join("ganache/dist/node/cli.js"));
                command
            }
        }
    }
}
