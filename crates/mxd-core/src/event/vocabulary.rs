//! The vocabulary: one row per event type, from which names, enums and decoding follow.
//!
//! A row says how the type is called in JSON, which struct it carries, whether it belongs to the conversation
//! of its task, and whether the state looks at it. A row cannot leave one of these open.

use std::fmt;

use serde::Serialize;

use super::body::*;
use super::delta::*;
use crate::id::TaskId;
use crate::raw::RawJson;

/// The version of the vocabulary, written into the log by its store.
///
/// A new minor version adds types or fields, which an older reader carries along unread. A new major version
/// changes what an existing one means, and an older reader must refuse the log.
pub const VOCABULARY: Version = Version { major: 1, minor: 4 };

/// A version of the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Changes when meanings change.
    pub major: u16,
    /// Changes when types or fields are added.
    pub minor: u16,
}

impl Version {
    /// Whether a program with this vocabulary may read and extend a log written with `other`.
    pub fn reads(self, other: Self) -> bool {
        self.major == other.major
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Whether an event is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is part of the log.
    Persisted,
    /// It is told to whoever listens and then forgotten.
    Ephemeral,
}

/// What goes when the user throws a conversation away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Part of the conversation: removed with it.
    Conversation,
    /// A fact about the tree, money or what was allowed: stays.
    Record,
}

/// Whether the state looks at an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// The tree, the inboxes or the money look at it.
    Shapes,
    /// The session of its task looks at it; perhaps others do, too.
    Session,
    Passes,
}

/// An event of a type this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEvent {
    /// The name of the type.
    pub type_name: String,
    /// The whole object, exactly as it was written.
    pub whole: RawJson,
}

macro_rules! vocabulary {
    (
        persisted { $($kept:ident($body:ident) = $kept_name:literal, $part:ident, $fold:ident;)+ }
        ephemeral { $($live:ident($delta:ident) = $live_name:literal;)+ }
    ) => {
        /// Every type of event, persisted and ephemeral, without what it says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $(#[doc = concat!("`", $kept_name, "`")] $kept,)+
            $(#[doc = concat!("`", $live_name, "`")] $live,)+
        }

        /// What a persisted event says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum EventBody {
            $(#[doc = concat!("`", $kept_name, "`")] $kept($body),)+
            /// A type of a newer version, kept whole.
            Unknown(UnknownEvent),
        }

        /// What an ephemeral event says.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum DeltaBody {
            $(#[doc = concat!("`", $live_name, "`")] $live($delta),)+
        }

        impl EventKind {
            /// All of them, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$kept,)+ $(Self::$live,)+];

            /// The name in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kept => $kept_name,)+
                    $(Self::$live => $live_name,)+
                }
            }

            /// The type with this name, if this version knows it.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($kept_name => Some(Self::$kept),)+
                    $($live_name => Some(Self::$live),)+
                    _ => None,
                }
            }

            /// Whether events of this type are stored.
            pub fn durability(self) -> Durability {
                match self {
                    $(Self::$kept)|+ => Durability::Persisted,
                    $(Self::$live)|+ => Durability::Ephemeral,
                }
            }

            /// Whether events of this type are removed when the conversation of their task is reset or
            /// cleared.
            pub fn is_conversation(self) -> bool {
                match self {
                    $(Self::$kept => Part::$part == Part::Conversation,)+
                    $(Self::$live)|+ => false,
                }
            }

            /// Whether the state looks at events of this type; a boot need not parse the others.
            pub fn shapes_state(self) -> bool {
                match self {
                    $(Self::$kept => Fold::$fold != Fold::Passes,)+
                    $(Self::$live)|+ => false,
                }
            }

            /// Whether the session of a task looks at events of this type.
            pub(crate) fn shapes_session(self) -> bool {
                match self {
                    $(Self::$kept => Fold::$fold == Fold::Session,)+
                    $(Self::$live)|+ => false,
                }
            }
        }

        impl EventBody {
            /// Its type, if this version knows it.
            pub fn kind(&self) -> Option<EventKind> {
                match self {
                    $(Self::$kept(_) => Some(EventKind::$kept),)+
                    Self::Unknown(_) => None,
                }
            }

            /// The name of its type, also when this version does not know it.
            pub fn type_name(&self) -> &str {
                match self {
                    $(Self::$kept(_) => $kept_name,)+
                    Self::Unknown(unknown) => &unknown.type_name,
                }
            }

            /// The JSON of the whole event, without what the typed form does not hold.
            pub(super) fn encode(&self, task: TaskId) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$kept(body) => tagged(task, $kept_name, body),)+
                    Self::Unknown(unknown) => Ok(unknown.whole.get().to_owned()),
                }
            }

            /// Parses the body of the kind straight from the text of the event; `None` for ephemeral kinds.
            pub(super) fn parse(kind: EventKind, text: &str) -> Result<Option<Self>, serde_json::Error> {
                match kind {
                    $(EventKind::$kept => serde_json::from_str(text).map(|body| Some(Self::$kept(body))),)+
                    $(EventKind::$live)|+ => Ok(None),
                }
            }
        }

        impl DeltaBody {
            /// Its type.
            pub fn kind(&self) -> EventKind {
                match self {
                    $(Self::$live(_) => EventKind::$live,)+
                }
            }

            pub(super) fn encode(&self, task: TaskId) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$live(body) => tagged(task, $live_name, body),)+
                }
            }

            pub(super) fn parse(kind: EventKind, text: &str) -> Result<Option<Self>, serde_json::Error> {
                match kind {
                    $(EventKind::$kept)|+ => Ok(None),
                    $(EventKind::$live => serde_json::from_str(text).map(|body| Some(Self::$live(body))),)+
                }
            }
        }

        $(impl From<$body> for EventBody {
            fn from(body: $body) -> Self {
                Self::$kept(body)
            }
        })+

        $(impl From<$delta> for DeltaBody {
            fn from(body: $delta) -> Self {
                Self::$live(body)
            }
        })+
    };
}

