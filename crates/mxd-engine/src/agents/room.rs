//! The room of an agent: its folder, its sandbox, its commands.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use mxd_core::id::TaskId;
use mxd_core::tool::EffectSet;
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::proxy::{Proxy, ProxyError};
use mxd_tools::sandbox::{Agent, Network, Repository as Shared};
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::Processes;
use tokio_util::sync::CancellationToken;

use super::Agents;
use super::base_branch::{self, BaseBranchError};
use super::desk::Desk;
use super::network::Way;
use crate::git::view::{self, ViewError, ViewRequest};
use crate::git::{GitError, RefError, worktree};
use crate::home::make_private_folder;

/// Where an agent works.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) scope: Scope,
    /// Which folder it is in, by its number on the disk.
    ground: (u64, u64),
    closed: CancellationToken,
    /// Its commands' way to hosts, which ends with it.
    _proxy: Option<Arc<Proxy>>,
}

/// A folder to work in.
#[derive(Debug)]
pub(super) struct Place {
    /// The folder, and whether it may be changed.
    pub(super) root: Root,
    /// The repository it is a worktree of.
    pub(super) repository: Option<Shared>,
}

/// Why there is no room.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoomError {
    #[error("the task has no worktree")]
    NoWorktree,
    #[error("what it may use is not known: {0}")]
    Tools(String),
    #[error("the way to allowed hosts: {0}")]
    Network(#[from] ProxyError),
    #[error(transparent)]
    Base(#[from] BaseBranchError),
    #[error("the files of the base branch cannot be shown: {0}")]
    View(#[from] ViewError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Ref(#[from] RefError),
    #[error("its folders cannot be used: {0}")]
    Folders(#[from] io::Error),
}

impl Room {
    /// Whether its folder is still the one it was made in. What is written to a folder that somebody removed is lost, and
    /// nobody who works there would notice.
    fn stands(&self) -> bool {
        number(&self.scope.worktree).is_ok_and(|number| number == self.ground)
    }

    /// Ends everything that runs in it.
    pub(super) async fn close(&self) {
        self.closed.cancel();
        self.scope.processes.close().await;
    }
}

fn number(folder: &Path) -> io::Result<(u64, u64)> {
    let folder = std::fs::symlink_metadata(folder)?;
    Ok((folder.dev(), folder.ino()))
}

impl Agents {
    /// The room of a task, made if there is none.
    pub(super) async fn room(&self, desk: &Desk) -> Result<Arc<Room>, RoomError> {
        let mut slot = desk.room.lock().await;
        match slot.take() {
            Some(room) if room.stands() => {
                self.refresh_place(desk.task).await?;
                return Ok(Arc::clone(slot.insert(room)));
            }
            Some(fallen) => fallen.close().await,
            None => {}
        }
        let place = self.place(desk.task).await?;
        let effects =
            self.remit(desk.task).await.map_err(|error| RoomError::Tools(error.to_string()))?.effects;
        let way = self.way_of_commands(desk.task, effects).await?;
        let room = Arc::new(self.make_room((desk.task, place), effects, way).await?);
        let agents = self.clone();
        let (task, watched, closed) = (desk.task, room.scope.processes.clone(), room.closed.clone());
        self.spawn(async move { agents.watch_background(task, watched, closed).await });
        *slot = Some(Arc::clone(&room));
        Ok(room)
    }

    /// Where a task works, up to date: the others in their worktrees, the root in its view of the base branch, which it only
    /// reads.
    pub(super) async fn place(&self, task: TaskId) -> Result<Place, RoomError> {
        self.refresh_place(task).await?;
        let repository = Some(self.surroundings().repository.shared_with(task));
        if self.is_root(task) {
            let root = Root { path: self.view_folder(), access: Access::Read };
            return Ok(Place { root, repository });
        }
        let worktree = worktree::find(&self.surroundings().repository, task)?.ok_or(RoomError::NoWorktree)?;
        let root = Root { path: worktree.folder, access: Access::Write };
        Ok(Place { root, repository })
    }

    /// Where the root reads.
    pub(super) fn view_folder(&self) -> PathBuf {
        self.parts().data.join("view")
    }

    async fn refresh_place(&self, task: TaskId) -> Result<(), RoomError> {
        if !self.is_root(task) {
            return self.refresh_repository(task).await;
        }
        let repository = &self.surroundings().repository;
        let stored = self.parts().shown.look(base_branch::stored);
        let branch = base_branch::usable(repository, stored).await?;
        let include = &self.surroundings().config.include;
        let request = ViewRequest { task, branch: &branch, folder: &self.view_folder(), include };
        Ok(view::bring_up_to_date(repository, &request).await?)
    }

    /// Shows an agent where the branches of others stand now. Before its first work since the start, what held locks in its
    /// repository has died with the daemon before, and they go.
    async fn refresh_repository(&self, task: TaskId) -> Result<(), RoomError> {
        let repository = &self.surroundings().repository;
        let Some(worktree) = worktree::find(repository, task)? else { return Ok(()) };
        let is_first = self.inner.visited.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
        if is_first {
            for lock in worktree::release_locks(repository, &worktree).await? {
                tracing::info!(lock = %lock.display(), "removed a lock that git had left");
            }
        }
        Ok(repository.refresh_given(&worktree).await?)
    }

    async fn make_room(
        &self,
        (task, place): (TaskId, Place),
        effects: EffectSet,
        way: Way,
    ) -> Result<Room, RoomError> {
        let scratch = self.scratch(task);
        make_private_folder(&scratch)?;
        let settings = &self.surroundings().config.sandbox;
        let Root { path: folder, access } = place.root.clone();
        let agent = Agent { network: way.network, ..self.agent(place, &scratch).await }.held_to(effects);
        let mut settled = agent.settle(self.surroundings().sandbox.level())?;
        settled.env.extend(way.env);
        let kept = Kept::open(&scratch)?;
        let processes = Processes::open(&scratch, kept.clone())?;
        processes.allow(&mut settled.policy);
        let seen = Root { path: kept.path().to_owned(), access: Access::Read };
        let roots = settings.roots.iter().cloned().chain([seen]).collect();
        let scope = Scope {
            worktree: folder,
            access,
            roots,
            scratch,
            cell: self.surroundings().sandbox.cell(settled.policy),
            env: settled.env.into(),
            files: Files::default(),
            processes,
            kept,
            secrets: Secrets::default(),
        };
        let ground = number(&scope.worktree)?;
        Ok(Room { scope, ground, closed: CancellationToken::new(), _proxy: way.proxy })
    }

    pub(super) fn scratch(&self, task: TaskId) -> PathBuf {
        self.parts().data.join("agents").join(task.to_string())
    }

    /// Whoever works in a place: the user's tools, and the user as the author of what is committed there.
    pub(super) async fn agent(&self, place: Place, scratch: &Path) -> Agent {
        let settings = &self.surroundings().config.sandbox;
        // Without an identity no task begins, so nobody who needs one works without it.
        let author = self.surroundings().repository.identity().await.ok();
        Agent {
            worktree: place.root,
            scratch: scratch.to_owned(),
            repository: place.repository,
            user: self.surroundings().user.clone(),
            author: author.map(|author| (author.name, author.email)),
            extra: settings.roots.clone(),
            network: Network::None,
            limits: settings.limits.clone(),
        }
    }
}
