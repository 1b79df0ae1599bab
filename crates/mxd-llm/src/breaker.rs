//! A circuit breaker, shared by all agents of a provider.
//!
//! When a provider is down, a hundred agents that each retry make it worse. After a number of failures in a row
//! no call goes out for a while; then one goes as a probe, and its fate decides for all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Class, LlmError};

/// When it opens and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerSettings {
    /// Failures in a row that open it.
    pub failures: u32,
    /// How long it stays open at first; every failed probe doubles it.
    pub cooldown: Duration,
    /// How long it stays open at most.
    pub max_cooldown: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 10, cooldown: Duration::from_secs(5), max_cooldown: Duration::from_secs(120) }
    }
}

/// The rule, without a clock: time is a duration since any fixed moment.
#[derive(Debug, Clone)]
pub struct Circuit {
    settings: BreakerSettings,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Duration, cooldown: Duration },
    Probing { cooldown: Duration },
}

/// Whether a call may go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Pass,
    /// It may, and all others wait for what becomes of it.
    Probe,
    /// It may not for so long.
    Wait(Duration),
}

impl Circuit {
    /// A closed circuit.
    pub fn new(settings: BreakerSettings) -> Self {
        Self { settings, state: State::Closed { failures: 0 } }
    }

    /// Asks for a call.
    pub fn admit(&mut self, now: Duration) -> Admission {
        match self.state {
            State::Closed { .. } => Admission::Pass,
            State::Open { until, .. } if now < until => Admission::Wait(until - now),
            State::Open { cooldown, .. } => {
                self.state = State::Probing { cooldown };
                Admission::Probe
            }
            State::Probing { .. } => Admission::Wait(self.settings.cooldown),
        }
    }

    /// The probe was answered: the provider is there again.
    pub fn probe_answered(&mut self) {
        self.state = State::Closed { failures: 0 };
    }

    /// The probe failed.
    pub fn probe_failed(&mut self, now: Duration) {
        let before = match self.state {
            State::Open { cooldown, .. } | State::Probing { cooldown } => cooldown,
            State::Closed { .. } => self.settings.cooldown,
        };
        let cooldown = before.saturating_mul(2).min(self.settings.max_cooldown);
        self.state = State::Open { until: now + cooldown, cooldown };
    }

    /// The probe was given up before anything was known; the next call may be one.
    pub fn probe_abandoned(&mut self, now: Duration) {
        if let State::Probing { cooldown } = self.state {
            self.state = State::Open { until: now, cooldown };
        }
    }

    /// An ordinary call was completed.
    pub fn call_completed(&mut self) {
        if let State::Closed { failures } = &mut self.state {
            *failures = 0;
        }
    }

    /// An ordinary call failed in a way that speaks against the provider.
    pub fn call_failed(&mut self, now: Duration) {
        if let State::Closed { failures } = &mut self.state {
            *failures += 1;
            if *failures >= self.settings.failures {
                let cooldown = self.settings.cooldown;
                self.state = State::Open { until: now + cooldown, cooldown };
            }
        }
    }
}

/// The breaker of a provider. Clones share it.
#[derive(Debug, Clone)]
pub struct Breaker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Held for a few lines and never across an await.
    circuit: Mutex<Circuit>,
    epoch: Instant,
}

impl Breaker {
    /// A closed breaker. Needs a runtime only when it is used.
    pub fn new(settings: BreakerSettings) -> Self {
        let circuit = Mutex::new(Circuit::new(settings));
        Self { shared: Arc::new(Shared { circuit, epoch: Instant::now() }) }
    }

    pub(crate) fn admit(&self) -> Result<Permit, LlmError> {
        let now = self.now();
        let probe = match self.circuit().admit(now) {
            Admission::Pass => false,
            Admission::Probe => true,
            Admission::Wait(wait) => {
                let message = "the provider failed too often in a row; no call goes out for a while";
                return Err(LlmError {
                    retry_after: Some(wait),
                    ..LlmError::new(Class::BreakerOpen, message)
                });
            }
        };
        Ok(Permit { breaker: self.clone(), probe })
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.shared.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.shared.epoch.elapsed()
    }
}

/// A call that was let out, and reports back.
#[derive(Debug)]
pub(crate) struct Permit {
    breaker: Breaker,
    probe: bool,
}

impl Permit {
    /// The provider answered, whatever it said.
    pub(crate) fn answered(&mut self) {
        if std::mem::take(&mut self.probe) {
            self.breaker.circuit().probe_answered();
        }
    }

    /// The answer came to its end.
    pub(crate) fn completed(mut self) {
        self.answered();
        self.breaker.circuit().call_completed();
    }

    /// The call failed.
    pub(crate) fn failed(mut self, class: Class) {
        if class == Class::Cancelled {
            return;
        }
        if !class.rule().trips {
            self.answered();
            return;
        }
        let now = self.breaker.now();
        if std::mem::take(&mut self.probe) {
            self.breaker.circuit().probe_failed(now);
        } else {
            self.breaker.circuit().call_failed(now);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.probe {
            let now = self.breaker.now();
            self.breaker.circuit().probe_abandoned(now);
        }
    }
}
