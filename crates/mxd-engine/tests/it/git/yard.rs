//! A repository to be hard on, with a user who works in it and folders for agents.

use std::ffi::OsString;
use std::future::{Ready, ready};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mxd_core::id::TaskId;
use mxd_engine::git::Identity;
use mxd_engine::git::merge;
use mxd_engine::git::space::Watermark;
use mxd_engine::git::worktree::{self, Base, Created, FailedSetup, Request, Setup, Worktree};
use mxd_engine::git::{End, Errand, Git, Inspector, Lanes, Ran, Repository, Slug};
use mxd_tools::sandbox::{Launcher, Mode, Sandbox};

pub(crate) struct Yard {
    folder: tempfile::TempDir,
    lanes: Arc<Lanes>,
}

/// The number of a task.
pub(crate) fn task(number: u128) -> TaskId {
    TaskId::from(mxd_core::id::Ulid(number))
}

impl Yard {
    /// A repository with one commit on `main`.
    pub(crate) fn new() -> Self {
        let yard = Self::empty();
        yard.write("repo/file.txt", "one\ntwo\nthree\n");
        yard.write("repo/.gitignore", "*.log\nbuild/\n.env\n");
        yard.user("add . ; commit -qm start");
        yard
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("yärd und ").tempdir().unwrap();
        let yard = Self { folder, lanes: Lanes::new() };
        for name in ["repo", "home", "agents"] {
            std::fs::create_dir_all(yard.at(name)).unwrap();
        }
        yard.write("home/.gitconfig", "[user]\nname = A User\nemail = user@example.org\n");
        yard.user("init -q -b main");
        yard
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).unwrap().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.at(path), text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Git as the user runs it in the checkout; several commands are separated by ` ; `.
    pub(crate) fn user(&self, commands: &str) -> String {
        self.git_in(&self.at("repo"), commands)
    }

    /// The same in another folder.
    pub(crate) fn git_in(&self, folder: &Path, commands: &str) -> String {
        let mut said = String::new();
        for command in commands.split(" ; ") {
            let words: Vec<_> = command.split_whitespace().collect();
            said.push_str(&self.git_args(folder, &words));
        }
        said.trim_end().to_owned()
    }

    pub(crate) fn git_args(&self, folder: &Path, args: &[&str]) -> String {
        let ended = self.command(folder, args).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "git {args:?}: {said}{}", String::from_utf8_lossy(&ended.stderr));
        said
    }

    /// Git that has the yard's home and nothing of ours. In the worktree of an agent it is the agent's, which has a
    /// repository of its own.
    pub(crate) fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = self.outside(folder, args);
        let records = std::fs::read_dir(self.at("repo/.git/mxd/worktrees")).into_iter().flatten().flatten();
        for record in records {
            let text = std::fs::read_to_string(record.path()).unwrap_or_default();
            let Ok(record) = serde_json::from_str::<serde_json::Value>(&text) else { continue };
            let git_dir = self.at("repo/.git/mxd/agents").join(record["task"].as_str().unwrap()).join("git");
            if Path::new(record["folder"].as_str().unwrap()) == folder && git_dir.exists() {
                command.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", folder);
            }
        }
        command
    }

    /// Git as the user has it, in any folder.
    pub(crate) fn outside(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.at("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// The git folder of the agent that works in a worktree.
    pub(crate) fn private(&self, worktree: &Worktree) -> PathBuf {
        self.at("repo/.git/mxd/agents").join(worktree.task.to_string()).join("git")
    }

    /// The daemon's git.
    pub(crate) fn git(&self) -> Git {
        let git = Git::from_environment().time(Duration::from_secs(120));
        git.variable("HOME", self.at("home"))
            .variable("GIT_CONFIG_NOSYSTEM", "1")
            .variable("XDG_CONFIG_HOME", "/nowhere")
            .identity_variables(&[])
    }

    pub(crate) async fn repository(&self) -> Repository {
        self.repository_with(self.git()).await
    }

    pub(crate) async fn repository_with(&self, git: Git) -> Repository {
        let repository = Repository::open(git, &self.lanes, &self.at("repo")).await.unwrap();
        repository.inspected_by(inspector().await)
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// A request for a worktree of `main` without a set-up script.
    pub(crate) fn request(&self, number: u128) -> Request {
        Request {
            task: task(number),
            slug: Slug::of_title("Some work"),
            base: Base::Branch("main".parse().unwrap()),
            folder: self.at(&format!("agents/-{number} wörk")),
            include: Vec::new(),
            setup: Setup::Skipped,
            failed_setup: FailedSetup::Remove,
            room: Watermark { bytes: 0, inodes: 0 },
        }
    }

    pub(crate) async fn create(&self, number: u128) -> Created {
        worktree::create(&self.repository().await, &self.request(number), nobody).await.unwrap()
    }

    /// A merge of a worktree's branch into `main`, without a check.
    pub(crate) fn merge(&self, from: &Worktree) -> merge::Request {
        merge::Request {
            from: from.branch.clone(),
            into: "main".parse().unwrap(),
            message: "Merge some work".to_owned(),
            who: Identity { name: "Matrix".to_owned(), email: "matrix@example.org".to_owned() },
            check: None,
            settings: merge::SettingsRule::Free,
            scratch: self.at("scratch"),
            room: Watermark { bytes: 0, inodes: 0 },
        }
    }

    /// A commit of one file in an agent's worktree.
    pub(crate) fn commit(&self, worktree: &Worktree, file: &str, text: &str) -> String {
        write(&worktree.folder.join(file), text);
        self.git_args(&worktree.folder, &["add", "--", file]);
        self.git_args(&worktree.folder, &["commit", "-qm", &format!("change {file}")]);
        self.git_in(&worktree.folder, "rev-parse HEAD")
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

/// The sandbox in which the files of agents are looked at.
pub(crate) async fn inspector() -> Inspector {
    let launcher = Launcher { program: env!("CARGO_BIN_EXE_mxd-headless").into(), args: Vec::new() };
    Inspector::new(Sandbox::probe(launcher, Mode::On).await.unwrap())
}

/// A runner for those who have nothing to be run.
pub(crate) fn nobody(errand: Errand) -> Ready<io::Result<Ran>> {
    ready(Err(io::Error::other(format!("nothing should be run: {errand:?}"))))
}

/// A runner without a sandbox.
pub(crate) async fn plainly(errand: Errand) -> io::Result<Ran> {
    let mut words = errand.command.into_iter();
    let program: OsString = words.next().unwrap();
    let mut command = tokio::process::Command::new(program);
    command.args(words).current_dir(errand.folder).env("GIT_CONFIG_NOSYSTEM", "1");
    let ended = command.output().await?;
    let output = [ended.stdout, ended.stderr].concat();
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(Ran { end: End::Exit(ended.status.code().unwrap_or(-1)), output })
}
