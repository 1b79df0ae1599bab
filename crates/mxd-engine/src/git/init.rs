//! A repository that is new here: the example of a set-up script, made for what the project is built with, and the
//! first commit of a repository that we made.
//!
//! It is an example because a wrong script costs more than none: the user reads it, saves it without `.example`, and
//! commits it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::files::Beneath;
use super::identity::IdentityError;
use super::names::Branch;
use super::repository::{Head as CheckedOut, Place, Repository};
use super::run::{Call, Git};

/// Where the script is that makes worktrees ready.
pub const SCRIPT: &str = super::worktree::SCRIPT;

/// Where the example goes.
pub const EXAMPLE: &str = ".mxd/hooks/setup_worktree.sh.example";

/// A way to get what a project needs.
struct Kit {
    name: &'static str,
    /// Any of these files is its sign.
    signs: &'static [&'static str],
    /// Kits that this one does the work of.
    replaces: &'static [&'static str],
    command: &'static str,
}

const KITS: &[Kit] = &[
    Kit { name: "cargo", signs: &["Cargo.toml"], replaces: &[], command: "cargo fetch" },
    Kit {
        name: "bun",
        signs: &["bun.lock", "bun.lockb"],
        replaces: &["npm"],
        command: "bun install --frozen-lockfile",
    },
    Kit {
        name: "pnpm",
        signs: &["pnpm-lock.yaml"],
        replaces: &["npm"],
        command: "pnpm install --frozen-lockfile",
    },
    Kit {
        name: "yarn",
        signs: &["yarn.lock"],
        replaces: &["npm"],
        command: "yarn install --frozen-lockfile",
    },
    Kit { name: "npm", signs: &["package.json", "package-lock.json"], replaces: &[], command: NPM },
    Kit { name: "uv", signs: &["uv.lock"], replaces: &["pip"], command: "uv sync --frozen" },
    Kit { name: "poetry", signs: &["poetry.lock"], replaces: &["pip"], command: POETRY },
    Kit {
        name: "pip",
        signs: &["requirements.txt", "pyproject.toml", "setup.py"],
        replaces: &[],
        command: PIP,
    },
    Kit { name: "go", signs: &["go.mod"], replaces: &[], command: "go mod download" },
    Kit {
        name: "maven",
        signs: &["pom.xml"],
        replaces: &[],
        command: "mvn --batch-mode --quiet dependency:go-offline",
    },
    Kit {
        name: "gradle",
        signs: &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        replaces: &[],
        command: GRADLE,
    },
    Kit { name: "bundler", signs: &["Gemfile"], replaces: &[], command: BUNDLER },
];

const NPM: &str = "if [ -f package-lock.json ]; then npm ci; else npm install; fi";

const POETRY: &str = "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction";

const GRADLE: &str = "if [ -f gradlew ]; then sh gradlew --quiet dependencies; else gradle --quiet dependencies; fi > /dev/null";

const BUNDLER: &str = "bundle config set --local path vendor/bundle
bundle install --quiet";

const PIP: &str = "python3 -m venv .venv
if [ -f requirements.txt ]; then .venv/bin/pip install --requirement requirements.txt
else .venv/bin/pip install --editable .; fi";

const HEAD: &str = "#!/usr/bin/env bash
# Makes a new worktree ready for an agent. It runs in the worktree, inside the sandbox; $1 is the worktree's path.
# When it fails, the worktree is not used. Worktrees run the committed one.
";

const EXAMPLE_NOTE: &str = "#
# This is an example. Read it, save it as setup_worktree.sh, and commit it.
";

const STRICT: &str = "set -euo pipefail
";

const NOTHING_TO_DO: &str = "
# Nothing has to be set up here.
";

const NOTHING: &str = "
# Nothing was recognised here. Install what the project needs, for example:
# make deps
";

/// What became of the example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Example {
    /// It was written.
    Written {
        /// Where.
        path: PathBuf,
        /// What was recognised.
        kits: Vec<&'static str>,
    },
    /// There was one, and it stayed as it was.
    Kept {
        /// Where.
        path: PathBuf,
    },
}

