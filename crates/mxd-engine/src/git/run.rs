//! Runs git so that nothing but the request decides what happens.
//!
//! The environment is made anew for each call: nothing of `GIT_*` is inherited, nothing is asked at a terminal, no
//! hook, pager, editor, file monitor, credential helper or transport is run. Git is always told which folder is the
//! repository. It never looks for one, because what it would find in a folder of an agent is the agent's.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use mxd_tools::tether::Tether;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::task::TaskTracker;

use super::error::{GitError, shown};
use super::identity;
use super::limits;

/// Variables of the daemon's own environment that git may see: where programs and the user's settings are.
const INHERITED: &[&str] = &["PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR"];

const FIXED: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_ADVICE", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_MERGE_AUTOEDIT", "no"),
];

/// Settings that win over every file.
const SETTINGS: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.editor", "false"),
    ("core.askPass", "false"),
    ("core.sshCommand", "false"),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("commit.gpgSign", "false"),
    ("diff.external", ""),
    ("core.trustctime", "true"),
    ("core.checkStat", "default"),
];

/// The oldest version with a merge that needs no checkout.
const OLDEST: (u32, u32) = (2, 38);

/// A git program and what it may see.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    time: Duration,
    /// What the user's environment says about who commits. Git does not see it; [`super::identity`] does.
    identity: Vec<(OsString, OsString)>,
    tether: Option<Tether>,
    /// Calls that were broken off and have not ended yet.
    ending: TaskTracker,
}

impl Git {
    /// The git on the daemon's `PATH`, with the user's own settings.
    #[must_use]
    pub fn from_environment() -> Self {
        let known = |names: &[&str]| {
            let known = names.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
            known.collect()
        };
        Self {
            program: "git".into(),
            environment: known(INHERITED),
            identity: known(identity::VARIABLES),
            time: limits::RUN,
            tether: None,
            ending: TaskTracker::new(),
        }
    }

    /// The same with another program.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The same, tied to this program: the next one waits until it has ended, whatever became of us. A git that is given
    /// its input is not, because it ends when nobody is left to give it any.
    #[must_use]
    pub fn tied_by(mut self, tether: Tether) -> Self {
        self.tether = Some(tether);
        self
    }

