//! The feed of a project: its log is followed by one task, which counts it, makes each frame of the live stream once,
//! and hands it to everybody who listens.
//!
//! Nobody who listens can slow it down: a listener that is too far behind loses its place in the channel and reads what
//! it missed from disk. Words that are being written stand in the same channel, before the commit of what they become.

mod commits;
mod frame;
mod looks;
mod stream;
mod tally;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use bytes::Bytes;
use mxd_core::commit::Seq;
use mxd_core::event::{Delta, Event, EventBody, split_events};
use mxd_core::id::ProjectId;
use mxd_core::time::Millis;
use mxd_engine::home::Registered;
use mxd_engine::project::Project;
use mxd_store::Commit;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::commits::Commits;
pub(crate) use self::frame::view as event_view;
use self::frame::{After, Frame};
use self::looks::Looks;
pub(crate) use self::stream::{Cursor, Listener, listen};
pub(crate) use self::tally::Tally;
use self::words::Words;
use crate::limits;
use crate::telemetry::{Moment, Telemetry, Tracer};
use crate::view;

/// The feeds of all projects.
#[derive(Debug)]
pub(crate) struct Feeds {
    epoch: Arc<str>,
    all: Mutex<HashMap<ProjectId, Arc<Feed>>>,
    work: TaskTracker,
    end: CancellationToken,
    telemetry: Option<Telemetry>,
}

/// The feed of one project, whatever restarts it goes through.
#[derive(Debug)]
pub(crate) struct Feed {
    epoch: Arc<str>,
    registered: Registered,
    tally: RwLock<Tally>,
    /// The last commit that was counted. It is sent, or soon will be.
    through: watch::Sender<u64>,
    frames: broadcast::Sender<Frame>,
    end: CancellationToken,
    /// Tasks whose changes are to be looked at.
    looks: Looks,
    /// Who is told what agents do, and what is known for that.
    telemetry: Option<(Telemetry, Mutex<Tracer>)>,
}

impl Feeds {
    pub(crate) fn new(epoch: Arc<str>, telemetry: Option<Telemetry>) -> Self {
        let (work, end) = (TaskTracker::new(), CancellationToken::new());
        Self { epoch, all: Mutex::default(), work, end, telemetry }
    }

    /// The feed of a project, begun if there is none.
    pub(crate) fn of(&self, registered: &Registered) -> Arc<Feed> {
        let (mut all, id) = (self.all(), registered.entry.id);
        if let Some(feed) = alive(&all, id) {
            return feed;
        }
        let feed = Arc::new(Feed {
            epoch: Arc::clone(&self.epoch),
            registered: registered.clone(),
            tally: RwLock::default(),
            through: watch::Sender::new(0),
            frames: broadcast::Sender::new(limits::FRAMES),
            end: self.end.child_token(),
            looks: Looks::default(),
            telemetry: self.telemetry.clone().map(|told| {
                let tracer = told.tracer(id);
                (told, Mutex::new(tracer))
            }),
        });
        all.insert(id, Arc::clone(&feed));
        let followed = Arc::clone(&feed);
        self.work.spawn(async move {
            followed.run().await;
            // Streams listen for frames alone: this is how they hear that none comes any more.
            let _nobody = followed.frames.send(frame::END);
        });
        feed
    }

    /// The feed of a project, if it was begun.
    pub(crate) fn find(&self, id: ProjectId) -> Option<Arc<Feed>> {
        alive(&self.all(), id)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<ProjectId, Arc<Feed>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all feeds, and with them all streams.
    pub(crate) async fn close(&self) {
        self.end.cancel();
        self.work.close();
        self.work.wait().await;
        self.all().clear();
    }
}

fn alive(all: &HashMap<ProjectId, Arc<Feed>>, id: ProjectId) -> Option<Arc<Feed>> {
    all.get(&id).filter(|feed| !feed.end.is_cancelled()).cloned()
}

impl Feed {
    /// What was counted so far.
    pub(crate) fn tally(&self) -> RwLockReadGuard<'_, Tally> {
        self.tally.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everything that is in the log now was counted.
    pub(crate) async fn caught_up(&self, project: &Project) {
        let head = project.head().0;
        if *self.through.borrow() >= head {
            return;
        }
        let mut through = self.through.subscribe();
        tokio::select! {
            () = self.end.cancelled() => {}
            _ = through.wait_for(|through| *through >= head) => {}
            // A project that broke down meanwhile counts nothing any more.
            () = tokio::time::sleep(limits::RESTART_PATIENCE) => {}
        }
    }

