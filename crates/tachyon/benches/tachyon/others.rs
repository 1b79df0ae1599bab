//! What is measured beside ours, and what both need: installed once below the target directory.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const SOLC: &str = "0.8.30";
const LIBRARIES: [&str; 2] = ["@openzeppelin/contracts@5.4.0", "@layerzerolabs/toolbox-foundry@0.1.13"];
const PROGRAMS: [&str; 2] = ["@foundry-rs/forge@1.7.1", "@foundry-rs/anvil@1.7.1"];

pub(crate) struct Others {
    folder: PathBuf,
}

/// A process that ends with this.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn run(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).status().unwrap().success(), "{command:?}");
}

impl Others {
    pub(crate) fn installed() -> Self {
        let others = Self { folder: Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tachyon-bench") };
        fs::create_dir_all(&others.folder).unwrap();
        let wanted = format!("{SOLC} {LIBRARIES:?} {PROGRAMS:?}");
        let seal = others.folder.join("installed");
        if fs::read_to_string(&seal).is_ok_and(|installed| installed == wanted) {
            return others;
        }
        eprintln!("installing a compiler, forge and anvil");
        let tachyon = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
            command.arg("--data").arg(others.folder.join("data"));
            command
        };
        run(tachyon().args(["solc", "install", SOLC]));
        for library in LIBRARIES {
            run(tachyon().args(["library", "add", library]));
        }
        let npm = ["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").args(npm).args(PROGRAMS).current_dir(&others.folder));
        write(
            &others.solc(),
            &format!(
                "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Version: {SOLC}'; exit; fi\nexec node --stack-size=4000 -e \
             \"const s = require('{}'); process.stdout.write(s.cwrap('solidity_compile', 'string', ['string', 'number', 'number'])\
             (require('fs').readFileSync(0, 'utf8'), 0, 0))\"\n",
                others.soljson().display()
            ),
        );
        fs::set_permissions(others.solc(), fs::Permissions::from_mode(0o755)).unwrap();
        write(&seal, &wanted);
        others
    }

    /// The compiler as a script.
    pub(crate) fn soljson(&self) -> PathBuf {
        self.folder.join(format!("data/solc/{SOLC}/soljson.js"))
    }

    /// The same compiler as a program, for forge.
    pub(crate) fn solc(&self) -> PathBuf {
        self.folder.join("solc")
    }

    /// Folders that imports are looked for in.
    pub(crate) fn libraries(&self) -> [PathBuf; 2] {
        let modules = self.folder.join("data/libraries/node_modules");
        [modules.clone(), modules.join("@layerzerolabs/toolbox-foundry/lib")]
    }

    /// A program of Foundry, for this machine.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let packages = fs::read_dir(self.folder.join("node_modules/@foundry-rs")).unwrap();
        let mut programs = packages.map(|entry| entry.unwrap().path().join("bin").join(name));
        programs.find(|path| path.is_file()).unwrap()
    }

    /// A node, and where it listens.
    pub(crate) fn anvil(&self) -> (Running, String) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = Command::new(self.program("anvil"));
        command.args(["--port", &port, "--chain-id", "777"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let running = Running(child);
        lines.find(|line| line.as_ref().unwrap().starts_with("Listening on")).unwrap().unwrap();
        // What it goes on to say must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        (running, format!("http://127.0.0.1:{port}"))
    }
}
