//! One session while something is decided about it: its events are applied as they are planned.

use super::super::plan::Plan;
use super::super::{Effect, Refusal};
use super::money::Settled;
use crate::event::body::{AgentRested, ErrorRaised, RestReason, ToolCallId, ToolResult};
use crate::event::{Event, EventBody};
use crate::id::TaskId;
use crate::inbox::Inbox;
use crate::session::Session;
use crate::tree::{Node, Status, TaskFields};

/// A session and the plan it is part of.
pub(super) struct Turn<'a, 'p> {
    pub(super) plan: &'a mut Plan<'p>,
    pub(super) task: TaskId,
    /// The session as it stands after what is planned so far.
    pub(super) session: Session,
    /// Model calls that this decision settles.
    pub(super) settled: Vec<Settled>,
}

impl<'a, 'p> Turn<'a, 'p> {
    pub(super) fn of(plan: &'a mut Plan<'p>, task: TaskId) -> Self {
        let session = plan.state.session(task).clone();
        Self { plan, task, session, settled: Vec::new() }
    }

    /// Plans an event of this task.
    pub(super) fn emit(&mut self, body: impl Into<EventBody>) {
        let event = Event::new(self.task, body);
        self.session.apply(&event.body, self.plan.at);
        self.plan.emit(self.task, event.body);
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.plan.effect(effect);
    }

    /// Its node. The decision began by looking it up.
    pub(super) fn node(&self) -> Result<&'p Node, Refusal> {
        self.plan.node(self.task)
    }

    pub(super) fn fields(&self) -> Result<&'p TaskFields, Refusal> {
        self.plan.task(self.task, "work").map(|(_, fields)| fields)
    }

    pub(super) fn works(&self) -> bool {
        self.fields().is_ok_and(|fields| fields.status == Status::InProgress)
    }

    pub(super) fn is_root(&self) -> bool {
        self.plan.tree().root().is_some_and(|root| root.id == self.task)
    }

    /// What waits for it, as it was before this decision.
    pub(super) fn inbox(&self) -> &'p Inbox {
        self.plan.state.inbox(self.task)
    }

    pub(super) fn rest(&mut self, why: RestReason) {
        self.emit(AgentRested { why });
    }

    /// Whoever wrote while the agent came to rest is not made to wait for somebody else to write.
    pub(super) fn read_on(&mut self) {
        if self.inbox().wants_agent() {
            self.effect(Effect::Wake { task: self.task });
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.session.rest == Some(RestReason::Stopped)
    }

    /// Whether what the model or a tool comes to is not wanted any more.
    pub(super) fn is_broken_off(&self) -> bool {
        self.session.interrupted || self.is_stopped() || !self.works()
    }

    /// The turn is over before its time. Who was stopped stays so; who was written to since then goes on.
    pub(super) fn break_off(&mut self) {
        if !self.is_stopped() {
            self.rest(RestReason::Interrupted);
        }
        if self.works() {
            self.effect(Effect::Wake { task: self.task });
        }
    }

    pub(super) fn error(&mut self, class: &str, message: impl Into<String>, advice: Option<String>) {
        self.emit(ErrorRaised { message: message.into(), class: Some(class.to_owned()), advice });
    }

    /// Answers a call with words.
    pub(super) fn answer_call(&mut self, call: &ToolCallId, content: impl Into<String>, kind: Kind) {
        let made = self.session.calls.iter().find(|made| made.id == *call);
        let tool = made.map(|made| made.tool.clone()).unwrap_or_default();
        self.emit(ToolResult {
            tool,
            tool_call_id: call.clone(),
            content: content.into(),
            is_error: kind == Kind::Error,
            images: Vec::new(),
            pending: false,
            background_id: None,
            background_command: None,
            blob: None,
        });
    }
}

/// What an answer to a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Success,
    Error,
}
