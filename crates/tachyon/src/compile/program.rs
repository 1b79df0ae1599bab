//! Compilers: which there are, which one fits, and how it is run so that it cannot run away.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use semver::Version;
use sha2::{Digest as _, Sha256};

use super::pragma::Wanted;
use super::{Toolchain, unbuilt};
use crate::child::{self, Bounds, Child};
use crate::fault::Fault;
use crate::limits;

/// Loads the compiler that is compiled to WebAssembly and hands it one closed input.
const NODE_COMPILES: &str = "\
const solc = require(process.argv[1]);
const compile = solc.cwrap('solidity_compile', 'string', ['string', 'number', 'number']);
process.stdout.write(compile(require('fs').readFileSync(0, 'utf8'), 0, 0));";

const NODE_VERSION: &str = "\
const solc = require(process.argv[1]);
process.stdout.write(solc.cwrap('solidity_version', 'string', [])());";

/// What runs compilers that are scripts.
const NODE: &str = "node";

/// A compiler that can be run.
#[derive(Debug)]
pub(crate) struct Program {
    how: How,
    version: String,
    sha256: String,
}

#[derive(Debug)]
enum How {
    Native(PathBuf),
    /// The npm package's script, run by Node.
    Node(PathBuf),
}

impl Program {
    pub(super) fn kind(&self) -> &'static str {
        match self.how {
            How::Native(_) => "solc",
            How::Node(_) => "solc-js",
        }
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Compiles one standard JSON input.
    pub(super) async fn run(&self, input: &str, time: Duration) -> Result<Vec<u8>, Fault> {
        match &self.how {
            How::Native(path) => output(path, vec!["--standard-json".into()], input, time).await,
            How::Node(script) => output(Path::new(NODE), node(script, NODE_COMPILES), input, time).await,
        }
    }

    /// A script that behaves like the compiler's own program, for tools that look for that.
    pub(crate) fn as_script(&self) -> String {
        let (run, version) = match &self.how {
            How::Native(path) => (quoted(&path.to_string_lossy()) + " \"$@\"", None),
            How::Node(script) => {
                let words: Vec<String> =
                    node(script, NODE_COMPILES).iter().map(|word| quoted(&word.to_string_lossy())).collect();
                (format!("{NODE} {}", words.join(" ")), Some(quoted(&format!("Version: {}", self.version))))
            }
        };
        let version = version.map_or_else(String::new, |version| {
            format!("if [ \"$1\" = --version ]; then echo {version}; exit; fi\n")
        });
        format!("#!/bin/sh\n{version}exec {run}\n")
    }
}

/// One word of a shell, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// How Node is asked to do something with a compiler's script.
fn node(script: &Path, code: &str) -> Vec<OsString> {
    let options = ["--max-old-space-size=2048", "--stack-size=4000", "-e", code];
    options.iter().map(OsString::from).chain([script.as_os_str().to_owned()]).collect()
}

/// The first compiler that fits: the configured one, a native one on the path, the newest installed one.
pub(super) async fn choose(toolchain: &Toolchain, wanted: &Wanted, exactly: &str) -> Result<Program, Fault> {
    let fits = |version: &Version| {
        let exact = exactly.is_empty() || version_text(version) == exactly;
        exact && wanted.accepts(version)
    };
    let mut seen = Vec::new();
    let native = child::found(Path::new("solc"));
    for path in toolchain.configured.iter().chain(&native) {
        let how = match path.extension().is_some_and(|extension| extension == "js") {
            true => How::Node(path.clone()),
            false => How::Native(path.clone()),
        };
        let told = version_of(&how, toolchain.time).await?;
        let version = short_version(&told)
            .ok_or_else(|| unbuilt(format!("{} does not say which version it is", path.display())))?;
        if fits(&version) {
            return program(how, told, path);
        }
        seen.push(version);
    }
    let mut installed = super::install::installed(&toolchain.installed);
    installed.reverse();
    for (version, path) in installed {
        if fits(&version) {
            let how = How::Node(path.clone());
            let told = version_of(&how, toolchain.time).await?;
            return program(how, told, &path);
        }
        seen.push(version);
    }
    let there: Vec<String> = seen.iter().map(version_text).collect();
    let there =
        if there.is_empty() { "none is there".into() } else { format!("there are {}", there.join(", ")) };
    let wanted =
        if exactly.is_empty() { wanted.shown() } else { format!("{} exactly {exactly}", wanted.shown()) };
    Err(unbuilt(format!(
        "no Solidity compiler fits {wanted}; {there}. Run `tachyon solc install VERSION`, or put solc on the PATH"
    )))
}

fn program(how: How, version: String, path: &Path) -> Result<Program, Fault> {
    let bytes = std::fs::read(path).map_err(|error| unbuilt(format!("{}: {error}", path.display())))?;
    Ok(Program { how, version, sha256: hex::encode(Sha256::digest(bytes)) })
}

fn version_text(version: &Version) -> String {
    format!("{}.{}.{}", version.major, version.minor, version.patch)
}

async fn version_of(how: &How, time: Duration) -> Result<String, Fault> {
    let told = match how {
        How::Native(path) => output(path, vec!["--version".into()], "", time).await?,
        How::Node(script) => output(Path::new(NODE), node(script, NODE_VERSION), "", time).await?,
    };
    let told = String::from_utf8_lossy(&told).into_owned();
    let named = told.lines().find_map(|line| line.strip_prefix("Version: "));
    Ok(named.unwrap_or(&told).trim().to_owned())
}

fn short_version(told: &str) -> Option<Version> {
    let digits = told.split(['+', '-']).next().unwrap_or_default();
    Version::parse(digits.trim()).ok()
}

/// What a compiler prints, within limits of time, size and memory, in an empty folder.
async fn output(
    program: &Path,
    arguments: Vec<OsString>,
    input: &str,
    time: Duration,
) -> Result<Vec<u8>, Fault> {
    let folder =
        tempfile::tempdir().map_err(|error| unbuilt(format!("no folder for a compiler: {error}")))?;
    let bounds = Bounds {
        time,
        output_bytes: limits::COMPILER_OUTPUT_BYTES,
        file_bytes: limits::COMPILER_FILE_BYTES,
        memory_bytes: (program != Path::new(NODE)).then_some(limits::COMPILER_MEMORY_BYTES),
    };
    let child = Child { program, arguments, input, folder: folder.path(), bounds };
    let ended = child.run().await.map_err(|error| unbuilt(error.to_string()))?;
    if !ended.status.success() {
        let (program, status, complaint) = (program.display(), ended.status, ended.complaint);
        return Err(unbuilt(format!("{program}: it ended with {status}: {complaint}")));
    }
    Ok(ended.output)
}
