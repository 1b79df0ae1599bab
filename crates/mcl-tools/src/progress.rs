//! What is being done, for a person who waits.

use std::io::{IsTerminal as _, Write as _};

use crate::answer::DIM;
use crate::cli::Common;

/// Tells somebody who waits; nobody, where nobody does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    is_told: bool,
}

impl Progress {
    pub(crate) fn of(common: &Common) -> Self {
        Self { is_told: common.verbose || std::io::stderr().is_terminal() }
    }

    /// One line on standard error.
    pub(crate) fn tell(self, what: impl AsRef<str>) {
        if self.is_told {
            let _closed = writeln!(anstream::stderr(), "{DIM}{}{DIM:#}", what.as_ref());
        }
    }
}
