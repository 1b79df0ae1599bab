//! How wishes come in: one after the other to the loop, or past it to the hub itself when nobody is there.
//!
//! A wish that finds nobody at work and nobody waiting is worked off by whoever brings it, on its own thread: waking
//! another one and being woken by it would take longer than everything but the disk. All others stand in line, and the
//! loop takes as many as there are at once. Nobody who stands in line is overtaken by one who came later.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Mutex, Notify, mpsc, oneshot};

use super::hub::{Hub, Standing};
use super::wish::Wish;

/// Wishes that are decided together at most.
const GROUP: usize = 256;

/// The way to a hub.
pub(super) struct Intake {
    hub: Mutex<Hub>,
    line: mpsc::Sender<Wish>,
    /// Whether the loop has, or may have, wishes that are no longer in line and not yet worked off.
    in_hand: AtomicBool,
    /// Calls the loop to what is not for somebody who only brings a wish.
    bell: Notify,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").field("in_hand", &self.in_hand).finish_non_exhaustive()
    }
}

impl Intake {
    /// The loop has to be run for it: with the other end of the line.
    pub(super) fn new(hub: Hub, line: mpsc::Sender<Wish>) -> Self {
        Self { hub: Mutex::new(hub), line, in_hand: AtomicBool::new(true), bell: Notify::new() }
    }

    /// Brings a wish. False when the project is closed.
    pub(super) async fn bring(&self, wish: Wish) -> bool {
        match self.at_once(wish) {
            None => true,
            Some(wish) => self.line.send(wish).await.is_ok(),
        }
    }

    /// Works a wish off if nobody is there; gives it back otherwise.
    fn at_once(&self, wish: Wish) -> Option<Wish> {
        // In this order: what has left the line is in hand before.
        let nobody_waits = self.line.capacity() == self.line.max_capacity();
        if !nobody_waits || self.in_hand.load(Ordering::SeqCst) {
            return Some(wish);
        }
        let Ok(mut hub) = self.hub.try_lock() else { return Some(wish) };
        if hub.standing() != Standing::Fine || hub.closing().is_cancelled() {
            return Some(wish);
        }
        hub.work_off(VecDeque::from([wish]));
        if hub.standing() != Standing::Fine || hub.is_to_be_kept() {
            self.bell.notify_one();
        }
        None
    }

    /// The loop: takes up what is owed, tells that it has, then does what is wished.
    pub(super) async fn run(&self, mut inbox: mpsc::Receiver<Wish>, taken_up: oneshot::Sender<()>) {
        let closing = self.hub.lock().await.closing();
        let (mut group, mut taken_up) = (Vec::with_capacity(GROUP), Some(taken_up));
        loop {
            let mut hub = self.hub.lock().await;
            match hub.standing() {
                Standing::AtWork => return,
                Standing::Owing => {
                    hub.take_up();
                    // Also when the disk took nothing: there is much to look at while it is full.
                    let _nobody_waits = taken_up.take().map(|taken_up| taken_up.send(()));
                }
                Standing::Failed => tokio::select! {
                    biased;
                    () = closing.cancelled() => return,
                    () = hub.begin_again() => {}
                },
                Standing::Fine if !group.is_empty() => hub.work_off(group.drain(..).collect()),
                Standing::Fine if hub.is_to_be_kept() => hub.keep().await,
                Standing::Fine => {
                    drop(hub);
                    tokio::select! {
                        biased;
                        () = closing.cancelled() => break,
                        () = self.bell.notified() => {}
                        taken = self.take(&mut inbox, &mut group) => if taken == 0 { break },
                    }
                }
            }
        }
        // Whoever began before the end is waited for.
        drop(self.hub.lock().await);
    }

    /// Takes what stands in line, as soon as something does.
    async fn take(&self, inbox: &mut mpsc::Receiver<Wish>, group: &mut Vec<Wish>) -> usize {
        poll_fn(|context| {
            self.in_hand.store(true, Ordering::SeqCst);
            let taken = inbox.poll_recv_many(context, group, GROUP);
            if taken.is_pending() {
                self.in_hand.store(false, Ordering::SeqCst);
            }
            taken
        })
        .await
    }
}
