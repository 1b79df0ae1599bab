//! Inputs: who wants what, when, with a seed for new ids.

use super::SessionOp;
use crate::change::Change;
use crate::event::body::{EditedBy, Image, InitialStatus};
use crate::id::{Fresh, MessageId, TaskId};
use crate::message::Message;
use crate::money::Usd;
use crate::time::Millis;
use crate::tree::{Color, Persistence, Status};

/// Something that wants to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// When it arrived; becomes the time of the commit.
    pub at: Millis,
    /// Who wants it.
    pub actor: Actor,
    /// New ids for whatever it creates.
    pub fresh: Fresh,
    /// What is wanted.
    pub op: Op,
}

/// Who wants something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A person, who may do everything.
    User,
    /// The agent of a task, who may shape what is below its task.
    Agent(TaskId),
    /// The program itself, which reports what happened outside: a command ended, another project writes.
    Daemon,
}

impl Actor {
    /// The word for this actor in events.
    pub fn edited_by(self) -> EditedBy {
        match self {
            Self::User => EditedBy::User,
            Self::Agent(_) | Self::Daemon => EditedBy::Agent,
        }
    }
}

/// Everything that can be wanted of the tree and the inboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Create the root task.
    CreateRoot(NewRoot),
    /// Create a task.
    CreateTask(NewTask),
    /// Create a folder.
    CreateFolder(NewFolder),
    /// Take over what a file of the repository says about a persistent task. It waits as a draft for the user's word.
    AdoptTask(AdoptedTask),
    /// Change fields of a node.
    UpdateTask {
        /// Which node.
        task: TaskId,
        /// What changes.
        patch: TaskPatch,
    },
    /// Choose the branch that tasks start from and that work is merged into.
    SetBaseBranch {
        /// Its name.
        branch: String,
    },
    /// Put a node, with everything below it, somewhere else.
    MoveTask {
        /// Which node.
        task: TaskId,
        /// Below which node.
        parent: TaskId,
        /// Where among its children.
        place: Place,
    },
    /// Order the children of a node.
    ReorderChildren {
        /// Which node.
        node: TaskId,
        /// All of its children, each once.
        children: Vec<TaskId>,
    },
    /// Give a task another status. To `closed` it is the same as closing it.
    SetStatus {
        /// Which task.
        task: TaskId,
        /// The status wanted.
        to: Status,
        /// Why, for the log.
        reason: Option<String>,
    },
    /// Put a task away; one that is persistent becomes pending again.
    CloseTask {
        /// Which task.
        task: TaskId,
    },
    /// Throw the work of a task away and begin again.
    ResetTask {
        /// Which task.
        task: TaskId,
    },
    /// Throw the conversation of a task away.
    ClearConversation {
        /// Which task.
        task: TaskId,
    },
    /// Remove a node.
    DeleteTask {
        /// Which node.
        task: TaskId,
        /// Whether what is below goes too.
        reach: Reach,
    },
    /// Put a message into an inbox.
    SendMessage {
        /// The sender's id for it; a second one with the same id is refused as a duplicate.
        id: MessageId,
        /// Whose inbox.
        to: TaskId,
        /// What it says.
        post: Post,
    },
    /// Put into an inbox what nobody wrote: that something ended, was answered or is wanted of the agent.
    Report {
        /// The id of the message; a second one with the same id is refused as a duplicate.
        id: MessageId,
        /// Whose inbox.
        to: TaskId,
        /// What there is to report.
        message: Message,
    },
    /// Several of these, one after the other: all of them or none.
    Together(Vec<Op>),
    /// Something about the session of a task.
    Session {
        /// Which task.
        task: TaskId,
        /// What.
        op: SessionOp,
    },
    /// Take messages out of an inbox, into the conversation.
    ConsumeMessages {
        /// Whose inbox.
        task: TaskId,
        /// Which ones, in reading order.
        ids: Vec<MessageId>,
    },
}

/// The root task of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRoot {
    /// Its title.
    pub title: String,
    /// What the project is about.
    pub description: String,
    /// The branch the user works on; none when HEAD is detached.
    pub branch: Option<String>,
}

/// A task to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// Below which node.
    pub parent: TaskId,
    /// Where among its children.
    pub place: Place,
    /// Its title.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// Draft or pending.
    pub status: InitialStatus,
    /// The colour it is shown in.
    pub color: Option<Color>,
    /// What closing it does, if it is to come back.
    pub persistent: Option<Persistence>,
    /// What it may spend; only the user can say.
    pub budget: Option<Usd>,
    /// Tasks that have to be passed or closed first.
    pub after: Vec<TaskId>,
    /// Commands that have to succeed on its work before it can be passed.
    pub checks: Vec<String>,
    /// The manifest its agent works under, a file of the repository.
    pub manifest: Option<String>,
    /// The skill its agent works by.
    pub skill: Option<String>,
}

impl NewTask {
    /// A pending task at the end, with nothing special about it.
    pub fn new(parent: TaskId, title: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            parent,
            place: Place::Last,
            title: title.into(),
            description: description.into(),
            status: InitialStatus::Pending,
            color: None,
            persistent: None,
            budget: None,
            after: Vec::new(),
            checks: Vec::new(),
            manifest: None,
            skill: None,
        }
    }
}

/// A persistent task as a file of the repository describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedTask {
    /// Its id, which is the name of the file: in every clone of the repository it is the same task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// The colour it is shown in.
    pub color: Option<Color>,
    /// What closing it does.
    pub persistent: Persistence,
}

/// A folder to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFolder {
    /// Below which node.
    pub parent: TaskId,
    /// Where among its children.
    pub place: Place,
    /// Its title.
    pub title: String,
    /// The colour it is shown in.
    pub color: Option<Color>,
}

/// A place among the children of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind all others.
    Last,
    /// With this many before it.
    At(usize),
}

/// Changes to the fields of a node. What is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskPatch {
    /// The new title.
    pub title: Option<String>,
    /// The change of the description.
    pub description: Option<DescriptionEdit>,
    /// The change of the colour.
    pub color: Change<Color>,
    /// The change of what closing does.
    pub persistent: Change<Persistence>,
    /// The change of the budget; only the user can make it.
    pub budget: Change<Usd>,
    /// All tasks that have to be passed or closed first.
    pub after: Option<Vec<TaskId>>,
}

/// A change of a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescriptionEdit {
    /// A new one.
    Whole(String),
    /// One passage of it.
    Replace {
        /// The passage, which has to be there exactly once.
        old: String,
        /// What stands there afterwards.
        new: String,
    },
}

/// How far a deletion goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The node, which has to be without children.
    Only,
    /// The node and everything below it.
    Recursive,
}

/// What a message says. Who says it is the actor of the input, so nobody can write in another's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Post {
    /// The text.
    pub content: String,
    /// Pictures; only from the user.
    pub images: Vec<Image>,
    /// What the task has to know before its first message.
    pub header: Option<String>,
    /// A subject line; only between tasks.
    pub title: Option<String>,
    /// Whether the sender waits for an answer; only between tasks.
    pub request_reply: bool,
}

impl Post {
    /// A message that is only text.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}
