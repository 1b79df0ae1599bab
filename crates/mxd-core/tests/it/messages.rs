//! Who may write to whom, what that sets in motion, and that each message is read once.

use mxd_core::decide::{Actor, Decision, NewTask, Op, Post, Reach, Refusal};
use mxd_core::event::EventBody;
use mxd_core::event::body::{BlobId, Image, InitialStatus};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::message::{Message, NoticeTopic};
use mxd_core::tree::Status;

use crate::world::{World, deliveries, message_id, say, set, wakes};

#[test]
fn a_message_sets_a_resting_task_to_work_in_the_same_commit() {
    use Status::{Closed, Failed, InProgress, Passed, Verify};
    let ways: [&[Status]; 5] =
        [&[], &[InProgress, Verify], &[InProgress, Passed], &[InProgress, Failed], &[Closed]];
    for way in ways {
        let mut world = World::new();
        let task = world.task(world.root(), "t");
        world.walk(task, way);
        world.drain(task);
        let decision = world.user(say(1, task, "go"));
        assert_eq!(world.status(task), InProgress, "{way:?}");
        assert_eq!(wakes(&decision), [task]);
        assert!(world.state.inbox(task).wants_agent());
    }
}

#[test]
fn a_message_to_a_working_task_only_wakes_it() {
    let mut world = World::new();
    let root = world.root();
    world.user(say(1, root, "go"));
    let decision = world.user(say(2, root, "and this"));
    assert_eq!((decision.events.len(), wakes(&decision)), (1, vec![root]));
}

#[test]
fn the_tasks_above_hear_what_the_user_told_one_below() {
    let mut world = World::new();
    let root = world.root();
    let folder = world.folder(root, "f");
    let a = world.task(folder, "a");
    let b = world.task(a, "b");
    let heard = deliveries(&world.user(say(1, b, "psst")));
    assert_eq!(heard.iter().map(|(to, ..)| *to).collect::<Vec<_>>(), [b, a, root]);
    for (_, message, wake) in &heard[1..] {
        let Message::UserMessageForwarded(copy) = message else { panic!("{message:?}") };
        assert_eq!((copy.from_task_id, copy.content.as_str(), copy.resumed), (b, "psst", false));
        assert!(!wake, "a copy is quiet");
    }
    assert_eq!(world.status(a), Status::Pending, "a copy starts nobody");
}

#[test]
fn the_tasks_above_hear_that_the_user_resumed_a_finished_task() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "t");
    world.walk(task, &[Status::InProgress, Status::Passed]);
    let heard = deliveries(&world.user(say(1, task, "one more thing")));
    let (to, Message::TaskMessage(copy), false) = &heard[1] else { panic!("{heard:?}") };
    assert_eq!((*to, copy.from_task_id), (root, task));
    assert!(copy.content.contains("resumed") && copy.content.contains("passed"), "{}", copy.content);
    assert!(copy.content.ends_with("one more thing"));
}

#[test]
fn a_copy_of_a_long_message_is_cut() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    let heard = deliveries(&world.user(say(1, task, &"ä".repeat(100_000))));
    let Message::UserMessageForwarded(copy) = &heard[1].1 else { panic!("a copy") };
    assert!(copy.content.len() < 8 * 1024 + 40 && copy.content.ends_with("bytes more]"));
    let Message::User(whole) = &heard[0].1 else { panic!("the message") };
    assert_eq!(whole.content.len(), 200_000);
}

#[test]
fn agents_write_up_the_tree_and_to_the_tasks_they_own() {
    let mut world = World::new();
    let root = world.root();
    let a = world.task(root, "a");
    let folder = world.folder(a, "f");
    let b = world.task(folder, "b");
    let c = world.task(b, "c");
    let other = world.task(root, "other");
    let post = Post { title: Some("Zones".into()), request_reply: true, ..Post::text("which?") };
    let decision = world.agent(b, Op::SendMessage { id: message_id(1), to: root, post });
    let (to, Message::TaskMessage(message), true) = &deliveries(&decision)[0] else { panic!("{decision:?}") };
    assert_eq!((*to, message.from_task_id, message.from_title.as_str()), (root, b, "b"));
    assert_eq!((message.title.as_deref(), message.request_reply), (Some("Zones"), true));
    assert_eq!(deliveries(&decision).len(), 1, "nobody else hears it");
    world.agent(b, say(2, a, "up, through the folder"));
    world.agent(a, say(3, b, "down, through the folder"));
    for (from, to) in [(a, c), (b, other), (a, other), (b, b)] {
        let refusal = world.refused(Actor::Agent(from), say(9, to, "x"));
        assert_eq!(refusal, Refusal::OutOfReach { agent: from, task: to });
    }
}

