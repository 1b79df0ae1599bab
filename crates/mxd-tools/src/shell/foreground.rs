//! A command that somebody waits for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::cwd;
use super::end::Ending;
use super::output::Output;
use super::processes::Shared;
use super::start::Started;
use super::table::Ended;
use crate::scope::Scope;

/// A command that somebody waits for. Dropping it ends the command, unless it moved to the background.
#[derive(Debug)]
pub(crate) struct Foreground<'a> {
    shared: &'a Shared,
    scope: &'a Scope,
    started: Started,
    kill: Option<DropGuard>,
}

/// What the wait for a command came to.
#[derive(Debug)]
pub(crate) enum Waited {
    /// It ended.
    Ended {
        ended: Arc<Ended>,
        /// What the agent has to know about its working directory.
        note: Option<String>,
    },
    /// It was ended because the call was cancelled.
    Cancelled(Arc<Ended>),
    /// It runs on in the background.
    Moved(Moved),
}

/// A command that was moved to the background.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) id: String,
    pub(crate) output: PathBuf,
    /// The last lines so far.
    pub(crate) tail: String,
    pub(crate) by: Mover,
}

/// Who moved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    User,
    Timeout,
}

/// Why a wait is over.
enum Woken {
    Ended,
    Moved,
    Cancelled,
    Late,
}

impl<'a> Foreground<'a> {
    pub(super) fn new(shared: &'a Shared, scope: &'a Scope, started: Started) -> Self {
        let kill = Some(started.kill.clone().drop_guard());
        Self { shared, scope, started, kill }
    }

    /// Waits until it ends, is moved to the background, takes too long, or is not wanted any more.
    pub(crate) async fn wait(mut self, patience: Duration, cancel: &CancellationToken) -> Waited {
        let woken = tokio::select! {
            biased;
            _ended = self.started.ended.wait_for(Option::is_some) => Woken::Ended,
            () = self.started.moved.cancelled() => Woken::Moved,
            () = cancel.cancelled() => Woken::Cancelled,
            () = tokio::time::sleep(patience) => Woken::Late,
        };
        // It may have been moved just before it ended: whoever moves it decides who is told about its end.
        let by_user = self.started.moved.is_cancelled();
        match woken {
            _ if by_user => Waited::Moved(self.leave(Mover::User)),
            Woken::Late if self.shared.table().move_away(self.started.number) => {
                Waited::Moved(self.leave(Mover::Timeout))
            }
            Woken::Cancelled => self.cancelled().await,
            Woken::Ended | Woken::Moved | Woken::Late => self.ended().await,
        }
    }

    async fn cancelled(mut self) -> Waited {
        drop(self.kill.take());
        let ended = self.end().await;
        let _of_no_use = self.shared.take_report(self.started.number);
        Waited::Cancelled(ended)
    }

    /// Lets the command live on.
    fn leave(mut self, by: Mover) -> Moved {
        self.kill.take().map(DropGuard::disarm);
        let Started { window, output, .. } = &self.started;
        Moved { id: self.started.id(), output: output.clone(), tail: window.tail(), by }
    }

    async fn ended(mut self) -> Waited {
        let ended = self.end().await;
        let said = self.shared.take_report(self.started.number);
        let folders = cwd::Ended { started: &self.started.at.path, said };
        let note = self.shared.table().cwd.end(self.scope, self.started.number, folders);
        Waited::Ended { ended, note: note.or_else(|| self.started.at.note.take()) }
    }

    async fn end(&mut self) -> Arc<Ended> {
        let told = self.started.ended.wait_for(Option::is_some).await.ok().and_then(|ended| ended.clone());
        told.unwrap_or_else(|| {
            let ending = Ending::Lost("the task that watched over it failed".to_owned());
            let output = Output::of(&self.started.window, self.started.output.clone());
            Arc::new(Ended { ending, output })
        })
    }
}
