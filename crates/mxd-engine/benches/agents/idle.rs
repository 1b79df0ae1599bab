//! What agents cost that wait: a project with very many of them is opened, and nobody is asked anything.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Instant;

use mxd_core::commit::Seq;
use mxd_core::decide::{
    Actor, Answer, AnswerItem, Cost, Effect, Input, Launched, NewRoot, NewTask, Op, Post, SessionOp, decide,
};
use mxd_core::event::body::{SessionConfig, StopReason, ToolCall, ToolCallId, Usage, WorktreeCreated};
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::money::Usd;
use mxd_core::prompt::text::SYSTEM;
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Draft, Log, Options};

use crate::Size;
use crate::helper::{Helper, ground};
use crate::model::Model;
use crate::row::Row;

/// Agents below one task.
const MOST_BELOW: usize = 200;

/// Opens a project with agents that all wait.
pub(crate) fn boot(size: Size) {
    let model = Model::start(0);
    let ground = ground(&model);
    Wait::fill(ground.path(), size.idle);
    let begun = Instant::now();
    let mut engine = Helper::engine(ground.path(), &["open"]);
    engine.until("open");
    let value = begun.elapsed().as_secs_f64() * 1_000.0;
    engine.until("rest");
    let agents = size.idle;
    let metric = format!("start with {agents} agents that wait");
    Row { metric, unit: "ms", value, baseline: None, bar: Some("<= 1000") }.tell();
    let metric = format!("memory of {agents} agents that wait");
    Row { metric, unit: "MB", value: engine.megabytes(), baseline: None, bar: Some("<= 64") }.tell();
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let asked = model.talks().len() as f64;
    let metric = format!("conversations that asked, of {agents} that wait");
    Row { metric, unit: "calls", value: asked, baseline: None, bar: Some("<= 0") }.tell();
    engine.end();
}

/// Plays the parts of model and workplace without either, so that a thousand agents wait in seconds.
struct Wait {
    log: Log,
    state: State,
    at: u64,
}

impl Wait {
    fn fill(ground: &Path, agents: usize) {
        let log = Log::open(&ground.join("data/project/log"), Options::default(), &mut ()).unwrap();
        let mut wait = Self { log, state: State::default(), at: 1 };
        let root = NewRoot { title: "Root".into(), description: String::new(), branch: Some("main".into()) };
        wait.play(Actor::User, Op::CreateRoot(root));
        let root = wait.state.tree().root().unwrap().id;
        let mut above = root;
        for agent in 0..agents {
            if agent % MOST_BELOW == 0 {
                let group = NewTask::new(root, format!("group-{agent:04}"), "");
                above = wait.play(Actor::User, Op::CreateTask(group));
            }
            let task = NewTask::new(above, format!("agent-{agent:04}"), "Work.");
            let task = wait.play(Actor::User, Op::CreateTask(task));
            let id = wait.fresh().issue();
            wait.play(Actor::User, Op::SendMessage { id, to: task, post: Post::text("Begin.") });
        }
    }

    fn fresh(&mut self) -> Fresh {
        self.at += 1;
        Fresh::from_seed(Ulid::from_parts(self.at, u128::from(fastrand::u64(..))))
    }

    /// Decides something and what follows from it; the node that the first event is about.
    fn play(&mut self, actor: Actor, op: Op) -> TaskId {
        let mut queue = VecDeque::from([(actor, op)]);
        let mut first = None;
        let mut drafts = Vec::new();
        while let Some((actor, op)) = queue.pop_front() {
            let fresh = self.fresh();
            let at = Millis(self.at);
            let input = Input { at, actor, fresh, op };
            let decision = decide(&self.state, &Limits::DEFAULT, input).unwrap();
            let mut draft = Draft::new(at.0);
            for event in &decision.events {
                first.get_or_insert(event.task);
                draft.push(&event.to_json().unwrap()).unwrap();
                self.state.apply(event, at);
            }
            if !decision.events.is_empty() {
                drafts.push(draft);
            }
            for effect in decision.effects {
                queue.extend(next(effect).map(|(task, op)| (Actor::Daemon, Op::Session { task, op })));
            }
        }
        self.log.append_all(drafts).unwrap();
        first.unwrap()
    }
}

/// What comes of an effect.
fn next(effect: Effect) -> Option<(TaskId, SessionOp)> {
    let nothing = || RawJson::empty_object();
    match effect {
        Effect::Wake { task } => Some((task, SessionOp::Advance)),
        Effect::Launch { task } => Some((task, SessionOp::Launched(workplace(task)))),
        Effect::CallModel { task, turn, .. } => {
            let call = ToolCall {
                tool: "mcp__mxd__yield".into(),
                tool_call_id: ToolCallId(format!("{task}-{turn}")),
                input: nothing(),
                malformed: None,
            };
            let answer = Answer {
                turn,
                items: vec![AnswerItem::Call(call)],
                stop: StopReason::ToolUse,
                usage: Usage::default(),
                cost: Cost::Known(Usd::ZERO),
                refreshed: None,
            };
            Some((task, SessionOp::Answered(answer)))
        }
        Effect::DecideTool { task, call } => {
            Some((task, SessionOp::DecideTool { call, head: Seq(1), args: nothing() }))
        }
        _ => None,
    }
}

fn workplace(task: TaskId) -> Launched {
    let worktree = WorktreeCreated {
        path: format!("/nowhere/{task}"),
        branch: format!("mxd/{task}/work"),
        base: "0".repeat(40),
    };
    let config = SessionConfig {
        tools: RawJson::parse("[]").unwrap(),
        system_stable: SYSTEM.to_owned(),
        system_variable: String::new(),
        model: "m".to_owned(),
        provider: "anthropic".to_owned(),
        cache_ttl: "5m".to_owned(),
        reasoning: None,
        terms: None,
    };
    Launched { worktree: Some(worktree), config, header: "You work here. ".repeat(200), withheld: Vec::new() }
}
