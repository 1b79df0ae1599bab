//! `run`: a plan of tool calls, in sequence, in parallel, and with gates that a person answers.
//!
//! A plan is a tree of nodes (`plan_tree@1`). Everything that can be wrong with it is told before anything runs:
//! its form, its references, its tools. The first failure ends it; what was running beside is cancelled, what had
//! not begun is skipped.

mod gate;
mod node;
mod read;
mod run;
mod template;

use std::fmt::Write as _;

use mxd_core::manifest::{AgentManifest, DeclaredTool, LockFile, ServerSpec};
use mxd_core::tool::{ArgProblem, Denial, PinnedTool};
use serde_json::{Value, json};

use crate::answer::{Answer, BAD, DIM, Failure, GOOD, Trouble};
use crate::caller::{Caller, not_callable};
use crate::cli::{Common, Run};
use crate::code::Code;
use crate::live::{World, wait_for};
use crate::uri::{self, Meant};
use crate::{files, inspect, sign};

use node::{Node, ToolStep, Work};
use run::{Ended, Runner, State};

pub(crate) fn run(common: &Common, args: &Run) -> Result<Answer, Failure> {
    let bytes = files::read(&args.plan, files::PLAN_BYTES)?;
    let root = read::plan(&args.plan.to_string_lossy(), &bytes)?;
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    sign::checked(common, &manifest, &[])?;
    let lock = files::lock(&common.lock())?;
    let tools = resolved(&root, &manifest, lock.as_ref())?;
    let ended = wait_for(async {
        let world = World::open(common, &args.with).await?;
        let caller = Caller::open(&world, &manifest, &tools).await?;
        let problems = wrong_arguments(&root, &caller);
        let runner = Runner::new(&world, &caller, args.gate_policy);
        if problems.is_empty() {
            runner.run(&root).await;
        }
        caller.close(&world).await;
        if problems.is_empty() { Ok(runner.ended()) } else { Err(problems) }
    })?;
    let mut answer = Answer { warnings: inspect::warnings(&manifest), ..Answer::default() };
    let nodes: Vec<Value> = root.walk().into_iter().map(|node| told(node, &ended, &mut answer)).collect();
    // The first to fail, not the first in the plan, is why it ended.
    answer.problems = ended.problems;
    answer.result = json!({ "nodes": nodes });
    Ok(answer)
}

/// The tools of a plan, or everything that is wrong with them.
fn resolved<'a>(
    root: &Node,
    manifest: &'a AgentManifest,
    lock: Option<&LockFile>,
) -> Result<Vec<(&'a ServerSpec, &'a DeclaredTool)>, Failure> {
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    for node in root.walk() {
        let Work::Tool(step) = &node.work else { continue };
        match resolve(step, manifest, lock) {
            Ok(tool) => tools.push(tool),
            Err(problem) => {
                let message = format!("node {}: {}", node.id, problem.message);
                problems.push(Trouble { message, path: Some(node.path.clone()), ..problem });
            }
        }
    }
    if problems.is_empty() { Ok(tools) } else { Err(problems) }
}

fn resolve<'a>(
    step: &ToolStep,
    manifest: &'a AgentManifest,
    lock: Option<&LockFile>,
) -> Result<(&'a ServerSpec, &'a DeclaredTool), Trouble> {
    let (server, tool) = match uri::find(&step.uri, manifest, lock)? {
        Meant::Server(server, tool) => (server, tool),
        Meant::Native(entry) => return Err(not_callable(entry)),
    };
    if let Some(declared) = step.effect.filter(|effect| *effect != tool.effect) {
        let what = format!("it says {declared}, and the manifest says {}", tool.effect);
        return Err(Trouble::new(Code::Invalid, what, "Write the class of the manifest, or none."));
    }
    if !manifest.allowed.contains(tool.effect) {
        let what =
            format!("its side effect is {}, and the manifest allows {}", tool.effect, manifest.allowed);
        return Err(Trouble::new(Code::Denied, what, "Use another tool, or another manifest."));
    }
    Ok((server, tool))
}

/// Calls whose arguments do not fit the schemas of their tools, whatever earlier calls will return.
fn wrong_arguments(root: &Node, caller: &Caller) -> Vec<Trouble> {
    let mut found = Vec::new();
    for node in root.walk() {
        let Work::Tool(step) = &node.work else { continue };
        let Ok(PinnedTool { id: tool, .. }) = step.uri.parse::<PinnedTool>() else { continue };
        let (args, unknown) = step.args.outline();
        // Where a part is not known yet, neither is whether what holds it fits.
        let may_fit = |problem: &ArgProblem| {
            unknown.iter().any(|place| is_within(place, &problem.path) || is_within(&problem.path, place))
        };
        let mut problems = caller.argument_problems(&tool, &args);
        problems.retain(|problem| !may_fit(problem));
        if problems.is_empty() {
            continue;
        }
        let denial = Denial::ArgsInvalid { tool: tool.clone(), problems };
        let message = format!("node {}: {denial}", node.id);
        let problem = Trouble::new(Code::Denied, message, "Correct the arguments; nothing was run.");
        found.push(Trouble { path: Some(node.path.clone()), ..problem.of_server(&tool.server) });
    }
    found
}

/// Whether a JSON pointer names a place, or something in it.
fn is_within(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn told(node: &Node, ended: &Ended, answer: &mut Answer) -> Value {
    let state = ended.states.get(&node.id).unwrap_or(&State::Skipped);
    let (style, word) = match state {
        State::Done { .. } => (GOOD, "done"),
        State::Failed { .. } => (BAD, "failed"),
        State::Stopped { .. } => (BAD, "stopped"),
        State::Skipped => (DIM, "skipped"),
    };
    let depth = node.path.matches(".children").count();
    let _ = writeln!(answer.text, "{style}{word:>8}{style:#}  {:indent$}{}", "", node.id, indent = 2 * depth);
    let (State::Done { result, text } | State::Failed { result, text } | State::Stopped { result, text }) =
        state
    else {
        return json!({ "id": node.id, "kind": node.work.kind(), "state": word });
    };
    for line in text.lines() {
        let _ = writeln!(answer.text, "          {:indent$}{DIM}| {line}{DIM:#}", "", indent = 2 * depth);
    }
    json!({ "id": node.id, "kind": node.work.kind(), "state": word, "result": result })
}
