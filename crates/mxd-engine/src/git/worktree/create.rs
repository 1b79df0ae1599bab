//! Making the worktree of a task, in steps of which each may be the last before a crash.
//!
//! A record is written first and says "being made"; it says "ready" when everything is done. What is found with the
//! former is removed and made anew, because no agent ever was in it; what is found with the latter is handed out again.

use std::io;
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;

use super::super::admin;
use super::super::errand::{Errand, Ran};
use super::super::error::GitError;
use super::super::files::{blocking, is_vacant};
use super::super::lane::TaskTurn;
use super::super::living::Inhabitant;
use super::super::names::{Branch, ObjectId, Slug};
use super::super::private::Private;
use super::super::record::{self, Record, Stage};
use super::super::refs::{RefError, Swap};
use super::super::repository::{Place, Repository};
use super::super::run::Call;
use super::super::space::{self, SpaceError, Watermark};
use super::checkout::{Attach, fill, register};
use super::disclosure::{Disclosure, disclose};
use super::include::{self, IncludeError, Included};
use super::repair::{Stuck, clear_half_made, forget_vanished};
use super::setup::{self, FailedSetup, Setup, SetupError};
use super::{Worktree, described, named, remove};

/// What a worktree starts from. Never assumed: whoever asks says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// Where this branch stands now.
    Branch(Branch),
    /// This commit.
    Commit(ObjectId),
}

/// A worktree to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// For which task.
    pub task: TaskId,
    /// The readable end of its branch.
    pub slug: Slug,
    /// What it starts from.
    pub base: Base,
    /// Where its files go: a full path at which nothing is yet.
    pub folder: PathBuf,
    /// Patterns of files that git does not know and that are copied from the user's checkout.
    pub include: Vec<String>,
    /// Whether the set-up script is run.
    pub setup: Setup,
    /// What becomes of it when the script fails.
    pub failed_setup: FailedSetup,
    /// What has to stay free on the disk.
    pub room: Watermark,
}

/// How a worktree came to be handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was made.
    Made,
    /// It was there, with whatever the agent left in it.
    Reused,
    /// Its files were gone and came back from its branch.
    Revived,
}

/// A worktree that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The worktree. A task that has one keeps it, also when the request says another place or name.
    pub worktree: Worktree,
    /// How.
    pub how: How,
    /// What the agent should know.
    pub disclosure: Disclosure,
    /// What was copied from the user's checkout.
    pub included: Included,
    /// What the set-up script said, if it was run.
    pub setup: Option<Ran>,
}

