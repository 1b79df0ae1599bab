//! Output while it comes, for whoever watches.
//!
//! Watching never slows a command down: what does not fit into the channel is left out and counted. Escape
//! sequences stay, for a terminal to show; secrets are gone before.

use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::limits::LIVE_CHUNK_BYTES;

/// The name a provider gave to one call of a tool.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Arc<str>);

impl CallId {
    /// A name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({})", self.0)
    }
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Whose.
    pub call: CallId,
    /// What came, with escape sequences.
    pub text: String,
    /// Bytes left out before it, because nobody took them in time.
    pub skipped_bytes: u64,
}

/// Where live output goes; the default is nowhere.
#[derive(Debug, Clone, Default)]
pub struct Watcher(Option<mpsc::Sender<Live>>);

impl Watcher {
    /// To this channel.
    pub fn new(channel: mpsc::Sender<Live>) -> Self {
        Self(Some(channel))
    }

    /// Whether anybody watches.
    pub(crate) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Tells what comes of a call. What nobody takes in time is left out.
    pub fn tell(&self, call: &CallId, text: &str) {
        let mut feed = Feed::new(call.clone(), self.clone());
        feed.push(text.as_bytes());
        feed.finish();
    }
}

/// The output of one call on its way to its watcher.
#[derive(Debug)]
pub(crate) struct Feed {
    call: CallId,
    watcher: Watcher,
    /// The beginning of a character whose rest has not come.
    begun: Vec<u8>,
    skipped: u64,
}

impl Feed {
    pub(crate) fn new(call: CallId, watcher: Watcher) -> Self {
        Self { call, watcher, begun: Vec::new(), skipped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.watcher.0.is_none() {
            return;
        }
        let mut whole = std::mem::take(&mut self.begun);
        whole.extend(bytes);
        self.begun = whole.split_off(whole.len() - unfinished(&whole));
        let mut rest = whole.as_slice();
        while !rest.is_empty() {
            let piece = &rest[..rest.len().min(LIVE_CHUNK_BYTES)];
            let piece = &piece[..piece.len() - unfinished(piece).min(piece.len() - 1)];
            self.send(piece);
            rest = &rest[piece.len()..];
        }
    }

    pub(crate) fn finish(&mut self) {
        let rest = std::mem::take(&mut self.begun);
        if !rest.is_empty() {
            self.send(&rest);
        }
    }

    fn send(&mut self, piece: &[u8]) {
        let Some(channel) = &self.watcher.0 else { return };
        let text = String::from_utf8_lossy(piece).into_owned();
        let live = Live { call: self.call.clone(), text, skipped_bytes: self.skipped };
        match channel.try_send(live) {
            Ok(()) => self.skipped = 0,
            Err(TrySendError::Full(_)) => self.skipped += piece.len() as u64,
            Err(TrySendError::Closed(_)) => self.watcher = Watcher::default(),
        }
    }
}

/// How many bytes at the end are the beginning of a character that has more.
fn unfinished(bytes: &[u8]) -> usize {
    let window = &bytes[bytes.len().saturating_sub(3)..];
    let Some(lead) = window.iter().rposition(|byte| byte & 0xc0 != 0x80) else { return 0 };
    let here = window.len() - lead;
    let needed = match window[lead] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if here < needed { here } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fed(pieces: &[&[u8]], room: usize) -> Vec<Live> {
        let (sender, mut receiver) = mpsc::channel(room);
        let mut feed = Feed::new(CallId::new("c"), Watcher::new(sender));
        pieces.iter().for_each(|piece| feed.push(piece));
        feed.finish();
        drop(feed);
        std::iter::from_fn(|| receiver.try_recv().ok()).collect()
    }

    #[test]
    fn what_nobody_takes_is_counted() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut feed = Feed::new(CallId::new("c"), Watcher::new(sender));
        feed.push(b"one");
        feed.push(b"lost");
        assert_eq!(receiver.try_recv().unwrap().skipped_bytes, 0);
        feed.push(b"three");
        let live = receiver.try_recv().unwrap();
        assert_eq!((live.text.as_str(), live.skipped_bytes), ("three", 4));
    }

    proptest! {
        #[test]
        fn characters_stay_whole_however_they_are_cut(text in "\\PC{0,40}", cuts in prop::collection::vec(0_usize..160, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &text.as_bytes()[w[0]..w[1]]).collect();
            let shown: String = fed(&pieces, 64).into_iter().map(|live| live.text).collect();
            prop_assert_eq!(shown, text);
        }

        #[test]
        fn any_bytes_come_through_in_bounded_pieces(bytes in prop::collection::vec(any::<u8>(), 0..40_000)) {
            let pieces = fed(&[&bytes], 64);
            prop_assert!(pieces.iter().all(|live| live.text.len() <= 3 * LIVE_CHUNK_BYTES));
            let shown: String = pieces.into_iter().map(|live| live.text).collect();
            prop_assert_eq!(shown.is_empty(), bytes.is_empty());
        }
    }
}
