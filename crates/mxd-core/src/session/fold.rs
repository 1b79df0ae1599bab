//! What each event does to a session.

use super::trace::REMEMBERED;
use super::{
    Asking, Context, EXCEEDED, FAILED, FAILING, Finishing, HostRequest, Load, REFITTED, Session, Trace,
    UNPAID, Waiting,
};
use crate::event::EventBody;
use crate::event::body::{
    ApprovalScope, MessagePosted, RestReason, SessionConfig, StopReason, ToolResult, TurnEnded, TurnPurpose,
    TurnStarted, Usage, Verdict,
};
use crate::id::{ClarificationId, TaskId};
use crate::message::{Message, MessageKind, NoticeTopic};
use crate::money::Usd;
use crate::time::Millis;

impl Session {
    /// Applies an event of the session's own task. The others pass.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the state lists every type when it routes them here")]
    pub(crate) fn apply(&mut self, body: &EventBody, at: Millis) {
        match body {
            EventBody::TaskStarted(_) => {
                self.launching = true;
                self.queued = None;
            }
            EventBody::AgentQueued(body) => self.queued = Some(body.ticket),
            EventBody::OrchestrationStarted(body) => {
                self.launching = false;
                self.withheld = body.withheld.iter().cloned().collect();
            }
            EventBody::SessionConfig(body) => self.open(body),
            EventBody::Message(body) => self.receive(body),
            EventBody::TurnStarted(body) => self.begin_turn(body, at),
            EventBody::TurnEnded(body) => self.end_turn(body),
            EventBody::AttemptFailed(body) => {
                self.use_up(&body.usage);
                self.note_fault(body.usage_fault.as_ref());
            }
            EventBody::ToolResult(body) => self.settle(body),
            EventBody::DoneRequested(body) => {
                self.finishing = Some(Finishing {
                    call: body.tool_call_id.clone(),
                    status: body.status,
                    summary: body.summary.clone(),
                });
            }
            EventBody::AgentRested(body) => self.come_to_rest(body.why.clone()),
            EventBody::AgentStopped(_) => self.come_to_rest(RestReason::Stopped),
            EventBody::AgentInterrupted(_) => self.interrupted = true,
            EventBody::CountRequested(_) => {
                self.counting = true;
                self.queued = None;
            }
            EventBody::ContextCounted(body) => {
                self.counting = false;
                self.context.count(body.tokens);
            }
            EventBody::SummarizationRequest(body) => self.hear(&body.instruction),
            EventBody::CompactStarted(body) => {
                self.summarising = true;
                self.resting_before = body.resting;
            }
            EventBody::CompactMarker(_) => {
                self.context = Context::EMPTY;
                self.end_summary();
            }
            EventBody::CompactedResume(body) => self.hear(&body.content),
            EventBody::BudgetWarning(body) => {
                self.hear(&body.warning);
                // Who was told by an older version was told once and for all.
                self.warned_of = Some(body.budget_usd.unwrap_or(Usd::MAX));
            }
            EventBody::RewindMarker(_) => {
                self.calls.clear();
                self.trace.clear();
                if self.rest != Some(RestReason::Stopped) {
                    self.come_to_rest(RestReason::EndTurn);
                }
            }
            EventBody::SamplingStarted(body) => {
                self.samplings.insert(body.id, body.server.clone());
                self.sampled = self.sampled.saturating_add(1);
            }
            EventBody::SamplingEnded(body) => {
                self.samplings.remove(&body.id);
                self.use_up(&body.usage);
                self.note_fault(body.usage_fault.as_ref());
            }
            other => self.apply_asking(other, at),
        }
    }

