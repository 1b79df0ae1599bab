//! Many who wish something at the same time, and some of them without waiting for an answer.

use std::collections::HashMap;

use mxd_core::decide::{Actor, Op, TaskPatch};
use mxd_core::event::{Event, EventBody, split_events};
use mxd_core::id::TaskId;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_engine::project::{Project, WishError};
use serde_json::json;
use tempfile::TempDir;

use crate::ground::repository::{make_repository, write_settings};
use crate::ground::{create_root, open};

const SENDERS: u64 = 12;
const WISHES: u64 = 60;

/// Whoever drops a wish half way may have it or not, but never half of it, and nobody overtakes himself.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn wishes_of_many_happen_each_as_a_whole_and_in_the_order_of_their_senders() {
    let (ground, project, root) = ground().await;
    let senders = (0..SENDERS).map(|sender| tokio::spawn(send(project.clone(), root, sender)));
    let mut promised = HashMap::new();
    for sender in senders.collect::<Vec<_>>() {
        promised.extend(sender.await.unwrap());
    }
    let shown = settled(&project, root).await;
    let (titles, state) = written(&project);
    assert!(shown == state, "what is shown is what the log says");
    for (title, seq) in &promised {
        let found: Vec<u64> = titles.iter().filter(|(_, had)| had == title).map(|(seq, _)| *seq).collect();
        assert_eq!(found, [*seq], "{title} happened once, and where it was said to have");
    }
    for sender in 0..SENDERS {
        let own =
            titles.iter().filter_map(|(_, title)| title.strip_prefix(&format!("{sender} of "))?.parse().ok());
        let own: Vec<u64> = own.collect();
        assert!(own.is_sorted(), "what {sender} wished is in its order: {own:?}");
    }
    project.close().await;
    drop(project);
    let project = open(ground.path()).await;
    assert!(project.look(|state| *state == shown), "and it is the same after a restart");
    project.close().await;
}

/// A project whose agents are never asked anything.
async fn ground() -> (TempDir, Project, TaskId) {
    let ground = TempDir::new().unwrap();
    make_repository(&ground.path().join("repo"));
    write_settings(ground.path(), "http://127.0.0.1:9", json!({}));
    let project = open(ground.path()).await;
    let root = create_root(&project).await;
    (ground, project, root)
}

/// Wishes one after the other; what was answered, by the commit it was told. Every third is not waited for to its end.
async fn send(project: Project, root: TaskId, sender: u64) -> HashMap<String, u64> {
    let mut promised = HashMap::new();
    for number in 0..WISHES {
        let title = format!("{sender} of {number}");
        let patch = TaskPatch { title: Some(title.clone()), ..TaskPatch::default() };
        let wish = project.wish(Actor::User, Op::UpdateTask { task: root, patch });
        let patience = if number % 3 == sender % 3 { number % 4 } else { u64::MAX };
        tokio::select! {
            biased;
            receipt = wish => {
                promised.insert(title, receipt.unwrap().seq.unwrap().0);
            }
            () = yields(patience) => {}
        }
    }
    promised
}

async fn yields(times: u64) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// What is shown when everything that was brought before is done.
async fn settled(project: &Project, root: TaskId) -> State {
    let patch = TaskPatch { title: Some("The last".to_owned()), ..TaskPatch::default() };
    project.wish(Actor::User, Op::UpdateTask { task: root, patch }).await.unwrap();
    project.look(State::clone)
}

/// The titles of the root in the order of the log, with their commits, and what all of the log amounts to.
fn written(project: &Project) -> (Vec<(u64, String)>, State) {
    let (mut titles, mut state) = (Vec::new(), State::default());
    for commit in project.log().read(0, 100_000).unwrap() {
        for text in split_events(&commit.events).unwrap() {
            let event = Event::decode(text).unwrap();
            if let EventBody::TaskUpdated(updated) = &event.body {
                titles.extend(updated.title.clone().map(|title| (commit.seq, title)));
            }
            state.apply(&event, Millis(commit.at));
        }
    }
    (titles, state)
}

/// Whatever is answered before the end is on disk, and whatever comes after it is told that it is too late.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_project_that_is_closed_under_wishes_keeps_what_it_answered() {
    let (ground, project, root) = ground().await;
    let senders = (0..SENDERS).map(|sender| tokio::spawn(send_until_closed(project.clone(), root, sender)));
    let senders: Vec<_> = senders.collect();
    let mut through = project.through();
    let begun = *through.borrow();
    through.wait_for(|through| through.0 > begun.0 + SENDERS).await.unwrap();
    project.close().await;
    let kept = project.look(State::clone);
    let mut promised = Vec::new();
    for sender in senders {
        promised.extend(sender.await.unwrap());
    }
    let (titles, state) = written(&project);
    assert!(kept == state, "nothing comes after the end");
    assert!(promised.iter().all(|title| titles.iter().any(|(_, had)| had == title)));
    drop(project);
    let project = open(ground.path()).await;
    assert!(project.look(|state| *state == kept));
    project.close().await;
    let patch = TaskPatch { title: Some("Too late".to_owned()), ..TaskPatch::default() };
    let late = project.wish(Actor::User, Op::UpdateTask { task: root, patch }).await;
    assert_eq!(late, Err(WishError::Closed), "also where nobody was at work");
}

async fn send_until_closed(project: Project, root: TaskId, sender: u64) -> Vec<String> {
    let mut promised = Vec::new();
    for number in 0.. {
        let title = format!("{sender} of {number}");
        let patch = TaskPatch { title: Some(title.clone()), ..TaskPatch::default() };
        match project.wish(Actor::User, Op::UpdateTask { task: root, patch }).await {
            Ok(_) => promised.push(title),
            Err(WishError::Closed) => return promised,
            Err(error) => panic!("{error}"),
        }
    }
    promised
}
