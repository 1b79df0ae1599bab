//! Folding events that do not fit, because something of the log was lost: counted, never fatal.

use mxd_core::decide::Op;
use mxd_core::event::Event;
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::state::State;
use mxd_core::time::Millis;

use crate::world::{World, say};

fn apply(state: &mut State, line: &str) {
    state.apply(&Event::decode(line).expect(line), Millis(5));
}

fn on(task: TaskId, rest: &str) -> String {
    format!(r#"{{"task":"{task}",{rest}}}"#)
}

const STRANGER: &str = "01JZ0000000000000000000009";

fn stranger() -> TaskId {
    STRANGER.parse().unwrap()
}

#[test]
fn a_node_whose_parent_is_lost_is_adopted_by_the_root() {
    let mut world = World::new();
    let root = world.root();
    let orphan: TaskId = "01JZ0000000000000000000008".parse().unwrap();
    let created = format!(
        r#""type":"task_created","kind":"task","title":"o","description":"","parentId":"{STRANGER}","position":7,"editedBy":"user""#
    );
    apply(&mut world.state, &on(orphan, &created));
    assert_eq!(world.state.tree().get(orphan).unwrap().parent_id, Some(root));
    assert_eq!(world.state.tree().get(root).unwrap().children, [orphan]);
    assert_eq!(world.state.anomalies().misplaced, 1);
    apply(&mut world.state, &on(orphan, &created));
    assert_eq!(world.state.anomalies().repeated, 1);
    assert_eq!(world.state.tree().len(), 2);
}

#[test]
fn children_that_outlive_their_parent_are_adopted_by_the_root() {
    let mut world = World::new();
    let root = world.root();
    let a = world.task(root, "a");
    let b = world.task(a, "b");
    apply(&mut world.state, &on(a, r#""type":"task_deleted","editedBy":"user""#));
    assert_eq!(world.state.tree().get(b).unwrap().parent_id, Some(root));
    assert_eq!(world.state.tree().get(root).unwrap().children, [b]);
    apply(&mut world.state, &on(root, r#""type":"task_deleted","editedBy":"user""#));
    assert_eq!(world.state.tree().root().unwrap().id, root, "the root stays");
}

#[test]
fn events_about_strangers_are_counted_and_ignored() {
    let mut world = World::new();
    let root = world.root();
    let tree = world.state.tree().clone();
    let lines = [
        on(stranger(), r#""type":"task_updated","title":"x","editedBy":"user""#),
        on(stranger(), r#""type":"task_status_changed","from":"draft","to":"pending","editedBy":"user""#),
        on(stranger(), &format!(r#""type":"task_moved","parentId":"{root}","position":0,"editedBy":"user""#)),
        on(stranger(), r#""type":"children_reordered","children":[],"editedBy":"user""#),
        on(stranger(), r#""type":"task_deleted","editedBy":"user""#),
        on(
            stranger(),
            r#""type":"message","id":"01JZ00000000000000000000M1","body":{"source":"compact"},"wake":true"#,
        ),
        on(stranger(), r#""type":"messages_consumed","messageIds":["01JZ00000000000000000000M1"]"#),
        on(stranger(), r#""type":"budget_granted","amountUsd":1"#),
        on(root, &format!(r#""type":"task_moved","parentId":"{STRANGER}","position":0,"editedBy":"user""#)),
    ];
    for (count, line) in lines.iter().enumerate() {
        apply(&mut world.state, line);
        let anomalies = world.state.anomalies();
        assert_eq!(anomalies.unknown_task + anomalies.misplaced, count as u64 + 1, "{line}");
    }
    assert_eq!(world.state.tree(), &tree);
}

#[test]
fn a_move_into_its_own_subtree_is_ignored() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let b = world.task(a, "b");
    let tree = world.state.tree().clone();
    apply(
        &mut world.state,
        &on(a, &format!(r#""type":"task_moved","parentId":"{b}","position":0,"editedBy":"user""#)),
    );
    assert_eq!(world.state.tree(), &tree);
    assert_eq!(world.state.anomalies().misplaced, 1);
}

#[test]
fn an_order_that_fits_no_more_keeps_every_child() {
    let mut world = World::new();
    let root = world.root();
    let (a, b, c) = (world.task(root, "a"), world.task(root, "b"), world.task(root, "c"));
    let order = format!(
        r#""type":"children_reordered","children":["{c}","{STRANGER}","{c}","{b}"],"editedBy":"user""#
    );
    apply(&mut world.state, &on(root, &order));
    assert_eq!(world.state.tree().get(root).unwrap().children, [c, b, a]);
}

#[test]
fn messages_are_posted_and_consumed_once_whatever_the_log_repeats() {
    let mut world = World::new();
    let root = world.root();
    let posted = on(
        root,
        r#""type":"message","id":"01JZ00000000000000000000M1","body":{"source":"compact"},"wake":true"#,
    );
    let consumed = on(root, r#""type":"messages_consumed","messageIds":["01JZ00000000000000000000M1"]"#);
    for line in [&posted, &posted, &consumed, &consumed, &posted] {
        apply(&mut world.state, line);
    }
    assert!(world.state.inbox(root).is_empty());
    assert_eq!((world.state.anomalies().repeated, world.state.anomalies().mismatched), (2, 1));
}

#[test]
fn money_is_added_up_and_handed_over() {
    let mut world = World::new();
    let root = world.root();
    let a = world.task(root, "a");
    let turn = r#""type":"turn_ended","stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0},"costUsd":0.1"#;
    for _ in 0..3 {
        apply(&mut world.state, &on(a, turn));
    }
    apply(&mut world.state, &on(root, r#""type":"budget_granted","amountUsd":10"#));
    apply(&mut world.state, &on(root, &format!(r#""type":"budget_transferred","to":"{a}","amountUsd":4"#)));
    apply(&mut world.state, &on(a, &format!(r#""type":"budget_refunded","to":"{root}","amountUsd":1.5"#)));
    let money = |id| {
        let task = world.state.tree().get(id).unwrap().task().unwrap();
        (task.cost_usd, task.budget_usd)
    };
    assert_eq!(money(a), (Usd::from_cents(30).unwrap(), Usd::from_cents(250)));
    assert_eq!(money(root), (Usd::ZERO, Usd::from_cents(750)));
}

#[test]
fn a_worktree_removed_late_does_not_take_a_new_one() {
    let mut world = World::new();
    let root = world.root();
    apply(
        &mut world.state,
        &on(root, r#""type":"worktree_created","path":"/new","branch":"b","base":"main""#),
    );
    apply(&mut world.state, &on(root, r#""type":"worktree_removed","path":"/old","branch":"b""#));
    let path = |state: &State| state.tree().get(root).unwrap().task().unwrap().worktree_path.clone();
    assert_eq!(path(&world.state), Some("/new".into()));
    apply(&mut world.state, &on(root, r#""type":"worktree_removed","path":"/new","branch":"b""#));
    assert_eq!(path(&world.state), None);
}

#[test]
fn an_idle_task_costs_no_inbox() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    world.user(Op::ResetTask { task });
    assert!(!serde_json::to_string(&world.state).unwrap().contains(&crate::world::message_id(1).to_string()));
}
