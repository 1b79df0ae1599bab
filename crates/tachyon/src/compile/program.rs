//! Compilers: which there are, which one fits, and how it is run so that it cannot run away.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use semver::Version;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::pragma::Wanted;
use super::{Toolchain, unbuilt};
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

/// A compiler that can be run.
#[derive(Debug)]
pub(super) struct Program {
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
    pub(super) async fn run(&self, input: &str) -> Result<Vec<u8>, Fault> {
        match &self.how {
            How::Native(path) => Run { program: path, arguments: &["--standard-json"], input }.output().await,
            How::Node(script) => node(script, NODE_COMPILES, input).await,
        }
    }
}

async fn node(script: &Path, code: &str, input: &str) -> Result<Vec<u8>, Fault> {
    let script = script.to_string_lossy();
    let arguments = ["--max-old-space-size=2048", "--stack-size=4000", "-e", code, &script];
    Run { program: Path::new("node"), arguments: &arguments, input }.output().await
}

/// The first compiler that fits: the configured one, a native one on the path, the newest installed one.
pub(super) async fn choose(toolchain: &Toolchain, wanted: &Wanted, exactly: &str) -> Result<Program, Fault> {
    let fits = |version: &Version| {
        let exact = exactly.is_empty() || version_text(version) == exactly;
        exact && wanted.accepts(version)
    };
    let mut seen = Vec::new();
    let native = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join("solc")).find(|path| path.is_file())
    });
    for path in toolchain.configured.iter().chain(&native) {
        let how = match path.extension().is_some_and(|extension| extension == "js") {
            true => How::Node(path.clone()),
            false => How::Native(path.clone()),
        };
        let told = version_of(&how).await?;
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
            let told = version_of(&how).await?;
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

async fn version_of(how: &How) -> Result<String, Fault> {
    let told = match how {
        How::Native(path) => Run { program: path, arguments: &["--version"], input: "" }.output().await?,
        How::Node(script) => node(script, NODE_VERSION, "").await?,
    };
    let told = String::from_utf8_lossy(&told).into_owned();
    let named = told.lines().find_map(|line| line.strip_prefix("Version: "));
    Ok(named.unwrap_or(&told).trim().to_owned())
}

fn short_version(told: &str) -> Option<Version> {
    let digits = told.split(['+', '-']).next().unwrap_or_default();
    Version::parse(digits.trim()).ok()
}

/// A child process with nothing but its input.
struct Run<'a> {
    program: &'a Path,
    arguments: &'a [&'a str],
    input: &'a str,
}

impl Run<'_> {
    /// What it prints, within limits of time and size. It sees no variable but the path, and no folder but an empty one.
    async fn output(&self) -> Result<Vec<u8>, Fault> {
        let shown = self.program.display();
        let failed = |what: String| unbuilt(format!("{shown}: {what}"));
        let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(self.program);
        command.args(self.arguments).env_clear().current_dir(folder.path()).kill_on_drop(true);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed("it is not installed".into()),
            _ => failed(error.to_string()),
        })?;
        restrain(&child, self.program);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("its pipes are missing".into()));
        };
        let input = self.input.as_bytes().to_vec();
        let talk = async {
            let write = async move {
                // A compiler that stops reading says why on its own; a broken pipe is no news.
                let _ = stdin.write_all(&input).await;
            };
            let mut told = Vec::new();
            let mut complaint = Vec::new();
            let most = limits::COMPILER_OUTPUT_BYTES as u64;
            let mut bounded = stdout.take(most);
            let mut aside = stderr.take(64 << 10);
            let ((), read, _) =
                tokio::join!(write, bounded.read_to_end(&mut told), aside.read_to_end(&mut complaint));
            read.map_err(|error| failed(error.to_string()))?;
            let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
            Ok::<_, Fault>((status, told, complaint))
        };
        let seconds = limits::COMPILE_TIME.as_secs();
        let ended = tokio::time::timeout(limits::COMPILE_TIME, talk).await;
        let (status, told, complaint) =
            ended.map_err(|_| failed(format!("it was stopped after {seconds} seconds")))??;
        if !status.success() {
            let complaint = String::from_utf8_lossy(&complaint);
            return Err(failed(format!("it ended with {status}: {}", complaint.trim())));
        }
        Ok(told)
    }
}

/// Limits that the system enforces. Node reserves far more address space than it uses, so it gets none for memory.
#[cfg(target_os = "linux")]
fn restrain(child: &tokio::process::Child, program: &Path) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // A child that is gone by now needs no limits.
    let _ = prlimit(pid, Resource::Cpu, at_most(limits::COMPILE_TIME.as_secs()));
    let _ = prlimit(pid, Resource::Fsize, at_most(1 << 20));
    if program != Path::new("node") {
        let _ = prlimit(pid, Resource::As, at_most(limits::COMPILER_MEMORY_BYTES));
    }
}

#[cfg(not(target_os = "linux"))]
fn restrain(_: &tokio::process::Child, _: &Path) {}