/// What a project is built with, by the files at its top.
#[must_use]
pub fn detect(folder: &Path) -> Vec<&'static str> {
    kits(folder).iter().map(|kit| kit.name).collect()
}

fn kits(folder: &Path) -> Vec<&'static Kit> {
    let there = |kit: &&Kit| kit.signs.iter().any(|sign| folder.join(sign).is_file());
    let found: Vec<_> = KITS.iter().filter(there).collect();
    let replaced = |kit: &Kit| found.iter().any(|other| other.replaces.contains(&kit.name));
    found.iter().copied().filter(|kit| !replaced(kit)).collect()
}

/// The text of a set-up script for what the project is built with.
#[must_use]
pub fn script(folder: &Path) -> String {
    format!("{HEAD}{STRICT}{}", steps(folder))
}

/// The text of the example, which says what to do with it.
fn example(folder: &Path) -> String {
    format!("{HEAD}{EXAMPLE_NOTE}{STRICT}{}", steps(folder))
}

fn steps(folder: &Path) -> String {
    let kits = kits(folder);
    let mut text = String::new();
    if kits.is_empty() {
        text.push_str(NOTHING);
    }
    for kit in kits {
        text.push_str(&format!("\n# {}\n{}\n", kit.name, kit.command));
    }
    text
}

/// Writes the example into a project. What is there already stays.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_example(folder: &Path) -> Result<Example, GitError> {
    let path = folder.join(EXAMPLE);
    let kits = detect(folder);
    let made = Beneath::new(folder).and_then(|files| files.create(Path::new(EXAMPLE), 0o666));
    match made.and_then(|mut file| io::Write::write_all(&mut file, example(folder).as_bytes())) {
        Ok(()) => Ok(Example::Written { path, kits }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(&path).is_ok() => {
            Ok(Example::Kept { path })
        }
        Err(source) => Err(GitError::File { action: "write", path, source }),
    }
}

/// Which set-up script a user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptChoice {
    /// The one that was made for what the project is built with.
    Example,
    /// One that does nothing: nothing has to be set up.
    Nothing,
    /// This one.
    Text(String),
}

/// How the set-up script of a repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptState {
    /// The branch that is checked out has it.
    Committed,
    /// It is a file of the checkout alone.
    NotCommitted,
    /// There is none.
    Missing,
}

/// How the set-up script of a repository is.
///
/// # Errors
///
/// When git fails.
pub async fn script_state(repository: &Repository, base: Option<&Branch>) -> Result<ScriptState, GitError> {
    let Some(checkout) = repository.checkout() else { return Ok(ScriptState::Missing) };
    if let Some(base) = base {
        let object = format!("{}:{SCRIPT}", base.refname());
        let call = Call::new(["cat-file", "-e", &object]).accepts(&[1, 128]);
        if repository.ask(Place::Store, call).await?.code == 0 {
            return Ok(ScriptState::Committed);
        }
    }
    let is_there = checkout.folder.join(SCRIPT).is_file();
    Ok(if is_there { ScriptState::NotCommitted } else { ScriptState::Missing })
}

/// Writes the set-up script that the user wants and commits it. A script that is there is not written over, only
/// committed. Whether something was committed.
///
/// # Errors
///
/// When it cannot be written or committed.
pub async fn set_up_script(
    repository: &Repository,
    base: &Branch,
    choice: ScriptChoice,
) -> Result<bool, CommitError> {
    let Some(checkout) = repository.checkout() else { return Ok(false) };
    let failed = |source: GitError| CommitError::Git { file: SCRIPT.to_owned(), source };
    if script_state(repository, Some(base)).await.map_err(failed)? == ScriptState::Committed {
        return Ok(false);
    }
    match repository.head().await.map_err(failed)? {
        CheckedOut::Branch { branch, .. } | CheckedOut::Unborn { branch } if branch == *base => {}
        _ => return Err(CommitError::NotCheckedOut { file: SCRIPT.to_owned(), base: base.clone() }),
    }
    // Who cannot commit shall not be left with half of it.
    repository.identity().await?;
    let folder = &checkout.folder;
    let text = match choice {
        ScriptChoice::Example => script(folder),
        ScriptChoice::Nothing => format!("{HEAD}{NOTHING_TO_DO}"),
        ScriptChoice::Text(text) => text,
    };
    let made = Beneath::new(folder).and_then(|files| files.create(Path::new(SCRIPT), 0o777));
    match made.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes())) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(GitError::file("write", &folder.join(SCRIPT))(error))),
    }
    commit_file(repository, SCRIPT, "Add the set-up script for worktrees").await
}

