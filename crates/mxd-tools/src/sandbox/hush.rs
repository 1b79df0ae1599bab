//! Letting go of the pipes of a command: as long as a supervisor holds them, nobody hears that the command closed them.

use std::fs::{File, OpenOptions};

/// Where a supervisor says what nobody reads.
#[derive(Debug)]
pub(super) struct Nowhere(File);

impl Nowhere {
    /// Opened before the door is locked, because afterwards it may be out of reach.
    pub(super) fn open() -> Result<Self, String> {
        let opened = OpenOptions::new().read(true).write(true).open("/dev/null");
        opened.map(Self).map_err(|error| format!("opening /dev/null: {error}"))
    }

    /// Lets go of standard output and standard error, which belong to the command alone.
    pub(super) fn hush(&self) {
        // A pipe that stays open is noticed later, when the command ends; the command runs all the same.
        let _kept = rustix::stdio::dup2_stdout(&self.0).and_then(|()| rustix::stdio::dup2_stderr(&self.0));
    }
}