/// Why there is no worktree.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The branch to start from is not there.
    #[error(
        "there is no branch {branch} with a commit to start from; commit something there, or name another"
    )]
    NoBaseBranch {
        /// Which branch.
        branch: Branch,
    },
    /// The commit to start from is not there.
    #[error("there is no commit {commit} to start from")]
    NoBaseCommit {
        /// Which commit.
        commit: ObjectId,
    },
    /// The task's branch is there and has nothing in common with what it should start from.
    #[error("the branch {branch} is there and has no commit in common with {base}; rename or delete it")]
    UnrelatedBranch {
        /// Which branch.
        branch: Branch,
        /// What it should start from.
        base: ObjectId,
    },
    /// The place cannot be used.
    #[error("{folder} cannot become a worktree: {why}", folder = folder.display())]
    Folder {
        /// Which place.
        folder: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// Something that is not ours is at the place.
    #[error("{folder} has files that are not of this worktree; move them away first", folder = folder.display())]
    Occupied {
        /// Which place.
        folder: PathBuf,
    },
    /// What an earlier attempt started still runs.
    #[error("processes of an earlier attempt are still in {folder}: {}", listed(.living), folder = folder.display())]
    Inhabited {
        /// Which place.
        folder: PathBuf,
        /// Who.
        living: Vec<Inhabitant>,
    },
    /// The disk is too full.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Files could not be carried over.
    #[error(transparent)]
    Include(#[from] IncludeError),
    /// The set-up script did not make it ready.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// What an earlier removal left could not be finished.
    #[error("an earlier removal could not be finished: {0}")]
    Removal(Box<super::RemoveError>),
    /// A branch is not what it seems.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

pub(super) fn listed(living: &[Inhabitant]) -> String {
    living.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Makes the worktree of a task, or hands out the one it has.
///
/// `run` runs the set-up script; see [`Errand`].
///
/// # Errors
///
/// When it cannot be made. Work that is there is never lost over it.
pub async fn create<R, F>(repository: &Repository, request: &Request, run: R) -> Result<Created, CreateError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    space::check(&request.folder, request.room)?;
    include::check(&request.include)?;
    let folder = place(repository, &request.folder)?;
    repository.exclude(mxd_tools::confine::UNFINISHED).await?;
    let turn = repository.task_turn(request.task).await;
    let known = Record::read(repository.common(), request.task)?;
    match known {
        Some(record) if record.stage == Stage::Ready => match described(&record) {
            Some(worktree) => reuse(repository, worktree).await,
            None => make(repository, request, revival(repository, record, &turn).await?, &run).await,
        },
        Some(record) => {
            clear_up(repository, &record).await?;
            let before = Some(record).filter(|record| record.stage == Stage::Making);
            make(repository, request, plan(repository, request, folder, before).await?, &run).await
        }
        None => make(repository, request, plan(repository, request, folder, None).await?, &run).await,
    }
}

/// The real path of the place, once its parent is there.
fn place(repository: &Repository, folder: &Path) -> Result<PathBuf, CreateError> {
    let refused = |why| CreateError::Folder { folder: folder.to_owned(), why };
    if !folder.is_absolute() {
        return Err(refused("the path is not a full one"));
    }
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(refused("it has no name"));
    };
    if folder.to_str().is_none_or(|text| text.contains('\n')) {
        return Err(refused("its path is not text in one line"));
    }
    std::fs::create_dir_all(parent).map_err(GitError::file("make", parent))?;
    let parent = std::fs::canonicalize(parent).map_err(GitError::file("find", parent))?;
    if parent.starts_with(repository.common()) {
        return Err(refused("it is inside of the repository's own folder"));
    }
    Ok(parent.join(name))
}

/// What is about to be made, and which branch it is attached to.
struct Plan {
    record: Record,
    how: How,
    /// Where the branch stands, if it is there.
    branch_at: Option<ObjectId>,
}

/// Plans a worktree. What an earlier attempt began keeps its branch and its base, whatever they are called now.
async fn plan(
    repository: &Repository,
    request: &Request,
    folder: PathBuf,
    before: Option<Record>,
) -> Result<Plan, CreateError> {
    if !is_vacant(&folder).map_err(GitError::file("look into", &folder))? {
        return Err(CreateError::Occupied { folder });
    }
    if let Some(before) = before {
        let branch_at = repository.branch(&before.branch).await?;
        if branch_at.is_some() {
            return Ok(Plan { record: Record { folder, ..before }, how: How::Made, branch_at });
        }
    }
    let (base_branch, mut base) = resolve(repository, &request.base).await?;
    let branch = Branch::of_task(request.task, &request.slug);
    let branch_at = repository.branch(&branch).await?;
    if let Some(at) = &branch_at {
        // It was there before, so it may have started earlier than where the base stands now.
        let call = Call::new(["merge-base", base.as_str(), at.as_str()]).accepts(&[1]);
        let common = repository.ask(Place::Store, call).await?.line().parse();
        base = common.map_err(|_| CreateError::UnrelatedBranch { branch: branch.clone(), base })?;
    }
    let record =
        Record { task: request.task, folder, branch, base_branch, base, own: None, stage: Stage::Making };
    Ok(Plan { record, how: How::Made, branch_at })
}

async fn resolve(repository: &Repository, base: &Base) -> Result<(Option<Branch>, ObjectId), CreateError> {
    match base {
        Base::Branch(branch) => {
            let missing = || CreateError::NoBaseBranch { branch: branch.clone() };
            repository.import_branch(branch).await?;
            Ok((Some(branch.clone()), repository.branch(branch).await?.ok_or_else(missing)?))
        }
        Base::Commit(commit) => {
            let call = Call::new(["cat-file", "-e", &format!("{commit}^{{commit}}")]).accepts(&[1, 128]);
            match repository.ask(Place::Store, call).await?.code {
                0 => Ok((None, commit.clone())),
                _ => Err(CreateError::NoBaseCommit { commit: commit.clone() }),
            }
        }
    }
}

/// The plan for a worktree that was ready and whose files somebody removed.
async fn revival(repository: &Repository, record: Record, turn: &TaskTurn) -> Result<Plan, CreateError> {
    if !is_vacant(&record.folder).map_err(GitError::file("look into", &record.folder))? {
        return Err(CreateError::Occupied { folder: record.folder });
    }
    // The agent's own repository does not lie among its files, so what it committed is still there.
    if let Some(worktree) = named(&record).filter(|_| Private::of(repository.common(), record.task).exists())
    {
        repository.import(&worktree, turn).await?;
    }
    let branch_at = repository.branch(&record.branch).await?;
    Ok(Plan { record: Record { stage: Stage::Making, ..record }, how: How::Revived, branch_at })
}

/// Finishes what a crash interrupted.
async fn clear_up(repository: &Repository, record: &Record) -> Result<(), CreateError> {
    if let Stage::Removing { .. } = record.stage {
        let finished = remove::finish(repository, record).await;
        return finished.map_err(|error| CreateError::Removal(Box::new(error)));
    }
    let folder = || record.folder.clone();
    clear_half_made(repository, &record.folder).await.map_err(|stuck| match stuck {
        Stuck::Occupied => CreateError::Occupied { folder: folder() },
        Stuck::Inhabited(living) => CreateError::Inhabited { folder: folder(), living },
        Stuck::Git(error) => error.into(),
    })
}

async fn reuse(repository: &Repository, worktree: Worktree) -> Result<Created, CreateError> {
    let included = Included::default();
    let disclosure = disclose(repository, &worktree, &included).await?;
    Ok(Created { worktree, how: How::Reused, disclosure, included, setup: None })
}

async fn make<R, F>(
    repository: &Repository,
    request: &Request,
    plan: Plan,
    run: &R,
) -> Result<Created, CreateError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    plan.record.write(repository.common())?;
    let worktree = lay_out(repository, &plan).await?;
    let included = include::carry(repository, &request.include, &worktree.folder).await?;
    let disclosure = disclose(repository, &worktree, &included).await?;
    let setup = match setup::run(&worktree.folder, request.setup, run).await {
        Ok(ran) => ran,
        Err(error) => {
            if request.failed_setup == FailedSetup::Remove {
                take_back(repository, &plan).await?;
            }
            return Err(error.into());
        }
    };
    Record { own: Some(worktree.own.clone()), stage: Stage::Ready, ..plan.record }
        .write(repository.common())?;
    Ok(Created { worktree, how: plan.how, disclosure, included, setup })
}