    /// The same with another time limit for each call.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// The same with a variable that git sees, in place of the inherited one.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.environment.retain(|(known, _)| *known != name);
        self.environment.push((name, value.into()));
        self
    }

    /// The same for a user who has these variables that say who commits, and no other of them.
    #[must_use]
    pub fn identity_variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.identity = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// A variable of the user's environment that says who commits.
    pub(super) fn identity_variable(&self, name: &str) -> Option<String> {
        let found = self.identity.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    /// Whether the program is there and new enough; its version.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub async fn version(&self) -> Result<String, GitError> {
        let said = self.run(Call::new(["version"])).await?.text();
        let found = said.trim().trim_start_matches("git version ").to_owned();
        let mut numbers = found.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version < OLDEST { Err(GitError::TooOld { found }) } else { Ok(found) }
    }

    /// Waits until calls that were broken off have ended: what they do to a folder, they do until then.
    pub(super) async fn settled(&self) {
        self.ending.close();
        self.ending.wait().await;
    }

    /// Runs one call to its end.
    pub(super) async fn run(&self, call: Call) -> Result<Output, GitError> {
        let name = shown(&call.args);
        let ended = self.start(&call).await?;
        judge(name, &call, ended)
    }

    /// Where programs are looked for.
    pub(super) fn search_path(&self) -> String {
        let path = self.environment.iter().find(|(name, _)| name == "PATH");
        path.map(|(_, value)| value.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The program, by name or by path.
    pub(super) fn program_name(&self) -> &Path {
        &self.program
    }

    /// How long a call may take.
    pub(super) fn time_limit(&self) -> Duration {
        self.time
    }

    /// Folders that a sandbox has to show for the program to run in it: where it is found, and what it was installed with.
    pub(super) fn program_folders(&self) -> Vec<PathBuf> {
        let path = self.search_path();
        let named = path.split(':').map(Path::new).filter(|folder| folder.is_absolute());
        let found = named.map(|folder| folder.join(&self.program)).find(|program| program.is_file());
        let Some(found) = found else { return Vec::new() };
        let real = std::fs::canonicalize(&found).unwrap_or_else(|_| found.clone());
        let libraries = real.parent().and_then(Path::parent).map(|prefix| prefix.join("libexec/git-core"));
        found.parent().into_iter().chain(real.parent()).map(Path::to_owned).chain(libraries).collect()
    }

    /// Where git keeps the user's own files, such as `ignore`, when no setting says another place.
    pub(super) fn default_settings_folder(&self) -> Option<PathBuf> {
        let variable = |wanted: &str| {
            let found = self.environment.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| PathBuf::from(value)).filter(|folder| folder.is_absolute())
        };
        let settings = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
        settings.map(|folder| folder.join("git"))
    }

    /// What every git is told, and what this one is told beside it.
    pub(super) fn fixed_environment(settings: &[(String, String)]) -> Vec<(String, String)> {
        let fixed = FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        fixed.chain(Self::settings_environment(settings)).collect()
    }

    /// Settings that win over every file, as variables.
    pub(super) fn settings_environment(more: &[(String, String)]) -> Vec<(String, String)> {
        let more = more.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let settings: Vec<(&str, &str)> = SETTINGS.iter().copied().chain(more).collect();
        let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
        for (index, (key, value)) in settings.into_iter().enumerate() {
            variables.push((format!("GIT_CONFIG_KEY_{index}"), key.to_owned()));
            variables.push((format!("GIT_CONFIG_VALUE_{index}"), value.to_owned()));
        }
        variables
    }

    async fn start(&self, call: &Call) -> Result<Ended, GitError> {
        let name = shown(&call.args);
        let failed = |source| GitError::Start { program: self.program.clone(), source };
        let child = self.command(call).and_then(|mut command| command.spawn()).map_err(failed)?;
        let mut running = Running { child: Some(child), ending: self.ending.clone() };
        let talk = running.talk(call.input.as_deref(), call.limit);
        match tokio::time::timeout(self.time, talk).await {
            Ok(Ok(ended)) => {
                if !ended.overflowed {
                    running.child = None;
                }
                Ok(ended)
            }
            Ok(Err(source)) => Err(GitError::Talk { command: name, source }),
            Err(_) => {
                running.end().await;
                Err(GitError::TimedOut { command: name, limit: self.time })
            }
        }
    }

    fn command(&self, call: &Call) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(Self::fixed_environment(&call.settings));
        command.envs(call.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(call.folder.as_deref().unwrap_or(Path::new("/")));
        command.arg("--no-pager").args(&call.args);
        command.stdin(match (&call.input, &self.tether) {
            (Some(_), _) => Stdio::piped(),
            (None, Some(tether)) => tether.stdin()?,
            (None, None) => Stdio::null(),
        });
        command.stdout(match &call.to {
            Some(file) => Stdio::from(file.try_clone()?),
            None => Stdio::piped(),
        });
        command.stderr(Stdio::piped());
        // A group of its own, so that what git starts ends with it.
        command.process_group(0).kill_on_drop(true);
        Ok(command)
    }
}

/// What to do about output beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// It is an error: half an answer is a wrong answer.
    Refuse,
    /// Keep the beginning.
    Cut,
}

/// One call of git.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) args: Vec<OsString>,
    /// Another program than git; only in a sandbox.
    pub(super) program: Option<&'static str>,
    folder: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) input: Option<Vec<u8>>,
    to: Option<Arc<File>>,
    accepts: &'static [i32],
    pub(super) limit: usize,
    overflow: Overflow,
}