    /// What is asked of the user, and what the user says.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the state lists every type when it routes them here")]
    fn apply_asking(&mut self, body: &EventBody, at: Millis) {
        match body {
            EventBody::ClarificationRequested(body) => {
                self.questions.insert(body.id, at);
                if body.server.is_some() {
                    self.of_servers.insert(body.id);
                }
            }
            EventBody::ClarificationAnswered(body) => self.end_question(body.id),
            EventBody::ClarificationExpired(body) => self.end_question(body.id),
            EventBody::ApprovalRequested(body) => {
                let (call, tool, call_hash) =
                    (body.tool_call_id.clone(), body.tool.clone(), body.call_hash.clone());
                self.approvals.insert(body.id, Waiting { call, tool, call_hash });
            }
            EventBody::ApprovalGiven(body) => {
                let asked = self.approvals.remove(&body.id);
                if let (Some(asked), Verdict::Allow, ApprovalScope::Task) =
                    (asked, &body.verdict, &body.scope)
                {
                    self.allowed.insert(asked.tool);
                }
            }
            EventBody::HostApprovalRequested(body) => {
                self.host_requests.insert(body.id, HostRequest { host: body.host.clone(), at });
            }
            EventBody::HostApprovalGiven(body) => {
                let request = self.host_requests.remove(&body.id);
                if let (Some(request), Verdict::Allow, ApprovalScope::Task | ApprovalScope::Project) =
                    (request, &body.verdict, &body.scope)
                {
                    self.allowed_hosts.insert(request.host);
                }
            }
            EventBody::HostApprovalExpired(body) => {
                self.host_requests.remove(&body.id);
            }
            _ => {}
        }
    }

    fn end_question(&mut self, id: ClarificationId) {
        self.questions.remove(&id);
        self.of_servers.remove(&id);
    }

    /// The conversation is thrown away. What the task has used stays used.
    pub(crate) fn forget(&mut self) {
        *self = Self { life: self.life, ..Self::default() };
    }

    /// Goes on from where another session stands, with what that one had before its eyes.
    pub(crate) fn fork_from(&mut self, (id, source): (TaskId, &Self)) {
        let (terms, opened, context) = (source.terms, source.opened, source.context);
        let (life, rest) = (self.life, self.rest.take());
        let lineage = source.lineage.iter().copied().chain([id]).collect();
        *self = Self { life, rest, terms, opened, context, lineage, ..Self::default() };
    }

    fn open(&mut self, config: &SessionConfig) {
        self.opened = true;
        self.launching = false;
        self.terms = config.terms;
        for frozen in [config.tools.get(), &config.system_stable, &config.system_variable] {
            self.hear(frozen);
        }
    }

    fn receive(&mut self, posted: &MessagePosted) {
        if let Message::BackgroundComplete(done) = &posted.body {
            self.background.remove(&done.command_id);
        }
        match posted.body.kind() {
            MessageKind::Notice => {
                let reminds =
                    matches!(&posted.body, Message::Notice(notice) if notice.topic == NoticeTopic::Reminder);
                self.streak.reminded = self.streak.reminded.saturating_add(u32::from(reminds));
            }
            MessageKind::TreeChange | MessageKind::WorkContext => {}
            MessageKind::User
            | MessageKind::TaskComplete
            | MessageKind::TaskMessage
            | MessageKind::ClarifyResponse
            | MessageKind::UserMessageForwarded
            | MessageKind::CrossProject
            | MessageKind::BackgroundComplete
            | MessageKind::Compact
            | MessageKind::Interrupt
            | MessageKind::Unknown => {
                self.streak.reminded = 0;
                // Something has happened outside, so the same call may come to something else.
                self.trace.clear();
            }
        }
    }

    /// Texts entered the conversation that no event of the session itself holds.
    pub(crate) fn read(&mut self, load: Load) {
        self.context.add(load);
    }

    fn hear(&mut self, text: &str) {
        self.context.add(Load::text(text.len()));
    }

    fn begin_turn(&mut self, started: &TurnStarted, at: Millis) {
        self.life.turns = self.life.turns.max(started.turn);
        self.life.since = self.life.since.or(Some(at));
        self.asking = Some(Asking { turn: started.turn, purpose: started.purpose });
        self.rest = None;
        self.begun = true;
        self.launching = false;
        self.counting = false;
        self.queued = None;
        self.sampled = 0;
        if started.purpose == TurnPurpose::Work {
            self.end_summary();
        }
    }

    /// Counts tokens that were used, and tells how many of them were read.
    fn use_up(&mut self, usage: &Usage) -> u64 {
        let read = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        let read = read.into_iter().fold(0, u64::saturating_add);
        self.life.tokens = self.life.tokens.saturating_add(read).saturating_add(usage.output_tokens);
        read
    }

