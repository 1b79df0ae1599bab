//! What an agent's commands are given: its own worktree, the tools of the machine, and nothing of the user's.

mod credentials;
mod environment;
mod inspection;
mod repository;
mod settings;
mod toolchains;

pub use environment::User;
pub use inspection::Inspection;
pub use repository::Repository;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use mxd_core::tool::{EffectSet, SideEffect};

use super::level::Level;
use super::policy::{Limits, Network, Policy, StandIn};
use super::system;
use crate::scope::{Access, Root};

/// One agent, as the sandbox knows it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its worktree, and whether it may change it.
    pub worktree: Root,
    /// A folder of its own outside of the worktree. It is made when it is not there.
    pub scratch: PathBuf,
    /// The agent's own repository, whose files are in the worktree.
    pub repository: Option<Repository>,
    /// Whose tools it uses.
    pub user: User,
    /// Who is the author of what it commits: name and mail address.
    pub author: Option<(String, String)>,
    /// What else it may touch.
    pub extra: Vec<Root>,
    /// Whom it may talk to.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
}

/// What an agent becomes at a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What its commands may touch.
    pub policy: Policy,
    /// Their environment.
    pub env: Vec<(String, String)>,
}

impl Agent {
    /// Makes the folders that its commands need and says what they may touch.
    ///
    /// # Errors
    ///
    /// When a folder cannot be made, the worktree or the repository is not there, or one of the folders contains the
    /// user's home.
    pub fn settle(&self, level: Level) -> io::Result<Settled> {
        if self.user.home.parent().is_none() || !self.user.home.is_absolute() {
            let what = format!(
                "the home folder is \"{}\"; set HOME to a folder of the user's own",
                self.user.home.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        make_private(&self.scratch)?;
        let scratch = fs::canonicalize(&self.scratch)?;
        let (home, tmp) = (scratch.join("home"), scratch.join("tmp"));
        make_private(&home)?;
        make_private(&tmp)?;
        environment::write_git_settings(&home, self.author.as_ref())?;
        let mut policy = Policy {
            read: system::read(),
            hide: system::hide(),
            network: self.network.clone(),
            limits: self.limits.clone(),
            ..Policy::default()
        };
        self.give_tools(&scratch, &mut policy)?;
        for root in std::iter::once(&self.worktree).chain(&self.extra) {
            self.give(root, &mut policy)?;
        }
        if let Some(repository) = &self.repository {
            repository.give((level, self.worktree.access), &self.worktree.path, &mut policy)?;
        }
        policy.stand_ins.extend([
            StandIn { at: "/tmp".into(), folder: tmp.clone() },
            StandIn { at: "/var/tmp".into(), folder: tmp.clone() },
            StandIn { at: self.user.home.clone(), folder: home.clone() },
        ]);
        policy.measured = self.measured(&policy, [home.clone(), tmp.clone()]);
        let env = self.user.environment(level, &home, &tmp);
        Ok(Settled { policy, env })
    }

    /// The same, held to what the side-effect classes of a tool server allow. Programs are run to change something,
    /// and a chain is reached over the network; everything else only looks.
    #[must_use]
    pub fn held_to(mut self, effects: EffectSet) -> Self {
        if !effects.contains(SideEffect::Write) && !effects.contains(SideEffect::Shell) {
            for root in std::iter::once(&mut self.worktree).chain(&mut self.extra) {
                root.access = Access::Read;
            }
        }
        if !effects.contains(SideEffect::Network) && !effects.contains(SideEffect::Chain) {
            self.network = Network::None;
        }
        self
    }

    fn give(&self, root: &Root, policy: &mut Policy) -> io::Result<()> {
        let path = fs::canonicalize(&root.path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", root.path.display())))?;
        if self.user.home.starts_with(&path) {
            let what = format!(
                "{} contains the home folder with all its keys; name a folder inside of it",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        match root.access {
            Access::Read => policy.read.push(path),
            Access::Write => policy.write.push(path),
        }
        Ok(())
    }

    /// What the agent can fill and nobody else can: its worktree, its home folder, its temporary files, its changes to caches.
    fn measured(&self, policy: &Policy, own: [PathBuf; 2]) -> Vec<PathBuf> {
        let worktree = (self.worktree.access == Access::Write).then(|| self.worktree.path.clone());
        let changes = policy.overlays.iter().map(|overlay| overlay.upper.clone());
        worktree.into_iter().chain(own).chain(changes).collect()
    }

    fn give_tools(&self, scratch: &Path, policy: &mut Policy) -> io::Result<()> {
        let programs = toolchains::programs(&self.user);
        policy.hide.extend(credentials::hidden(&self.user, &programs));
        policy.read.extend(programs);
        policy.read.extend(settings::shown(&self.user.home));
        for overlay in toolchains::caches(&self.user, &scratch.join("caches")) {
            make_private(&overlay.upper)?;
            make_private(&overlay.work)?;
            policy.overlays.push(overlay);
        }
        Ok(())
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| io::Error::new(error.kind(), format!("making {}: {error}", folder.display())))
}