    async fn run(&self) {
        let mut standing = self.registered.standing.clone();
        loop {
            let project = standing.borrow_and_update().project().cloned();
            let followed = async {
                match &project {
                    Some(project) => tokio::select! {
                        () = self.follow(project) => {}
                        () = self.look_around(project) => {}
                    },
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.end.cancelled() => return,
                changed = standing.changed() => {
                    // A project that was taken out has nobody who shows it any more.
                    if changed.is_err() {
                        self.end.cancel();
                        return;
                    }
                }
                () = followed => {
                    // A project that ended by itself is shown as something else soon.
                    if standing.changed().await.is_err() {
                        self.end.cancel();
                        return;
                    }
                }
            }
        }
    }

    /// Follows a project until it ends.
    async fn follow(&self, project: &Project) {
        let mut deltas = project.deltas();
        let mut moved = project.through();
        let head = *moved.borrow_and_update();
        let (mut words, mut commits) = (Words::new(), Commits::new(&self.frames));
        self.count_to(project, head, &mut commits).await;
        loop {
            tokio::select! {
                biased;
                changed = moved.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // In this order: what was written before a commit is told before it.
                    let head = *moved.borrow_and_update();
                    self.gather(&mut words, &mut deltas);
                    self.speak(&mut words, &mut commits);
                    self.advance(project, (head, Purpose::Send), &mut commits).await;
                }
                delta = deltas.recv() => {
                    match delta {
                        Ok(delta) => words.push(&delta),
                        // What is for the eye may be lost.
                        Err(broadcast::error::RecvError::Lagged(_)) => {}
                        Err(broadcast::error::RecvError::Closed) => return,
                    }
                    self.gather(&mut words, &mut deltas);
                    commits.send_if_due();
                    if words.are_due() {
                        self.speak(&mut words, &mut commits);
                    }
                }
                () = words.due() => self.speak(&mut words, &mut commits),
                () = commits.due() => commits.send(),
            }
        }
    }

    /// Takes what else was written meanwhile. Words that nobody listens to are not kept.
    fn gather(&self, words: &mut Words, deltas: &mut broadcast::Receiver<Delta>) {
        while let Ok(delta) = deltas.try_recv() {
            words.push(&delta);
        }
        if self.frames.receiver_count() == 0 {
            words.take();
        }
    }

    /// Tells words, if there are any, after the commits that were there before them.
    fn speak(&self, words: &mut Words, commits: &mut Commits<'_>) {
        if let Some(frame) = words.take() {
            commits.send();
            let _nobody = self.frames.send(frame);
        }
    }

    /// Counts what was in the log before anybody listened. What a restart wrote is news to those who did.
    async fn count_to(&self, project: &Project, head: Seq, commits: &mut Commits<'_>) {
        let begin = *self.through.borrow();
        if begin == 0 {
            let wait = project.config().clarify_timeout_ms;
            *self.tally.write().unwrap_or_else(PoisonError::into_inner) = Tally::new(wait);
        }
        let purpose = if begin == 0 { Purpose::Count } else { Purpose::Send };
        self.advance(project, (head, purpose), commits).await;
    }

