//! Many callers at once: each is answered for its own commit, and readers never see what is not durable.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mxd_store::AppendError;

use crate::common::{draft, manual, open, read_everything};

#[test]
fn callers_in_many_threads_each_get_their_own_number() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(20_000)).unwrap();
    let answers: Vec<(u64, String)> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..16)
            .map(|caller| {
                let log = &log;
                scope.spawn(move || {
                    let answer = |count| {
                        let text = format!("caller {caller} count {count}");
                        let seq = log.append(draft(&format!("T{caller}"), &text)).unwrap();
                        assert!(*log.head().borrow() >= seq, "the head has moved before the answer");
                        (seq, text)
                    };
                    (0..50).map(answer).collect::<Vec<_>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    let numbers: BTreeSet<u64> = answers.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=800).collect());
    let read = read_everything(&log);
    for (seq, text) in &answers {
        assert!(read[*seq as usize - 1].events.contains(text), "commit {seq} is {text}");
    }
    let third: Vec<u64> = log.read_task("T3", 0, 1_000).unwrap().iter().map(|commit| commit.seq).collect();
    let expected: Vec<u64> =
        answers.iter().filter(|(_, text)| text.starts_with("caller 3 ")).map(|(seq, _)| *seq).collect();
    assert_eq!(third, expected, "each caller's commits are in the order in which it sent them");
}

#[test]
fn tickets_answer_in_order_and_dropping_the_log_writes_what_waits() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let tickets: Vec<_> =
        (0..200).map(|count| log.submit(draft("T1", &format!("number {count}"))).unwrap()).collect();
    drop(log);
    let numbers: Vec<u64> = tickets.into_iter().map(|ticket| ticket.wait().unwrap()).collect();
    assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
    let (_, replayed) = open(dir.path(), manual(u64::MAX)).unwrap();
    assert_eq!(replayed.seqs(), numbers);
}

#[test]
fn commits_of_one_call_stand_next_to_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(5_000)).unwrap();
    std::thread::scope(|scope| {
        for caller in 0..8 {
            let log = &log;
            scope.spawn(move || {
                for _ in 0..20 {
                    let answers =
                        log.append_all((0..5).map(|_| draft("T1", &format!("caller {caller}")))).unwrap();
                    let numbers: Vec<u64> = answers.into_iter().map(Result::unwrap).collect();
                    assert!(numbers.is_sorted_by(|one, next| one + 1 == *next), "{numbers:?}");
                }
            });
        }
    });
    assert_eq!(*log.head().borrow(), 800);
}

#[test]
fn readers_follow_the_head_while_segments_are_closed_and_packed() {
    let dir = tempfile::tempdir().unwrap();
    let options = mxd_store::Options { segment_bytes: 3_000, ..mxd_store::Options::default() };
    let (log, _) = open(dir.path(), options).unwrap();
    let log = Arc::new(log);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut after = 0;
                while after < 600 {
                    let writing = !done.load(Ordering::Acquire);
                    let head = *log.head().borrow();
                    let read = log.read(after, 50).unwrap();
                    assert!(writing || !read.is_empty());
                    assert!(after >= head || !read.is_empty(), "what the head names can be read");
                    for commit in read {
                        assert_eq!(commit.seq, after + 1);
                        after = commit.seq;
                    }
                }
            });
        }
        for count in 0..600 {
            log.append(draft("T1", &format!("number {count}"))).unwrap();
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(log.upkeep_trouble(), None);
}

#[test]
fn more_than_may_wait_is_turned_away() {
    let dir = tempfile::tempdir().unwrap();
    let (log, _) = open(dir.path(), manual(u64::MAX)).unwrap();
    let large = draft("T1", &"x".repeat(4_000_000));
    let refused = log.append_all(vec![large.clone(); 17]);
    assert!(refused.is_ok(), "one call alone is never turned away");
    let mut tickets = Vec::new();
    let turned_away = (0..10_000).find_map(|_| match log.submit(large.clone()) {
        Ok(ticket) => {
            tickets.push(ticket);
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(turned_away, Some(AppendError::Overloaded { .. })), "{turned_away:?}");
    let count = tickets.len();
    assert!(tickets.into_iter().all(|ticket| ticket.wait().is_ok()));
    assert_eq!(*log.head().borrow(), 17 + count as u64, "what was taken is there");
}
