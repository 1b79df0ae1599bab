//! Refusals: why an input changes nothing, about which node, and which limit stood in the way.
//!
//! The message says what was wrong; the hint says what to do; the code is for programs.

use std::borrow::Cow;

use thiserror::Error;

use crate::id::{MessageId, TaskId};
use crate::message::MessageKind;
use crate::money::Usd;
use crate::tree::{IllegalTransition, Status};

/// Why an input was refused. A refused input changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Refusal {
    #[error("there is no node {task}")]
    UnknownTask { task: TaskId },
    #[error("the agent of {task} has no task any more")]
    UnknownActor { task: TaskId },
    #[error("{task} is a folder, and only a task can {wanted}")]
    NotATask { task: TaskId, wanted: &'static str },
    #[error("the agent of {task} does not decide any more: its task is {status}")]
    NotWorking { task: TaskId, status: Status },
    #[error("the agent of {task} cannot {wanted} its own task")]
    OwnTask { task: TaskId, wanted: &'static str },
    #[error("the project already has its root task {root}")]
    RootExists { root: TaskId },
    #[error("the project has no root task yet")]
    NoRoot,
    #[error("{task} is the root task and cannot be {wanted}")]
    IsRoot { task: TaskId, wanted: &'static str },
    #[error("the agent of {agent} may not {wanted} {task}: it is not below its own task")]
    OutsideSubtree { agent: TaskId, task: TaskId, wanted: &'static str },
    #[error("only the user may {wanted}")]
    UserOnly { wanted: &'static str },
    #[error("only the user or the root agent may make a task persistent, and {agent} is neither")]
    PersistentNotAllowed { agent: TaskId },
    #[error("{task} is not a persistent task, so no file of the repository describes it")]
    NotPersistent { task: TaskId },
    #[error("a persistent task stands at most {limit} below the root, this one would stand {depth} below")]
    PersistentTooDeep { depth: usize, limit: usize },
    #[error("{field} is empty")]
    Empty { field: &'static str },
    #[error("{field} has {given} {unit}, more than {limit}")]
    TooLong { field: &'static str, given: usize, limit: usize, unit: &'static str },
    #[error("a title is one line without control characters")]
    TitleNotOneLine,
    #[error("`{given}` is not a colour")]
    BadColor { given: String },
    #[error("the message has {given} images, more than {limit}")]
    TooManyImages { given: usize, limit: usize },
    #[error("the project has {limit} nodes, and that is the limit")]
    TooManyNodes { limit: usize },
    #[error(
        "{parent} has {limit} tasks and folders directly below it, closed ones included, and no more fit"
    )]
    TooManyChildren { parent: TaskId, limit: usize },
    #[error("the tree would become {depth} levels deep below its root, more than {limit}")]
    TooDeep { depth: usize, limit: usize },
    #[error("place {given} is behind the end: {parent} has {children} other children")]
    NoSuchPlace { parent: TaskId, given: usize, children: usize },
    #[error("{task} cannot stand below itself, and {parent} is in its own subtree")]
    Cycle { task: TaskId, parent: TaskId },
    #[error("not a permutation of the children of {node}: {missing} missing, {foreign} foreign or repeated")]
    NotAPermutation { node: TaskId, missing: usize, foreign: usize },
    #[error("nothing about {task} would change")]
    NothingToChange { task: TaskId },
    #[error("the description of {task} does not contain the passage to replace")]
    PassageNotFound { task: TaskId },
    #[error("the description of {task} contains the passage to replace more than once")]
    PassageNotUnique { task: TaskId },
    #[error("{given} dependencies, more than {limit}")]
    TooManyDependencies { given: usize, limit: usize },
    #[error("{dependency} is named twice as a dependency")]
    RepeatedDependency { dependency: TaskId },
    #[error("{dependency} comes back each time it is closed, so nothing can wait for it")]
    PersistentDependency { dependency: TaskId },
    #[error("{dependency} stands above the task that would wait for it")]
    AncestorDependency { dependency: TaskId },
    #[error("{limit} tasks wait for {dependency}, and that is the limit")]
    TooManyWaiters { dependency: TaskId, limit: usize },
    #[error("this would be {bytes} bytes of events at once, more than {limit}")]
    TooMuchAtOnce { bytes: usize, limit: usize },
    #[error("several wishes at once cannot hold several wishes at once")]
    Nested,
    #[error("{task} cannot end itself while {unread} message(s) for it are unread")]
    UnreadMessages { task: TaskId, unread: usize },
    #[error("{task} cannot wait for {dependency}: that one waits for it, directly or through others")]
    DependencyCycle { task: TaskId, dependency: TaskId },
    #[error("{task}: {transition}")]
    Transition { task: TaskId, transition: IllegalTransition },
    #[error("{task} is in progress and cannot be closed")]
    Running { task: TaskId },
    #[error("{task} cannot start yet: it waits for {} other task(s), first {}", by.len(), first(by))]
    Blocked { task: TaskId, by: Vec<TaskId> },
    #[error("{task} has {children} children")]
    HasChildren { task: TaskId, children: usize },
    #[error("{task} is a draft and takes no messages")]
    DraftTarget { task: TaskId },
    #[error(
        "the agent of {agent} cannot write to {task}: that is neither a task above it nor directly below it"
    )]
    OutOfReach { agent: TaskId, task: TaskId },
    #[error("message {id} was already posted to {task}")]
    DuplicateMessage { id: MessageId, task: TaskId },
    #[error("the inbox of {task} holds {limit} messages and is full")]
    InboxFull { task: TaskId, limit: usize },
    #[error("the daemon reports what happened; only a user or an agent writes messages")]
    NotAnAuthor,
    #[error("a message of kind {} is not a report that {by} can make", kind.name())]
    NotAReport { kind: MessageKind, by: &'static str },
    #[error("{task} is not the task above {about}, and only that one hears of its end")]
    NotAbove { task: TaskId, about: TaskId },
    #[error("{task} is not the root task, and other projects write to that one only")]
    NotRoot { task: TaskId },
    #[error("message {id} does not wait in the inbox of {task}")]
    NotPending { id: MessageId, task: TaskId },
    #[error("nothing of this is awaited in {task}: {what}")]
    Late { task: TaskId, what: &'static str },
    #[error("{task} has {limit} questions without an answer, and that is the limit")]
    TooManyQuestions { task: TaskId, limit: usize },
    #[error("{given} checks, more than {limit}")]
    TooManyChecks { given: usize, limit: usize },
    #[error("{task} already has a conversation, and a fork would replace it")]
    AlreadyBegun { task: TaskId },
    #[error("{task} has no conversation that could be continued")]
    NothingToFork { task: TaskId },
    #[error("the conversation of {task} goes back to {limit} others, and that is the limit")]
    TooManyForks { task: TaskId, limit: usize },
    #[error("{task} is at work")]
    Busy { task: TaskId },
    #[error("{task} has {left} left of its budget, and {wanted} was wanted")]
    NotEnoughMoney { task: TaskId, left: Usd, wanted: Usd },
    #[error("{task} has a budget, and what its model costs is not known")]
    PriceUnknown { task: TaskId },
    #[error("{task} has used its {limit} tokens")]
    UsedUp { task: TaskId, limit: u64 },
    #[error("the model of {task} wrote {limit} times for servers since it was asked, and that is the limit")]
    TooManySamplings { task: TaskId, limit: u32 },
    #[error("what {task} waits for cannot be changed together with where or how it stands")]
    OneByOne { task: TaskId },
    #[error("there is no task `{given}`: {why}")]
    NoSuchTask { given: String, why: String },
}

impl Refusal {
    /// A refused way between statuses.
    pub(super) fn transition(task: TaskId, from: Status, to: Status) -> Self {
        Self::Transition { task, transition: IllegalTransition { from, to } }
    }

    /// A name for programs, which stays the same when the message is reworded.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTask { .. } => "unknown_task",
            Self::UnknownActor { .. } => "unknown_actor",
            Self::NotATask { .. } => "not_a_task",
            Self::NotWorking { .. } => "not_working",
            Self::OwnTask { .. } => "own_task",
            Self::PersistentDependency { .. } => "persistent_dependency",
            Self::AncestorDependency { .. } => "ancestor_dependency",
            Self::TooManyWaiters { .. } => "too_many_waiters",
            Self::TooMuchAtOnce { .. } => "too_much_at_once",
            Self::Nested => "nested",
            Self::UnreadMessages { .. } => "unread_messages",
            Self::RootExists { .. } => "root_exists",
            Self::NoRoot => "no_root",
            Self::IsRoot { .. } => "is_root",
            Self::OutsideSubtree { .. } => "outside_subtree",
            Self::UserOnly { .. } => "user_only",
            Self::PersistentNotAllowed { .. } => "persistent_not_allowed",
            Self::NotPersistent { .. } => "not_persistent",
            Self::PersistentTooDeep { .. } => "persistent_too_deep",
            Self::Empty { .. } => "empty",
            Self::TooLong { .. } => "too_long",
            Self::TitleNotOneLine => "title_not_one_line",
            Self::BadColor { .. } => "bad_color",
            Self::TooManyImages { .. } => "too_many_images",
            Self::TooManyNodes { .. } => "too_many_nodes",
            Self::TooManyChildren { .. } => "too_many_children",
            Self::TooDeep { .. } => "too_deep",
            Self::NoSuchPlace { .. } => "no_such_place",
            Self::Cycle { .. } => "cycle",
            Self::NotAPermutation { .. } => "not_a_permutation",
            Self::NothingToChange { .. } => "nothing_to_change",
            Self::PassageNotFound { .. } => "passage_not_found",
            Self::PassageNotUnique { .. } => "passage_not_unique",
            Self::TooManyDependencies { .. } => "too_many_dependencies",
            Self::RepeatedDependency { .. } => "repeated_dependency",
            Self::DependencyCycle { .. } => "dependency_cycle",
            Self::Transition { .. } => "illegal_transition",
            Self::Running { .. } => "running",
            Self::Blocked { .. } => "blocked",
            Self::HasChildren { .. } => "has_children",
            Self::DraftTarget { .. } => "draft_target",
            Self::OutOfReach { .. } => "out_of_reach",
            Self::DuplicateMessage { .. } => "duplicate_message",
            Self::InboxFull { .. } => "inbox_full",
            Self::NotAnAuthor => "not_an_author",
            Self::NotAReport { .. } => "not_a_report",
            Self::NotAbove { .. } => "not_above",
            Self::NotRoot { .. } => "not_root",
            Self::NotPending { .. } => "not_pending",
            Self::Late { .. } => "late",
            Self::TooManyQuestions { .. } => "too_many_questions",
            Self::TooManyChecks { .. } => "too_many_checks",
            Self::AlreadyBegun { .. } => "already_begun",
            Self::NothingToFork { .. } => "nothing_to_fork",
            Self::TooManyForks { .. } => "too_many_forks",
            Self::Busy { .. } => "busy",
            Self::NotEnoughMoney { .. } => "not_enough_money",
            Self::PriceUnknown { .. } => "price_unknown",
            Self::UsedUp { .. } => "used_up",
            Self::TooManySamplings { .. } => "too_many_samplings",
            Self::OneByOne { .. } => "one_by_one",
            Self::NoSuchTask { .. } => "no_such_task",
        }
    }

    /// What to do about it.
    #[expect(clippy::too_many_lines, reason = "one row for each refusal")]
    pub fn hint(&self) -> Cow<'static, str> {
        let fixed = match self {
            Self::UnknownTask { .. } => "Look at the tree again: it may have been deleted.",
            Self::UnknownActor { .. } => "Stop this agent: its task was deleted.",
            Self::NotATask { .. } => "Name a task inside the folder.",
            Self::NotWorking { .. } => "Drop it: the agent was stopped or has ended.",
            Self::OwnTask { .. } => "Report the end of the work, or ask the task above.",
            Self::PersistentDependency { .. } => "Wait for an ordinary task.",
            Self::AncestorDependency { .. } => {
                "A task above is done after those below it; wait for a sibling."
            }
            Self::TooManyWaiters { .. } => "Wait for one of the tasks that wait for it already.",
            Self::TooMuchAtOnce { .. } => "Do it in parts.",
            Self::Nested => "Put all of them into one list.",
            Self::UnreadMessages { .. } => "Read them first.",
            Self::RootExists { .. } => "Create tasks below it.",
            Self::NoRoot => "Open the project again: that makes it.",
            Self::IsRoot { .. } => "Choose a node below the root, or remove the whole project.",
            Self::OutsideSubtree { .. } => {
                "Ask the task above by message; title, description and colour you may edit."
            }
            Self::UserOnly { .. } => "Ask the user.",
            Self::PersistentNotAllowed { .. } => "Create an ordinary task, or ask the root task by message.",
            Self::NotPersistent { .. } => "Give the file the name of another task.",
            Self::PersistentTooDeep { .. } => "Put it directly below the root, or make it an ordinary task.",
            Self::Empty { .. } => "Write something.",
            Self::TooLong { .. } => "Shorten it, or put the text into a file and name the file.",
            Self::TitleNotOneLine => "Put everything after the first line into the description.",
            Self::BadColor { .. } => {
                "Use red, blue, green, yellow, purple, orange, gray, or # with 3, 6 or 8 hex digits."
            }
            Self::TooManyImages { limit: 0, .. } => "Name a file instead: only the user sends images.",
            Self::TooManyImages { .. } => "Send the rest in another message.",
            Self::TooManyNodes { .. } => "Delete closed tasks.",
            Self::TooManyChildren { .. } => {
                "Put the new one into a folder or below another task, or delete closed ones."
            }
            Self::TooDeep { .. } => "Put it higher up in the tree.",
            Self::NoSuchPlace { .. } => "Give a smaller place, or leave it out to put it last.",
            Self::Cycle { .. } => "Choose a parent outside the subtree that moves.",
            Self::NotAPermutation { .. } => "Read the children again and list each exactly once.",
            Self::NothingToChange { .. } => "Give at least one field a value it does not have yet.",
            Self::PassageNotFound { .. } => "Read the description again and copy the passage exactly.",
            Self::PassageNotUnique { .. } => "Copy more of the text around the passage.",
            Self::TooManyDependencies { .. } => "Wait for one task that waits for the others.",
            Self::RepeatedDependency { .. } => "Name each dependency once.",
            Self::DependencyCycle { .. } => "Remove one of the dependencies in the circle.",
            Self::Transition { transition, .. } => {
                let next: Vec<_> = transition.from.next().iter().map(|status| status.name()).collect();
                return format!("From {} a task can go to: {}.", transition.from, next.join(", ")).into();
            }
            Self::Running { .. } => "Wait until it is done, or reset it.",
            Self::Blocked { .. } => {
                "Wait until those tasks are passed or closed, or change what it waits for."
            }
            Self::HasChildren { .. } => "Delete or move the children first, or delete recursively.",
            Self::DraftTarget { .. } => "Set its status to pending first.",
            Self::OutOfReach { .. } => "Write to a task in between, which can pass it on.",
            Self::DuplicateMessage { .. } => "Nothing: it was delivered. Use a new id for a new message.",
            Self::InboxFull { .. } => "Wait until the task has read some of them.",
            Self::NotAnAuthor => "Name the user or the agent who writes.",
            Self::NotAReport { .. } => "Send it as a message in the name of whoever wrote it.",
            Self::NotAbove { .. } => "Report it to the task above, through folders.",
            Self::NotRoot { .. } => "Report it to the root task.",
            Self::NotPending { .. } => "Read the inbox again: it was consumed or thrown away.",
            Self::Late { .. } => "Drop it: the work it belongs to was ended or has ended.",
            Self::TooManyQuestions { .. } => "Wait for answers, or put several questions into one.",
            Self::TooManyChecks { .. } => "Put them into a script and name the script.",
            Self::AlreadyBegun { .. } => "Fork into a new task.",
            Self::NothingToFork { .. } => "Name a task that has worked, or send a message instead.",
            Self::TooManyForks { .. } => "Write what the task has to know into a message instead.",
            Self::Busy { .. } => "Interrupt or stop it first.",
            Self::NotEnoughMoney { .. } => "Give less, or ask for more.",
            Self::PriceUnknown { .. } => "Add the prices of the model to `models` in your settings.",
            Self::UsedUp { .. } => "Raise the limit in the configuration.",
            Self::TooManySamplings { .. } => "Let the calls end; the count begins anew with the next answer.",
            Self::OneByOne { .. } => "Change one after the other.",
            Self::NoSuchTask { .. } => "Look at the tree again and copy the id.",
        };
        Cow::Borrowed(fixed)
    }
}

fn first(tasks: &[TaskId]) -> String {
    tasks.first().map(ToString::to_string).unwrap_or_default()
}