/// Why a file of ours was not committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nobody can be its author.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Tasks start from another branch, where it would be missing.
    #[error("{file} belongs on the base branch {base}, and that is not checked out")]
    NotCheckedOut {
        /// Which file.
        file: String,
        /// Where tasks start.
        base: Branch,
    },
    /// Git does not take it now.
    #[error("git did not commit {file}: {source}")]
    Git {
        /// Which file.
        file: String,
        /// What git said.
        source: GitError,
    },
}

/// Commits one file of the checkout as the user, and nothing else: what is staged stays staged. Whether there was
/// something to commit.
///
/// # Errors
///
/// When git does not know the user, or refuses, for example because of a merge in progress.
pub async fn commit_file(repository: &Repository, file: &str, message: &str) -> Result<bool, CommitError> {
    let failed = |source: GitError| CommitError::Git { file: file.to_owned(), source };
    let Some(checkout) = repository.checkout() else { return Ok(false) };
    let who = repository.identity().await?;
    let turn = repository.turn().await;
    let place = Place::Checkout(checkout);
    // The user asked for exactly this file, so neither a list of ignored files nor a sparse checkout keeps it out.
    let add = Call::new(["add", "--force", "--sparse", "--", file]);
    repository.change(&turn, place, add).await.map_err(failed)?;
    let changed = Call::new(["diff", "--cached", "--quiet", "--", file]).accepts(&[1]);
    if repository.ask(place, changed).await.map_err(failed)?.code == 0 {
        return Ok(false);
    }
    let commit = Call::new(["commit", "--quiet", "--no-verify", "--only", "-m", message, "--", file])
        .env("GIT_AUTHOR_NAME", &who.name)
        .env("GIT_AUTHOR_EMAIL", &who.email)
        .env("GIT_COMMITTER_NAME", &who.name)
        .env("GIT_COMMITTER_EMAIL", &who.email);
    repository.change(&turn, place, commit).await.map_err(failed)?;
    Ok(true)
}

/// Makes a folder a repository, with a branch `main` that has no commit.
///
/// # Errors
///
/// When git fails.
pub async fn repository(git: &Git, folder: &Path) -> Result<(), GitError> {
    git.run(Call::new(["init", "--quiet", "--initial-branch=main"]).folder(folder)).await.map(|_| ())
}

/// Commits a set-up script that has nothing to do. Only for a repository in which there is nothing of the user's.
///
/// # Errors
///
/// When the script cannot be written, or git fails.
pub async fn first_commit(repository: &Repository, folder: &Path) -> Result<(), GitError> {
    let path = folder.join(SCRIPT);
    let made = Beneath::new(folder).and_then(|files| files.create(Path::new(SCRIPT), 0o777));
    made.and_then(|mut file| io::Write::write_all(&mut file, script(folder).as_bytes()))
        .map_err(GitError::file("write", &path))?;
    let Some(checkout) = repository.checkout() else { return Ok(()) };
    let turn = repository.turn().await;
    let place = Place::Checkout(checkout);
    repository.change(&turn, place, Call::new(["add", "--", SCRIPT])).await?;
    let mut commit = Call::new(["commit", "--quiet", "--no-verify", "-m", "Begin"]);
    // Whoever never said who they are shall not be kept from beginning.
    if repository.setting("user.email").await?.is_none() {
        for (name, value) in NOBODY {
            commit = commit.env(name, value);
        }
    }
    repository.change(&turn, place, commit).await.map(|_| ())
}

const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "mxd"),
    ("GIT_AUTHOR_EMAIL", "mxd@localhost"),
    ("GIT_COMMITTER_NAME", "mxd"),
    ("GIT_COMMITTER_EMAIL", "mxd@localhost"),
];
