//! A small project to try things on: decides, folds and remembers like the real loop, without a disk.

use std::collections::BTreeMap;

use mxd_core::commit::{Commit, Seq};
use mxd_core::decide::{
    Actor, Decision, Effect, Input, NewFolder, NewRoot, NewTask, Op, Place, Post, Refusal, decide,
};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{Fresh, MessageId, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::message::Message;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) limits: Limits,
    pub(crate) commits: Vec<Commit>,
}

impl World {
    pub(crate) fn empty() -> Self {
        Self { state: State::default(), limits: Limits::DEFAULT, commits: Vec::new() }
    }

    /// A project with its root.
    pub(crate) fn new() -> Self {
        let mut world = Self::empty();
        let root = NewRoot {
            title: "Orchestrator".into(),
            description: "all of it".into(),
            branch: Some("main".into()),
        };
        world.user(Op::CreateRoot(root));
        world
    }

    pub(crate) fn root(&self) -> TaskId {
        self.state.tree().root().expect("a root").id
    }

    /// Decides and, if it is not refused, applies.
    pub(crate) fn attempt(&mut self, actor: Actor, op: Op) -> Result<Decision, Refusal> {
        let n = self.commits.len() as u64 + 1;
        let fresh = Fresh::from_seed(Ulid::from_parts(1_700_000_000_000 + n, u128::from(n) << 40));
        let input = Input { at: Millis(n), actor, fresh, op };
        let decision = decide(&self.state, &self.limits, input)?;
        let commit = Commit::new(Seq(n), Millis(n), decision.events.clone()).expect("a decision has events");
        self.state.apply_commit(&commit);
        self.commits.push(commit);
        Ok(decision)
    }

    pub(crate) fn user(&mut self, op: Op) -> Decision {
        self.attempt(Actor::User, op).expect("allowed")
    }

    pub(crate) fn agent(&mut self, agent: TaskId, op: Op) -> Decision {
        self.run_agent(agent);
        self.attempt(Actor::Agent(agent), op).expect("allowed")
    }

    /// By the daemon, so that nobody above is told.
    fn quietly(&mut self, op: Op) -> Decision {
        self.attempt(Actor::Daemon, op).expect("allowed")
    }

    /// Only an agent at work decides anything, so one that has not begun is started.
    pub(crate) fn run_agent(&mut self, agent: TaskId) {
        let status = self.state.tree().get(agent).and_then(|node| node.status());
        if status == Some(Status::Pending) && self.state.tree().blocked_by(agent).is_empty() {
            self.attempt(Actor::Daemon, set(agent, Status::InProgress)).expect("started");
        }
    }

    pub(crate) fn refused(&mut self, actor: Actor, op: Op) -> Refusal {
        if let Actor::Agent(agent) = actor {
            self.run_agent(agent);
        }
        let before = self.state.clone();
        let refusal = self.attempt(actor, op).expect_err("refused");
        assert_eq!(self.state, before, "a refused input changes nothing");
        refusal
    }

    /// A pending task that nobody was told about.
    pub(crate) fn task(&mut self, parent: TaskId, title: &str) -> TaskId {
        self.create(NewTask::new(parent, title, "what to do"))
    }

    pub(crate) fn create(&mut self, new: NewTask) -> TaskId {
        // What comes back is for the user and the root agent to make; it is read, so that nothing waits.
        if new.persistent.is_some() {
            let task = self.user(Op::CreateTask(new)).events[0].task;
            let root = self.root();
            self.drain(root);
            return task;
        }
        self.quietly(Op::CreateTask(new)).events[0].task
    }

    pub(crate) fn folder(&mut self, parent: TaskId, title: &str) -> TaskId {
        let new = NewFolder { parent, place: Place::Last, title: title.into(), color: None };
        self.quietly(Op::CreateFolder(new)).events[0].task
    }

    pub(crate) fn status(&self, task: TaskId) -> Status {
        self.state.tree().get(task).and_then(|node| node.status()).expect("a task")
    }

    /// Walks a task to a status by legal steps, without telling anybody.
    pub(crate) fn walk(&mut self, task: TaskId, steps: &[Status]) {
        for to in steps {
            self.quietly(set(task, *to));
        }
    }

    /// Consumes everything that waits for a task.
    pub(crate) fn drain(&mut self, task: TaskId) {
        let ids: Vec<MessageId> = self.state.inbox(task).pending().map(|message| message.id).collect();
        if !ids.is_empty() {
            self.user(Op::ConsumeMessages { task, ids });
        }
    }
}

pub(crate) fn message_id(n: u64) -> MessageId {
    MessageId::from(Ulid::from_parts(1, u128::from(n)))
}

pub(crate) fn say(n: u64, to: TaskId, content: &str) -> Op {
    Op::SendMessage { id: message_id(n), to, post: Post::text(content) }
}

pub(crate) fn set(task: TaskId, to: Status) -> Op {
    Op::SetStatus { task, to, reason: None }
}

/// Who got which message by this decision.
pub(crate) fn deliveries(decision: &Decision) -> Vec<(TaskId, Message, bool)> {
    let posted = decision.events.iter().filter_map(|event| match &event.body {
        EventBody::Message(posted) => Some((event.task, posted.body.clone(), posted.wake)),
        _ => None,
    });
    posted.collect()
}

pub(crate) fn wakes(decision: &Decision) -> Vec<TaskId> {
    let woken = decision.effects.iter().filter_map(|effect| match effect {
        Effect::Wake { task } => Some(*task),
        _ => None,
    });
    woken.collect()
}

/// The conversation events a reset, clearing or deletion made worthless: those of its task in earlier commits.
pub(crate) fn pruned(commits: &[Commit]) -> Vec<(Millis, Event)> {
    let mut cleared: BTreeMap<TaskId, u64> = BTreeMap::new();
    for commit in commits {
        for event in commit.events() {
            if matches!(
                event.body,
                EventBody::TaskReset(_) | EventBody::ConversationCleared(_) | EventBody::TaskDeleted(_)
            ) {
                cleared.insert(event.task, commit.seq().0);
            }
        }
    }
    let kept = commits.iter().flat_map(|commit| commit.events().iter().map(move |event| (commit, event)));
    kept.filter(|(commit, event)| {
        let gone = cleared.get(&event.task).is_some_and(|seq| commit.seq().0 < *seq);
        !(gone && event.body.kind().is_some_and(|kind| kind.is_conversation()))
    })
    .map(|(commit, event)| (commit.at(), event.clone()))
    .collect()
}