    /// Counts what has become durable, and has it sent.
    async fn advance(&self, project: &Project, (head, purpose): (Seq, Purpose), sent: &mut Commits<'_>) {
        let mut after = *self.through.borrow();
        while after < head.0 {
            let commits = match project.log().recent(after) {
                Some(recent) => Some(recent),
                None => read(project, after).await,
            };
            let Some(commits) = commits else { return };
            // What is durable is in the log a moment before it is in the state that is shown: it would be told with the
            // tree of before, and nothing would correct that.
            let shown = commits.iter().take_while(|commit| commit.seq <= head.0);
            let Some(last) = shown.clone().last() else { return };
            after = last.seq;
            let wanted = purpose == Purpose::Send && self.frames.receiver_count() > 0;
            let mut told = Vec::new();
            for commit in shown {
                let asks = self.count(commit, purpose);
                told.extend(wanted.then(|| (commit.seq, self.tell(project, commit, asks))));
            }
            // Commits that were lost to damage are passed over, as everywhere. Whoever waits for one answer goes before
            // the many who listen.
            self.through.send_replace(after);
            sent.push(told);
        }
    }

    /// Has what an agent changed looked at when it rests, and tells the collector, if there is one, what ended.
    fn notice(&self, commit: &Commit, event: &Event, purpose: Purpose) {
        if purpose == Purpose::Send && matches!(event.body, EventBody::AgentRested(_)) {
            self.looks.wish(event.task);
        }
        let Some((told, tracer)) = &self.telemetry else { return };
        let moment = Moment { seq: commit.seq, at: Millis(commit.at), event };
        let ended = tracer.lock().unwrap_or_else(PoisonError::into_inner).take(moment);
        ended.into_iter().for_each(|span| told.tell(span));
    }

    /// Counts a commit; whether what waits for the user may have changed.
    fn count(&self, commit: &Commit, purpose: Purpose) -> bool {
        let mut tally = self.tally.write().unwrap_or_else(PoisonError::into_inner);
        tally.begin();
        count(&mut tally, commit, |event| self.notice(commit, event, purpose))
    }

    /// What a commit that was counted last says to those who listen.
    fn tell(&self, project: &Project, commit: &Commit, asks: bool) -> Bytes {
        let tally = self.tally();
        project.look(|state| {
            let needs = asks.then(|| view::needs(state, &tally));
            let after = After { state, tally: &tally, needs: needs.as_ref() };
            frame::commit(&self.epoch, commit, Some(&after))
        })
    }
}

/// What commits are looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Count,
    Send,
}

/// Takes the events of a commit; whether what waits for the user may have changed.
fn count(tally: &mut Tally, commit: &Commit, look: impl Fn(&Event)) -> bool {
    let mut asks = false;
    for text in split_events(&commit.events).into_iter().flatten() {
        if let Ok(event) = Event::decode(text) {
            asks |= is_about_needs(&event.body);
            tally.apply(Millis(commit.at), &event);
            look(&event);
        }
    }
    asks
}

fn is_about_needs(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::ClarificationRequested(_)
            | EventBody::ClarificationAnswered(_)
            | EventBody::ClarificationExpired(_)
            | EventBody::ApprovalRequested(_)
            | EventBody::ApprovalGiven(_)
            | EventBody::HostApprovalRequested(_)
            | EventBody::HostApprovalGiven(_)
            | EventBody::HostApprovalExpired(_)
            | EventBody::AgentRested(_)
            | EventBody::AgentStopped(_)
            | EventBody::TurnStarted(_)
            | EventBody::TaskStatusChanged(_)
            | EventBody::TaskReset(_)
            | EventBody::TaskDeleted(_)
            | EventBody::ConversationCleared(_)
            | EventBody::DoneNotified(_)
            | EventBody::Message(_)
    )
}

/// The next commits, read where reading hurts nobody. None when the log cannot be read.
pub(crate) async fn read(project: &Project, after: u64) -> Option<Vec<Commit>> {
    let project = project.clone();
    let commits = tokio::task::spawn_blocking(move || {
        let read = project.log().read(after, limits::READ_COMMITS);
        read.inspect_err(|error| tracing::error!(%error, after, "the log cannot be read")).ok()
    });
    commits.await.ok().flatten()
}
