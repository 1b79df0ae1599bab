//! What models, tools and workplaces say when a test plays them.

use mxd_core::decide::{
    Answer, AnswerItem, Checked, Cost, Effect, FailedAttempt, Failure, Launched, Op, Refreshed, SessionOp,
    Settled,
};
use mxd_core::event::EventBody;
use mxd_core::event::body::{
    CheckFinished, RestReason, SessionConfig, StopReason, Terms, Thinking, ToolCall, ToolCallId, ToolResult,
    TurnPurpose, Usage, WorktreeCreated,
};
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::raw::RawJson;

use super::stage::{Outcome, Stage};

/// A model with a large window: a thousand tokens cost a cent to read and five to write, at most.
pub(crate) fn terms() -> Terms {
    Terms {
        context_window: 200_000,
        max_output_tokens: 1_000,
        input_usd: usd(10),
        output_usd: usd(50),
        counts_tokens: false,
        text_only: false,
    }
}

/// Whole dollars.
pub(crate) fn usd(dollars: u64) -> Usd {
    cents(100 * dollars)
}

pub(crate) fn cents(cents: u64) -> Usd {
    Usd::from_cents(cents).expect("little money")
}

pub(crate) const USED: Usage =
    Usage { input_tokens: 100, output_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0 };

pub(crate) fn config(terms: Option<Terms>) -> SessionConfig {
    SessionConfig {
        tools: json("[]"),
        system_stable: "you work".into(),
        system_variable: String::new(),
        model: "m".into(),
        provider: "p".into(),
        cache_ttl: "5m".into(),
        reasoning: None,
        terms,
    }
}

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(text).expect("json")
}

pub(crate) fn id(call: &str) -> ToolCallId {
    ToolCallId(call.into())
}

pub(crate) fn text(words: &str) -> AnswerItem {
    AnswerItem::Text(words.into())
}

pub(crate) fn thought() -> AnswerItem {
    let thinking = "hm".to_owned();
    AnswerItem::Thinking(Thinking { thinking, signature: None, provider: None, redacted: false })
}

