//! Running a plan: depth first, the first failure ends it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use mxd_core::tool::PinnedTool;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::gate::{self, Word};
use super::node::{GateStep, Node, ToolStep, Work};
use super::template::Output;
use crate::answer::Trouble;
use crate::caller::{Called, Caller, Request};
use crate::cli::GatePolicy;
use crate::code::Code;
use crate::live::World;

/// Children of a parallel node that run at once.
const AT_ONCE: usize = 16;

/// Runs the nodes of a plan.
pub(super) struct Runner<'a> {
    world: &'a World,
    caller: &'a Caller,
    gates: GatePolicy,
    ended: Mutex<Ended>,
}

/// What has ended.
#[derive(Default)]
pub(super) struct Ended {
    /// By the id of a node; what is not there was skipped.
    pub(super) states: BTreeMap<String, State>,
    /// What failed, the first first.
    pub(super) problems: Vec<Trouble>,
    outputs: BTreeMap<String, Output>,
}

/// How a node ended.
pub(super) enum State {
    Done {
        result: Value,
        text: String,
    },
    Failed {
        result: Value,
        text: String,
    },
    /// It was cancelled because another one failed.
    Stopped {
        result: Value,
        text: String,
    },
    Skipped,
}

/// Something failed; what it was is noted.
struct Halt;

type Walked<'f> = Pin<Box<dyn Future<Output = Result<(), Halt>> + 'f>>;

impl<'a> Runner<'a> {
    pub(super) fn new(world: &'a World, caller: &'a Caller, gates: GatePolicy) -> Self {
        Self { world, caller, gates, ended: Mutex::default() }
    }

    pub(super) async fn run(&self, root: &Node) {
        let _noted = self.walk(root, CancellationToken::new()).await;
    }

    /// What the plan came to.
    pub(super) fn ended(self) -> Ended {
        self.ended.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) -> MutexGuard<'_, Ended> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn walk<'f>(&'f self, node: &'f Node, cancel: CancellationToken) -> Walked<'f> {
        Box::pin(async move {
            if cancel.is_cancelled() {
                return Err(Halt);
            }
            match &node.work {
                Work::Tool(step) => return self.call(node, step, &cancel).await,
                Work::Gate(gate) => return self.gate(node, gate),
                Work::Sequential(children) => {
                    for child in children {
                        if self.walk(child, cancel.clone()).await.is_err() {
                            return Err(self.group(node, true));
                        }
                    }
                }
                Work::Parallel(children) => {
                    let stop = cancel.child_token();
                    let one = |child| {
                        let stop = stop.clone();
                        async move {
                            let walked = self.walk(child, stop.clone()).await;
                            if walked.is_err() {
                                stop.cancel();
                            }
                            walked
                        }
                    };
                    let all: Vec<_> =
                        stream::iter(children).map(one).buffer_unordered(AT_ONCE).collect().await;
                    if all.iter().any(Result::is_err) {
                        return Err(self.group(node, true));
                    }
                }
            }
            self.group(node, false);
            Ok(())
        })
    }

    fn group(&self, node: &Node, failed: bool) -> Halt {
        let (result, text) = (Value::Null, String::new());
        let state = if failed { State::Failed { result, text } } else { State::Done { result, text } };
        self.note().states.insert(node.id.clone(), state);
        Halt
    }

    fn fail(&self, node: &Node, problem: Trouble) -> Halt {
        let message = format!("node {}: {}", node.id, problem.message);
        self.note().problems.push(Trouble { message, path: Some(node.path.clone()), ..problem });
        Halt
    }

    fn gate(&self, node: &Node, gate: &GateStep) -> Result<(), Halt> {
        let (state, passed) = match gate::ask(gate, self.gates) {
            Word::Pass(answer) => {
                self.note().outputs.insert(node.id.clone(), Output { text: answer.clone(), data: None });
                (State::Done { result: json!({ "answer": answer }), text: answer }, Ok(()))
            }
            Word::Refused(why) => {
                let hint = "Nothing behind it was done. Answer with one of its options to go on.";
                let problem = Trouble::new(Code::Stopped, format!("{}: {why}", gate.question), hint);
                let state = State::Failed { result: json!({ "answer": null }), text: why };
                (state, Err(self.fail(node, problem)))
            }
        };
        self.note().states.insert(node.id.clone(), state);
        passed
    }

    async fn call(&self, node: &Node, step: &ToolStep, cancel: &CancellationToken) -> Result<(), Halt> {
        let filled = step.args.fill(&self.note().outputs);
        let args = match filled {
            Ok(args) => args,
            Err(why) => {
                let hint = "Look at the output of that node, and correct the reference.";
                let state = State::Failed { result: Value::Null, text: why.clone() };
                self.note().states.insert(node.id.clone(), state);
                return Err(self.fail(node, Trouble::new(Code::Invalid, why, hint)));
            }
        };
        // The plan was held against the manifest before, so it is a tool of a server.
        let Ok(pinned) = step.uri.parse::<PinnedTool>() else { return Err(Halt) };
        let request = Request {
            name: node.id.clone(),
            tool: pinned.id,
            args: args.to_string(),
            patience: step.timeout_ms.map(Duration::from_millis),
        };
        let Called { result, text, problem } = self.caller.call(self.world, &request, cancel).await;
        let (state, halted) = match problem {
            None => {
                let data = result.get("structured").filter(|data| !data.is_null()).cloned();
                let text = text.trim_end_matches('\n').to_owned();
                self.note().outputs.insert(node.id.clone(), Output { text: text.clone(), data });
                (State::Done { result, text }, Ok(()))
            }
            Some(_) if cancel.is_cancelled() => (State::Stopped { result, text }, Err(Halt)),
            Some(problem) => (State::Failed { result, text }, Err(self.fail(node, problem))),
        };
        self.note().states.insert(node.id.clone(), state);
        halted
    }
}
