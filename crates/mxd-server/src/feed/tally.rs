//! What is counted of a log and not part of the state: tokens and money over time, the newest line of each task, and
//! the texts of what waits for the user.

use std::collections::{BTreeMap, HashMap, VecDeque};

use mxd_core::event::body::{DoneStatus, ToolCallId, Usage};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{ApprovalId, ClarificationId, TaskId};
use mxd_core::message::{Message, NoticeTopic};
use mxd_core::money::Usd;
use mxd_core::raw::RawJson;
use mxd_core::show;
use mxd_core::time::Millis;

use crate::view::DiffView;

/// Moments of money that are told apart: an hour each.
const BUCKET_MS: u64 = 3_600_000;
/// Hours that are remembered.
const MOST_BUCKETS: usize = 24 * 90;
/// Breaks of the prompt cache that are remembered.
const MOST_BREAKS: usize = 200;
/// Movements of money that are remembered.
const MOST_MOVES: usize = 500;

/// What was counted of one project's log.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    tasks: HashMap<TaskId, TaskTally>,
    calls: HashMap<(TaskId, ToolCallId), RawJson>,
    questions: BTreeMap<ClarificationId, String>,
    approvals: BTreeMap<ApprovalId, Asked>,
    question_ms: Option<u64>,
    /// Money and tokens by the beginning of their hour.
    pub(crate) series: BTreeMap<u64, Bucket>,
    pub(crate) breaks: VecDeque<Break>,
    pub(crate) moves: VecDeque<Move>,
    /// Where each node stands.
    parents: HashMap<TaskId, TaskId>,
    /// Where nodes stood before the commit that is being taken.
    left: HashMap<TaskId, TaskId>,
}

/// What was counted of one task.
#[derive(Debug, Default)]
pub(crate) struct TaskTally {
    pub(crate) usage: Usage,
    pub(crate) tool_calls: u64,
    pub(crate) last_line: Option<String>,
    pub(crate) last_error: Option<(Millis, String)>,
    pub(crate) conflict: Option<(Millis, String)>,
    /// Why it is given up, in the words of its agent or of git.
    pub(crate) failure: Option<(Millis, String)>,
    /// What it has changed, when somebody last looked.
    pub(crate) diff: Option<DiffView>,
}

/// A call that somebody is asked about.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) at: Millis,
    pub(crate) rule: String,
}

/// An hour.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    pub(crate) usd: Usd,
    pub(crate) tokens: u64,
}

/// A break of the prompt cache.
#[derive(Debug)]
pub(crate) struct Break {
    pub(crate) at: Millis,
    pub(crate) task: TaskId,
    pub(crate) reason: String,
}

/// Money that went from one budget to another.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) at: Millis,
    pub(crate) from: Option<TaskId>,
    pub(crate) to: Option<TaskId>,
    pub(crate) usd: Usd,
    pub(crate) kind: &'static str,
}

impl Tally {
    pub(crate) fn new(question_ms: Option<u64>) -> Self {
        Self { question_ms, ..Self::default() }
    }

    pub(crate) fn task(&self, task: TaskId) -> Option<&TaskTally> {
        self.tasks.get(&task)
    }

    pub(crate) fn question(&self, id: ClarificationId) -> Option<&str> {
        self.questions.get(&id).map(String::as_str)
    }

    pub(crate) fn approval(&self, id: ApprovalId) -> Option<&Asked> {
        self.approvals.get(&id)
    }

    pub(crate) fn arguments(&self, task: TaskId, call: &ToolCallId) -> Option<&RawJson> {
        self.calls.get(&(task, call.clone()))
    }

    pub(crate) fn question_ms(&self) -> Option<u64> {
        self.question_ms
    }

    /// Where a node stood that was moved or deleted by the commit that was taken last.
    pub(crate) fn left(&self, task: TaskId) -> Option<TaskId> {
        self.left.get(&task).copied()
    }

    /// Takes what somebody saw that a task has changed; whether that is news.
    pub(crate) fn see_diff(&mut self, task: TaskId, diff: DiffView) -> bool {
        self.tasks.entry(task).or_default().diff.replace(diff) != Some(diff)
    }

    /// Says that the events of another commit follow.
    pub(crate) fn begin(&mut self) {
        self.left.clear();
    }

