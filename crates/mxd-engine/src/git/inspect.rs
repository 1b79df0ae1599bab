//! Git over files that an agent could have written, run where those files can do no harm.
//!
//! Git reads far more than it is asked about: rules for names, nested repositories with settings of their own, links. An
//! agent decides what stands there, and some of it names programs that git runs. So every git that has to look at the
//! files of a worktree, or write them, runs in a sandbox of its own. There it sees the worktree, the object stores and an
//! index. It has a git folder that is made anew for it, with no setting that names a program, no credentials, and no
//! branches. It has no network, no home folder and nothing of the daemon's. What it prints is data with a limit.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mxd_tools::sandbox::{Cell, Child, Command, End, Input, Inspection, Level, Sandbox, Settled};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

use super::error::{GitError, shown};
use super::repository::{Place, Repository};
use super::run::{Call, Ended, Git, Output, judge, read_head, read_tail};

/// Where git for the files of agents is run.
#[derive(Debug, Clone)]
pub struct Inspector {
    sandbox: Sandbox,
}

impl Inspector {
    /// It is run in this sandbox.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox }
    }

    /// How strong that sandbox is.
    pub(super) fn level(&self) -> Level {
        self.sandbox.level()
    }
}

/// What a git may do with the files of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// Look at them.
    Read,
    /// Write them: only where no agent ever was.
    Write,
}

/// The files of one worktree, open to the git that runs in its sandbox. Dropping this ends what runs there.
#[derive(Debug)]
pub(super) struct Inspected {
    cell: Cell,
    env: Vec<(String, String)>,
    folder: PathBuf,
    program: String,
    /// What the program is told before everything else.
    options: Vec<String>,
    time: Duration,
    /// The git folder made for it.
    pub(super) git_dir: PathBuf,
    /// That folder, its home and its temporary files.
    _scratch: TempDir,
}

/// What a git in a sandbox has, beside its own git folder and the repository's objects.
#[derive(Debug, Default)]
pub(super) struct Wish<'a> {
    /// Files and folders to look at.
    pub(super) read: Vec<PathBuf>,
    /// Folders to change.
    pub(super) write: Vec<PathBuf>,
    /// Where it is run.
    pub(super) folder: Option<&'a Path>,
    /// What it is told beside what every git is told.
    pub(super) env: Vec<(&'static str, PathBuf)>,
}

impl Repository {
    /// Opens the files of a worktree to a git in a sandbox, by an index that lies in a folder of its own.
    pub(super) async fn inspect(
        &self,
        folder: &Path,
        index: &Path,
        files: Files,
    ) -> Result<Inspected, GitError> {
        let index_folder = index.parent().unwrap_or(index);
        std::fs::create_dir_all(index_folder).map_err(GitError::file("make", index_folder))?;
        let (mut read, mut write) = (Vec::new(), vec![index_folder.to_owned()]);
        match files {
            Files::Read => read.push(folder.to_owned()),
            Files::Write => write.push(folder.to_owned()),
        }
        let env = vec![("GIT_WORK_TREE", folder.to_owned()), ("GIT_INDEX_FILE", index.to_owned())];
        self.git_in_sandbox(Wish { read, write, folder: Some(folder), env }).await
    }

    /// A git in a sandbox of its own. Unless it is told otherwise, its git folder is one made for it, with the
    /// repository's objects and no branches.
    pub(super) async fn git_in_sandbox(&self, wish: Wish<'_>) -> Result<Inspected, GitError> {
        let inspector = self.inspector()?;
        let parent = self.common().join("mxd/inspect");
        let failed = |action, path: &Path| GitError::file(action, path);
        std::fs::create_dir_all(&parent).map_err(failed("make", &parent))?;
        let scratch = TempDir::new_in(&parent).map_err(failed("make a folder in", &parent))?;
        let git_dir = scratch.path().join("git");
        self.write_git_dir(&git_dir).await?;
        let Wish { mut read, mut write, folder, env: told } = wish;
        read.extend(self.object_stores());
        read.push(git_dir.clone());
        read.extend(self.git().program_folders());
        // An object that git makes while it looks, such as the empty one for a file that is about to be added, stays here.
        write.push(git_dir.join("objects"));
        let inspection = Inspection {
            read,
            write,
            scratch: scratch.path().join("scratch"),
            path: self.git().search_path(),
            ..Inspection::default()
        };
        let settled = inspection.settle(inspector.sandbox.level()).map_err(failed("prepare", &parent))?;
        let Settled { policy, mut env } = settled;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        env.extend(Git::fixed_environment(&[]));
        env.extend([
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
            ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
            ("GIT_DIR".to_owned(), text(&git_dir)),
            // The index is ours, and what git learns about unchanged files is worth keeping.
            ("GIT_OPTIONAL_LOCKS".to_owned(), "1".to_owned()),
        ]);
        env.extend(told.into_iter().map(|(name, value)| (name.to_owned(), text(&value))));
        Ok(Inspected {
            cell: inspector.sandbox.cell(policy),
            env,
            folder: folder.unwrap_or(&git_dir).to_owned(),
            program: text(self.git().program_name()),
            options: vec!["--no-pager".to_owned()],
            time: self.git().time_limit(),
            git_dir,
            _scratch: scratch,
        })
    }

