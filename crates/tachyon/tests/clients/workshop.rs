//! What these tests need from elsewhere, installed once below the target directory.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The compiler of the story, and those of the third-party tests.
const SOLC: &str = "0.8.30";
const COMPILERS: [&str; 4] = [SOLC, "0.8.26", "0.8.24", "0.8.19"];
const LIBRARIES: [&str; 2] = ["@openzeppelin/contracts@5.4.0", "@layerzerolabs/toolbox-foundry@0.1.13"];
const PROGRAMS: [&str; 4] = [
    "@foundry-rs/anvil@1.7.1",
    "@foundry-rs/forge@1.7.1",
    "ganache@7.9.2",
    "@modelcontextprotocol/inspector-cli@1.0.3",
];
/// Contracts with Foundry tests, and the library they import. The first wants packages that have nothing to do with its tests,
/// so they are fetched without what they depend on.
const SUITES: [(&str, &str); 2] = [
    ("@chainlink/contracts@1.4.0", ""),
    ("@openzeppelin/contracts@4.9.6", "node_modules/@openzeppelin/contracts"),
];

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

/// Replaces a file.
pub(crate) fn write(path: &Path, text: &str) {
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A folder with everything in it.
pub(crate) struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// Installs what is missing. Tests in other processes wait meanwhile.
    pub(crate) fn open() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tachyon-workshop");
        fs::create_dir_all(folder.join("programs")).unwrap();
        let lock = File::create(folder.join("lock")).unwrap();
        lock.lock().unwrap();
        let shop = Self { folder };
        let wanted = format!(
            "{COMPILERS:?} {LIBRARIES:?} {PROGRAMS:?} {SUITES:?} {}",
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
        for version in COMPILERS {
            run(tachyon().args(["solc", "install", version]), node);
            self.put_in_place(version);
        }
        for library in LIBRARIES {
            run(tachyon().args(["library", "add", library]), node);
        }
        let npm = ["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").args(npm).args(PROGRAMS).current_dir(self.folder.join("programs")), node);
        // The Inspector's command line asks the package that it is a part of for its version.
        let whole = self.modules().join("@modelcontextprotocol/package.json");
        write(&whole, r#"{ "name": "@modelcontextprotocol/inspector", "version": "1.0.3" }"#);
        for (package, place) in SUITES {
            let place = self.suites().join(place);
            fs::create_dir_all(&place).unwrap();
            let pack = ["pack", "--silent", "--ignore-scripts", package];
            let archive = run(Command::new("npm").args(pack).current_dir(&self.folder), node);
            let mut unpack = Command::new("tar");
            unpack.arg("xzf").arg(archive.trim()).arg("--strip-components=1").arg("-C").arg(&place);
            run(unpack.current_dir(&self.folder), "install tar");
        }
    }

    /// A program that looks like a native compiler to forge.
    fn put_in_place(&self, version: &str) {
        let path = self.compiler_program(version);
        let compile = "require('fs').writeSync(1, s.cwrap('solidity_compile', 'string', ['string', 'number', 'number'])\
                       (require('fs').readFileSync(0, 'utf8'), 0, 0))";
        let tell = "console.log('Version: ' + s.cwrap('solidity_version', 'string', [])())";
        write(
            &path,
            &format!(
                "#!/bin/sh\nexec node --stack-size=4000 -e \"const s = require('{}'); \
             if (process.argv[1] === '--version') {tell}; else {compile}\" -- \"$@\"\n",
                self.compiler(version).display()
            ),
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Third-party contracts and their tests.
    pub(crate) fn suites(&self) -> PathBuf {
        self.folder.join("suites")
    }

    /// The script of a compiler.
    pub(crate) fn compiler(&self, version: &str) -> PathBuf {
        self.folder.join(format!("data/solc/{version}/soljson.js"))
    }

    pub(crate) fn compiler_program(&self, version: &str) -> PathBuf {
        self.folder.join(format!("data/solc/{version}/solc"))
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
            "solc": self.compiler(SOLC),
            "libraries": [&modules, modules.join("@layerzerolabs/toolbox-foundry/lib")],
        });
        File::create(&path).unwrap().write_all(config.to_string().as_bytes()).unwrap();
        path
    }

    /// A program of Foundry, for this machine.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let packages = fs::read_dir(self.modules().join("@foundry-rs")).unwrap();
        let mut programs = packages.map(|entry| entry.unwrap().path().join("bin").join(name));
        let missing = || panic!("there is no {name} for this machine");
        // The package of that very name has only a script that looks for the program.
        programs
            .find(|path| path.is_file() && !path.starts_with(self.modules().join("@foundry-rs").join(name)))
            .unwrap_or_else(missing)
    }

    fn modules(&self) -> PathBuf {
        self.folder.join("programs/node_modules")
    }

    /// A script that Node runs.
    pub(crate) fn script(&self, path: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.modules().join(path));
        command
    }

    /// The program of a node.
    pub(crate) fn node(&self, name: &str) -> Command {
        match name {
            "anvil" => Command::new(self.program(name)),
            _ => self.script("ganache/dist/node/cli.js"),
        }
    }
}
