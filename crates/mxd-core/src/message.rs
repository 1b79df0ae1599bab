//! Messages: what can wait in an inbox and enter a conversation.
//!
//! In JSON a message is one object whose `source` names its kind. A kind this version does not know is
//! carried as it was written.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::event::body::Image;
use crate::id::{ClarificationId, ProjectId, TaskId};
use crate::raw::RawJson;

macro_rules! kinds {
    ($($kind:ident($body:ident) = $name:literal;)+) => {
        /// A message, by kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Message {
            $(#[doc = concat!("`", $name, "`")] $kind($body),)+
            /// A kind of a newer version, exactly as it was written.
            Unknown(RawJson),
        }

        /// The kinds of messages without what they say.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum MessageKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)+
            /// A kind of a newer version.
            Unknown,
        }

        impl MessageKind {
            /// Every kind this version knows.
            pub const KNOWN: &[Self] = &[$(Self::$kind),+];

            /// The `source` of its messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                    Self::Unknown => "unknown",
                }
            }
        }

        impl Message {
            /// Its kind.
            pub fn kind(&self) -> MessageKind {
                match self {
                    $(Self::$kind(_) => MessageKind::$kind,)+
                    Self::Unknown(_) => MessageKind::Unknown,
                }
            }

            fn parse(text: &str) -> Result<Self, serde_json::Error> {
                let head: Head<'_> = serde_json::from_str(text)?;
                match head.source.as_ref() {
                    $($name => serde_json::from_str(text).map(Self::$kind),)+
                    _ => RawJson::parse(text).map(Self::Unknown),
                }
            }
        }

        impl Serialize for Message {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$kind(body) => Tagged { source: $name, body }.serialize(serializer),)+
                    Self::Unknown(raw) => raw.serialize(serializer),
                }
            }
        }

        $(impl From<$body> for Message {
            fn from(body: $body) -> Self {
                Self::$kind(body)
            }
        })+
    };
}

kinds! {
    User(UserMessage) = "user";
    TreeChange(TreeChange) = "tree_change";
    TaskComplete(TaskComplete) = "task_complete";
    TaskMessage(TaskMessage) = "task_message";
    ClarifyResponse(ClarifyResponse) = "clarify_response";
    UserMessageForwarded(UserMessageForwarded) = "user_message_forwarded";
    CrossProject(CrossProject) = "cross_project";
    BackgroundComplete(BackgroundComplete) = "background_complete";
    Compact(Compact) = "compact";
    WorkContext(WorkContext) = "work_context";
    Interrupt(Interrupt) = "interrupt";
    Notice(Notice) = "notice";
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
}

#[derive(Serialize)]
struct Tagged<'a, B> {
    source: &'static str,
    #[serde(flatten)]
    body: &'a B,
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

impl Message {
    /// The bytes of its texts, about as many as a model reads of it.
    pub fn bytes(&self) -> usize {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match self {
            Self::User(body) => body.content.len() + optional(&body.header),
            Self::TreeChange(body) => optional(&body.title),
            Self::TaskComplete(body) => body.title.len() + body.output.len(),
            Self::TaskMessage(body) => {
                let names = body.from_title.len() + optional(&body.title);
                names + body.content.len() + optional(&body.header)
            }
            Self::ClarifyResponse(body) => body.answer.len(),
            Self::UserMessageForwarded(body) => body.from_title.len() + body.content.len(),
            Self::CrossProject(body) => body.from_project_name.len() + body.content.len(),
            Self::BackgroundComplete(body) => {
                body.command.len() + optional(&body.stdout) + optional(&body.stderr)
            }
            Self::Compact(_) | Self::Interrupt(_) => 0,
            Self::WorkContext(body) => body.content.len(),
            Self::Notice(body) => body.content.len(),
            Self::Unknown(raw) => raw.get().len(),
        }
        .saturating_add(ENVELOPE_BYTES)
    }
}

impl Message {
    /// How many pictures come with it.
    pub fn pictures(&self) -> usize {
        if let Self::User(body) = self { body.images.len() } else { 0 }
    }
}

/// What stands around the text of a message when a model reads it: who wrote it, when, and a fence.
const ENVELOPE_BYTES: usize = 300;

/// What the user typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// The text.
    pub content: String,
    /// Pictures sent along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// What the task has to know before its first message (working directory, memory, description).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
}

/// Somebody changed the tree around the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeChange {
    /// What was done.
    pub action: TreeAction,
    /// To which node.
    pub node_id: TaskId,
    /// The node's title after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// What can be done to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeAction {
    /// It is new.
    Created,
    /// Its title, description or another field changed.
    Updated,
    /// It has another parent or place.
    Moved,
    /// Its children have another order.
    Reordered,
    /// It has another status.
    StatusChanged,
    /// Its work was put away.
    Closed,
    /// Its work was thrown away to begin again.
    Reset,
    /// It is gone, with everything below it.
    Deleted,
    /// Something a newer version does.
    #[serde(untagged)]
    Other(String),
}

/// A task below has finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskComplete {
    /// Which task.
    pub task_id: TaskId,
    /// Its title.
    pub title: String,
    /// Whether it says it succeeded.
    pub success: bool,
    /// What it reports.
    pub output: String,
}

/// One task writes to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskMessage {
    /// The sender.
    pub from_task_id: TaskId,
    /// The sender's title.
    pub from_title: String,
    /// The text.
    pub content: String,
    /// A subject line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the sender waits for an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub request_reply: bool,
    /// What the task has to know before its first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
}

/// The user answered a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClarifyResponse {
    /// Which question; old logs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification_id: Option<ClarificationId>,
    /// The answer.
    pub answer: String,
}

/// A copy of what the user wrote to a task below the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessageForwarded {
    /// The task the user wrote to.
    pub from_task_id: TaskId,
    /// Its title.
    pub from_title: String,
    /// The text, possibly cut.
    pub content: String,
    /// Whether the message brought a finished task back to work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
}

/// The root agent of another project writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrossProject {
    /// The other project.
    pub from_project_id: ProjectId,
    /// Its name.
    pub from_project_name: String,
    /// The text.
    pub content: String,
}

/// A command that ran in the background has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundComplete {
    /// The name under which it was started.
    pub command_id: String,
    /// The command line.
    pub command: String,
    /// Its exit code; none when it was lost, for example by a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// Where its output is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Where its error output is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// The user asks to summarise the conversation now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compact {}

/// Facts that change from day to day (date, directory), appended so that the cached prefix stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkContext {
    /// The text.
    pub content: String,
}

/// The daemon tells the agent something about its own situation. Nobody else writes these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// What it is about.
    pub topic: NoticeTopic,
    /// The text.
    pub content: String,
}

/// What the daemon tells an agent about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeTopic {
    /// It waits and has nothing to wait for.
    Reminder,
    /// Its answer was cut off.
    CutOff,
    /// It makes the same call again and again.
    Loop,
    /// Money was given to it.
    Budget,
    /// A task below it cannot go on.
    Stuck,
    /// Nobody answered its question in time.
    Unanswered,
    /// A message of its own could not be delivered.
    Bounced,
    /// Its branch cannot be merged before it resolves conflicts.
    Conflict,
    /// The user chose another base branch.
    BaseBranch,
    /// Something a newer version tells.
    #[serde(untagged)]
    Other(String),
}

/// The user interrupts the running turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupt {}
