//! Random histories: what anybody might ask next, valid or not.

use mxd_core::change::Change;
use mxd_core::decide::{
    Actor, DescriptionEdit, NewFolder, NewRoot, NewTask, Op, Place, Post, Reach, TaskPatch,
};
use mxd_core::event::body::InitialStatus;
use mxd_core::id::{MessageId, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::message::{BackgroundComplete, ClarifyResponse, Message, TaskComplete, WorkContext};
use mxd_core::state::State;
use mxd_core::tree::{Color, Persistence, Status};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::world::message_id;

/// Small enough to be reached.
pub(crate) const TIGHT: Limits = Limits {
    children_per_node: 5,
    nodes_per_project: 24,
    depth: 4,
    after_entries: 3,
    inbox_per_task: 4,
    report_reserve: 2,
    notices_per_inbox: 3,
    waiters_per_task: 6,
    ..Limits::DEFAULT
};

/// An op whose nodes are picked from whatever exists when its turn comes.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    by_user: bool,
    actor: Index,
    node: Index,
    other: Index,
    want: Want,
}

#[derive(Debug, Clone)]
enum Want {
    Create(Create),
    Patch(Patch),
    Move(Place),
    Shuffle { seed: usize, drop: bool },
    Status(Status),
    Close,
    Reset,
    Clear,
    Delete(Reach),
    Say { id: u64, content: &'static str },
    Report { id: u64, kind: u8 },
    Consume { count: usize, stale: bool },
}

#[derive(Debug, Clone)]
enum Create {
    Root,
    Task { draft: bool, place: Place, persistent: Option<Persistence>, after: Vec<Index> },
    Folder,
}

#[derive(Debug, Clone)]
enum Patch {
    Fields { title: Option<&'static str>, color: Change<Color>, persistent: Change<Persistence> },
    Replace { old: &'static str },
    After(Vec<Index>),
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![6 => Just(Place::Last), 1 => (0usize..4).prop_map(Place::At)]
}

fn persistence() -> impl Strategy<Value = Persistence> {
    select(vec![Persistence::Reset, Persistence::Continue])
}

fn change<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Change<T>> {
    prop_oneof![2 => Just(Change::Keep), 1 => Just(Change::Clear), 1 => value.prop_map(Change::Set)]
}

fn want() -> impl Strategy<Value = Want> {
    let indices = || prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(any::<Index>(), 1..3)];
    let task = (prop::bool::weighted(0.2), place(), prop::option::weighted(0.15, persistence()), indices());
    let color = select(vec!["red", "#abc", "nope"]).prop_map(|name| Color(name.into()));
    let title = prop::option::of(select(vec!["t", "u", "", "two\nlines"]));
    prop_oneof![
        1 => Just(Want::Create(Create::Root)),
        14 => task.prop_map(|(draft, place, persistent, after)| Want::Create(Create::Task { draft, place, persistent, after })),
        4 => Just(Want::Create(Create::Folder)),
        3 => (title, change(color), change(persistence()))
            .prop_map(|(title, color, persistent)| Want::Patch(Patch::Fields { title, color, persistent })),
        1 => select(vec!["a", "b", "x", ""]).prop_map(|old| Want::Patch(Patch::Replace { old })),
        3 => indices().prop_map(|after| Want::Patch(Patch::After(after))),
        8 => place().prop_map(Want::Move),
        4 => (any::<usize>(), prop::bool::weighted(0.2)).prop_map(|(seed, drop)| Want::Shuffle { seed, drop }),
        10 => select(Status::ALL.to_vec()).prop_map(Want::Status),
        2 => Just(Want::Close),
        2 => Just(Want::Reset),
        1 => Just(Want::Clear),
        2 => select(vec![Reach::Only, Reach::Only, Reach::Recursive]).prop_map(Want::Delete),
        10 => (0u64..40, select(vec!["hi", "go on", " "])).prop_map(|(id, content)| Want::Say { id, content }),
        6 => (0usize..3, prop::bool::weighted(0.2)).prop_map(|(count, stale)| Want::Consume { count, stale }),
        5 => (40u64..80, 0u8..4).prop_map(|(id, kind)| Want::Report { id, kind }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    (prop::bool::weighted(0.7), any::<Index>(), any::<Index>(), any::<Index>(), want())
        .prop_map(|(by_user, actor, node, other, want)| Step { by_user, actor, node, other, want })
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..120)
}

/// A node that exists, or now and then one that does not.
fn pick(state: &State, index: Index) -> TaskId {
    let ids: Vec<TaskId> = state.tree().nodes().keys().copied().collect();
    let stranger = TaskId::from(Ulid::from_parts(7, 7));
    ids.get(index.index(ids.len() * 12 + 1) / 12).copied().unwrap_or(stranger)
}

fn rotated(mut children: Vec<TaskId>, seed: usize, drop: bool) -> Vec<TaskId> {
    if !children.is_empty() {
        let by = seed % children.len();
        children.rotate_left(by);
    }
    if drop {
        children.pop();
    }
    children
}

/// Who asks.
pub(crate) fn actor(state: &State, step: &Step) -> Actor {
    match (&step.want, step.by_user) {
        (Want::Report { kind: 0..3, .. }, true) => Actor::Daemon,
        (_, true) => Actor::User,
        (_, false) => Actor::Agent(worker(state, step.actor)),
    }
}

/// A task whose agent works, or now and then any other.
fn worker(state: &State, index: Index) -> TaskId {
    let working = state.tree().nodes().values().filter(|node| node.status() == Some(Status::InProgress));
    let ids: Vec<TaskId> = working.map(|node| node.id).collect();
    let at = index.index(ids.len() * 8 + 1);
    ids.get(at / 8).copied().unwrap_or_else(|| pick(state, index))
}

fn report(about: TaskId, kind: u8) -> Message {
    match kind {
        0 => TaskComplete { task_id: about, title: "t".into(), success: true, output: "done".into() }.into(),
        1 => WorkContext { content: "today".into() }.into(),
        2 => {
            let (command_id, command) = ("bg-1".into(), "make".into());
            let done = BackgroundComplete {
                command_id,
                command,
                exit_code: Some(0),
                duration_ms: 5,
                stdout: None,
                stderr: None,
            };
            done.into()
        }
        _ => ClarifyResponse { clarification_id: None, answer: "yes".into() }.into(),
    }
}

/// What the step asks for, with the nodes that exist now.
pub(crate) fn op(state: &State, step: &Step) -> Op {
    let (task, other) = (pick(state, step.node), pick(state, step.other));
    match &step.want {
        Want::Create(want) => create(state, task, want),
        Want::Patch(want) => Op::UpdateTask { task, patch: patch(state, want) },
        Want::Move(place) => Op::MoveTask { task, parent: other, place: *place },
        Want::Shuffle { seed, drop } => {
            let children = state.tree().get(task).map(|node| node.children.clone()).unwrap_or_default();
            Op::ReorderChildren { node: task, children: rotated(children, *seed, *drop) }
        }
        Want::Status(to) => Op::SetStatus { task, to: *to, reason: None },
        Want::Close => Op::CloseTask { task },
        Want::Reset => Op::ResetTask { task },
        Want::Clear => Op::ClearConversation { task },
        Want::Delete(reach) => Op::DeleteTask { task, reach: *reach },
        Want::Say { id, content } => {
            Op::SendMessage { id: message_id(*id), to: task, post: Post::text(*content) }
        }
        Want::Report { id, kind } => {
            Op::Report { id: message_id(*id), to: task, message: report(other, *kind) }
        }
        Want::Consume { count, stale } => {
            let pending = state.inbox(task).pending().map(|message| message.id);
            let ids: Vec<MessageId> = pending.take(*count).chain(stale.then(|| message_id(0))).collect();
            Op::ConsumeMessages { task, ids }
        }
    }
}

fn create(state: &State, parent: TaskId, want: &Create) -> Op {
    match want {
        Create::Root => {
            Op::CreateRoot(NewRoot { title: "root".into(), description: String::new(), branch: None })
        }
        Create::Task { draft, place, persistent, after } => Op::CreateTask(NewTask {
            place: *place,
            status: if *draft { InitialStatus::Draft } else { InitialStatus::Pending },
            persistent: *persistent,
            after: after.iter().map(|index| pick(state, *index)).collect(),
            ..NewTask::new(parent, "t", "a x b x")
        }),
        Create::Folder => {
            Op::CreateFolder(NewFolder { parent, place: Place::Last, title: "f".into(), color: None })
        }
    }
}

fn patch(state: &State, want: &Patch) -> TaskPatch {
    match want {
        Patch::Fields { title, color, persistent } => TaskPatch {
            title: title.map(Into::into),
            color: color.clone(),
            persistent: *persistent,
            ..TaskPatch::default()
        },
        Patch::Replace { old } => {
            let edit = DescriptionEdit::Replace { old: (*old).into(), new: "b".into() };
            TaskPatch { description: Some(edit), ..TaskPatch::default() }
        }
        Patch::After(after) => TaskPatch {
            after: Some(after.iter().map(|index| pick(state, *index)).collect()),
            ..TaskPatch::default()
        },
    }
}
