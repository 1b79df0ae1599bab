//! The last commits, kept in memory for those who follow the log: whoever hears of a commit reads it at once, and finding it
//! in its file would take longer than writing it.

use std::collections::VecDeque;

use super::{Commit, Log};
use crate::limits::{RECENT_BYTES, RECENT_COMMITS};

/// Commits that stand next to each other, up to the last one.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    commits: VecDeque<Commit>,
    bytes: usize,
}

impl Recent {
    /// Takes the next commit, and lets go of old ones.
    pub(crate) fn push(&mut self, commit: Commit) {
        self.bytes += commit.events.len();
        self.commits.push_back(commit);
        while self.bytes > RECENT_BYTES || self.commits.len() > RECENT_COMMITS {
            let Some(oldest) = self.commits.pop_front() else { return };
            self.bytes -= oldest.events.len();
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// All commits after this one, if none of them is missing.
    fn after(&self, after: u64) -> Option<Vec<Commit>> {
        let first = self.commits.front()?.seq;
        let known = usize::try_from((after + 1).checked_sub(first)?).ok()?;
        Some(self.commits.iter().skip(known).cloned().collect())
    }
}

impl Log {
    /// The commits after `after`, in order, if all of them were written so lately that they are still at hand;
    /// otherwise [`Log::read`] has them.
    pub fn recent(&self, after: u64) -> Option<Vec<Commit>> {
        self.shared.view().recent.after(after)
    }
}
