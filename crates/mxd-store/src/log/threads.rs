//! The threads of a log, started when there is first something for them to do: an idle log costs none.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};

use super::{Shared, Upkeep};

/// What runs beside the callers.
#[derive(Debug)]
pub(crate) struct Threads {
    shared: Weak<Shared>,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    flusher: Option<JoinHandle<()>>,
    upkeep: Option<(SyncSender<()>, JoinHandle<()>)>,
    trouble: Option<String>,
    ended: bool,
}

impl Threads {
    pub(crate) fn of(shared: Weak<Shared>) -> Self {
        Self { shared, running: Mutex::default() }
    }

    /// What last went wrong in the upkeep.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.running().trouble.clone()
    }

    /// Waits for the threads to finish what they are doing.
    pub(crate) fn end(&self) {
        let (flusher, upkeep) = {
            let mut running = self.running();
            running.ended = true;
            (running.flusher.take(), running.upkeep.take())
        };
        let keeper = upkeep.map(|(caller, keeper)| {
            drop(caller); // The end of its calls is the end of its work.
            keeper
        });
        for thread in flusher.into_iter().chain(keeper) {
            let _ = thread.join();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Lets the flusher thread write what waits. Without a thread to be had, the caller does it.
    pub(crate) fn call_flusher(&self) {
        let started = {
            let mut running = self.threads.running();
            let serving = running.flusher.as_ref().is_some_and(|flusher| !flusher.is_finished());
            if !serving && !running.ended {
                running.flusher = self.start("log-flusher", |shared| shared.serve());
            }
            running.flusher.is_some()
        };
        if started {
            self.queue.wake();
        } else {
            while self.flush(&mut self.lock_tail()) > 0 {}
        }
    }

    /// Lets the upkeep thread pack what was closed, if the log has one. One call waiting is enough.
    pub(crate) fn call_upkeep(&self) {
        if self.options.upkeep == Upkeep::Manual {
            return;
        }
        let mut running = self.threads.running();
        if running.upkeep.is_none() && !running.ended {
            let (caller, calls) = sync_channel(1);
            let keep = move |shared: Arc<Self>| {
                for () in calls {
                    let trouble = shared.upkeep().err().map(|error| error.to_string());
                    shared.threads.running().trouble = trouble;
                }
            };
            running.upkeep = self.start("log-upkeep", keep).map(|keeper| (caller, keeper));
        }
        if let Some((caller, _)) = &running.upkeep {
            let _ = caller.try_send(());
        }
    }

    fn start(&self, name: &str, work: impl FnOnce(Arc<Self>) + Send + 'static) -> Option<JoinHandle<()>> {
        let shared = self.threads.shared.upgrade()?;
        Builder::new().name(name.into()).spawn(move || work(shared)).ok()
    }
}
