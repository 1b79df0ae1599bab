//! A repository, and the one way in which git is asked about it and told to change it.
//!
//! Git is always told that the repository is the shared folder, never a worktree's own: the settings that count are
//! then the user's, and those that an agent may have put beside its worktree are not read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::admin::{self, Entry, Standing};
use super::error::GitError;
use super::inspect::{Inspected, Inspector};
use super::lane::{Lane, Lanes, TaskTurn, Turn};
use super::limits;
use super::names::{Branch, ObjectId};
use super::record::{self, Record};
use super::run::{Call, Git, Output};

/// Why a folder cannot be used as a repository.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no repository.
    #[error("{folder} is not in a git repository ({said}); run `git init` there first", folder = folder.display())]
    NotARepository {
        /// Where it was looked for.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// The repository keeps its branches in a way we cannot read.
    #[error(
        "{common} keeps its branches as {format}, and only `files` is supported; \
         `git refs migrate --ref-format=files` converts it",
        common = common.display()
    )]
    RefFormat {
        /// Which repository.
        common: PathBuf,
        /// How it keeps them.
        format: String,
    },
    /// The folder belongs to an agent.
    #[error("{folder} is the worktree of an agent; use the repository it was made from", folder = folder.display())]
    OfAnAgent {
        /// Which folder.
        folder: PathBuf,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The user's own checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its folder.
    pub folder: PathBuf,
    /// Where git keeps what belongs to this checkout alone.
    pub(super) git_dir: PathBuf,
}

/// What a checkout or a bare repository has as `HEAD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch with commits.
    Branch {
        /// Its name.
        branch: Branch,
        /// Where it stands.
        commit: ObjectId,
    },
    /// A branch that has no commit yet.
    Unborn {
        /// Its name.
        branch: Branch,
    },
    /// A commit, and no branch.
    Detached {
        /// Which.
        commit: ObjectId,
    },
}

/// Who has a branch checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// The user, in a checkout whose settings are the user's.
    User(Checkout),
    /// An agent, in this worktree.
    Agent(PathBuf),
}

/// A repository.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    common: PathBuf,
    checkout: Option<Checkout>,
    lane: Arc<Lane>,
    inspector: Option<Inspector>,
}