impl Call {
    pub(super) fn new<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Self {
        Self {
            args: args.into_iter().map(|arg| arg.as_ref().to_owned()).collect(),
            program: None,
            folder: None,
            environment: Vec::new(),
            settings: Vec::new(),
            input: None,
            to: None,
            accepts: &[],
            limit: limits::OUTPUT,
            overflow: Overflow::Refuse,
        }
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(super) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(super) fn settings(mut self, settings: &[(String, String)]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Writes its output to a file.
    pub(super) fn to(mut self, file: File) -> Self {
        self.to = Some(Arc::new(file));
        self
    }

    /// The same for another program, which only runs in a sandbox.
    pub(super) fn program(mut self, program: &'static str) -> Self {
        self.program = Some(program);
        self
    }

    /// Exit codes that are answers, beside 0.
    pub(super) fn accepts(mut self, codes: &'static [i32]) -> Self {
        self.accepts = codes;
        self
    }

    pub(super) fn at_most(mut self, limit: usize, overflow: Overflow) -> Self {
        (self.limit, self.overflow) = (limit, overflow);
        self
    }

    /// A second copy of it, for another attempt.
    pub(super) fn again(&self) -> Self {
        Self {
            args: self.args.clone(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            settings: self.settings.clone(),
            input: self.input.clone(),
            to: self.to.clone(),
            ..*self
        }
    }
}

/// What a call came to.
#[derive(Debug)]
pub(super) struct Output {
    command: String,
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    /// Whether there was more.
    pub(super) cut: bool,
}

impl Output {
    /// As text, whatever it is.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its only line.
    pub(super) fn line(&self) -> String {
        self.text().trim_end_matches('\n').to_owned()
    }

    /// The parts of a `-z` answer.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty())
    }

    /// An error saying that this was not expected.
    pub(super) fn odd(&self) -> GitError {
        let answer = String::from_utf8_lossy(&self.stdout[..self.stdout.len().min(200)]).into_owned();
        GitError::Answer { command: self.command.clone(), answer }
    }
}

/// How a git ended.
pub(super) struct Ended {
    /// Its exit code; none when a signal ended it.
    pub(super) code: Option<i32>,
    /// The same in words.
    pub(super) how: String,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    /// Whether it wrote more than is read.
    pub(super) overflowed: bool,
}

/// What a call came to, by what it accepts.
pub(super) fn judge(command: String, call: &Call, ended: Ended) -> Result<Output, GitError> {
    if ended.overflowed && call.overflow == Overflow::Refuse {
        return Err(GitError::TooMuch { command, limit: call.limit });
    }
    if ended.overflowed || ended.code.is_some_and(|code| code == 0 || call.accepts.contains(&code)) {
        let (code, cut) = (ended.code.unwrap_or(0), ended.overflowed);
        return Ok(Output { command, code, stdout: ended.stdout, cut });
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(GitError::Failed { command, how: ended.how, said })
}

/// A git that runs. Dropped, it is told to end, with a moment to remove its lock files.
struct Running {
    child: Option<Child>,
    ending: TaskTracker,
}

impl Running {
    async fn talk(&mut self, input: Option<&[u8]>, limit: usize) -> io::Result<Ended> {
        let gone = || io::Error::other("the process is gone");
        let child = self.child.as_mut().ok_or_else(gone)?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take().ok_or_else(gone)?;
        let write = async move {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A git that does not want all of it says why when it ends.
                let _ = stdin.write_all(input).await;
            }
        };
        let ((), head, tail) = tokio::join!(write, read_head(stdout, limit), read_tail(stderr));
        let ((stdout, overflowed), stderr) = (head?, tail?);
        if overflowed {
            self.end().await;
            return Ok(Ended { code: Some(0), how: String::new(), stdout, stderr, overflowed });
        }
        let status = self.child.as_mut().ok_or_else(gone)?.wait().await?;
        Ok(Ended { code: status.code(), how: status.to_string(), stdout, stderr, overflowed })
    }

    async fn end(&mut self) {
        if let Some(child) = self.child.take() {
            terminate(child).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let (Some(child), Ok(runtime)) = (self.child.take(), tokio::runtime::Handle::try_current()) {
            self.ending.spawn_on(terminate(child), &runtime);
        }
    }
}

/// Ends a git and what it started.
async fn terminate(mut child: Child) {
    let group = child.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
    let Some(group) = group else { return };
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
    if tokio::time::timeout(limits::GRACE, child.wait()).await.is_err() {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = child.wait().await;
    }
}

/// Reads up to the limit; whether there was more.
pub(super) async fn read_head(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
) -> io::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    let Some(mut from) = from else { return Ok((head, false)) };
    (&mut from).take(limit as u64 + 1).read_to_end(&mut head).await?;
    let overflowed = head.len() > limit;
    head.truncate(limit);
    Ok((head, overflowed))
}

/// Reads everything and keeps the end.
pub(super) async fn read_tail(mut from: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(tail);
        }
        tail.extend_from_slice(&buffer[..count]);
        let excess = tail.len().saturating_sub(limits::STDERR_TAIL);
        tail.drain(..excess);
    }
}
