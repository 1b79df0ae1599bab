//! A log as a project leaves it behind: many tasks, each with a conversation of about a megabyte.

use std::path::Path;

use mxd_core::decide::{Actor, Input, NewRoot, NewTask, Op, Post, decide};
use mxd_core::event::Event;
use mxd_core::id::{Fresh, MessageId, TaskId, Ulid};
use mxd_core::limits::Limits;
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Draft, Log, Options};

/// Fills a log with `tasks` conversations of `bytes` each, interleaved, and gives the state they fold to. The last
/// segment is left almost empty, so that logs can be compared.
pub(crate) fn grow(dir: &Path, tasks: usize, bytes: usize) -> State {
    let mut writer = Writer {
        log: Log::open(dir, Options::default(), &mut ()).unwrap(),
        state: State::default(),
        at: 1_763_240_000_000,
        waiting: Vec::new(),
        noise: 7,
    };
    let ids = writer.plant(tasks);
    let first = ids[0];
    let mut left: Vec<(TaskId, usize)> = ids.into_iter().map(|id| (id, 0)).collect();
    while !left.is_empty() {
        // A few tasks work at a time, as agents do.
        let position = writer.random(left.len().min(32));
        let (task, written) = &mut left[position];
        *written += writer.turn(*task);
        if *written > bytes {
            left.swap_remove(position);
        }
    }
    let segments = || std::fs::read_dir(dir.join("log")).unwrap().count();
    writer.flush();
    writer.log.upkeep().unwrap();
    let closed = segments();
    while segments() == closed {
        writer.turn(first);
        writer.flush();
    }
    writer.log.upkeep().unwrap();
    writer.state
}

struct Writer {
    log: Log,
    state: State,
    at: u64,
    waiting: Vec<Draft>,
    noise: u64,
}

impl Writer {
    /// A root and its tasks in groups, each with a first message.
    fn plant(&mut self, tasks: usize) -> Vec<TaskId> {
        let root =
            NewRoot { title: "Orchestrator".into(), description: String::new(), branch: Some("main".into()) };
        let root = self.decide(Op::CreateRoot(root));
        let mut ids = Vec::new();
        let mut parent = root;
        for count in 0..tasks {
            if count % 100 == 0 {
                parent = self.decide(Op::CreateTask(NewTask::new(
                    root,
                    format!("Group {count}"),
                    "several tasks",
                )));
            }
            let id = self.decide(Op::CreateTask(NewTask::new(
                parent,
                format!("Task {count}"),
                "what is to be done ".repeat(20),
            )));
            let message = MessageId::from(self.ulid());
            self.decide(Op::SendMessage { id: message, to: id, post: Post::text("please begin") });
            ids.push(id);
        }
        ids
    }

    fn decide(&mut self, op: Op) -> TaskId {
        let fresh = Fresh::from_seed(self.ulid());
        let input = Input { at: Millis(self.at), actor: Actor::User, fresh, op };
        let decision = decide(&self.state, &Limits::default(), input).unwrap();
        for event in &decision.events {
            self.state.apply(event, Millis(self.at));
        }
        let texts: Vec<String> = decision.events.iter().map(|event| event.to_json().unwrap()).collect();
        self.write(&texts);
        decision.events[0].task
    }

    /// What a model says, what a tool answers, what it cost.
    fn turn(&mut self, task: TaskId) -> usize {
        self.at += 1;
        let words = self.random(400);
        let call = serde_json::json!({
            "task": task, "type": "tool_call", "tool": "mcp__mxd__bash", "toolCallId": format!("call_{}", self.at),
            "input": {"command": format!("cargo test -p crate-{words}")},
        });
        let text =
            serde_json::json!({"task": task, "type": "assistant_text", "content": self.prose(words / 4)});
        let result = serde_json::json!({
            "task": task, "type": "tool_result", "tool": "mcp__mxd__bash", "toolCallId": format!("call_{}", self.at),
            "content": self.prose(words), "isError": false,
        });
        let ended = serde_json::json!({
            "task": task, "type": "turn_ended", "stopReason": "tool_use", "costUsd": 0.0123,
            "usage": {"inputTokens": 1200, "outputTokens": 300, "cacheReadTokens": 90000, "cacheWriteTokens": 800},
        });
        // As the daemon writes them, field by field.
        let [text, call, result, ended] =
            [text, call, result, ended].map(|event| Event::decode(&event.to_string()).unwrap());
        self.state.apply(&ended, Millis(self.at));
        let (first, second) =
            ([text, call, ended].map(|event| event.to_json().unwrap()), [result.to_json().unwrap()]);
        let bytes = first.iter().chain(&second).map(String::len).sum();
        self.write(&first);
        self.write(&second);
        bytes
    }

    fn write(&mut self, events: &[String]) {
        self.waiting.push(Draft::of(self.at, events.iter().map(String::as_str)).unwrap());
        if self.waiting.len() >= 500 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for answer in self.log.append_all(self.waiting.drain(..)).unwrap() {
            answer.unwrap();
        }
    }

    /// Words as they stand in the output of tools.
    fn prose(&mut self, words: usize) -> String {
        const WORDS: [&str; 16] = [
            "error",
            "the",
            "let",
            "fn main() {\n",
            "warning: unused",
            "src/lib.rs:",
            "\"quoted\"",
            "test ... ok\n",
            "and",
            "\t",
            "0x7ffd",
            "returns",
            "of",
            "Übung",
            "->",
            "};\n",
        ];
        let mut text = String::new();
        for _ in 0..words {
            let word = self.random(WORDS.len() * 4);
            text.push_str(WORDS.get(word).copied().unwrap_or("word"));
            text.push_str(&format!("{}", self.noise % 1_000));
            text.push(' ');
        }
        text
    }

    fn ulid(&mut self) -> Ulid {
        self.at += 1;
        let noise = self.random(usize::MAX);
        Ulid((u128::from(self.at) << 80) | ((noise as u128) << 8))
    }

    fn random(&mut self, limit: usize) -> usize {
        self.noise =
            self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 33) as usize % limit.max(1)
    }
}
