//! Which level this machine allows, found out by trying.

use std::path::PathBuf;

use super::error::SandboxError;
use super::launch::{Command, End, Launcher, Output, Sandbox};
use super::level::{Level, Mode};
use super::policy::Policy;
use super::{groups, system};

/// A program that every machine has, and what it says when the sandbox works.
const TRIAL: &str = "echo inside";

impl Sandbox {
    /// Finds the highest level that works here and that the mode allows.
    ///
    /// # Errors
    ///
    /// When no level is possible and the mode is not [`Mode::Off`].
    pub async fn probe(launcher: Launcher, mode: Mode) -> Result<Self, SandboxError> {
        let levels: &[Level] = match mode {
            Mode::On => &[Level::Full, Level::Landlock],
            Mode::Full => &[Level::Full],
            Mode::Landlock => &[Level::Landlock],
            Mode::Off => return Ok(Self::at(launcher, Level::Off, Vec::new())),
        };
        groups::sweep();
        let mut shortfalls = Vec::new();
        for &level in levels {
            let sandbox = Self::at(launcher.clone(), level, shortfalls.clone());
            match sandbox.try_out().await {
                Ok(missing) => {
                    shortfalls.extend(missing);
                    return Ok(Self::at(launcher, level, shortfalls));
                }
                Err(why) => shortfalls.push(format!("level {level}: {why}")),
            }
        }
        Err(SandboxError::Unavailable { why: shortfalls.join("; ") })
    }

    /// Runs something. Returns what the kernel does not hold at this level.
    async fn try_out(&self) -> Result<Vec<String>, String> {
        let policy = Policy { read: system::read(), hide: system::hide(), ..Policy::default() };
        let command = Command {
            program: "/bin/sh".to_owned(),
            args: vec!["-c".to_owned(), TRIAL.to_owned()],
            cwd: PathBuf::from("/"),
            stdout: Output::Null,
            stderr: Output::Null,
            ..Command::default()
        };
        let cell = self.cell(policy);
        let mut child = cell.spawn(command).await.map_err(|error| error.to_string())?;
        match child.wait().await.map_err(|error| error.to_string())?.end {
            End::Code(0) => Ok(std::mem::take(&mut child.missing)),
            End::Code(code) => Err(format!("a trial command ended with code {code}")),
            End::Signal(signal) => Err(format!("a trial command was ended by signal {signal}")),
        }
    }
}
