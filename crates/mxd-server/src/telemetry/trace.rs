//! From durable events to spans: an agent at work, its model calls, its tool calls.
//!
//! An invocation of an agent lasts from the first model call after a rest to the next rest; each is a trace of its own,
//! linked to the last one of the task above. Ids follow from where in the log a span began, so they are always the same.

use std::collections::HashMap;

use mxd_core::event::body::{DoneStatus, StopReason, ToolCallId, TurnPurpose, TurnStarted, Usage};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{ProjectId, TaskId};
use mxd_core::time::Millis;
use sha2::{Digest as _, Sha256};

use crate::limits;

/// Whether a collector is told what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Told,
    Withheld,
}

/// What a span is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operation {
    InvokeAgent,
    Chat,
    ExecuteTool,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InvokeAgent => "invoke_agent",
            Self::Chat => "chat",
            Self::ExecuteTool => "execute_tool",
        }
    }
}

/// Where a span is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
}

/// A value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Texts(Vec<String>),
    Number(u64),
    Fraction(f64),
}

/// Something that lasted.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(super) operation: Operation,
    /// What the operation was done with: the model, the tool, or the agent where its name is told.
    pub(super) object: Option<String>,
    pub(super) place: Place,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) link: Option<Place>,
    pub(super) start: Millis,
    pub(super) end: Millis,
    pub(super) attributes: Vec<(&'static str, Attribute)>,
    pub(super) error: Option<String>,
}

impl Span {
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find_map(|(known, value)| match value {
            Attribute::Text(text) if *known == name => Some(text.as_str()),
            _ => None,
        })
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.attributes.iter().find_map(|(known, value)| match value {
            Attribute::Number(number) if *known == name => Some(*number),
            _ => None,
        })
    }
}

/// What is known of one task.
#[derive(Debug, Default)]
struct Work {
    title: String,
    parent: Option<TaskId>,
    model: String,
    provider: String,
    invocation: Option<Invocation>,
    /// Its last invocation, also when that has ended.
    last: Option<Place>,
    call: Option<(Place, Millis, TurnStarted)>,
    /// What the model said since it was asked, where it is told.
    said: Vec<serde_json::Value>,
    tools: HashMap<ToolCallId, Tool>,
    error: Option<String>,
    /// What its agent said of its end.
    ending: Option<&'static str>,
}

#[derive(Debug)]
struct Invocation {
    place: Place,
    start: Millis,
    usage: Usage,
}

#[derive(Debug)]
struct Tool {
    name: String,
    start: Millis,
    arguments: Option<String>,
}

/// Watches one project.
#[derive(Debug)]
pub(crate) struct Tracer {
    project: ProjectId,
    content: Content,
    tasks: HashMap<TaskId, Work>,
}

/// One event, and where in the log it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment<'e> {
    pub(crate) seq: u64,
    pub(crate) at: Millis,
    pub(crate) event: &'e Event,
}

impl Tracer {
    pub(super) fn new(project: ProjectId, content: Content) -> Self {
        Self { project, content, tasks: HashMap::new() }
    }

    /// Takes an event; the spans that ended with it.
    pub(crate) fn take(&mut self, moment: Moment<'_>) -> Vec<Span> {
        let task = moment.event.task;
        match &moment.event.body {
            EventBody::TaskCreated(created) => {
                let work = self.work(task);
                (work.title, work.parent) = (created.title.clone(), created.parent_id);
            }
            EventBody::TaskUpdated(updated) => {
                if let Some(title) = &updated.title {
                    self.work(task).title.clone_from(title);
                }
            }
            EventBody::TaskMoved(moved) => self.work(task).parent = Some(moved.parent_id),
            EventBody::TaskDeleted(_) => {
                self.tasks.remove(&task);
            }
            EventBody::OrchestrationStarted(started) => self.knows(task, &started.model, &started.provider),
            EventBody::SessionConfig(config) => self.knows(task, &config.model, &config.provider),
            EventBody::Error(error) => {
                self.work(task).error = Some(error.class.clone().unwrap_or_else(|| "error".to_owned()));
            }
            EventBody::TurnStarted(turn) => self.turn_started(moment, turn),
            EventBody::TurnEnded(_) => return self.turn_ended(moment).into_iter().collect(),
            EventBody::AssistantText(_) | EventBody::ToolCall(_) | EventBody::ToolVerdict(_) => {
                self.said_or_allowed(moment);
            }
            EventBody::ToolResult(_) => return self.tool_ended(moment).into_iter().collect(),
            EventBody::AgentRested(rested) => {
                let why = serde_json::to_value(&rested.why).ok();
                return self.rests(moment, why.and_then(|why| why.as_str().map(str::to_owned)));
            }
            // An agent that is done rests in the same commit; how it ended is said a moment before.
            EventBody::DoneNotified(done) => {
                let failed = done.status == DoneStatus::Failed;
                self.work(task).ending = Some(if failed { "failed" } else { "passed" });
            }
            EventBody::AgentStopped(_) => return self.rests(moment, Some("stopped".to_owned())),
            _ => {}
        }
        Vec::new()
    }

