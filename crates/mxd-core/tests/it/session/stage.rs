//! The stage on which sessions are played: the project's loop in memory, with the world outside as a list of what is owed.
//!
//! It does what the real loop does: decides an input, appends what was decided as one commit, applies it, and feeds what
//! is decided here back at once. Everything else that is to be done waits in [`Stage::work`] until a test does it.
//! Every commit and every effect passes the [`Audit`].

use std::collections::{BTreeMap, VecDeque};

use mxd_core::commit::{Commit, Seq};
use mxd_core::decide::{Actor, Effect, Input, NewRoot, NewTask, Op, Post, Refusal, SessionOp, decide};
use mxd_core::event::body::{Terms, ToolCallId};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;

use super::audit::Audit;
use super::script;
use crate::world::message_id;

/// Decisions that one input leads to at most. Real ones are a few for each task.
const MOST_AT_ONCE: usize = 5_000;

/// A project whose agents are played by a test.
pub(crate) struct Stage {
    pub(crate) state: State,
    pub(crate) limits: Limits,
    pub(crate) commits: Vec<Commit>,
    pub(crate) now: u64,
    /// What the models of this project can take and cost.
    pub(crate) terms: Option<Terms>,
    /// What is to be done outside, in the order in which it was decided.
    pub(crate) work: Vec<Effect>,
    /// How many more commits the daemon lives to write, when its end is near.
    pub(crate) fuse: Option<u32>,
    /// Conversations that were to be removed from the log, with the commit that decided it.
    pub(crate) prunes: Vec<(TaskId, Seq)>,
    /// What was asked for last.
    pub(crate) last: Option<Op>,
    audit: Audit,
    arguments: BTreeMap<(TaskId, ToolCallId), RawJson>,
    messages: u64,
}

/// What an input caused, with all that was fed back.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<Event>,
    /// Only what is to be done outside.
    pub(crate) effects: Vec<Effect>,
    /// How many commits it took.
    pub(crate) commits: usize,
}

