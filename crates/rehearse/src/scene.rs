//! How far one conversation has come.

use std::collections::BTreeMap;

use crate::cache::Cached;
use crate::capture::Caught;
use crate::script::{ForkOf, Reply, Script, Turn};
use crate::view::Pieces;

/// The progress of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// Turns that are over.
    pub(crate) turn: usize,
    /// Faults of the current turn that were met.
    pub(crate) faults_met: usize,
    /// The last request that kept the rules.
    pub(crate) last: Option<Pieces>,
    /// Messages of the last request that ended a turn.
    pub(crate) answered: usize,
    /// What was caught from requests.
    pub(crate) caught: Caught,
    /// The test has said that the next request changes its prefix.
    pub(crate) break_declared: bool,
    /// What the last request that ended a turn got.
    pub(crate) given: Option<Given>,
    /// How often the last turn was played without being over.
    pub(crate) repeats: usize,
    /// Requests by turn from which forks begin; only those that some fork names.
    pub(crate) kept: BTreeMap<usize, Pieces>,
    wanted: Vec<usize>,
}

/// An answer, to be given again.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// What was asked.
    pub(crate) request: Pieces,
    /// The number its ids were made from.
    pub(crate) number: u64,
    pub(crate) reply: Reply,
    pub(crate) turn: Turn,
    /// What was billed for it.
    pub(crate) cached: Cached,
}

impl Scene {
    /// One for every conversation of the script.
    pub(crate) fn of(script: &Script) -> Vec<Self> {
        let mut scenes: Vec<Self> = script.conversations.iter().map(|_| Self::default()).collect();
        for fork in script.conversations.iter().filter_map(|one| one.fork_of.as_ref()) {
            if let Some(parent) = Self::parent(script, fork) {
                scenes[parent].wanted.push(fork.at_turn);
            }
        }
        scenes
    }

    /// The conversation that a fork comes from.
    pub(crate) fn parent(script: &Script, fork: &ForkOf) -> Option<usize> {
        script.conversations.iter().position(|one| one.id.as_ref() == Some(&fork.conversation))
    }

    /// The turn is over; `request` is what it answered.
    pub(crate) fn end_turn(&mut self, request: &Pieces) {
        self.turn += 1;
        self.faults_met = 0;
        self.repeats = 0;
        self.answered = request.items.len();
        if self.wanted.contains(&self.turn) {
            self.kept.insert(self.turn, request.clone());
        }
    }
}
