//! A sandbox for a program of ours over files that an agent could have written.
//!
//! Such a program (git, most of the time) sees the machine's programs, the named folders and a scratch folder: no
//! network, no home of the user's, nothing of the daemon's. Whatever those files make it do, it does it there, and what
//! it prints is data.

use std::io;
use std::path::PathBuf;

use super::super::level::Level;
use super::super::policy::{Limits, Network, Policy, StandIn};
use super::super::system;
use super::{Settled, make_private};

/// What a program of ours may look at and change.
#[derive(Debug, Clone, Default)]
pub struct Inspection {
    /// Files and folders to look at.
    pub read: Vec<PathBuf>,
    /// Folders to change.
    pub write: Vec<PathBuf>,
    /// A folder for its home and its temporary files. It is made when it is not there.
    pub scratch: PathBuf,
    /// Where programs are looked for.
    pub path: String,
    /// How much it may use.
    pub limits: Limits,
}

impl Inspection {
    /// Makes the scratch folder and says what the program may touch.
    ///
    /// # Errors
    ///
    /// When a folder cannot be made.
    pub fn settle(&self, level: Level) -> io::Result<Settled> {
        make_private(&self.scratch)?;
        let scratch = std::fs::canonicalize(&self.scratch)?;
        let (home, tmp) = (scratch.join("home"), scratch.join("tmp"));
        make_private(&home)?;
        make_private(&tmp)?;
        let mut read = system::read();
        read.extend(self.read.iter().cloned());
        let policy = Policy {
            read,
            hide: system::hide(),
            write: self.write.clone(),
            stand_ins: vec![
                StandIn { at: "/tmp".into(), folder: tmp.clone() },
                StandIn { at: home.clone(), folder: home.clone() },
            ],
            network: Network::None,
            limits: self.limits.clone(),
            ..Policy::default()
        };
        let seen_tmp = if level == Level::Full { PathBuf::from("/tmp") } else { tmp };
        let env = [("HOME", home.display().to_string()), ("TMPDIR", seen_tmp.display().to_string())];
        let env = env.into_iter().chain([("PATH", self.path.clone()), ("LC_ALL", "C".to_owned())]);
        Ok(Settled { policy, env: env.map(|(name, value)| (name.to_owned(), value)).collect() })
    }
}