    /// The repository's object store, with all that it refers to.
    pub(super) fn object_stores(&self) -> Vec<PathBuf> {
        object_stores(&self.common().join("objects"))
    }

    /// Makes a git folder that refers to the repository's objects and has nothing else of it but harmless settings.
    #[expect(
        clippy::disallowed_methods,
        reason = "the folder lives as long as one look and is never read after a crash"
    )]
    pub(super) async fn write_git_dir(&self, git_dir: &Path) -> Result<(), GitError> {
        let objects = self.object_stores();
        let alternates: String =
            objects.iter().take(1).map(|store| format!("{}\n", store.display())).collect();
        let exclude = self.joined("info/exclude", "core.excludesFile", "ignore").await?;
        let attributes = self.joined("info/attributes", "core.attributesFile", "attributes").await?;
        let settings = self.harmless_settings().await?;
        let made = || -> io::Result<()> {
            for folder in ["objects/info", "refs/heads", "info"] {
                std::fs::create_dir_all(git_dir.join(folder))?;
            }
            std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/none\n")?;
            std::fs::write(git_dir.join("config"), settings)?;
            std::fs::write(git_dir.join("objects/info/alternates"), alternates)?;
            std::fs::write(git_dir.join("info/exclude"), exclude)?;
            std::fs::write(git_dir.join("info/attributes"), attributes)?;
            copy_if_there(&self.common().join("shallow"), (&git_dir.join("shallow"), b""))?;
            // Whatever part of the files a user wants to see, the set-up script and the notes for agents are in it.
            let name = "info/sparse-checkout";
            copy_if_there(&self.common().join(name), (&git_dir.join(name), b"\n/.mxd/\n"))
        };
        made().map_err(GitError::file("make", git_dir))
    }

    /// A file of the repository together with the one of the user's that a setting names, or that lies where git looks
    /// for it without a setting.
    async fn joined(&self, own: &str, setting: &str, name: &str) -> Result<Vec<u8>, GitError> {
        let call = Call::new(["config", "--type=path", "--get", setting]).accepts(&[1]);
        let answer = self.ask(Place::Store, call).await?;
        let path = match answer.code {
            0 => Some(PathBuf::from(answer.line())),
            _ => self.git().default_settings_folder().map(|folder| folder.join(name)),
        };
        let mut text = path.and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        text.push(b'\n');
        text.extend(std::fs::read(self.common().join(own)).unwrap_or_default());
        Ok(text)
    }

    /// The user's settings that change how files are compared and written, as a settings file. None of them names a
    /// program, a host or a file.
    pub(super) async fn harmless_settings(&self) -> Result<String, GitError> {
        const KEYS: &str = r"^(core\.(autocrlf|eol|safecrlf|filemode|ignorecase|symlinks|precomposeunicode|protecthfs|protectntfs|bigfilethreshold|sparsecheckout|sparsecheckoutcone|repositoryformatversion)|extensions\.(objectformat|partialclone)|index\.version|diff\.(renames|renamelimit|algorithm))$";
        let call = Call::new(["config", "--null", "--get-regexp", KEYS]).accepts(&[1]);
        let place = self.checkout().map_or(Place::Store, Place::Checkout);
        let answer = self.ask(place, call).await?;
        let mut text = String::from("[core]\n\tbare = false\n");
        for setting in answer.parts() {
            let setting = String::from_utf8_lossy(setting);
            // A setting without a value means "true".
            let (key, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
            let Some((section, name)) = key.split_once('.') else { continue };
            let plain =
                value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
            if plain {
                text.push_str(&format!("[{section}]\n\t{name} = {value}\n"));
            }
        }
        Ok(text)
    }
}