/// Where a call looks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a> {
    /// At objects, branches and settings.
    Store,
    /// At objects, by an index of ours and no files.
    Index(&'a Path),
    /// At files that an agent could have written, in a sandbox.
    Files(&'a Inspected),
    /// At the user's checkout, with its own index.
    Checkout(&'a Checkout),
}

impl Repository {
    /// The repository that a folder of the user's belongs to.
    ///
    /// # Errors
    ///
    /// When there is none, or none that can be used.
    pub async fn open(git: Git, lanes: &Lanes, folder: &Path) -> Result<Self, OpenError> {
        git.version().await?;
        let folder = real(folder)?;
        let ask = |args: &[&str]| {
            git.run(Call::new(["rev-parse", "--path-format=absolute"]).args(args).folder(&folder))
        };
        let answer = match ask(&["--git-common-dir", "--absolute-git-dir", "--is-bare-repository"]).await {
            Ok(answer) => answer,
            Err(GitError::Failed { said, .. }) => return Err(OpenError::NotARepository { folder, said }),
            Err(error) => return Err(error.into()),
        };
        let text = answer.text();
        let mut lines = text.lines();
        let (Some(common), Some(git_dir), Some(bare)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(answer.odd().into());
        };
        let (common, git_dir) = (real(Path::new(common))?, real(Path::new(git_dir))?);
        let checkout = match bare {
            "true" => None,
            _ => {
                Some(Checkout { folder: real(Path::new(&ask(&["--show-toplevel"]).await?.line()))?, git_dir })
            }
        };
        let lane = lanes.of(&common);
        let repository = Self { git, common, checkout, lane, inspector: None };
        repository.refuse_unusable().await?;
        Ok(repository)
    }

    async fn refuse_unusable(&self) -> Result<(), OpenError> {
        let format = self.setting("extensions.refstorage").await?.unwrap_or_default();
        if !format.is_empty() && format != "files" {
            return Err(OpenError::RefFormat { common: self.common.clone(), format });
        }
        let Some(checkout) = &self.checkout else { return Ok(()) };
        if Record::all(&self.common)?.iter().any(|record| record.folder == checkout.folder) {
            return Err(OpenError::OfAnAgent { folder: checkout.folder.clone() });
        }
        Ok(())
    }

    /// The same, with a place where git for the files of agents is run. Without one they are not looked at.
    #[must_use]
    pub fn inspected_by(mut self, inspector: Inspector) -> Self {
        self.inspector = Some(inspector);
        self
    }

    pub(super) fn inspector(&self) -> Result<&Inspector, GitError> {
        self.inspector.as_ref().ok_or(GitError::NoSandbox)
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// The folder that all worktrees share.
    #[must_use]
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// The user's checkout; a bare repository has none.
    #[must_use]
    pub fn checkout(&self) -> Option<&Checkout> {
        self.checkout.as_ref()
    }

    /// What the user's checkout, or the bare repository, has as `HEAD`.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub async fn head(&self) -> Result<Head, GitError> {
        let place = self.checkout.as_ref().map_or(Place::Store, Place::Checkout);
        let symbolic = self.ask(place, Call::new(["symbolic-ref", "-q", "HEAD"]).accepts(&[1])).await?;
        let commit = Call::new(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).accepts(&[1]);
        let commit = self.ask(place, commit).await?;
        let branch = Branch::from_refname(&symbolic.line());
        match (branch, commit.line().parse()) {
            (Some(branch), Ok(commit)) => Ok(Head::Branch { branch, commit }),
            (Some(branch), Err(_)) => Ok(Head::Unborn { branch }),
            (None, Ok(commit)) => Ok(Head::Detached { commit }),
            (None, Err(_)) => Err(symbolic.odd()),
        }
    }

    /// Has git leave a folder of the checkout alone, by a line in the repository's own list of exclusions.
    ///
    /// # Errors
    ///
    /// When the list cannot be read or written.
    pub async fn exclude(&self, pattern: &str) -> Result<(), GitError> {
        let _turn = self.lane.turn().await;
        let path = self.common.join("info/exclude");
        let known = match std::fs::read_to_string(&path) {
            Ok(known) => known,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(GitError::File { action: "read", path, source }),
        };
        if known.lines().any(|line| line == pattern) {
            return Ok(());
        }
        let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
        super::files::publish(&path, format!("{known}{gap}{pattern}\n").as_bytes())
            .map_err(GitError::file("write", &path))
    }

    /// Waits until nothing that was broken off changes anything any more.
    pub(crate) async fn settled(&self) {
        self.git.settled().await;
    }

    /// Waits for the right to change the repository.
    pub(super) async fn turn(&self) -> Turn<'_> {
        self.lane.turn().await
    }

    /// Waits for the right to the worktree of a task.
    pub(super) async fn task_turn(&self, task: mxd_core::id::TaskId) -> TaskTurn {
        self.lane.task(task).await
    }

    /// Asks something. Many may ask at once.
    pub(super) async fn ask(&self, place: Place<'_>, call: Call) -> Result<Output, GitError> {
        match place {
            Place::Files(inspected) => inspected.run(call).await,
            place => self.git.run(self.placed(place, call).await?).await,
        }
    }

    /// Changes something, and waits for lock files that others hold.
    pub(super) async fn change(
        &self,
        _: &Turn<'_>,
        place: Place<'_>,
        call: Call,
    ) -> Result<Output, GitError> {
        let call = self.placed(place, call).await?;
        let mut wait = limits::LOCK_WAIT;
        for _ in 1..limits::LOCK_ATTEMPTS {
            match self.git.run(call.again()).await {
                Err(error) if error.is_lock() => tokio::time::sleep(wait).await,
                ended => return ended,
            }
            wait = (wait * 2).min(limits::LOCK_WAIT_MOST);
        }
        self.git.run(call).await.map_err(|error| if error.is_lock() { error.into_locked() } else { error })
    }

    /// Says to a call where it is. Wherever there are files, there may be rules for them, so no program is left.
    async fn placed(&self, place: Place<'_>, call: Call) -> Result<Call, GitError> {
        let call = match place {
            Place::Store => return Ok(self.at_store(call)),
            Place::Index(index) => return Ok(self.at_store(call).env("GIT_INDEX_FILE", index)),
            Place::Files(_) => return Err(GitError::NoSandbox),
            Place::Checkout(checkout) => call
                .env("GIT_DIR", &checkout.git_dir)
                .env("GIT_WORK_TREE", &checkout.folder)
                .folder(&checkout.folder),
        };
        Ok(call.settings(&self.without_programs().await?))
    }

    fn at_store(&self, call: Call) -> Call {
        call.env("GIT_DIR", &self.common).folder(&self.common)
    }

    /// One of the user's settings.
    pub(super) async fn setting(&self, key: &str) -> Result<Option<String>, GitError> {
        let call = Call::new(["config", "--get", key]).accepts(&[1]);
        let answer = self.ask(Place::Store, call).await?;
        Ok((answer.code == 0).then(|| answer.line()))
    }

    /// Settings that take every program out of the user's filters, merges and hooks. Which of them runs for which
    /// file is said by `.gitattributes`, and that file may be an agent's.
    pub(super) async fn without_programs(&self) -> Result<Vec<(String, String)>, GitError> {
        const KEYS: &str =
            r"^((filter|merge)\..*\.(clean|smudge|process|required|driver)|hook\..*\.command)$";
        let call = Call::new(["config", "--null", "--name-only", "--get-regexp", KEYS]).accepts(&[1]);
        let answer = self.git.run(self.at_store(call)).await?;
        let mut settings = Vec::new();
        for key in answer.parts() {
            let key = String::from_utf8_lossy(key);
            let Some((driver, _)) = key.rsplit_once('.') else { continue };
            let replaced: &[(&str, &str)] = match driver.split_once('.') {
                Some(("filter", _)) => {
                    &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
                }
                // No program at all would take one side's text without a word.
                Some(("merge", _)) => &[("driver", "git merge-file --marker-size=%L %A %O %B")],
                _ => &[("enabled", "false")],
            };
            settings.extend(
                replaced.iter().map(|(name, value)| (format!("{driver}.{name}"), (*value).to_owned())),
            );
        }
        settings.sort();
        settings.dedup();
        Ok(settings)
    }

    /// The filters that files may have: those the user has settings for, and LFS.
    pub(super) async fn filter_names(&self) -> Result<Vec<String>, GitError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let settings = self.without_programs().await?;
        let named =
            settings.iter().filter_map(|(key, _)| key.strip_prefix("filter.")?.strip_suffix(".clean"));
        let mut names: Vec<_> = named.filter(|name| name.chars().all(plain)).map(str::to_owned).collect();
        names.push("lfs".to_owned());
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The worktrees beside the first, by what their files say.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, GitError> {
        admin::entries(&self.common)
    }

    /// Who has a branch checked out. An agent can write into its worktree's notes that it stands on any branch, and
    /// that it is anywhere, so its worktree is known by our own record, and only its own branch counts.
    pub(super) async fn holders(&self, branch: &Branch) -> Result<Vec<Holder>, GitError> {
        let records = Record::all(&self.common)?;
        let mut found = Vec::new();
        if admin::standing(&self.common)? == Standing::On(branch.clone()) {
            found.extend(self.main_checkout().await?.map(Holder::User));
        }
        for Entry { own, folder } in self.entries()? {
            if !matches!(admin::standing(&own), Ok(Standing::On(on)) if on == *branch) {
                continue;
            }
            let record = records.iter().find(|record| record.own.as_ref() == Some(&own));
            match (record, folder) {
                (Some(record), _) if record.branch == *branch => {
                    found.push(Holder::Agent(record.folder.clone()))
                }
                (None, Some(folder)) if !record::is_scratch(&self.common, &own) && folder.exists() => {
                    found.push(Holder::User(Checkout { folder, git_dir: own }));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The first checkout, unless the repository is bare.
    async fn main_checkout(&self) -> Result<Option<Checkout>, GitError> {
        if let Some(checkout) = self.checkout.iter().find(|checkout| checkout.git_dir == self.common) {
            return Ok(Some(checkout.clone()));
        }
        if self.setting("core.bare").await?.as_deref() == Some("true") {
            return Ok(None);
        }
        let folder = match self.setting("core.worktree").await? {
            Some(folder) => self.common.join(folder),
            None => self.common.parent().unwrap_or(&self.common).to_owned(),
        };
        Ok(std::fs::canonicalize(folder).ok().map(|folder| Checkout { folder, git_dir: self.common.clone() }))
    }
}

fn real(path: &Path) -> Result<PathBuf, GitError> {
    std::fs::canonicalize(path).map_err(GitError::file("find", path))
}