    fn work(&mut self, task: TaskId) -> &mut Work {
        self.tasks.entry(task).or_default()
    }

    fn knows(&mut self, task: TaskId, model: &str, provider: &str) {
        let work = self.work(task);
        (work.model, work.provider) = (model.to_owned(), provider.to_owned());
    }

    fn span_id(&self, operation: Operation, moment: Moment<'_>, call: &str) -> [u8; 8] {
        let digest = self.digest(operation.name(), moment, call);
        std::array::from_fn(|index| digest[index])
    }

    fn digest(&self, what: &str, moment: Moment<'_>, call: &str) -> [u8; 32] {
        let name = format!("{what} {} {} {} {call}", self.project, moment.event.task, moment.seq);
        Sha256::digest(name).into()
    }

    fn turn_started(&mut self, moment: Moment<'_>, turn: &TurnStarted) {
        let task = moment.event.task;
        let fresh = {
            let digest = self.digest("trace", moment, "");
            let trace = std::array::from_fn(|index| digest[index]);
            Place { trace, span: self.span_id(Operation::InvokeAgent, moment, "") }
        };
        let call = self.span_id(Operation::Chat, moment, "");
        let work = self.work(task);
        let start = moment.at;
        let invocation = work.invocation.get_or_insert_with(|| Invocation {
            place: fresh,
            start,
            usage: Usage::default(),
        });
        work.last = Some(invocation.place);
        work.call = Some((Place { span: call, ..invocation.place }, moment.at, turn.clone()));
        work.said.clear();
        work.error = None;
    }

    fn turn_ended(&mut self, moment: Moment<'_>) -> Option<Span> {
        let EventBody::TurnEnded(ended) = &moment.event.body else { return None };
        let content = self.content;
        let common = self.common(moment.event.task);
        let work = self.work(moment.event.task);
        let (place, start, turn) = work.call.take()?;
        let mut attributes = common;
        attributes.extend([
            ("gen_ai.operation.name", Attribute::Text(Operation::Chat.name().to_owned())),
            ("gen_ai.provider.name", Attribute::Text(work.provider.clone())),
            ("gen_ai.request.model", Attribute::Text(work.model.clone())),
            ("gen_ai.response.finish_reasons", Attribute::Texts(vec![reason(&ended.stop_reason)])),
            ("mxd.turn", Attribute::Number(turn.turn)),
        ]);
        let answered = ended.model.clone();
        attributes.extend(answered.map(|model| ("gen_ai.response.model", Attribute::Text(model))));
        if turn.purpose == TurnPurpose::Summary {
            attributes.push(("mxd.purpose", Attribute::Text("summary".to_owned())));
        }
        attributes.extend(usage_attributes(&ended.usage));
        attributes.push(("mxd.cost_usd", Attribute::Fraction(crate::view::dollars(ended.cost_usd))));
        if content == Content::Told && !work.said.is_empty() {
            let parts = std::mem::take(&mut work.said);
            let said = serde_json::json!([{ "role": "assistant", "parts": parts }]).to_string();
            attributes.push(("gen_ai.output.messages", Attribute::Text(said)));
        }
        if let Some(invocation) = &mut work.invocation {
            add(&mut invocation.usage, &ended.usage);
        }
        Some(Span {
            operation: Operation::Chat,
            object: Some(work.model.clone()),
            place,
            parent: work.invocation.as_ref().map(|invocation| invocation.place.span),
            link: None,
            start,
            end: moment.at,
            attributes,
            error: work.error.take(),
        })
    }

    fn said_or_allowed(&mut self, moment: Moment<'_>) {
        let content = self.content;
        let work = self.work(moment.event.task);
        match &moment.event.body {
            EventBody::AssistantText(text) if content == Content::Told => {
                work.said.push(serde_json::json!({ "type": "text", "content": capped(&text.content) }));
            }
            EventBody::ToolCall(call) => {
                let arguments = (content == Content::Told).then(|| capped(call.input.get()));
                let tool = Tool { name: call.tool.clone(), start: moment.at, arguments };
                work.tools.insert(call.tool_call_id.clone(), tool);
            }
            // Waiting for somebody's word is no time of the tool.
            EventBody::ToolVerdict(verdict) => {
                if let Some(tool) = work.tools.get_mut(&verdict.tool_call_id) {
                    tool.start = moment.at;
                }
            }
            _ => {}
        }
    }

