//! The hub of a project: decide, write, apply, answer, act.
//!
//! Wishes that wait together are decided one after the other, each on the state the ones before it made, and written
//! together. Only when they are durable is the shown state moved, are they answered and are their effects begun.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use mxd_core::commit::Seq;
use mxd_core::decide::{Effect, Input, Op, SessionOp, decide};
use mxd_core::event::body::{RestReason, ToolCallId};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::{Leaving, Node};
use mxd_store::{AppendError, Draft, Log};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::keep;
use super::wish::{Receipt, Wish, WishError};
use crate::agents::Agents;
use crate::clock;
use crate::conversation;

/// Commits after which the state is kept again. After a crash the next start folds at most so many, and a few more.
const KEPT_AFTER: u64 = 2_000;
/// How long a disk that failed is left alone.
const DISK_PATIENCE: Duration = Duration::from_secs(5);
/// A disk that took no longer than this is waited for where one is.
const SWIFT: Duration = Duration::from_millis(2);

/// The state as others see it: after the last durable commit.
#[derive(Debug)]
pub(crate) struct Shown {
    state: RwLock<State>,
    /// The last commit that is in it.
    through: watch::Sender<Seq>,
}

impl Shown {
    pub(crate) fn new(state: State, through: Seq) -> Self {
        Self { state: RwLock::new(state), through: watch::Sender::new(through) }
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last commit that is in it.
    pub(crate) fn head(&self) -> Seq {
        *self.through.borrow()
    }

    /// Moves when what it shows has moved.
    pub(crate) fn through(&self) -> watch::Receiver<Seq> {
        self.through.subscribe()
    }

    /// Shows what has become durable, all of it at once.
    fn apply(&self, durable: &[Durable]) {
        let Some(Durable { seq: last, .. }) = durable.last() else { return };
        {
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            for Durable { at, events, .. } in durable {
                events.iter().for_each(|event| state.apply(event, *at));
            }
        }
        self.through.send_replace(*last);
    }
}

/// Where wishes are decided. One at a time works here, whoever it is.
pub(super) struct Hub {
    log: Arc<Log>,
    /// The state the next wish is decided on; ahead of what is shown while a group is written.
    state: State,
    shown: Arc<Shown>,
    limits: Limits,
    agents: Agents,
    /// The last commit in the state that was kept.
    kept: Seq,
    arguments: Arguments,
    standing: Standing,
    disk: Pace,
}

/// How long the disk took when it was last written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Swift,
    Slow,
}

/// Whether wishes can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// What was going on at the start has to be looked at first.
    Owing,
    /// They can.
    Fine,
    /// Somebody is at work. Whoever finds this has the place of one who broke down, and cannot know what is on disk.
    AtWork,
    /// The disk refused something.
    Failed,
}

/// What a hub is made of.
pub(super) struct Parts {
    pub(super) log: Arc<Log>,
    pub(super) state: State,
    pub(super) shown: Arc<Shown>,
    pub(super) limits: Limits,
    pub(super) agents: Agents,
}

/// A decided wish that waits to be durable.
struct Decided {
    at: Millis,
    events: Vec<Event>,
    effects: Vec<Effect>,
    /// What is to be written; none when nothing happened.
    draft: Option<Draft>,
    wish: Wish,
}

/// What is durable of a wish.
struct Durable {
    seq: Seq,
    at: Millis,
    events: Vec<Event>,
}