#[test]
fn drafts_and_folders_take_no_messages() {
    let mut world = World::new();
    let root = world.root();
    let draft = world.create(NewTask { status: InitialStatus::Draft, ..NewTask::new(root, "d", "") });
    let folder = world.folder(root, "f");
    for actor in [Actor::User, Actor::Agent(root)] {
        assert_eq!(world.refused(actor, say(1, draft, "x")), Refusal::DraftTarget { task: draft });
        assert_eq!(world.refused(actor, say(1, folder, "x")).code(), "not_a_task");
    }
}

#[test]
fn a_message_needs_text_and_has_limits() {
    let mut world = World::new();
    let root = world.root();
    let image = Image { media_type: "image/png".into(), blob: BlobId("b".into()) };
    let send = |post: Post| Op::SendMessage { id: message_id(1), to: root, post };
    let many = Post { images: vec![image.clone(); 11], ..Post::text("look") };
    let long = Post { header: Some("h".repeat(10)), ..Post::text("x".repeat(256 * 1024)) };
    for (post, code) in [(Post::text(" \n"), "empty"), (many, "too_many_images"), (long, "too_long")] {
        assert_eq!(world.refused(Actor::User, send(post)).code(), code);
    }
    let task = world.task(root, "t");
    let from_agent = Op::SendMessage {
        id: message_id(1),
        to: root,
        post: Post { images: vec![image], ..Post::text("look") },
    };
    assert_eq!(world.refused(Actor::Agent(task), from_agent), Refusal::TooManyImages { given: 1, limit: 0 });
}

#[test]
fn a_message_is_posted_once_however_often_it_is_sent() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    let duplicate = Refusal::DuplicateMessage { id: message_id(1), task };
    assert_eq!(world.refused(Actor::User, say(1, task, "go")), duplicate);
    world.drain(task);
    assert_eq!(world.refused(Actor::User, say(1, task, "go")), duplicate, "also after it was read");
    world.walk(task, &[Status::Pending, Status::Draft]);
    assert_eq!(world.refused(Actor::User, say(1, task, "go")), duplicate, "whatever became of the task");
}

#[test]
fn a_message_is_read_once() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "t");
    world.user(say(1, task, "a"));
    world.user(say(2, task, "b"));
    let consume =
        |ids: &[u64]| Op::ConsumeMessages { task, ids: ids.iter().map(|n| message_id(*n)).collect() };
    world.agent(task, consume(&[1]));
    let again = Refusal::NotPending { id: message_id(1), task };
    assert_eq!(world.refused(Actor::Agent(task), consume(&[1])), again);
    assert_eq!(world.refused(Actor::Agent(task), consume(&[2, 2])).code(), "not_pending");
    assert_eq!(world.refused(Actor::Agent(task), consume(&[])).code(), "empty");
    assert_eq!(world.refused(Actor::Agent(root), consume(&[2])).code(), "outside_subtree");
    world.agent(task, consume(&[2]));
    assert!(world.state.inbox(task).is_empty());
}

#[test]
fn a_full_inbox_refuses_messages_and_skips_copies() {
    let mut world = World::new();
    world.limits = Limits { inbox_per_task: 2, notices_per_inbox: 1, ..Limits::DEFAULT };
    let root = world.root();
    let task = world.task(root, "t");
    world.user(say(1, root, "a"));
    world.user(say(2, root, "b"));
    assert_eq!(world.refused(Actor::User, say(3, root, "c")), Refusal::InboxFull { task: root, limit: 2 });
    world.user(say(4, task, "go"));
    let decision = world.user(say(5, task, "on"));
    let skipped: Vec<_> = decision
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::NoticeSkipped(skipped) => Some((event.task, skipped.source.clone(), skipped.node_id)),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [(root, "user_message_forwarded".to_owned(), task)]);
    assert_eq!(world.state.inbox(root).len(), 3);
}