    /// A fault of its provider is remembered until an answer is billed without one.
    fn note_fault(&mut self, fault: Option<&String>) {
        if fault.is_some() {
            self.usage_fault = fault.cloned();
        }
    }

    fn end_turn(&mut self, ended: &TurnEnded) {
        let usage = &ended.usage;
        if *usage != Usage::default() {
            self.usage_fault.clone_from(&ended.usage_fault);
        }
        let read = self.use_up(usage);
        let asked = self.asking.take();
        let ending = Ending::of(&ended.stop_reason);
        self.streak.failures = match ending {
            Ending::Failing => self.streak.failures.saturating_add(1),
            Ending::Cancelled => self.streak.failures,
            Ending::Failed | Ending::Answered => 0,
        };
        if asked.is_some_and(|asked| asked.purpose == TurnPurpose::Summary) {
            return;
        }
        // Some providers never say what they counted, and none does before the end; some say what cannot be.
        if read > 0 && ended.usage_fault.is_none() {
            self.context.bill(read.saturating_add(usage.output_tokens));
        }
        self.context.add(Load { bytes: ended.answer_bytes, pictures: 0 });
        if ending != Ending::Answered {
            return;
        }
        self.context.answers = self.context.answers.saturating_add(1);
        self.calls.clone_from(&ended.calls);
        let only_talk = !ended.calls.is_empty() && ended.calls.iter().all(|call| is_talk(&call.tool));
        let cut_off = ended.stop_reason == StopReason::MaxTokens;
        self.streak.cut_off = if cut_off { self.streak.cut_off.saturating_add(1) } else { 0 };
        let exceeded = ended.calls.is_empty() && is_exceeded(&ended.stop_reason);
        self.streak.exceeded = if exceeded { self.streak.exceeded.saturating_add(1) } else { 0 };
        self.streak.talk = if only_talk { self.streak.talk.saturating_add(1) } else { 0 };
    }

    fn settle(&mut self, result: &ToolResult) {
        self.context.add(Load::text(result.content.len()).with_pictures(result.images.len()));
        if let Some(id) = result.background_id.as_ref().filter(|_| result.pending) {
            self.background.insert(id.clone());
        }
        self.approvals.retain(|_, waiting| waiting.call != result.tool_call_id);
        if self.finishing.as_ref().is_some_and(|finishing| finishing.call == result.tool_call_id) {
            self.finishing = None;
        }
        let Some(position) = self.calls.iter().position(|call| call.id == result.tool_call_id) else {
            return;
        };
        let call = self.calls.remove(position).digest;
        self.trace.push_back(Trace::of(call, result));
        while self.trace.len() > REMEMBERED {
            self.trace.pop_front();
        }
    }

    fn end_summary(&mut self) {
        self.summarising = false;
        self.resting_before = false;
    }

    fn come_to_rest(&mut self, why: RestReason) {
        // A summary that failed is asked for again; one that was broken off is not.
        if why != RestReason::Failed {
            self.end_summary();
        }
        self.rest = Some(why);
        self.launching = false;
        self.counting = false;
        self.queued = None;
        self.interrupted = false;
        self.finishing = None;
    }
}

/// How a model call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With an answer.
    Answered,
    /// It was broken off, or never made.
    Cancelled,
    /// It failed, and may succeed when it is made again.
    Failing,
    /// It failed for good.
    Failed,
}

impl Ending {
    fn of(stop: &StopReason) -> Self {
        match stop {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Other(why) if [REFITTED, UNPAID].contains(&why.as_str()) => Self::Cancelled,
            StopReason::Other(why) if why == FAILING => Self::Failing,
            StopReason::Other(why) if why == FAILED => Self::Failed,
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::Refusal
            | StopReason::Other(_) => Self::Answered,
        }
    }
}

fn is_exceeded(stop: &StopReason) -> bool {
    matches!(stop, StopReason::Other(why) if why == EXCEEDED)
}

/// Whether a tool only passes words between tasks.
fn is_talk(tool: &str) -> bool {
    ["mcp__mxd__send_message", "mcp__mxd__yield"].contains(&tool)
}
