//! Commits on their way to everybody who listens.
//!
//! Handing a frame to thousands takes longer than making it. So the next one waits until the last had its time to reach
//! everybody, and takes with it what has happened meanwhile. Where few listen, nothing waits.

use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::time::{Instant, sleep_until};

use super::frame::{self, Frame};
use crate::limits;

/// Commits that wait to be told. What still waits when the feed is given up goes out then.
#[derive(Debug)]
pub(super) struct Commits<'a> {
    frames: &'a broadcast::Sender<Frame>,
    waiting: Vec<(u64, Bytes)>,
    due: Instant,
}

impl<'a> Commits<'a> {
    pub(super) fn new(frames: &'a broadcast::Sender<Frame>) -> Self {
        Self { frames, waiting: Vec::new(), due: Instant::now() }
    }

    /// Takes what a commit says, by its number. It goes out at once if it is time.
    pub(super) fn push(&mut self, told: Vec<(u64, Bytes)>) {
        self.waiting.extend(told);
        self.send_if_due();
    }

    pub(super) fn send_if_due(&mut self) {
        if self.due <= Instant::now() {
            self.send();
        }
    }

    /// Waits until it is time to tell them. For ever, when there are none.
    pub(super) async fn due(&self) {
        match self.waiting.is_empty() {
            true => std::future::pending().await,
            false => sleep_until(self.due).await,
        }
    }

    /// Sends all of them in one frame, if there are any.
    pub(super) fn send(&mut self) {
        let Some(frame) = frame::commits(&self.waiting) else { return };
        self.waiting.clear();
        let listeners = self.frames.send(frame).unwrap_or_default();
        let pause = limits::SPREADING * u32::try_from(listeners).unwrap_or(u32::MAX);
        // What is shorter than the runtime's clock can tell is no pause.
        self.due = Instant::now() + if pause < limits::SHORTEST_PAUSE { Default::default() } else { pause };
    }
}

impl Drop for Commits<'_> {
    fn drop(&mut self) {
        self.send();
    }
}

#[cfg(test)]
mod tests {
    use super::frame::Kind;
    use super::*;

    fn told(seqs: std::ops::RangeInclusive<u64>) -> Vec<(u64, Bytes)> {
        seqs.map(|seq| (seq, Bytes::from(format!("{seq}\n\n")))).collect()
    }

    fn heard(listener: &mut broadcast::Receiver<Frame>) -> Vec<(Kind, Bytes)> {
        std::iter::from_fn(|| listener.try_recv().ok()).map(|frame| (frame.kind, frame.bytes)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn where_few_listen_nothing_waits() {
        let frames = broadcast::Sender::new(16);
        let mut listener = frames.subscribe();
        let mut commits = Commits::new(&frames);
        commits.push(told(1..=1));
        commits.push(told(2..=3));
        assert_eq!(
            heard(&mut listener),
            [(Kind::Commits(1, 1), "1\n\n".into()), (Kind::Commits(2, 3), "2\n\n3\n\n".into())]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn where_many_listen_what_comes_soon_after_goes_together() {
        let frames = broadcast::Sender::new(16);
        let mut listeners: Vec<_> = (0..1_000).map(|_| frames.subscribe()).collect();
        let mut commits = Commits::new(&frames);
        let begin = Instant::now();
        (1..=4).for_each(|seq| commits.push(told(seq..=seq)));
        assert_eq!(heard(&mut listeners[0]), [(Kind::Commits(1, 1), "1\n\n".into())]);
        commits.due().await;
        assert_eq!(begin.elapsed(), limits::SPREADING * 1_000);
        commits.send_if_due();
        assert_eq!(heard(&mut listeners[0]), [(Kind::Commits(2, 4), "2\n\n3\n\n4\n\n".into())]);
        commits.push(told(5..=5));
        assert_eq!(heard(&mut listeners[0]), []);
        drop(commits);
        assert_eq!(heard(&mut listeners[0]), [(Kind::Commits(5, 5), "5\n\n".into())], "nothing is kept back");
    }
}