/// Copies a file and adds something to the copy; nothing happens when there is no such file.
#[expect(clippy::disallowed_methods, reason = "the same as where it is called")]
fn copy_if_there(from: &Path, (to, more): (&Path, &[u8])) -> io::Result<()> {
    match std::fs::read(from) {
        Ok(text) => std::fs::write(to, [&text, more].concat()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// An object store with all that it refers to, the first one first.
fn object_stores(first: &Path) -> Vec<PathBuf> {
    const MAX_STORES: usize = 16;
    let mut stores = vec![std::fs::canonicalize(first).unwrap_or_else(|_| first.to_owned())];
    let mut next = 0;
    while let Some(store) = stores.get(next).cloned() {
        next += 1;
        let list = std::fs::read_to_string(store.join("info/alternates")).unwrap_or_default();
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let other = std::fs::canonicalize(store.join(line));
            match other {
                Ok(other) if !stores.contains(&other) && stores.len() < MAX_STORES => stores.push(other),
                _ => {}
            }
        }
    }
    stores
}

impl Inspected {
    /// Runs one git to its end.
    pub(super) async fn run(&self, call: Call) -> Result<Output, GitError> {
        let name = shown(&call.args);
        let talk = self.talk(&call, &name);
        match tokio::time::timeout(self.time, talk).await {
            Ok(ended) => judge(name, &call, ended?),
            Err(_) => Err(GitError::TimedOut { command: name, limit: self.time }),
        }
    }

    async fn talk(&self, call: &Call, name: &str) -> Result<Ended, GitError> {
        let failed = |source| GitError::Talk { command: name.to_owned(), source };
        let mut child = self.start(call, name).await?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let (Some(mut stdin), Some(input)) = (stdin, &call.input) {
                // A git that does not want all of it says why when it ends.
                let _ = stdin.write_all(input).await;
            }
        };
        let tail = async {
            match stderr {
                Some(stderr) => read_tail(stderr).await,
                None => Ok(Vec::new()),
            }
        };
        let ((), head, stderr) = tokio::join!(write, read_head(stdout, call.limit), tail);
        let ((stdout, overflowed), stderr) = (head.map_err(failed)?, stderr.map_err(failed)?);
        if overflowed {
            // Dropping it ends it.
            return Ok(Ended { code: Some(0), how: String::new(), stdout, stderr, overflowed });
        }
        let exit = child.wait().await.map_err(|error| failed(io::Error::other(error)))?;
        let (code, how) = match exit.end {
            End::Code(code) => (Some(code), format!("exit status: {code}")),
            End::Signal(signal) => (None, format!("signal: {signal}")),
        };
        Ok(Ended { code, how, stdout, stderr, overflowed })
    }

    /// Starts one git.
    pub(super) async fn start(&self, call: &Call, name: &str) -> Result<Child, GitError> {
        let failed = |source| GitError::Talk { command: name.to_owned(), source };
        // Each name once, and what is said last counts.
        let mut env: BTreeMap<String, String> = self.env.iter().cloned().collect();
        env.extend(Git::settings_environment(&call.settings));
        for (name, value) in &call.environment {
            env.insert(name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned());
        }
        let args = call.args.iter().map(|arg| arg.to_str().map(str::to_owned));
        let odd = || failed(io::Error::other("an argument is not text"));
        let args = args.collect::<Option<Vec<String>>>().ok_or_else(odd)?;
        let (program, options): (&str, &[String]) = match call.program {
            Some(program) => (program, &[]),
            None => (&self.program, &self.options),
        };
        let command = Command {
            program: program.to_owned(),
            args: options.iter().cloned().chain(args).collect(),
            cwd: self.folder.clone(),
            env: env.into_iter().collect(),
            stdin: if call.input.is_some() { Input::Piped } else { Input::Null },
            ..Command::default()
        };
        self.cell.spawn(command).await.map_err(|error| failed(io::Error::other(error)))
    }
}