/// Branch, worktree and files.
async fn lay_out(repository: &Repository, plan: &Plan) -> Result<Worktree, CreateError> {
    let Record { task, folder, branch, base_branch, base, .. } = &plan.record;
    let attach = match &plan.branch_at {
        None => Attach::New { branch: branch.as_str(), at: base },
        Some(_) => Attach::Existing { branch: branch.as_str() },
    };
    let turn = repository.turn().await;
    admin::refuse_traps(repository.common())?;
    forget_vanished(repository, &turn, folder)?;
    let own = register(repository, &turn, folder, attach).await?;
    drop(turn);
    fill(repository, folder, &own, plan.branch_at.as_ref().unwrap_or(base)).await?;
    // The agent's own index is the agent's to change; ours says what was there.
    let (theirs, ours) = (own.join("index"), record::index(repository.common(), *task));
    let seen_by = ours.parent().unwrap_or(&ours).to_owned();
    std::fs::create_dir_all(&seen_by).map_err(GitError::file("make", &seen_by))?;
    let copied = blocking(move || std::fs::copy(theirs, ours)).await.and_then(|ended| ended);
    copied.map_err(GitError::file("copy", &own.join("index")))?;
    let worktree = Worktree {
        task: *task,
        folder: folder.clone(),
        own,
        branch: branch.clone(),
        base_branch: base_branch.clone(),
        base: base.clone(),
    };
    repository.make_private(&worktree, plan.branch_at.as_ref().unwrap_or(base)).await?;
    Ok(worktree)
}

/// Undoes what was made. The branch goes only if it is new and nothing was added to it.
async fn take_back(repository: &Repository, plan: &Plan) -> Result<(), CreateError> {
    clear_up(repository, &plan.record).await?;
    if plan.branch_at.is_none() {
        let turn = repository.turn().await;
        let name = plan.record.branch.refname();
        let swap = Swap { name: &name, from: Some(&plan.record.base), to: None, why: "mxd: set-up failed" };
        match repository.swap_ref(&turn, swap).await {
            Ok(()) | Err(RefError::Moved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Private::of(repository.common(), plan.record.task).remove(repository).await?;
    Ok(Record::forget(repository.common(), plan.record.task)?)
}
