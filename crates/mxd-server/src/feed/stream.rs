//! One listener of a feed: what it missed from disk, the tree as it is, and from then on everything as it happens.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use mxd_engine::home::Standing;
use mxd_engine::project::Project;
use mxd_store::Commit;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{Instant, Sleep, sleep};

use super::frame::Kind;
use super::{Feed, Frame, frame, read};
use crate::limits;

/// Where a client goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// It knows nothing yet.
    Fresh,
    /// It knows everything up to this commit.
    After(u64),
}

impl Cursor {
    /// Reads `<epoch>-<seq>`. The epoch does not matter for where to go on: commits keep their numbers for ever.
    pub(crate) fn parse(text: &str) -> Self {
        let seq = text.rsplit_once('-').and_then(|(_, seq)| seq.parse().ok());
        seq.map_or(Self::Fresh, Self::After)
    }
}

/// A listener.
pub(crate) struct Listener {
    pub(crate) feed: Arc<Feed>,
    pub(crate) cursor: Cursor,
    /// Returns when the one who listens may not any longer.
    pub(crate) session_ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Counts the listener, as long as it is there.
    pub(crate) seat: OwnedSemaphorePermit,
}

/// The stream of a listener, as long as both it and the project are there.
pub(crate) fn listen(listener: Listener) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    let Listener { feed, cursor, session_ended, seat } = listener;
    let reader = Reader {
        frames: feed.frames.subscribe(),
        standing: feed.registered.standing.clone(),
        feed,
        position: 0,
        stage: Stage::Begin(cursor),
        heartbeat: Box::pin(sleep(limits::HEARTBEAT)),
        _seat: seat,
    };
    futures_util::stream::unfold((reader, session_ended), |(mut reader, mut session_ended)| async move {
        let bytes = tokio::select! {
            // First, so that a listener who hears much is not heard out.
            biased;
            () = session_ended.as_mut(), if !matches!(reader.stage, Stage::Over) => reader.end_session(),
            bytes = reader.next() => bytes?,
        };
        Some((Ok(bytes), (reader, session_ended)))
    })
}

struct Reader {
    feed: Arc<Feed>,
    standing: watch::Receiver<Standing>,
    frames: broadcast::Receiver<Frame>,
    /// The last commit that was sent or is in the snapshot.
    position: u64,
    stage: Stage,
    /// Set once for each beat: setting it for each frame would cost more than the frame.
    heartbeat: Pin<Box<Sleep>>,
    _seat: OwnedSemaphorePermit,
}

enum Stage {
    Begin(Cursor),
    /// Reads from disk what was missed.
    Behind(VecDeque<Commit>),
    Live,
    Over,
}

/// What a live listener heard.
enum Heard {
    Frame(Frame),
    TooMuch,
    Silence,
    End,
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match &mut self.stage {
                Stage::Over => return None,
                Stage::Begin(cursor) => {
                    let cursor = *cursor;
                    let project = self.project().await?;
                    if let Some(bytes) = self.begin(&project, cursor).await {
                        return Some(bytes);
                    }
                }
                Stage::Behind(waiting) => {
                    if let Some(commit) = waiting.pop_front() {
                        self.position = commit.seq;
                        return Some(frame::commit(&self.feed.epoch, &commit, None));
                    }
                    let project = self.project().await?;
                    if let Some(bytes) = self.read_on(&project).await? {
                        return Some(bytes);
                    }
                }
                Stage::Live => match self.hear().await {
                    Heard::End => return None,
                    Heard::Silence => return Some(self.beat()),
                    Heard::TooMuch => self.stage = Stage::Behind(VecDeque::new()),
                    Heard::Frame(frame) => {
                        if let Some(bytes) = self.pass_on(frame) {
                            return Some(bytes);
                        }
                    }
                },
            }
        }
    }

    /// The project, as soon as it is open.
    async fn project(&mut self) -> Option<Project> {
        let end = self.feed.end.clone();
        tokio::select! {
            biased;
            () = end.cancelled() => None,
            open = self.standing.wait_for(|standing| standing.project().is_some()) => {
                open.ok().and_then(|standing| standing.project().cloned())
            }
        }
    }

    async fn begin(&mut self, project: &Project, cursor: Cursor) -> Option<Bytes> {
        self.feed.caught_up(project).await;
        let head = *self.feed.through.borrow();
        match cursor {
            Cursor::After(seq) if seq <= head && head - seq <= limits::CATCH_UP_COMMITS => {
                self.position = seq;
                self.stage = Stage::Behind(VecDeque::new());
                None
            }
            Cursor::Fresh | Cursor::After(_) => {
                self.position = head;
                self.stage = Stage::Live;
                Some(self.snapshot(project))
            }
        }
    }

    /// Reads the next commits from disk; the snapshot, when there are none.
    async fn read_on(&mut self, project: &Project) -> Option<Option<Bytes>> {
        self.feed.caught_up(project).await;
        let head = *self.feed.through.borrow();
        if head.saturating_sub(self.position) > limits::CATCH_UP_COMMITS {
            self.position = head;
        }
        if self.position < head {
            let commits = read(project, self.position).await?;
            let known = commits.into_iter().take_while(|commit| commit.seq <= head);
            let known: VecDeque<Commit> = known.collect();
            if known.is_empty() {
                // What is lost to damage cannot be sent.
                self.position = head;
            }
            self.stage = Stage::Behind(known);
            return Some(None);
        }
        self.stage = Stage::Live;
        Some(Some(self.snapshot(project)))
    }

    fn snapshot(&self, project: &Project) -> Bytes {
        let tally = self.feed.tally();
        project.look(|state| frame::snapshot(&self.feed.epoch, self.position, (state, &tally)))
    }

    async fn hear(&mut self) -> Heard {
        tokio::select! {
            biased;
            frame = self.frames.recv() => match frame {
                Ok(frame) if frame.kind == Kind::End => Heard::End,
                Ok(frame) => Heard::Frame(frame),
                Err(broadcast::error::RecvError::Lagged(_)) => Heard::TooMuch,
                Err(broadcast::error::RecvError::Closed) => Heard::End,
            },
            () = self.heartbeat.as_mut() => Heard::Silence,
        }
    }

    fn beat(&mut self) -> Bytes {
        self.heartbeat.as_mut().reset(Instant::now() + limits::HEARTBEAT);
        frame::event("heartbeat", "{}")
    }

    /// The last that a listener hears whose session has ended.
    fn end_session(&mut self) -> Bytes {
        self.stage = Stage::Over;
        frame::event("auth_expired", "{}")
    }

    fn pass_on(&mut self, frame: Frame) -> Option<Bytes> {
        match frame.kind {
            Kind::Words => Some(frame.bytes),
            Kind::End => None,
            Kind::Commits(_, last) if last <= self.position => None,
            Kind::Commits(first, last) if first <= self.position + 1 => {
                let news = match first == self.position + 1 {
                    true => Some(frame.bytes),
                    // Some of it was in the snapshot, or read from disk.
                    false => frame::since(&frame.bytes, &self.feed.epoch, self.position + 1),
                };
                match news {
                    Some(_) => self.position = last,
                    None => self.stage = Stage::Behind(VecDeque::new()),
                }
                news
            }
            // Something is missing in between: it is on disk.
            Kind::Commits(..) => {
                self.stage = Stage::Behind(VecDeque::new());
                None
            }
        }
    }
}
