//! A log of very many agents that wait, written in seconds: the parts of model and workplace are played without either.
//!
//! Included by the tests and the benchmark.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use mxd_core::commit::Seq;
use mxd_core::decide::{
    Actor, Answer, AnswerItem, Cost, Effect, Input, Launched, NewRoot, NewTask, Op, Post, SessionOp, Settled,
    decide,
};
use mxd_core::event::EventBody;
use mxd_core::event::body::{SessionConfig, StopReason, ToolCall, ToolCallId, Usage, WorktreeCreated};
use mxd_core::id::{Fresh, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::money::Usd;
use mxd_core::prompt::text::SYSTEM;
use mxd_core::raw::RawJson;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Draft, Log, Options};

/// Agents below one task.
const MOST_BELOW: usize = 200;

/// When it is written: late enough that no question of these agents has run out, whenever the log is opened.
const BEGIN: u64 = 4_102_444_800_000;

/// Which agent is asked, and which turn of it that is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) agent: usize,
    pub(crate) turn: u64,
}

/// A crowd of agents and what each of them answers.
pub(crate) struct Crowd<A> {
    pub(crate) agents: usize,
    pub(crate) answer: A,
}

impl<A: Fn(Asked) -> AnswerItem> Crowd<A> {
    /// Writes the log of the project on this ground. The agents are called `agent-0000` and so on.
    pub(crate) fn fill(&self, ground: &Path) {
        let log = Log::open(&ground.join("data/project/log"), Options::default(), &mut ()).unwrap();
        let (state, worktrees) = (State::default(), ground.join("repo/.worktrees"));
        let mut play = Play { log, state, worktrees, at: BEGIN, inputs: HashMap::new() };
        let root = NewRoot { title: "Root".into(), description: String::new(), branch: Some("main".into()) };
        let root = play.act(Actor::User, Op::CreateRoot(root), &|_, _| unreachable!("nobody is asked"));
        let mut above = root;
        for agent in 0..self.agents {
            let answer = |_, turn| (self.answer)(Asked { agent, turn });
            if agent % MOST_BELOW == 0 {
                let group = NewTask::new(root, format!("group-{agent:04}"), "");
                above = play.act(Actor::User, Op::CreateTask(group), &answer);
            }
            let task = NewTask::new(above, format!("agent-{agent:04}"), "Work.");
            let task = play.act(Actor::User, Op::CreateTask(task), &answer);
            let id = play.fresh().issue();
            play.act(Actor::User, Op::SendMessage { id, to: task, post: Post::text("Begin.") }, &answer);
        }
    }
}

/// A call of a tool.
pub(crate) fn calls(asked: Asked, name: &str, args: &str) -> AnswerItem {
    AnswerItem::Call(ToolCall {
        tool: format!("mcp__mxd__{name}"),
        tool_call_id: ToolCallId(format!("{}-{}", asked.agent, asked.turn)),
        input: RawJson::parse(args).unwrap(),
        malformed: None,
    })
}

struct Play {
    log: Log,
    state: State,
    worktrees: PathBuf,
    at: u64,
    /// The arguments of calls about the tree.
    inputs: HashMap<(TaskId, ToolCallId), RawJson>,
}

impl Play {
    fn fresh(&mut self) -> Fresh {
        self.at += 1;
        Fresh::from_seed(Ulid::from_parts(self.at, u128::from(fastrand::u64(..))))
    }

    /// Decides something and what follows from it; the node that the first event is about.
    fn act(&mut self, actor: Actor, op: Op, answer: &dyn Fn(TaskId, u64) -> AnswerItem) -> TaskId {
        let mut queue = VecDeque::from([(actor, op)]);
        let mut first = None;
        let mut drafts = Vec::new();
        while let Some((actor, op)) = queue.pop_front() {
            let fresh = self.fresh();
            let at = Millis(self.at);
            let decision = decide(&self.state, &Limits::DEFAULT, Input { at, actor, fresh, op }).unwrap();
            let mut draft = Draft::new(at.0);
            for event in &decision.events {
                first.get_or_insert(event.task);
                if let EventBody::ToolCall(call) = &event.body {
                    self.inputs.insert((event.task, call.tool_call_id.clone()), call.input.clone());
                }
                draft.push(&event.to_json().unwrap()).unwrap();
                self.state.apply(event, at);
            }
            if !decision.events.is_empty() {
                drafts.push(draft);
            }
            for effect in decision.effects {
                let next = self.next(effect, answer);
                queue.extend(next.map(|(task, op)| (Actor::Daemon, Op::Session { task, op })));
            }
        }
        self.log.append_all(drafts).unwrap();
        first.unwrap()
    }

    /// What comes of an effect.
    fn next(
        &mut self,
        effect: Effect,
        answer: &dyn Fn(TaskId, u64) -> AnswerItem,
    ) -> Option<(TaskId, SessionOp)> {
        match effect {
            Effect::Wake { task } => Some((task, SessionOp::Advance)),
            Effect::Launch { task } => Some((task, SessionOp::Launched(self.workplace(task)))),
            Effect::CallModel { task, turn, .. } => {
                Some((task, SessionOp::Answered(whole(turn, answer(task, turn)))))
            }
            Effect::DecideTool { task, call } => {
                let args = self.inputs.remove(&(task, call.clone())).unwrap();
                Some((task, SessionOp::DecideTool { call, head: Seq(1), args }))
            }
            Effect::RunTool { task, call, .. } => Some((task, SessionOp::Settled(settled(call)))),
            _ => None,
        }
    }

    fn workplace(&self, task: TaskId) -> Launched {
        let folder = self.worktrees.join(format!("{task}-work"));
        std::fs::create_dir_all(&folder).unwrap();
        let worktree = WorktreeCreated {
            path: folder.display().to_string(),
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
        let header = "You work here. ".repeat(200);
        Launched { worktree: Some(worktree), config, header, withheld: Vec::new() }
    }
}

/// An answer that ends as its one item says: a call wants its result, and words are the end of a turn.
fn whole(turn: u64, item: AnswerItem) -> Answer {
    let stop = match item {
        AnswerItem::Call(_) => StopReason::ToolUse,
        _ => StopReason::EndTurn,
    };
    let (usage, cost) = (Usage::default(), Cost::Known(Usd::ZERO));
    Answer { turn, items: vec![item], stop, model: None, usage, cost, refreshed: None }
}

fn settled(call: ToolCallId) -> Settled {
    let result = mxd_core::event::body::ToolResult {
        tool: "mcp__mxd__bash".into(),
        tool_call_id: call,
        content: "It was done, and this is what it said about it.\n".repeat(10),
        is_error: false,
        images: Vec::new(),
        pending: false,
        background_id: None,
        background_command: None,
        blob: None,
    };
    Settled { verdict: None, result }
}