/// A call of a tool outside.
pub(crate) fn run(call: &str) -> AnswerItem {
    tool(call, "bash", r#"{"command":"ls"}"#)
}

/// A call of a tool of the orchestrator.
pub(crate) fn mxd(call: &str, name: &str, args: &str) -> AnswerItem {
    tool(call, &format!("mcp__mxd__{name}"), args)
}

pub(crate) fn tool(call: &str, tool: &str, args: &str) -> AnswerItem {
    let (tool, tool_call_id) = (tool.to_owned(), id(call));
    AnswerItem::Call(ToolCall { tool, tool_call_id, input: json(args), malformed: None })
}

/// A call whose arguments are no JSON object.
pub(crate) fn malformed(call: &str, name: &str) -> AnswerItem {
    let (tool, tool_call_id) = (name.to_owned(), id(call));
    let malformed = Some("cut off".to_owned());
    AnswerItem::Call(ToolCall { tool, tool_call_id, input: json("{}"), malformed })
}

pub(crate) fn yields(call: &str) -> AnswerItem {
    mxd(call, "yield", "{}")
}

pub(crate) fn done(call: &str, status: &str) -> AnswerItem {
    mxd(call, "done", &format!(r#"{{"status":"{status}","summary":"the report"}}"#))
}

pub(crate) fn answer(turn: u64, items: Vec<AnswerItem>, stop: StopReason) -> Answer {
    Answer { turn, items, stop, model: None, usage: USED, cost: Cost::Known(cents(1)), refreshed: None }
}

/// The answer to a wish for a summary.
pub(crate) fn summary(turn: u64, words: &str, terms: Option<Terms>) -> Answer {
    let refreshed = Refreshed {
        config: config(terms),
        checkpoint: words.trim().into(),
        content: format!("rules\n\n{}\n\nmemory", words.trim()),
        cwd: Some("/w".into()),
    };
    Answer { refreshed: Some(Box::new(refreshed)), ..answer(turn, vec![text(words)], StopReason::EndTurn) }
}

pub(crate) fn failure(turn: u64) -> Failure {
    Failure {
        turn,
        message: "overloaded".into(),
        class: "overloaded".into(),
        advice: None,
        passing: true,
        too_long: false,
        usage: Usage::default(),
        cost: Cost::Known(Usd::ZERO),
    }
}

pub(crate) fn settled(call: &ToolCallId, content: &str) -> Settled {
    let result = ToolResult {
        tool: "whatever".into(),
        tool_call_id: call.clone(),
        content: content.into(),
        is_error: false,
        images: Vec::new(),
        pending: false,
        background_id: None,
        background_command: None,
        blob: None,
    };
    Settled { verdict: None, result }
}

/// The result of a command that goes on.
pub(crate) fn in_background(call: &str, name: &str) -> Settled {
    let mut settled = settled(&id(call), "it runs");
    settled.result.pending = true;
    settled.result.background_id = Some(name.into());
    settled
}

pub(crate) fn checks(codes: &[i32]) -> Checked {
    let check = |code: &i32| CheckFinished {
        command: "make test".into(),
        exit_code: Some(*code),
        tree: "abc".into(),
        output: "what it printed".into(),
        blob: None,
    };
    Checked { checks: codes.iter().map(check).collect(), problem: None }
}

pub(crate) fn launched(task: TaskId, is_root: bool, terms: Option<Terms>) -> Launched {
    let worktree = (!is_root).then(|| WorktreeCreated {
        path: format!("/worktrees/{task}"),
        branch: format!("mxd/{task}"),
        base: "main".into(),
    });
    Launched { worktree, config: config(terms), header: "where you are".into(), withheld: Vec::new() }
}

/// The wish to ask a model that may write as much as it can.
pub(crate) fn asks((task, turn): (TaskId, u64), purpose: TurnPurpose) -> Effect {
    Effect::CallModel { task, turn, purpose, max_output_tokens: Some(terms().max_output_tokens) }
}

/// A request that failed while its call goes on.
pub(crate) fn attempt(turn: u64, cost: Cost) -> FailedAttempt {
    let (message, class) = ("the answer was cut".to_owned(), "network".to_owned());
    FailedAttempt { turn, message, class, usage: Usage::default(), cost }
}

impl Stage {
    /// Takes the first effect of this kind off the list of work.
    pub(crate) fn take<T>(&mut self, wanted: impl Fn(&Effect) -> Option<T>) -> Option<T> {
        let found = self.work.iter().position(|effect| wanted(effect).is_some())?;
        wanted(&self.work.remove(found))
    }

    /// The model call of a task, which has to be on the list.
    pub(crate) fn asked(&mut self, task: TaskId) -> (u64, TurnPurpose) {
        let call = self.take(|effect| match effect {
            Effect::CallModel { task: asked, turn, purpose, .. } if *asked == task => Some((*turn, *purpose)),
            _ => None,
        });
        call.unwrap_or_else(|| panic!("no model call of {task} in {:?}", self.work))
    }

    /// The same answer with as many tokens read as so long a conversation has at the least.
    pub(crate) fn read(&self, task: TaskId, answer: Answer) -> Answer {
        let least = self.state.session(task).context().new.bytes.div_ceil(16);
        let input_tokens = answer.usage.input_tokens.max(least);
        Answer { usage: Usage { input_tokens, ..answer.usage }, ..answer }
    }

    /// The model answers.
    pub(crate) fn answer(&mut self, task: TaskId, items: Vec<AnswerItem>, stop: StopReason) -> Outcome {
        let (turn, _) = self.asked(task);
        let answer = self.read(task, answer(turn, items, stop));
        self.session(task, SessionOp::Answered(answer))
    }

    /// The model calls tools.
    pub(crate) fn calls(&mut self, task: TaskId, items: Vec<AnswerItem>) -> Outcome {
        self.answer(task, items, StopReason::ToolUse)
    }

    /// The model has said what it had to say.
    pub(crate) fn ends_turn(&mut self, task: TaskId) -> Outcome {
        self.answer(task, vec![text("so")], StopReason::EndTurn)
    }

    /// The model cannot be asked.
    pub(crate) fn fails(&mut self, task: TaskId) -> Outcome {
        let (turn, _) = self.asked(task);
        self.session(task, SessionOp::Failed(failure(turn)))
    }

    /// The summary is written.
    pub(crate) fn summarises(&mut self, task: TaskId, words: &str) -> Outcome {
        let (turn, purpose) = self.asked(task);
        assert_eq!(purpose, TurnPurpose::Summary);
        let answer = self.read(task, summary(turn, words, self.terms));
        self.session(task, SessionOp::Answered(answer))
    }

    /// A tool that was to be run has run.
    pub(crate) fn returns(&mut self, task: TaskId, call: &str, content: &str) -> Outcome {
        let call = id(call);
        let ran = self.take(|effect| match effect {
            Effect::RunTool { task: whose, call: which, .. }
            | Effect::ResumeTool { task: whose, call: which }
                if *whose == task && *which == call =>
            {
                Some(())
            }
            _ => None,
        });
        ran.unwrap_or_else(|| panic!("{call:?} is not to be run: {:?}", self.work));
        self.session(task, SessionOp::Settled(settled(&call, content)))
    }

    /// The workplace is made.
    pub(crate) fn launches(&mut self, task: TaskId) -> Outcome {
        let launch = |effect: &Effect| {
            matches!(effect, Effect::Launch { task: whose } if *whose == task).then_some(())
        };
        self.take(launch).unwrap_or_else(|| panic!("{task} is not to be launched: {:?}", self.work));
        let launched = launched(task, task == self.root(), self.terms);
        self.session(task, SessionOp::Launched(launched))
    }

    /// The worktree that was to be removed is gone.
    pub(crate) fn vacates(&mut self, task: TaskId) -> Outcome {
        let path = self.take(|effect| match effect {
            Effect::RemoveWorktree { task: whose, path, .. } if *whose == task => Some(path.clone()),
            _ => None,
        });
        let path = path.unwrap_or_else(|| panic!("nothing of {task} is to be removed: {:?}", self.work));
        self.session(task, SessionOp::WorktreeRemoved { path })
    }

    /// The checks were run.
    pub(crate) fn checked(&mut self, task: TaskId, codes: &[i32]) -> Outcome {
        let checking = |effect: &Effect| {
            matches!(effect, Effect::RunChecks { task: whose } if *whose == task).then_some(())
        };
        self.take(checking).unwrap_or_else(|| panic!("nothing of {task} is to be checked: {:?}", self.work));
        self.session(task, SessionOp::Checked(checks(codes)))
    }

    /// Somebody writes to the task, and its model is about to answer for the first time.
    pub(crate) fn begin(&mut self, task: TaskId) {
        self.say(task, "begin");
        self.launches(task);
    }

    /// A task below the root whose model is about to answer for the first time.
    pub(crate) fn worker(&mut self) -> TaskId {
        let task = self.task(self.root(), "worker");
        self.begin(task);
        task
    }

    /// What the open calls of a task are.
    pub(crate) fn open(&self, task: TaskId) -> Vec<&str> {
        self.state.session(task).calls().iter().map(|call| call.id.0.as_str()).collect()
    }

    pub(crate) fn rest(&self, task: TaskId) -> Option<&RestReason> {
        self.state.session(task).rest()
    }

    /// Whether the model of the task is to be asked.
    pub(crate) fn is_asking(&self, task: TaskId) -> bool {
        self.state.session(task).asking().is_some()
    }

    /// Throws a node's work away, as the user.
    pub(crate) fn reset(&mut self, task: TaskId) -> Outcome {
        self.user(Op::ResetTask { task })
    }
}

/// The results in a list of events, as call and text.
pub(crate) fn results(outcome: &Outcome) -> Vec<(String, String)> {
    let results = outcome.events.iter().filter_map(|event| match &event.body {
        EventBody::ToolResult(result) => Some((result.tool_call_id.0.clone(), result.content.clone())),
        _ => None,
    });
    results.collect()
}