/// How an input ended.
#[derive(Debug)]
pub(crate) enum Played {
    Done(Outcome),
    Refused(Refusal),
    /// The daemon died while it worked on it.
    Died,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let mut stage = Self {
            state: State::default(),
            limits: Limits::DEFAULT,
            commits: Vec::new(),
            now: 1_000,
            terms: Some(script::terms()),
            work: Vec::new(),
            fuse: None,
            prunes: Vec::new(),
            last: None,
            audit: Audit::default(),
            arguments: BTreeMap::new(),
            messages: 0,
        };
        let root = NewRoot { title: "root".into(), description: String::new(), branch: Some("main".into()) };
        stage.user(Op::CreateRoot(root));
        stage
    }

    pub(crate) fn root(&self) -> TaskId {
        self.state.tree().root().expect("a root").id
    }

    /// Decides an input and whatever it leads to in this core.
    pub(crate) fn play(&mut self, actor: Actor, op: Op) -> Played {
        self.play_all(VecDeque::from([(actor, op)]))
    }

    /// Decides inputs in turn, and then whatever they lead to in this core.
    fn play_all(&mut self, mut queue: VecDeque<(Actor, Op)>) -> Played {
        let mut outcome = Outcome::default();
        let mut first = queue.len() == 1;
        let mut decided = 0;
        while let Some((actor, op)) = queue.pop_front() {
            decided += 1;
            assert!(decided < MOST_AT_ONCE, "they call each other for ever, now with {op:?}");
            if self.fuse == Some(0) {
                return Played::Died;
            }
            let effects = match self.decide(actor, op.clone(), &mut outcome) {
                Ok(effects) => effects,
                Err(refusal) if first => return Played::Refused(refusal),
                Err(Refusal::Late { .. } | Refusal::UnknownTask { .. }) => continue,
                Err(refusal) => panic!("{op:?} came back and was refused: {refusal}"),
            };
            first = false;
            for effect in effects {
                match self.fed_back(&effect) {
                    Some(again) => queue.push_back((Actor::Daemon, again)),
                    None => {
                        self.audit.effect(&self.state, &effect);
                        outcome.effects.push(effect);
                    }
                }
            }
        }
        self.work.extend(outcome.effects.iter().cloned());
        Played::Done(outcome)
    }

    fn decide(&mut self, actor: Actor, op: Op, outcome: &mut Outcome) -> Result<Vec<Effect>, Refusal> {
        let n = self.commits.len() as u64 + 1;
        let fresh = Fresh::from_seed(Ulid::from_parts(1_700_000_000_000 + n, u128::from(n) << 40));
        self.audit.input(&op);
        self.last = Some(op.clone());
        let input = Input { at: Millis(self.now), actor, fresh, op };
        let decision = decide(&self.state, &self.limits, input)?;
        outcome.events.extend(decision.events.iter().cloned());
        if !decision.events.is_empty() {
            outcome.commits += 1;
            self.append(decision.events);
        }
        for effect in &decision.effects {
            if let Effect::PruneConversation { task } = effect {
                self.prunes.push((*task, Seq(self.commits.len() as u64)));
            }
        }
        Ok(decision.effects)
    }

    /// Writes a commit and applies it.
    pub(crate) fn append(&mut self, events: Vec<Event>) {
        let commit = Commit::new(Seq(self.commits.len() as u64 + 1), Millis(self.now), events);
        let commit = commit.expect("events");
        for event in commit.events() {
            if let EventBody::ToolCall(call) = &event.body {
                self.arguments.insert((event.task, call.tool_call_id.clone()), call.input.clone());
            }
            self.audit.event(&self.state, event);
            self.state.apply(event, commit.at());
        }
        self.audit.commit(&self.state, &commit);
        self.commits.push(commit);
        self.fuse = self.fuse.map(|left| left.saturating_sub(1));
    }

    /// What comes back into this core at once.
    fn fed_back(&self, effect: &Effect) -> Option<Op> {
        match effect {
            Effect::Wake { task } => Some(Op::Session { task: *task, op: SessionOp::Advance }),
            Effect::DecideTool { task, call } => {
                let args = self.arguments[&(*task, call.clone())].clone();
                let (call, head) = (call.clone(), Seq(self.commits.len() as u64));
                Some(Op::Session { task: *task, op: SessionOp::DecideTool { call, head, args } })
            }
            _ => None,
        }
    }

    /// The daemon dies: what it had not written is gone, and so is everything that ran.
    pub(crate) fn crash(&mut self) -> Outcome {
        self.fuse = None;
        self.work.clear();
        self.audit.crash();
        let folded = self.fold();
        assert_eq!(folded, self.state, "folding the log again gives the same state");
        self.state = folded;
        // Everybody is looked at before anybody goes on: what one does must not look like what another had done.
        let boot = |task| (Actor::Daemon, Op::Session { task, op: SessionOp::Boot });
        let boots = self.tasks().map(boot).collect();
        match self.play_all(boots) {
            Played::Done(outcome) => outcome,
            other => panic!("a start is not refused: {other:?}"),
        }
    }

    pub(crate) fn fold(&self) -> State {
        let mut state = State::default();
        self.commits.iter().for_each(|commit| state.apply_commit(commit));
        state
    }

    /// Every task there is.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let nodes = self.state.tree().nodes().values();
        nodes.filter(|node| node.task().is_some()).map(|node| node.id)
    }

    pub(crate) fn status(&self, task: TaskId) -> Status {
        self.state.tree().get(task).and_then(|node| node.status()).expect("a task")
    }

    /// An input that is accepted.
    pub(crate) fn accept(&mut self, actor: Actor, op: Op) -> Outcome {
        match self.play(actor, op) {
            Played::Done(outcome) => outcome,
            Played::Refused(refusal) => panic!("refused: {refusal}"),
            Played::Died => panic!("died"),
        }
    }

    /// An input that is refused.
    pub(crate) fn refuse(&mut self, actor: Actor, op: Op) -> Refusal {
        match self.play(actor, op) {
            Played::Refused(refusal) => refusal,
            Played::Done(outcome) => panic!("accepted: {outcome:?}"),
            Played::Died => panic!("died"),
        }
    }

    pub(crate) fn user(&mut self, op: Op) -> Outcome {
        self.accept(Actor::User, op)
    }

    /// Something about a session, from the daemon.
    pub(crate) fn session(&mut self, task: TaskId, op: SessionOp) -> Outcome {
        self.accept(Actor::Daemon, Op::Session { task, op })
    }

    /// Something about a session, from the user.
    pub(crate) fn steer(&mut self, task: TaskId, op: SessionOp) -> Outcome {
        self.user(Op::Session { task, op })
    }

    /// The code of the refusal of something about a session.
    pub(crate) fn refused(&mut self, task: TaskId, op: SessionOp) -> &'static str {
        self.refuse(Actor::Daemon, Op::Session { task, op }).code()
    }

    /// The user writes to a task.
    pub(crate) fn say(&mut self, to: TaskId, content: &str) -> Outcome {
        let op = self.message(to, content);
        self.user(op)
    }

    pub(crate) fn message(&mut self, to: TaskId, content: &str) -> Op {
        self.messages += 1;
        Op::SendMessage { id: message_id(1_000_000 + self.messages), to, post: Post::text(content) }
    }

    /// A pending task that nobody was told about.
    pub(crate) fn task(&mut self, parent: TaskId, title: &str) -> TaskId {
        self.create(NewTask::new(parent, title, "what to do"))
    }

    pub(crate) fn create(&mut self, new: NewTask) -> TaskId {
        let actor = if new.budget.is_some() { Actor::User } else { Actor::Daemon };
        self.accept(actor, Op::CreateTask(new)).events[0].task
    }
}

impl Outcome {
    /// The bodies of the events of one task.
    pub(crate) fn of(&self, task: TaskId) -> impl Iterator<Item = &EventBody> {
        self.events.iter().filter(move |event| event.task == task).map(|event| &event.body)
    }

    /// The names of all events, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.events.iter().map(Event::type_name).collect()
    }

    /// Whether an event with this name is among them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }
}