impl Hub {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { log, state, shown, limits, agents } = parts;
        let kept = *shown.through.borrow();
        let (arguments, standing, disk) = (Arguments::default(), Standing::Owing, Pace::Slow);
        Self { log, state, shown, limits, agents, kept, arguments, standing, disk }
    }

    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    /// Cancelled when the project is closed.
    pub(super) fn closing(&self) -> CancellationToken {
        self.agents.closing()
    }

    /// Takes up what is owed.
    pub(super) fn take_up(&mut self) {
        self.work_off(owed(&self.state));
    }

    /// Decides a group of wishes and what follows from them at once, in order, and acts when all of it is durable. Nothing
    /// of it can be broken off half way.
    pub(super) fn work_off(&mut self, mut wishes: VecDeque<Wish>) {
        self.standing = Standing::AtWork;
        let mut decided = Vec::new();
        while let Some(wish) = wishes.pop_front() {
            let head = Seq(*self.log.head().borrow() + count(&decided));
            if let Some(mut done) = self.decide(wish) {
                self.arguments.remember(&done.events);
                done.effects = self.feed_back(done.effects, &mut wishes, head.next());
                decided.push(done);
            }
        }
        self.standing = if self.settle(decided).is_ok() { Standing::Fine } else { Standing::Failed };
    }

    /// Something that was decided on is not on disk, so nothing that follows from it may be. Everything goes on from what
    /// is: as after a crash, without one. Wishes wait until the disk had its rest.
    pub(super) async fn begin_again(&mut self) {
        self.agents.drop_everything().await;
        self.state = self.shown.look(State::clone);
        self.arguments = Arguments::default();
        tokio::time::sleep(DISK_PATIENCE).await;
        self.standing = Standing::Owing;
    }

    /// Whether so much has happened that the state should be kept again.
    pub(super) fn is_to_be_kept(&self) -> bool {
        self.shown.through.borrow().0.saturating_sub(self.kept.0) >= KEPT_AFTER
    }

    pub(super) async fn keep(&mut self) {
        self.kept = *self.shown.through.borrow();
        keep::keep(&self.log, &self.shown, &self.agents).await;
    }

    /// Decides one wish. A refused one is answered here.
    fn decide(&mut self, wish: Wish) -> Option<Decided> {
        let at = clock::now();
        let input = Input { at, actor: wish.actor, fresh: clock::fresh(at), op: wish.op.clone() };
        let decision = match decide(&self.state, &self.limits, input) {
            Ok(decision) => decision,
            Err(refusal) => {
                wish.answer(Err(refusal.into()));
                return None;
            }
        };
        let draft = if decision.events.is_empty() {
            None
        } else {
            match draft(at, &decision.events) {
                Ok(draft) => Some(draft),
                Err(error) => {
                    wish.answer(Err(WishError::Disk(error.to_string())));
                    return None;
                }
            }
        };
        decision.events.iter().for_each(|event| self.state.apply(event, at));
        Some(Decided { at, events: decision.events, effects: decision.effects, draft, wish })
    }

    /// What can be decided at once comes back as a wish of the same group.
    fn feed_back(&self, effects: Vec<Effect>, wishes: &mut VecDeque<Wish>, head: Seq) -> Vec<Effect> {
        let mut outside = Vec::new();
        for effect in effects {
            match effect {
                Effect::Wake { task } => wishes.push_back(session(task, SessionOp::Advance)),
                Effect::DecideTool { task, call } => {
                    let args = self.arguments.of(&self.log, task, &call);
                    wishes.push_back(session(task, SessionOp::DecideTool { call, head, args }));
                }
                other => outside.push(other),
            }
        }
        outside
    }

    /// Writes a group at once and waits until it is durable; then shows it, answers, and acts, each in order.
    fn settle(&mut self, mut decided: Vec<Decided>) -> Result<(), WishError> {
        let drafts: Vec<Draft> = decided.iter_mut().filter_map(|decided| decided.draft.take()).collect();
        let mut written = match self.write(drafts) {
            Ok(written) => written.into_iter(),
            Err(error) => {
                let error = WishError::Disk(error.to_string());
                decided.into_iter().for_each(|decided| decided.wish.answer(Err(error.clone())));
                return Err(error);
            }
        };
        let (mut durable, mut answers, mut done) = (Vec::new(), Vec::new(), Ok(()));
        for Decided { at, events, effects, wish, .. } in decided {
            let node = events.first().map(|event| event.task);
            let seq = if events.is_empty() { None } else { written.next() };
            match seq.transpose() {
                Ok(seq) => {
                    let seq = seq.map(Seq);
                    durable.extend(seq.map(|seq| Durable { seq, at, events }));
                    answers.push((wish, Receipt { seq, node }, effects));
                }
                Err(error) => {
                    let error = WishError::Disk(error.to_string());
                    wish.answer(Err(error.clone()));
                    done = Err(error);
                }
            }
        }
        self.show(&durable);
        for (wish, receipt, effects) in answers {
            wish.answer(Ok(receipt));
            // After a failure everything begins again from the disk, so nothing is begun here.
            if done.is_ok() {
                let decided = receipt.seq.unwrap_or(*self.shown.through.borrow());
                effects.into_iter().for_each(|effect| self.agents.perform(effect, decided));
            }
        }
        done
    }

    /// By this very thread: waking another one for it, and being woken by it, takes as long as the disk does. Where the
    /// disk takes its time, whatever else runs on this thread goes on elsewhere meanwhile; that means waking another one,
    /// too, and is not done for a disk that was swift.
    fn write(&mut self, drafts: Vec<Draft>) -> Result<Vec<Result<u64, AppendError>>, AppendError> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let begin = Instant::now();
        let write = || self.log.append_all(drafts);
        let written = match (self.disk, Handle::current().runtime_flavor()) {
            (Pace::Slow, RuntimeFlavor::MultiThread) => tokio::task::block_in_place(write),
            _ => write(),
        };
        self.disk = if begin.elapsed() <= SWIFT { Pace::Swift } else { Pace::Slow };
        written
    }

    fn show(&self, durable: &[Durable]) {
        // Before it is shown: whoever acts on what is shown finds the desks up to date.
        for Durable { seq, at, events } in durable {
            self.agents.observe(*seq, *at, events);
        }
        self.shown.apply(durable);
    }
}