#[test]
fn what_only_informs_never_keeps_messages_out() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "t");
    for n in 1..=1_500 {
        world.user(say(n, task, "go"));
        world.drain(task);
    }
    assert_eq!(world.state.inbox(root).len(), Limits::DEFAULT.notices_per_inbox);
    world.user(say(5_000, root, "do you hear me?"));
    assert_eq!(world.status(root), Status::InProgress);
}

#[test]
fn a_task_put_to_rest_does_not_start_from_old_mail() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    world.walk(task, &[Status::Pending]);
    assert!(world.state.inbox(task).is_pending(message_id(1)));
    assert!(!world.state.inbox(task).wants_agent());
}

#[test]
fn what_was_deleted_is_not_delivered_to() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(Op::DeleteTask { task, reach: Reach::Only });
    assert_eq!(world.refused(Actor::User, say(1, task, "x")), Refusal::UnknownTask { task });
    assert_eq!(world.refused(Actor::User, set(task, Status::Draft)).code(), "unknown_task");
}

#[test]
fn the_memory_for_ids_is_bounded() {
    let mut world = World::new();
    let root = world.root();
    let most = Limits::REMEMBERED_MESSAGE_IDS as u64;
    for n in 0..=most {
        world.user(say(n, root, "x"));
        world.drain(root);
    }
    assert!(!world.state.inbox(root).knows(message_id(0)), "the oldest is forgotten");
    assert!(world.state.inbox(root).knows(message_id(1)));
}

/// What bounced by a decision: to whom, and whether it calls.
fn bounced(decision: &Decision) -> Vec<(TaskId, String, bool)> {
    let told = deliveries(decision).into_iter().filter_map(|(to, message, wake)| match message {
        Message::Notice(notice) if notice.topic == NoticeTopic::Bounced => Some((to, notice.content, wake)),
        _ => None,
    });
    told.collect()
}

#[test]
fn what_nobody_will_read_goes_back_to_the_agents_who_wrote_it() {
    let throw_away: [fn(TaskId) -> Op; 3] = [
        |task| Op::ResetTask { task },
        |task| Op::ClearConversation { task },
        |task| Op::DeleteTask { task, reach: Reach::Only },
    ];
    for op in throw_away {
        let mut world = World::new();
        let root = world.root();
        let (first, quiet) = (world.task(root, "first"), world.task(root, "quiet"));
        let task = world.create(NewTask { after: vec![first], ..NewTask::new(root, "t", "") });
        world.agent(root, say(1, task, "one"));
        world.agent(root, say(2, task, "two"));
        world.user(say(3, task, "of the user"));
        let decision = world.user(op(task));
        let [(to, text, wake)] = &bounced(&decision)[..] else { panic!("{decision:?}") };
        assert_eq!((*to, *wake), (root, true), "it may be waiting for an answer");
        assert!(text.contains(&task.to_string()) && text.contains("2 messages"), "{text}");
        assert_eq!(bounced(&world.user(op(quiet))), [], "nobody wrote to it");
    }
}

#[test]
fn nobody_is_told_what_went_by_their_own_doing_or_with_them() {
    let mut world = World::new();
    let root = world.root();
    let first = world.task(root, "first");
    let top = world.task(root, "top");
    let task = world.create(NewTask { after: vec![first], ..NewTask::new(top, "t", "") });
    world.agent(top, say(1, task, "one"));
    assert_eq!(bounced(&world.agent(top, Op::ResetTask { task })), [], "its own doing");
    world.agent(top, say(2, task, "two"));
    let decision = world.user(Op::DeleteTask { task: top, reach: Reach::Recursive });
    assert_eq!(bounced(&decision), [], "it goes with it");
}

#[test]
fn what_was_read_does_not_come_back() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "t");
    world.agent(root, say(1, task, "one"));
    world.drain(task);
    assert_eq!(bounced(&world.user(Op::ResetTask { task })), []);
}