    fn tool_ended(&mut self, moment: Moment<'_>) -> Option<Span> {
        let EventBody::ToolResult(result) = &moment.event.body else { return None };
        let call = &result.tool_call_id;
        let tool = self.work(moment.event.task).tools.remove(call)?;
        let told = (self.content == Content::Told).then(|| capped(&result.content));
        let error = result.is_error.then(|| "tool_error".to_owned());
        self.tool_span(moment, (call, tool), (told, error))
    }

    fn tool_span(
        &mut self,
        moment: Moment<'_>,
        (call, tool): (&ToolCallId, Tool),
        (result, error): (Option<String>, Option<String>),
    ) -> Option<Span> {
        let span = self.span_id(Operation::ExecuteTool, moment, &call.0);
        let mut attributes = self.common(moment.event.task);
        let above = self.work(moment.event.task).last?;
        attributes.extend([
            ("gen_ai.operation.name", Attribute::Text(Operation::ExecuteTool.name().to_owned())),
            ("gen_ai.tool.name", Attribute::Text(tool.name.clone())),
            ("gen_ai.tool.call.id", Attribute::Text(call.0.clone())),
            ("gen_ai.tool.type", Attribute::Text("function".to_owned())),
        ]);
        attributes.extend(tool.arguments.map(|text| ("gen_ai.tool.call.arguments", Attribute::Text(text))));
        attributes.extend(result.map(|text| ("gen_ai.tool.call.result", Attribute::Text(text))));
        Some(Span {
            operation: Operation::ExecuteTool,
            object: Some(tool.name),
            place: Place { span, ..above },
            parent: Some(above.span),
            link: None,
            start: tool.start,
            end: moment.at,
            attributes,
            error,
        })
    }

    /// The agent rests: what it still waits for is the rest itself.
    fn rests(&mut self, moment: Moment<'_>, why: Option<String>) -> Vec<Span> {
        let task = moment.event.task;
        let open = std::mem::take(&mut self.work(task).tools);
        let mut spans: Vec<Span> = open
            .into_iter()
            .filter_map(|(call, tool)| self.tool_span(moment, (&call, tool), (None, None)))
            .collect();
        let Some(invocation) = self.work(task).invocation.take() else { return spans };
        let content = self.content;
        let mut attributes = self.common(task);
        let above = self.work(task).parent;
        let link = above.and_then(|above| self.tasks.get(&above)).and_then(|above| above.last);
        let work = self.work(task);
        let why = work.ending.take().map(str::to_owned).or(why);
        attributes.extend([
            ("gen_ai.operation.name", Attribute::Text(Operation::InvokeAgent.name().to_owned())),
            ("gen_ai.provider.name", Attribute::Text(work.provider.clone())),
            ("gen_ai.request.model", Attribute::Text(work.model.clone())),
        ]);
        let name = (content == Content::Told).then(|| work.title.clone());
        attributes.extend(name.clone().map(|name| ("gen_ai.agent.name", Attribute::Text(name))));
        attributes.extend(usage_attributes(&invocation.usage));
        let failed = why.as_deref().is_some_and(|why| matches!(why, "failed" | "refused" | "loop" | "spent"));
        let error = why.clone().filter(|_| failed);
        attributes.extend(why.map(|why| ("mxd.end", Attribute::Text(why))));
        spans.push(Span {
            operation: Operation::InvokeAgent,
            object: name,
            place: invocation.place,
            parent: None,
            link,
            start: invocation.start,
            end: moment.at,
            attributes,
            error,
        });
        spans
    }

    /// What every span of a task says.
    fn common(&self, task: TaskId) -> Vec<(&'static str, Attribute)> {
        vec![
            ("gen_ai.conversation.id", Attribute::Text(task.to_string())),
            ("gen_ai.agent.id", Attribute::Text(task.to_string())),
            ("mxd.project.id", Attribute::Text(self.project.to_string())),
        ]
    }
}

fn add(sum: &mut Usage, more: &Usage) {
    sum.input_tokens += more.input_tokens;
    sum.output_tokens += more.output_tokens;
    sum.cache_read_tokens += more.cache_read_tokens;
    sum.cache_write_tokens += more.cache_write_tokens;
}

/// The conventions count tokens of the cache among those that were read.
fn usage_attributes(usage: &Usage) -> [(&'static str, Attribute); 4] {
    let read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    [
        ("gen_ai.usage.input_tokens", Attribute::Number(read)),
        ("gen_ai.usage.output_tokens", Attribute::Number(usage.output_tokens)),
        ("gen_ai.usage.cache_read.input_tokens", Attribute::Number(usage.cache_read_tokens)),
        ("gen_ai.usage.cache_creation.input_tokens", Attribute::Number(usage.cache_write_tokens)),
    ]
}

fn reason(stop: &StopReason) -> String {
    let name = serde_json::to_value(stop).ok();
    name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The beginning of a text that may be long.
fn capped(text: &str) -> String {
    text[..text.floor_char_boundary(limits::SPAN_TEXT_BYTES)].to_owned()
}
