//! The transition table, pair by pair.

use mxd_core::decide::{Actor, NewTask, Op, Refusal};
use mxd_core::event::body::InitialStatus;
use mxd_core::tree::{IllegalTransition, Status};

use crate::world::{World, set};

use Status::{Closed, Draft, Failed, InProgress, Passed, Pending, Verify};

/// Written out a second time on purpose: the table in the code must not change unnoticed.
const LEGAL: [(Status, Status); 22] = [
    (Draft, Pending),
    (Draft, Closed),
    (Pending, Draft),
    (Pending, InProgress),
    (Pending, Closed),
    (InProgress, Verify),
    (InProgress, Passed),
    (InProgress, Failed),
    (InProgress, Pending),
    (Verify, Passed),
    (Verify, Failed),
    (Verify, InProgress),
    (Verify, Closed),
    (Verify, Pending),
    (Passed, InProgress),
    (Passed, Closed),
    (Passed, Pending),
    (Failed, InProgress),
    (Failed, Closed),
    (Failed, Pending),
    (Closed, InProgress),
    (Closed, Pending),
];

fn way_to(status: Status) -> &'static [Status] {
    match status {
        Draft => &[Draft],
        Pending => &[],
        InProgress => &[InProgress],
        Verify => &[InProgress, Verify],
        Passed => &[InProgress, Passed],
        Failed => &[InProgress, Failed],
        Closed => &[Closed],
    }
}

#[test]
fn every_pair_is_allowed_exactly_when_the_table_has_it() {
    for from in Status::ALL {
        for to in Status::ALL {
            let legal = LEGAL.contains(&(from, to));
            let expected = if legal { Ok(()) } else { Err(IllegalTransition { from, to }) };
            assert_eq!(from.check(to), expected, "{from} to {to}");
        }
    }
}

#[test]
fn set_status_follows_the_table_for_every_pair() {
    for from in Status::ALL {
        for to in Status::ALL {
            let mut world = World::new();
            let task = world.task(world.root(), "t");
            world.walk(task, way_to(from));
            assert_eq!(world.status(task), from);
            let answer = world.attempt(Actor::User, set(task, to));
            if LEGAL.contains(&(from, to)) {
                answer.unwrap_or_else(|refusal| panic!("{from} to {to}: {refusal}"));
                assert_eq!(world.status(task), to);
            } else {
                let refusal = answer.expect_err("not in the table");
                let (a, b) = (from.to_string(), to.to_string());
                let text = format!("{refusal} {}", refusal.hint());
                assert!(text.contains(&a) || refusal == Refusal::Running { task }, "{text}");
                assert!(text.contains(&b) || refusal == Refusal::Running { task }, "{text}");
                assert_eq!(world.status(task), from);
            }
        }
    }
}

#[test]
fn a_task_starts_as_it_was_created() {
    let mut world = World::new();
    let root = world.root();
    let draft = world.create(NewTask { status: InitialStatus::Draft, ..NewTask::new(root, "d", "") });
    assert_eq!(world.status(draft), Draft);
    assert_eq!(world.status(root), Pending);
    let folder = world.folder(root, "f");
    assert_eq!(world.state.tree().get(folder).unwrap().status(), None);
    assert_eq!(world.refused(Actor::User, set(folder, Pending)).code(), "not_a_task");
}

#[test]
fn names_in_json_are_the_names_on_the_screen() {
    for status in Status::ALL {
        assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{status}\""));
    }
}

#[test]
fn a_reason_is_kept_but_not_endless() {
    let mut world = World::new();
    let task = world.root();
    let op = Op::SetStatus { task, to: Draft, reason: Some("x".repeat(1_001)) };
    assert_eq!(world.refused(Actor::User, op).code(), "too_long");
}
