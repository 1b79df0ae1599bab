//! Who is told about a change of the tree.

use mxd_core::change::Change;
use mxd_core::decide::{Actor, Decision, NewTask, Op, Place, Reach, TaskPatch};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::message::{Message, TreeAction};
use mxd_core::tree::{Color, Status};

use crate::world::{World, deliveries, say, set};

/// Root, a task, a folder in it, and a task in that.
fn family() -> (World, [TaskId; 4]) {
    let mut world = World::new();
    let root = world.root();
    let a = world.task(root, "a");
    let folder = world.folder(a, "f");
    let b = world.task(folder, "b");
    (world, [root, a, folder, b])
}

fn told(decision: &Decision) -> Vec<(TaskId, TreeAction)> {
    let notices = deliveries(decision).into_iter().map(|(to, message, wake)| {
        assert!(!wake, "a notice is quiet");
        match message {
            Message::TreeChange(change) => (to, change.action),
            other => panic!("{other:?}"),
        }
    });
    notices.collect()
}

fn rename(task: TaskId, title: &str) -> Op {
    Op::UpdateTask { task, patch: TaskPatch { title: Some(title.into()), ..TaskPatch::default() } }
}

fn paint(task: TaskId, color: &str) -> Op {
    let color = Change::Set(Color(color.into()));
    Op::UpdateTask { task, patch: TaskPatch { color, ..TaskPatch::default() } }
}

#[test]
fn the_users_change_is_told_to_every_task_above() {
    let (mut world, [root, a, folder, b]) = family();
    let above = |action: TreeAction| vec![(a, action.clone()), (root, action)];
    assert_eq!(told(&world.user(paint(b, "red"))), above(TreeAction::Updated));
    let created = world.user(Op::CreateTask(NewTask::new(folder, "c", "")));
    assert_eq!(told(&created), above(TreeAction::Created));
    let c = created.events[0].task;
    assert_eq!(told(&world.user(set(c, Status::Draft))), above(TreeAction::StatusChanged));
    let moved = world.user(Op::MoveTask { task: c, parent: folder, place: Place::At(0) });
    assert_eq!(told(&moved), above(TreeAction::Moved));
    assert_eq!(told(&world.user(Op::ResetTask { task: c })), above(TreeAction::Reset));
    assert_eq!(told(&world.user(Op::CloseTask { task: c })), above(TreeAction::Closed));
    let deleted = world.user(Op::DeleteTask { task: c, reach: Reach::Only });
    assert_eq!(told(&deleted), above(TreeAction::Deleted));
    assert_eq!(told(&world.user(Op::ClearConversation { task: b })), []);
}

#[test]
fn a_change_of_the_text_is_told_to_the_task_itself() {
    let (mut world, [root, a, folder, b]) = family();
    let updated = TreeAction::Updated;
    let three = [(b, updated.clone()), (a, updated.clone()), (root, updated.clone())];
    assert_eq!(told(&world.user(rename(b, "b2"))), three);
    assert_eq!(
        told(&world.user(rename(folder, "f2"))),
        [(a, updated.clone()), (root, updated)],
        "not to a folder"
    );
}

#[test]
fn an_agents_change_is_told_to_the_changed_task_alone() {
    let (mut world, [root, a, folder, b]) = family();
    assert_eq!(told(&world.agent(root, rename(b, "b2"))), [(b, TreeAction::Updated)]);
    world.drain(b);
    assert_eq!(told(&world.agent(a, paint(b, "red"))), [(b, TreeAction::Updated)]);
    assert_eq!(told(&world.agent(b, rename(b, "b3"))), [], "never the agent itself");
    assert_eq!(told(&world.agent(b, rename(root, "r2"))), [], "nor a task above it");
    assert_eq!(told(&world.agent(b, paint(a, "red"))), []);
    assert_eq!(told(&world.agent(a, rename(folder, "f2"))), []);
    assert_eq!(told(&world.agent(a, Op::CreateTask(NewTask::new(a, "c", "")))), []);
    assert_eq!(told(&world.agent(a, set(b, Status::Pending))), [(b, TreeAction::StatusChanged)]);
    assert_eq!(told(&world.agent(a, Op::DeleteTask { task: b, reach: Reach::Only })), []);
}

#[test]
fn a_move_is_told_above_both_places() {
    let (mut world, [root, a, _, b]) = family();
    let other = world.task(root, "other");
    let moved = world.user(Op::MoveTask { task: b, parent: other, place: Place::Last });
    let action = TreeAction::Moved;
    assert_eq!(told(&moved), [(a, action.clone()), (root, action.clone()), (other, action)], "each once");
}

#[test]
fn an_order_is_told_to_the_owner() {
    let (mut world, [root, a, _, _]) = family();
    world.task(a, "second");
    let mut children = world.state.tree().get(a).unwrap().children.clone();
    children.reverse();
    let ordered = world.user(Op::ReorderChildren { node: a, children });
    assert_eq!(told(&ordered), [(a, TreeAction::Reordered), (root, TreeAction::Reordered)]);
}

#[test]
fn a_notice_that_still_waits_is_not_sent_again() {
    let (mut world, [root, a, _, b]) = family();
    world.user(paint(b, "red"));
    assert_eq!(told(&world.user(paint(b, "blue"))), []);
    world.drain(a);
    assert_eq!(told(&world.user(paint(b, "green"))), [(a, TreeAction::Updated)], "the root still has it");
    let renamed = told(&world.user(rename(b, "b2")));
    assert_eq!(renamed.len(), 3, "another title is another notice: {renamed:?}");
    assert_eq!(world.state.inbox(root).len(), 2);
}

#[test]
fn the_last_notice_about_a_node_is_the_truth() {
    let (mut world, [root, _, _, b]) = family();
    for title in ["one", "two", "one", "two", "two"] {
        let _ = world.attempt(Actor::User, rename(b, title));
    }
    let last = world.state.inbox(root).pending().last().unwrap();
    assert_eq!(last.notice.as_ref().unwrap().title.as_deref(), Some("two"));
    assert_eq!(world.state.inbox(root).len(), 4);
}

#[test]
fn a_task_that_may_wait_in_vain_is_woken_and_nobody_else() {
    for end in [set as fn(_, _) -> _, |task, _| Op::DeleteTask { task, reach: Reach::Recursive }] {
        let (mut world, [root, a, _, b]) = family();
        world.walk(root, &[Status::InProgress]);
        world.walk(a, &[Status::InProgress]);
        world.walk(b, &[Status::InProgress]);
        let decision = world.user(end(b, Status::Failed));
        assert_eq!(crate::world::wakes(&decision), [a]);
    }
    let (mut world, [_, a, _, b]) = family();
    world.walk(b, &[Status::InProgress]);
    assert_eq!(
        crate::world::wakes(&world.user(set(b, Status::Failed))),
        [],
        "who does not work is not started"
    );
    assert_eq!(world.status(a), Status::Pending);
}

#[test]
fn a_notice_into_a_full_inbox_is_skipped_and_recorded() {
    let (mut world, [root, a, _, b]) = family();
    world.limits = Limits { notices_per_inbox: 1, ..Limits::DEFAULT };
    let other = world.task(root, "other");
    world.user(paint(other, "red"));
    let decision = world.user(paint(b, "red"));
    assert_eq!(told(&decision), [(a, TreeAction::Updated)]);
    let last = decision.events.last().unwrap();
    assert_eq!((last.type_name(), last.task), ("notice_skipped", root));
    world.user(say(2, root, "direct messages arrive"));
}
