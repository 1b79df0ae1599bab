//! What is remembered of a request: where it went, what it was told, and how much passed.
//!
//! Nothing else is kept. Headers, paths and queries may hold secrets, and no type here has room for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mxd_core::time::Millis;
use tokio::sync::mpsc;

use super::host::Destination;
use super::meter::Meter;
use super::rules::Denial;

/// One request, when it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// When it began.
    pub at: Millis,
    /// Where it wanted to go; nothing when it did not name a host.
    pub to: Option<Destination>,
    /// How.
    pub method: Method,
    /// What the rules said.
    pub verdict: Verdict,
    /// The status the client was told; 0 when it left before there was one.
    pub status: u16,
    /// Bytes sent to the host, heads included.
    pub bytes_up: u64,
    /// Bytes that came from the host, heads included.
    pub bytes_down: u64,
}

/// How a request travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// As a tunnel whose bytes nobody looks at.
    Connect,
    /// As a request that the proxy sends on.
    Http,
}

/// What the rules said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go; the status says how it went.
    Allowed,
    /// No, for this reason.
    Denied(Denial),
    /// Nothing, because it did not come to that: the request was not sound (status 400), did not show the proxy's
    /// token (407), or there were too many (503).
    Unasked,
}

/// The visits of one proxy: the latest ones, and a channel for whoever keeps them all.
#[derive(Debug)]
pub(super) struct Visits {
    clock: fn() -> Millis,
    latest: Mutex<VecDeque<Visit>>,
    keep: usize,
    reports: Option<mpsc::Sender<Visit>>,
    unreported: AtomicU64,
}

impl Visits {
    pub(super) fn new(clock: fn() -> Millis, keep: usize, reports: Option<mpsc::Sender<Visit>>) -> Self {
        Self { clock, latest: Mutex::default(), keep, reports, unreported: AtomicU64::new(0) }
    }

    /// The latest ones, oldest first.
    pub(super) fn latest(&self) -> Vec<Visit> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// How many the channel had no room for.
    pub(super) fn unreported(&self) -> u64 {
        self.unreported.load(Ordering::Relaxed)
    }

    fn add(&self, visit: Visit) {
        if let Some(reports) = &self.reports {
            // Whoever reads slowly loses reports, not the agent its connection.
            if reports.try_send(visit.clone()).is_err() {
                self.unreported.fetch_add(1, Ordering::Relaxed);
            }
        }
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.len() >= self.keep {
            latest.pop_front();
        }
        if self.keep > 0 {
            latest.push_back(visit);
        }
    }
}

/// A visit that goes on. It is remembered when the last holder drops it, so that none is forgotten, however it
/// ends.
#[derive(Debug)]
pub(super) struct OpenVisit {
    visits: Arc<Visits>,
    visit: Mutex<Visit>,
    meter: Arc<Meter>,
}

impl OpenVisit {
    pub(super) fn begin(visits: &Arc<Visits>, method: Method, meter: Arc<Meter>) -> Arc<Self> {
        let visit = Visit {
            at: (visits.clock)(),
            to: None,
            method,
            verdict: Verdict::Unasked,
            status: 0,
            bytes_up: 0,
            bytes_down: 0,
        };
        Arc::new(Self { visits: Arc::clone(visits), visit: Mutex::new(visit), meter })
    }

    /// What counts the bytes of this visit.
    pub(super) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    pub(super) fn to(&self, destination: &Destination) {
        self.visit().to = Some(destination.clone());
    }

    pub(super) fn judged(&self, verdict: Verdict) {
        self.visit().verdict = verdict;
    }

    pub(super) fn answered(&self, status: u16) {
        self.visit().status = status;
    }

    fn visit(&self) -> MutexGuard<'_, Visit> {
        self.visit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenVisit {
    fn drop(&mut self) {
        let mut visit = self.visit().clone();
        visit.bytes_up = self.meter.up();
        visit.bytes_down = self.meter.down();
        self.visits.add(visit);
    }
}
