//! The log and the domain together: what was decided, stored and replayed is one and the same state.

use std::path::Path;
use std::sync::Arc;

use mxd_core::decide::{Actor, Input, NewTask, Op, Post, Reach, decide};
use mxd_core::event::{EventKind, VOCABULARY};
use mxd_core::id::{Fresh, MessageId, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_core::tree::Status;
use mxd_store::{Draft, Log, Options, Prune};

use crate::common::manual;
use crate::dice::Dice;
use crate::replay::Fold;
use crate::rounds::seeds;
use crate::sim::SimDisk;

/// Opens without any cache being believed.
fn replay(disk: &SimDisk) -> State {
    let bare = disk.copy();
    for cache in ["snapshot", "catalog"] {
        bare.take(&Path::new("/project/cache").join(cache));
    }
    open(&bare).1
}

fn open(disk: &SimDisk) -> (Log, State) {
    let mut fold = Fold::default();
    let options = Options { vocabulary: u32::from(VOCABULARY.major), ..manual(3_000) };
    let log = Log::open_on(Arc::new(disk.clone()), Path::new("/project"), options, &mut fold).unwrap();
    (log, fold.0)
}

#[test]
fn decided_stored_and_replayed_states_are_the_same() {
    for seed in seeds(60) {
        let mut dice = Dice::new(seed);
        let disk = SimDisk::default();
        let (mut log, mut state) = open(&disk);
        let mut person = Person { at: 1_000_000, dice: &mut dice };
        for step in 0..80 {
            let Some((input, at)) = person.wish(&state) else { continue };
            let Ok(decision) = decide(&state, &Limits::default(), input) else { continue };
            let texts: Vec<String> = decision.events.iter().map(|event| event.to_json().unwrap()).collect();
            log.append(Draft::of(at, texts.iter().map(String::as_str)).unwrap()).unwrap();
            for event in &decision.events {
                state.apply(event, Millis(at));
            }
            match person.dice.below(12) {
                0 => log.save_snapshot(*log.head().borrow(), serde_json::to_vec(&state).unwrap()).unwrap(),
                1 => log.upkeep().unwrap(),
                2 => {
                    drop(log);
                    let (again, replayed) = open(&disk);
                    assert_eq!(replayed, state, "seed {seed}, step {step}: snapshot and tail");
                    log = again;
                }
                _ => {}
            }
        }
        drop(log);
        assert_eq!(replay(&disk), state, "seed {seed}: everything from the beginning");
        assert_eq!(open(&disk).1, state, "seed {seed}: snapshot and tail");
        assert!(state.tree().len() > 1, "seed {seed}");
    }
}

#[test]
fn pruning_a_cleared_conversation_leaves_the_state_as_it_is() {
    let types: Vec<&str> =
        EventKind::ALL.iter().filter(|kind| kind.is_conversation()).map(|kind| kind.name()).collect();
    for seed in seeds(40) {
        let mut dice = Dice::new(seed);
        let disk = SimDisk::default();
        let (log, mut state) = open(&disk);
        let mut person = Person { at: 1_000_000, dice: &mut dice };
        for _ in 0..60 {
            let Some((input, at)) = person.wish(&state) else { continue };
            let cleared = match &input.op {
                Op::ClearConversation { task } | Op::ResetTask { task } => Some(*task),
                _ => None,
            };
            let Ok(decision) = decide(&state, &Limits::default(), input) else { continue };
            let texts: Vec<String> = decision.events.iter().map(|event| event.to_json().unwrap()).collect();
            let seq = log.append(Draft::of(at, texts.iter().map(String::as_str)).unwrap()).unwrap();
            for event in &decision.events {
                state.apply(event, Millis(at));
            }
            if let Some(task) = cleared {
                let task = task.to_string();
                log.prune(&Prune { task: &task, through: seq, types: &types, why: "cleared", at }).unwrap();
            }
        }
        drop(log);
        assert_eq!(replay(&disk), state, "seed {seed}");
        assert_eq!(mxd_store::verify(&disk, Path::new("/project")).unwrap().problems, [], "seed {seed}");
    }
}

/// Somebody who wants all sorts of things, some of them impossible.
struct Person<'a> {
    at: u64,
    dice: &'a mut Dice,
}

impl Person<'_> {
    fn wish(&mut self, state: &State) -> Option<(Input, u64)> {
        self.at += self.dice.below(5_000);
        let nodes: Vec<TaskId> = state.tree().nodes().keys().copied().collect();
        let op = if nodes.is_empty() {
            Op::CreateRoot(mxd_core::decide::NewRoot {
                title: "Orchestrator".into(),
                description: String::new(),
                branch: Some("main".into()),
            })
        } else {
            self.operation(state, &nodes)?
        };
        let fresh = Fresh::from_seed(self.ulid());
        Some((Input { at: Millis(self.at), actor: Actor::User, fresh, op }, self.at))
    }

    fn operation(&mut self, state: &State, nodes: &[TaskId]) -> Option<Op> {
        let task = nodes[self.dice.below(nodes.len() as u64) as usize];
        let other = nodes[self.dice.below(nodes.len() as u64) as usize];
        Some(match self.dice.below(14) {
            0..=3 => Op::CreateTask(NewTask::new(task, format!("task {}", nodes.len()), "do it")),
            4..=7 => Op::SendMessage {
                id: MessageId::from(self.ulid()),
                to: task,
                post: Post::text(format!("message {}", self.at)),
            },
            8 => Op::ConsumeMessages {
                task,
                ids: state.inbox(task).pending().map(|message| message.id).collect(),
            },
            9 => Op::MoveTask { task, parent: other, place: mxd_core::decide::Place::Last },
            10 => Op::SetStatus { task, to: Status::Passed, reason: None },
            11 => Op::ClearConversation { task },
            12 => Op::ResetTask { task },
            _ => Op::DeleteTask { task, reach: Reach::Only },
        })
    }

    fn ulid(&mut self) -> Ulid {
        Ulid((u128::from(self.at) << 80) | (u128::from(self.dice.roll()) << 8))
    }
}
