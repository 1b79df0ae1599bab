//! Output of a running call as messages about its progress.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use tokio::sync::mpsc;

use super::limits::{MAX_PROGRESS_MESSAGES, MAX_WAITING_PIECES};
use crate::shell::{Live, Watcher, text};

/// The messages about one call; none when its client did not ask for them.
pub(super) struct Progress<'a> {
    told: Option<(ProgressToken, mpsc::Receiver<Live>)>,
    context: &'a RequestContext<RoleServer>,
    bytes: u64,
    messages: usize,
}

impl<'a> Progress<'a> {
    /// For a call, and who watches it.
    pub(super) fn of(context: &'a RequestContext<RoleServer>) -> (Self, Watcher) {
        let (told, watcher) = match context.meta.get_progress_token() {
            Some(token) => {
                let (teller, told) = mpsc::channel(MAX_WAITING_PIECES);
                (Some((token, told)), Watcher::new(teller))
            }
            None => (None, Watcher::default()),
        };
        (Self { told, context, bytes: 0, messages: 0 }, watcher)
    }

    /// Tells while the call runs, and the rest when it has ended.
    pub(super) async fn during<T>(mut self, call: impl Future<Output = T>) -> T {
        tokio::pin!(call);
        let done = tokio::select! {
            biased;
            done = &mut call => Some(done),
            () = self.relay() => None,
        };
        match done {
            Some(done) => {
                while let Some(live) = self.told.as_mut().and_then(|(_, told)| told.try_recv().ok()) {
                    self.tell(live).await;
                }
                done
            }
            None => call.await,
        }
    }

    async fn relay(&mut self) {
        while let Some((_, told)) = &mut self.told {
            match told.recv().await {
                Some(live) => self.tell(live).await,
                None => return,
            }
        }
    }

    async fn tell(&mut self, live: Live) {
        self.bytes += live.skipped_bytes + live.text.len() as u64;
        self.messages += 1;
        let Some((token, _)) = &self.told else { return };
        let message = text::plain(live.text.as_bytes());
        #[expect(clippy::cast_precision_loss, reason = "a number that grows is all it has to be")]
        let progress = ProgressNotificationParam::new(token.clone(), self.bytes as f64).with_message(message);
        // A client that is gone does not need to know.
        let _gone = self.context.peer.notify_progress(progress).await;
        if self.messages >= MAX_PROGRESS_MESSAGES {
            self.told = None;
        }
    }
}