/// A look at every task in which something was going on. The others wait, and waiting costs nothing.
///
/// They are one group: what a look wakes is fed back after the last of them, and nothing is begun before all are
/// durable. A task that was already going on again would be taken for one that was cut off.
fn owed(state: &State) -> VecDeque<Wish> {
    let owes = |task: &TaskId| {
        let session = state.session(*task);
        session.is_busy()
            || session.owes_a_turn()
            || state.inbox(*task).wants_agent()
            || !session.background().is_empty()
            || !session.questions().is_empty()
            || !session.host_requests().is_empty()
            || session.rest() == Some(&RestReason::Failed)
    };
    let leaves = |node: &&Node| node.task().is_some_and(|task| task.leaving == Some(Leaving::Underway));
    let leaving = state.tree().nodes().values().filter(leaves).map(|node| node.id);
    let owed: BTreeSet<TaskId> = state.sessions().keys().copied().filter(owes).chain(leaving).collect();
    owed.into_iter().map(|task| session(task, SessionOp::Boot)).collect()
}

fn session(task: TaskId, op: SessionOp) -> Wish {
    Wish::of_daemon(Op::Session { task, op })
}

fn count(decided: &[Decided]) -> u64 {
    let commits = decided.iter().filter(|decided| decided.draft.is_some()).count();
    u64::try_from(commits).unwrap_or(u64::MAX)
}

fn draft(at: Millis, events: &[Event]) -> Result<Draft, AppendError> {
    let mut draft = Draft::new(at.0);
    for event in events {
        let text = event.to_json().map_err(|error| AppendError::Invalid { reason: error.to_string() })?;
        draft.push(&text)?;
    }
    // One that the log refuses must not take the whole group with it.
    draft.check()?;
    Ok(draft)
}

/// The arguments of calls about the tree that wait to be decided. They are in the log; here they are at hand.
#[derive(Default)]
struct Arguments(HashMap<(TaskId, ToolCallId), RawJson>);

impl Arguments {
    fn remember(&mut self, events: &[Event]) {
        for event in events {
            match &event.body {
                EventBody::ToolCall(call) => {
                    self.0.insert((event.task, call.tool_call_id.clone()), call.input.clone());
                }
                EventBody::ToolResult(result) => {
                    self.0.remove(&(event.task, result.tool_call_id.clone()));
                }
                _ => {}
            }
        }
    }

    fn of(&self, log: &Log, task: TaskId, call: &ToolCallId) -> RawJson {
        let known = self.0.get(&(task, call.clone())).cloned();
        known.or_else(|| conversation::arguments_of(log, task, call)).unwrap_or_else(RawJson::empty_object)
    }
}
