//! Which level this machine allows, found out by trying.

use super::error::SandboxError;
use super::launch::{Launcher, Sandbox};
use super::level::{Level, Mode};

impl Sandbox {
    /// Finds the highest level that works here and that the mode allows.
    ///
    /// # Errors
    ///
    /// When no level is possible and the mode is not [`Mode::Off`].
    pub async fn probe(launcher: Launcher, mode: Mode) -> Result<Self, SandboxError> {
        match mode {
            Mode::Off => Ok(Self::at(launcher, Level::Off)),
            Mode::On | Mode::Full | Mode::Landlock => {
                Err(SandboxError::Unavailable { why: "no level is known yet".to_owned() })
            }
        }
    }
}
