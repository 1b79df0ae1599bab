//! The registry in memory, as the fold of its entries.

use std::collections::{BTreeMap, HashMap};

use alloy_primitives::{Address, U256};
use serde::{Deserialize, Serialize};

use super::sends::{End, Reservation, Send, SendId};
use crate::chain::profile::Profile;
use crate::journal::Fold;

/// One line of the registry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Entry {
    Artifact(ArtifactEntry),
    Chain { profile: Profile },
    Reserved { reservation: Reservation },
    Settled { id: SendId, end: End },
}

/// Which artifact a project's contract is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArtifactEntry {
    pub(crate) artifact_id: String,
    pub(crate) project_id: String,
    pub(crate) name: String,
    pub(crate) path: String,
}

/// Everything the entries say together.
#[derive(Default)]
pub(crate) struct Book {
    artifacts: Vec<ArtifactEntry>,
    chains: BTreeMap<String, Profile>,
    sends: BTreeMap<SendId, Send>,
    deployed: HashMap<(String, Address), String>,
}

impl Fold for Book {
    type Record = Entry;

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Artifact(entry) => {
                let same = |old: &ArtifactEntry| {
                    (&old.project_id, &old.name, &old.path) == (&entry.project_id, &entry.name, &entry.path)
                };
                self.artifacts.retain(|old| !same(old));
                self.artifacts.push(entry);
            }
            Entry::Chain { profile } => {
                self.chains.insert(profile.id.clone(), profile);
            }
            Entry::Reserved { reservation } => {
                let id = reservation.id.clone();
                self.sends.insert(id, Send { reservation, end: None });
            }
            Entry::Settled { id, end } => self.settle(&id, end),
        }
    }
}

impl Book {
    fn settle(&mut self, id: &SendId, end: End) {
        let Some(send) = self.sends.get_mut(id) else { return };
        if let (End::Confirmed { .. }, Some(address)) = (&end, send.reservation.address)
            && !send.reservation.artifact_id.is_empty()
        {
            self.deployed.insert((id.chain.clone(), address), send.reservation.artifact_id.clone());
        }
        send.end = Some(end);
    }

    /// Whether the registry already says so.
    pub(super) fn is_newest(&self, entry: &ArtifactEntry) -> bool {
        self.artifacts.contains(entry)
    }

    /// Contracts of this name, the newest last; of one project when one is named.
    pub(crate) fn artifacts_named(&self, name: &str, project: Option<&str>) -> Vec<&ArtifactEntry> {
        let named = self.artifacts.iter().filter(|entry| {
            entry.name == name
                || format!("{}:{}", entry.path, entry.name) == name
                || entry.artifact_id == name
        });
        named.filter(|entry| project.is_none_or(|project| entry.project_id == project)).collect()
    }

    pub(crate) fn chains(&self) -> impl Iterator<Item = &Profile> {
        self.chains.values()
    }

    pub(crate) fn chain(&self, id: &str) -> Option<&Profile> {
        self.chains.get(id)
    }

    pub(crate) fn send(&self, id: &SendId) -> Option<&Send> {
        self.sends.get(id)
    }

    /// What an account has under way on a chain, in the order of nonces.
    pub(crate) fn pending(&self, chain: &str, sender: Address) -> Vec<Send> {
        let ours = self.sends.values().filter(|send| {
            send.end.is_none() && send.reservation.id.chain == chain && send.reservation.sender == sender
        });
        let mut pending: Vec<Send> = ours.cloned().collect();
        pending.sort_by_key(|send| send.reservation.nonce);
        pending
    }

    /// What was spent, or may still be, under a policy.
    pub(crate) fn spent(&self, policy: &str) -> U256 {
        let under = self.sends.values().filter(|send| send.reservation.policy == policy);
        under.fold(U256::ZERO, |sum, send| sum.saturating_add(send.cost()))
    }

    pub(super) fn artifact_at(&self, chain: &str, address: Address) -> Option<&str> {
        self.deployed.get(&(chain.to_owned(), address)).map(String::as_str)
    }
}
