//! The first results in the order of their paths, whatever order they come in.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OutputMode;
use super::hits::Hits;

/// Gathers results from several threads, and keeps no more than will be shown.
#[derive(Debug)]
pub(super) struct Best {
    mode: OutputMode,
    limit: usize,
    found: Mutex<Found>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files to be shown.
    pub(super) files: BTreeMap<String, Hits>,
    /// How many results are in them.
    kept: usize,
    /// How many files match.
    pub(super) matching_files: u64,
    /// How many lines match.
    pub(super) matching_lines: u64,
    /// How many files and folders could not be read.
    pub(super) unreadable: u64,
}

impl Best {
    pub(super) fn new(mode: OutputMode, limit: usize) -> Self {
        Self { mode, limit, found: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether results of this file would be shown, as far as is known by now.
    pub(super) fn would_keep(&self, path: &str) -> bool {
        let found = self.lock();
        found.kept < self.limit || found.files.last_key_value().is_none_or(|(last, _)| path < last.as_str())
    }

    pub(super) fn add(&self, path: String, hits: Hits) {
        if hits.matches == 0 {
            return;
        }
        let mut found = self.lock();
        found.matching_files += 1;
        found.matching_lines += hits.matches;
        found.kept += self.weight(&hits);
        found.files.insert(path, hits);
        while let Some((_, last)) = found.files.last_key_value() {
            let weight = self.weight(last);
            if found.kept - weight < self.limit {
                break;
            }
            found.kept -= weight;
            found.files.pop_last();
        }
    }

    pub(super) fn add_unreadable(&self) {
        self.lock().unreadable += 1;
    }

    pub(super) fn into_found(self) -> Found {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many results a file stands for.
    fn weight(&self, hits: &Hits) -> usize {
        match self.mode {
            OutputMode::Content => hits.kept,
            OutputMode::FilesWithMatches | OutputMode::Count => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(matches: usize) -> Hits {
        let mut hits = Hits::new(matches);
        hits.matches = matches as u64;
        hits.kept = matches;
        hits
    }

    #[test]
    fn the_same_files_are_kept_in_whatever_order_they_come() {
        let files = [("a", 2), ("b", 3), ("c", 1), ("d", 4), ("e", 0)];
        for turn in 0..files.len() {
            let best = Best::new(OutputMode::Content, 5);
            for step in 0..files.len() {
                let (path, matches) = files[(turn + step * 2) % files.len()];
                best.add(path.to_owned(), hits(matches));
            }
            let found = best.into_found();
            assert_eq!(found.files.keys().collect::<Vec<_>>(), ["a", "b"], "{turn}");
            assert_eq!((found.matching_files, found.matching_lines), (4, 10));
        }
    }
}