    /// Takes an event.
    pub(crate) fn apply(&mut self, at: Millis, event: &Event) {
        let task = event.task;
        // That it rests and where it stands is said by its state.
        let says_its_state =
            matches!(event.body, EventBody::TaskStatusChanged(_) | EventBody::AgentRested(_));
        if let Some(line) = show::line(&event.body).filter(|_| !says_its_state) {
            self.tasks.entry(task).or_default().last_line = Some(line);
        }
        match &event.body {
            EventBody::TurnEnded(turn) => self.count(at, task, turn.usage, turn.cost_usd),
            EventBody::AttemptFailed(failed) => self.count(at, task, failed.usage, failed.cost_usd),
            EventBody::SamplingEnded(sampled) => self.count(at, task, sampled.usage, sampled.cost_usd),
            EventBody::ToolCall(call) => {
                self.tasks.entry(task).or_default().tool_calls += 1;
                self.calls.insert((task, call.tool_call_id.clone()), call.input.clone());
            }
            EventBody::ToolResult(result) => {
                self.calls.remove(&(task, result.tool_call_id.clone()));
            }
            EventBody::Error(error) => {
                self.tasks.entry(task).or_default().last_error =
                    Some((at, show::one_line(&error.message, show::LINE_CHARS)));
            }
            EventBody::Message(posted) => {
                if let Message::Notice(notice) = &posted.body
                    && notice.topic == NoticeTopic::Conflict
                {
                    self.tasks.entry(task).or_default().conflict =
                        Some((at, show::one_line(&notice.content, show::LINE_CHARS)));
                }
            }
            EventBody::DoneNotified(done) => {
                let counted = self.tasks.entry(task).or_default();
                counted.conflict = None;
                let failed = done.status == DoneStatus::Failed;
                counted.failure = failed.then(|| (at, show::one_line(&done.summary, show::LINE_CHARS)));
            }
            EventBody::WorktreeFailed(failed) => {
                let why = show::one_line(&failed.message, show::LINE_CHARS);
                self.tasks.entry(task).or_default().failure = Some((at, why));
            }
            EventBody::TaskReset(_) => {
                let counted = self.tasks.entry(task).or_default();
                (counted.conflict, counted.failure, counted.diff) = (None, None, None);
            }
            EventBody::WorktreeRemoved(_) => self.tasks.entry(task).or_default().diff = None,
            EventBody::TaskCreated(created) => {
                self.parents.extend(created.parent_id.map(|parent| (task, parent)));
            }
            EventBody::TaskMoved(moved) => {
                let old = self.parents.insert(task, moved.parent_id);
                self.left.extend(old.map(|old| (task, old)));
            }
            EventBody::TaskDeleted(_) => {
                self.left.extend(self.parents.remove(&task).map(|parent| (task, parent)));
                self.tasks.remove(&task);
                self.calls.retain(|(owner, _), _| *owner != task);
            }
            _ => self.apply_question(at, event),
        }
    }

    fn apply_question(&mut self, at: Millis, event: &Event) {
        match &event.body {
            EventBody::ClarificationRequested(asked) => {
                self.questions.insert(asked.id, asked.question.clone());
            }
            EventBody::ClarificationAnswered(answered) => {
                self.questions.remove(&answered.id);
            }
            EventBody::ClarificationExpired(expired) => {
                self.questions.remove(&expired.id);
            }
            EventBody::ApprovalRequested(asked) => {
                self.approvals.insert(asked.id, Asked { at, rule: asked.reason.clone() });
            }
            EventBody::ApprovalGiven(given) => {
                self.approvals.remove(&given.id);
            }
            EventBody::CacheBreak(broken) => {
                let reason = serde_json::to_value(&broken.reason).ok();
                let reason = reason.and_then(|reason| reason.as_str().map(str::to_owned)).unwrap_or_default();
                remember(&mut self.breaks, Break { at, task: event.task, reason }, MOST_BREAKS);
            }
            _ => self.apply_money(at, event),
        }
    }

    fn apply_money(&mut self, at: Millis, event: &Event) {
        let task = Some(event.task);
        let (from, to, usd, kind) = match &event.body {
            EventBody::BudgetGranted(given) => (None, task, given.amount_usd, "granted"),
            EventBody::BudgetTransferred(moved) => (task, Some(moved.to), moved.amount_usd, "transferred"),
            EventBody::BudgetRefunded(back) => (task, Some(back.to), back.amount_usd, "refunded"),
            EventBody::BudgetReserved(set) => (task, None, set.amount_usd, "reserved"),
            EventBody::BudgetSettled(set) => (None, task, set.amount_usd, "settled"),
            _ => return,
        };
        remember(&mut self.moves, Move { at, from, to, usd, kind }, MOST_MOVES);
    }

    fn count(&mut self, at: Millis, task: TaskId, usage: Usage, cost: Usd) {
        let counted = &mut self.tasks.entry(task).or_default().usage;
        counted.input_tokens += usage.input_tokens;
        counted.output_tokens += usage.output_tokens;
        counted.cache_read_tokens += usage.cache_read_tokens;
        counted.cache_write_tokens += usage.cache_write_tokens;
        let hour = at.0 / BUCKET_MS * BUCKET_MS;
        let bucket = self.series.entry(hour).or_default();
        bucket.usd = bucket.usd.checked_add(cost).unwrap_or(Usd::MAX);
        bucket.tokens += usage.input_tokens + usage.output_tokens;
        while self.series.len() > MOST_BUCKETS {
            self.series.pop_first();
        }
    }
}

fn remember<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    list.push_back(item);
    if list.len() > most {
        list.pop_front();
    }
}