vocabulary! {
    persisted {
        TaskCreated(TaskCreated) = "task_created", Record, Shapes;
        TaskUpdated(TaskUpdated) = "task_updated", Record, Shapes;
        TaskStatusChanged(TaskStatusChanged) = "task_status_changed", Record, Shapes;
        TaskMoved(TaskMoved) = "task_moved", Record, Shapes;
        ChildrenReordered(ChildrenReordered) = "children_reordered", Record, Shapes;
        TaskDeleted(TaskDeleted) = "task_deleted", Record, Shapes;
        TaskReset(TaskReset) = "task_reset", Record, Shapes;
        ConversationCleared(ConversationCleared) = "conversation_cleared", Record, Shapes;
        Message(MessagePosted) = "message", Conversation, Session;
        MessagesConsumed(MessagesConsumed) = "messages_consumed", Conversation, Shapes;
        NoticeSkipped(NoticeSkipped) = "notice_skipped", Conversation, Passes;
        AssistantText(AssistantText) = "assistant_text", Conversation, Passes;
        Thinking(Thinking) = "thinking", Conversation, Passes;
        ModelItem(ModelItem) = "model_item", Conversation, Passes;
        ToolCall(ToolCall) = "tool_call", Conversation, Passes;
        ToolVerdict(ToolVerdict) = "tool_verdict", Record, Passes;
        ToolResult(ToolResult) = "tool_result", Conversation, Session;
        SessionConfig(SessionConfig) = "session_config", Conversation, Session;
        CountRequested(CountRequested) = "count_requested", Record, Session;
        ContextCounted(ContextCounted) = "context_counted", Record, Session;
        CompactStarted(CompactStarted) = "compact_started", Conversation, Session;
        SummarizationRequest(SummarizationRequest) = "summarization_request", Conversation, Session;
        CompactMarker(CompactMarker) = "compact_marker", Conversation, Session;
        CompactedResume(CompactedResume) = "compacted_resume", Conversation, Session;
        CacheBreak(CacheBreak) = "cache_break", Conversation, Passes;
        ForkMarker(ForkMarker) = "fork_marker", Conversation, Session;
        RewindMarker(RewindMarker) = "rewind_marker", Conversation, Session;
        TurnStarted(TurnStarted) = "turn_started", Record, Session;
        TurnEnded(TurnEnded) = "turn_ended", Record, Session;
        AttemptFailed(AttemptFailed) = "attempt_failed", Record, Session;
        OrchestrationStarted(OrchestrationStarted) = "orchestration_started", Record, Session;
        OrchestrationCompleted(OrchestrationCompleted) = "orchestration_completed", Record, Passes;
        TaskStarted(TaskStarted) = "task_started", Record, Session;
        DoneRequested(DoneRequested) = "done_requested", Record, Session;
        CheckFinished(CheckFinished) = "check_finished", Record, Passes;
        DoneNotified(DoneNotified) = "done_notified", Record, Passes;
        AgentQueued(AgentQueued) = "agent_queued", Record, Session;
        AgentRested(AgentRested) = "agent_rested", Record, Session;
        AgentStopped(AgentStopped) = "agent_stopped", Record, Session;
        AgentInterrupted(AgentInterrupted) = "agent_interrupted", Conversation, Session;
        Error(ErrorRaised) = "error", Record, Passes;
        ClarificationRequested(ClarificationRequested) = "clarification_requested", Conversation, Session;
        ClarificationAnswered(ClarificationAnswered) = "clarification_answered", Conversation, Session;
        ClarificationExpired(ClarificationExpired) = "clarification_expired", Conversation, Session;
        ApprovalRequested(ApprovalRequested) = "approval_requested", Record, Session;
        ApprovalGiven(ApprovalGiven) = "approval_given", Record, Session;
        HostApprovalRequested(HostApprovalRequested) = "host_approval_requested", Record, Session;
        HostApprovalGiven(HostApprovalGiven) = "host_approval_given", Record, Session;
        HostApprovalExpired(HostApprovalExpired) = "host_approval_expired", Record, Session;
        SamplingStarted(SamplingStarted) = "sampling_started", Record, Session;
        SamplingEnded(SamplingEnded) = "sampling_ended", Record, Session;
        WorktreeCreated(WorktreeCreated) = "worktree_created", Record, Shapes;
        WorktreeDismissed(WorktreeDismissed) = "worktree_dismissed", Record, Shapes;
        WorktreeRemoved(WorktreeRemoved) = "worktree_removed", Record, Shapes;
        WorktreeFailed(WorktreeFailed) = "worktree_failed", Record, Shapes;
        BudgetGranted(BudgetGranted) = "budget_granted", Record, Shapes;
        BudgetTransferred(BudgetTransferred) = "budget_transferred", Record, Shapes;
        BudgetReserved(BudgetReserved) = "budget_reserved", Record, Shapes;
        BudgetSettled(BudgetSettled) = "budget_settled", Record, Shapes;
        BudgetRefunded(BudgetRefunded) = "budget_refunded", Record, Shapes;
        BudgetWarning(BudgetWarning) = "budget_warning", Conversation, Session;
        BudgetExceeded(BudgetExceeded) = "budget_exceeded", Record, Passes;
        LogPruned(LogPruned) = "log_pruned", Record, Passes;
        DaemonBooted(DaemonBooted) = "daemon_booted", Record, Passes;
    }
    ephemeral {
        TextDelta(TextDelta) = "text_delta";
        ThinkingDelta(ThinkingDelta) = "thinking_delta";
        ToolOutput(ToolOutput) = "tool_output";
        Usage(ContextUsage) = "usage";
        AgentIdle(AgentIdle) = "agent_idle";
        AgentActive(AgentActive) = "agent_active";
        AgentActivity(AgentActivity) = "agent_activity";
        Status(StatusLine) = "status";
        ClarificationTimeout(ClarificationTimeout) = "clarification_timeout";
    }
}

/// The object every event is: `task` first, `type` second, then what the type says.
#[derive(Serialize)]
struct Tagged<'a, B> {
    task: TaskId,
    #[serde(rename = "type")]
    type_name: &'static str,
    #[serde(flatten)]
    body: &'a B,
}

fn tagged<B: Serialize>(
    task: TaskId,
    type_name: &'static str,
    body: &B,
) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Tagged { task, type_name, body })
}
