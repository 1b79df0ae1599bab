//! What is being written right now, gathered for a moment: many small pieces to everybody who listens would cost more than
//! everything else, and no eye sees them one by one.

use bytes::Bytes;
use mxd_core::event::Delta;
use tokio::time::{Instant, sleep_until};

use super::frame::{self, Frame, Kind};
use crate::limits;

/// Pieces that wait to be told. The first after a pause does not wait.
#[derive(Debug)]
pub(super) struct Words {
    waiting: Vec<u8>,
    due: Instant,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { waiting: Vec::new(), due: Instant::now() }
    }

    pub(super) fn push(&mut self, delta: &Delta) {
        if let Ok(text) = delta.to_json() {
            self.waiting.extend_from_slice(&frame::event("delta", &text));
        }
    }

    /// Whether it is time to tell them.
    pub(super) fn are_due(&self) -> bool {
        self.waiting.len() >= limits::WORDS_BYTES || self.due <= Instant::now()
    }

    /// Waits until it is time to tell them. For ever, when there are none.
    pub(super) async fn due(&self) {
        match self.waiting.is_empty() {
            true => std::future::pending().await,
            false => sleep_until(self.due).await,
        }
    }

    /// All of them in one frame, if there are any.
    pub(super) fn take(&mut self) -> Option<Frame> {
        if self.waiting.is_empty() {
            return None;
        }
        self.due = Instant::now() + limits::WORDS_PAUSE;
        Some(Frame { kind: Kind::Words, bytes: Bytes::from(std::mem::take(&mut self.waiting)) })
    }
}

#[cfg(test)]
mod tests {
    use mxd_core::event::delta::TextDelta;
    use mxd_core::id::{TaskId, Ulid};

    use super::*;

    fn delta(content: &str) -> Delta {
        Delta {
            task: TaskId::from(Ulid::from_parts(1, 1)),
            body: TextDelta { content: content.to_owned() }.into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_word_does_not_wait_and_the_next_ones_come_together() {
        let mut words = Words::new();
        words.push(&delta("one"));
        assert!(words.are_due());
        let begin = Instant::now();
        words.take().unwrap();
        for content in ["two", "three"] {
            words.push(&delta(content));
            assert!(!words.are_due());
        }
        words.due().await;
        assert_eq!(begin.elapsed(), limits::WORDS_PAUSE);
        let told = words.take().unwrap();
        let told = std::str::from_utf8(&told.bytes).unwrap();
        assert_eq!(told.matches("event: delta\n").count(), 2);
        assert!(told.find("two") < told.find("three") && told.ends_with("\n\n"), "{told}");
        assert!(words.take().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn many_words_do_not_wait() {
        let mut words = Words::new();
        words.push(&delta("one"));
        words.take().unwrap();
        words.push(&delta(&"x".repeat(limits::WORDS_BYTES)));
        assert!(words.are_due());
    }
}
