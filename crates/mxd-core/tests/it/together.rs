//! Several wishes at once: as if one after the other, or not at all.

use mxd_core::decide::{Actor, Op, Place, Refusal, TaskPatch};
use mxd_core::event::EventBody;
use mxd_core::id::TaskId;
use mxd_core::tree::Status;
use proptest::prelude::*;

use crate::history::{op, steps};
use crate::world::{World, set};

fn rename(task: TaskId, title: &str) -> Op {
    Op::UpdateTask { task, patch: TaskPatch { title: Some(title.to_owned()), ..TaskPatch::default() } }
}

fn below(task: TaskId, parent: TaskId) -> Op {
    Op::MoveTask { task, parent, place: Place::Last }
}

#[test]
fn all_of_it_is_one_commit() {
    let mut world = World::new();
    let root = world.root();
    let (task, other) = (world.task(root, "old"), world.task(root, "other"));
    let commits = world.commits.len();
    let wishes = vec![rename(task, "new"), below(task, other), set(task, Status::Draft)];
    let decision = world.user(Op::Together(wishes));
    assert_eq!(world.commits.len(), commits + 1);
    let shapes = |body: &EventBody| {
        matches!(body, EventBody::TaskUpdated(_) | EventBody::TaskMoved(_) | EventBody::TaskStatusChanged(_))
    };
    assert_eq!(decision.events.iter().filter(|event| shapes(&event.body)).count(), 3);
    let node = world.state.tree().get(task).unwrap();
    assert_eq!(
        (node.title.as_str(), node.parent_id, node.status()),
        ("new", Some(other), Some(Status::Draft))
    );
}

#[test]
fn one_refusal_refuses_all_and_what_is_so_already_refuses_nothing() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "task");
    let child = world.task(task, "child");
    let refused = world.refused(Actor::User, Op::Together(vec![rename(task, "new"), below(task, child)]));
    assert_eq!(refused.code(), "cycle");
    world.user(Op::Together(vec![rename(task, "task"), set(task, Status::Draft)]));
    assert_eq!(world.status(task), Status::Draft);
    let unchanged = world.refused(Actor::User, Op::Together(vec![rename(task, "task")]));
    assert_eq!(unchanged, Refusal::NothingToChange { task });
    let nested = Op::Together(vec![Op::Together(vec![rename(task, "new")])]);
    assert_eq!(world.refused(Actor::User, nested), Refusal::Nested);
}

#[test]
fn a_later_wish_sees_what_an_earlier_one_did() {
    let mut world = World::new();
    let root = world.root();
    let (task, other) = (world.task(root, "task"), world.task(root, "other"));
    // Below each other in turn: the second way round is only possible after the first was undone.
    world.user(Op::Together(vec![below(task, other), below(task, root), below(other, task)]));
    assert_eq!(world.state.tree().get(other).unwrap().parent_id, Some(task));
}

proptest! {
    #[test]
    fn together_is_the_same_as_one_after_the_other(before in steps(), wishes in steps()) {
        let mut world = World::new();
        for step in &before {
            let op = op(&world.state, step);
            let _refused = world.attempt(Actor::User, op);
        }
        let ops: Vec<Op> = wishes.iter().take(4).map(|step| op(&world.state, step)).collect();
        prop_assume!(!ops.is_empty());
        // With its commits, by whose number it makes new ids.
        let (state, limits, commits) = (world.state.clone(), world.limits.clone(), world.commits.clone());
        let mut one_by_one = World { state, limits, commits };
        let mut refusal = None;
        for op in &ops {
            match one_by_one.attempt(Actor::User, op.clone()) {
                Ok(_) | Err(Refusal::NothingToChange { .. }) => {}
                Err(refused) => {
                    refusal = Some(refused);
                    break;
                }
            }
        }
        let unchanged = world.state.clone();
        let together = world.attempt(Actor::User, Op::Together(ops.clone()));
        match (refusal, together) {
            (Some(refusal), Err(refused)) => {
                prop_assert_eq!(refusal.code(), refused.code());
                prop_assert_eq!(&world.state, &unchanged);
            }
            (None, Ok(_)) => {
                // New ids and times are not the same; everything that hangs together is.
                let shape = |world: &World| {
                    let nodes = world.state.tree().nodes().values();
                    let mut shape: Vec<_> = nodes
                        .map(|node| (node.title.clone(), node.status(), node.children.len(), world.state.inbox(node.id).len()))
                        .collect();
                    shape.sort_by_key(|node| format!("{node:?}"));
                    shape
                };
                prop_assert_eq!(shape(&world), shape(&one_by_one));
            }
            (None, Err(Refusal::NothingToChange { .. })) => prop_assert_eq!(one_by_one.commits.len(), world.commits.len()),
            (refusal, together) => prop_assert!(false, "{refusal:?} but {together:?} for {ops:?}"),
        }
    }
}
