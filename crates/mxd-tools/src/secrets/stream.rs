//! Taking secrets out of bytes that arrive in pieces.
//!
//! What might be the beginning of a secret is held back until it is clear what follows; at most as much as
//! the longest secret, and nothing when the end of what arrived is the beginning of none.

use std::fmt;

use super::Secrets;

/// Takes secrets out of a stream of bytes.
pub struct Redactor {
    secrets: Secrets,
    /// Bytes that are held back, and for each whether it belongs to a secret already found.
    held: Vec<u8>,
    covered: Vec<bool>,
    /// Whether the last byte given out belonged to a secret: the marker stands there already.
    in_secret: bool,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

impl Redactor {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self { secrets, held: Vec::new(), covered: Vec::new(), in_secret: false }
    }

    /// Takes in the next piece and gives out what is safe.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(automaton) = &self.secrets.found.automaton else { return piece.to_vec() };
        self.held.extend(piece);
        self.covered.resize(self.held.len(), false);
        for found in automaton.find_overlapping_iter(&self.held) {
            self.covered[found.range()].fill(true);
        }
        let safe = self.held.len() - self.undecided();
        self.give(safe)
    }

    /// The rest, when nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.give(self.held.len());
        self.in_secret = false;
        rest
    }

    /// How many bytes at the end may be the beginning of a secret.
    fn undecided(&self) -> usize {
        let patterns = &self.secrets.found.patterns;
        let longest = self.held.len().min(self.secrets.found.longest.saturating_sub(1));
        (1..=longest)
            .rev()
            .find(|length| {
                let end = &self.held[self.held.len() - length..];
                // The patterns that begin like this stand together; the first may be all of it and no more.
                let first = patterns.partition_point(|pattern| pattern.as_slice() < end);
                let mut similar = patterns[first..].iter().take(2);
                similar.any(|pattern| pattern.len() > *length && pattern.starts_with(end))
            })
            .unwrap_or(0)
    }

    fn give(&mut self, count: usize) -> Vec<u8> {
        let mut given = Vec::with_capacity(count);
        for (byte, covered) in self.held.drain(..count).zip(self.covered.drain(..count)) {
            match (covered, self.in_secret) {
                (true, false) => given.extend(self.secrets.found.marker.as_bytes()),
                (true, true) => {}
                (false, _) => given.push(byte),
            }
            self.in_secret = covered;
        }
        given
    }
}
