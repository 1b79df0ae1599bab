//! [`Plane::call`]: from a name and some text to a settlement.

use std::time::Duration;

use mxd_core::prompt::ToolSpec;
use mxd_core::tool::{
    self, ApprovalPolicy, ArgsCheck, Arguments, CallArgs, CallHash, CalledPin, CapabilitySet, Denial,
    EffectSet, GateContext, Known, RuleRef, SkillScope, Verdict,
};
use tokio_util::sync::CancellationToken;

use super::cap::presentable;
use super::deadline::{Ran, within};
use super::registry::{Entry, Executor, Registry};
use crate::builtin::Context;
use crate::outcome::{Outcome, Part};
use crate::scope::Scope;
use crate::shell::{CallId, Watcher};

/// Where calls of tools are settled.
#[derive(Debug)]
pub struct Plane {
    registry: Registry,
}

/// A call as the model made it.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Its name, by which its command can be moved to the background.
    pub id: CallId,
    /// The tool, by the name models use.
    pub tool: &'a str,
    /// The arguments, as the model wrote them.
    pub args: &'a str,
    /// Who watches.
    pub watcher: Watcher,
}

/// What the caller may do.
#[derive(Debug, Clone, Copy)]
pub struct Authority<'a> {
    /// The classes the manifest allows.
    pub manifest_effects: EffectSet,
    /// The skill that is active.
    pub skill: SkillScope<'a>,
    /// What the task may use.
    pub capabilities: &'a CapabilitySet,
    /// The approval policy.
    pub approvals: &'a ApprovalPolicy,
    /// The call that the user has approved, when this is one that had to be asked about.
    pub approved: Option<CallHash>,
}

/// What a call came to. Secrets are gone from what the model reads of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// The tool ran and ended. It may have failed: that is an outcome, too.
    Done(Outcome),
    /// The tool did not run, and will not.
    Denied {
        /// Why.
        denial: Denial,
        /// The same for the model.
        told: Outcome,
    },
    /// The tool has not run: the user is to be asked about exactly this call.
    Ask {
        /// By which rule.
        rule: RuleRef,
        /// The call.
        call_hash: CallHash,
    },
    /// The call was cancelled, and what it had started was ended.
    Cancelled(Outcome),
    /// The call took too long, and what it had started was ended.
    TimedOut(Outcome),
}

impl Settlement {
    /// What the model reads. Nothing yet when the user is to be asked.
    pub fn for_model(&self) -> Option<&Outcome> {
        match self {
            Self::Done(outcome) | Self::Cancelled(outcome) | Self::TimedOut(outcome) => Some(outcome),
            Self::Denied { told, .. } => Some(told),
            Self::Ask { .. } => None,
        }
    }
}

impl Plane {
    /// For these tools.
    pub fn new(registry: Registry) -> Self {
        Self { registry }
    }

    /// What models are told about the tools.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.registry.specs()
    }

    /// The tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Settles a call. Calls of one turn may run at once; the order in which they are first polled is the order in
    /// which commands count as started.
    pub async fn call(
        &self,
        call: Call<'_>,
        authority: &Authority<'_>,
        scope: &Scope,
        cancel: &CancellationToken,
    ) -> Settlement {
        let ready = match self.judge(&call, authority) {
            Judged::Run(ready) => ready,
            Judged::Ask { rule, call_hash } => return Settlement::Ask { rule, call_hash },
            Judged::Deny(denial) => {
                let told = presentable(Outcome::error(denial.for_model()), &scope.secrets, &scope.kept);
                return Settlement::Denied { denial: *denial, told };
            }
        };
        let patience = Duration::from_millis(ready.entry.def.timeout_ms);
        let entry = ready.entry;
        let is_held_up = || entry.executor.is_held_up();
        let ran = within((patience, is_held_up), cancel, |stop| run(ready, &call, scope, stop)).await;
        let clean = |outcome| presentable(outcome, &scope.secrets, &scope.kept);
        match ran {
            Ran::Done(outcome) => Settlement::Done(clean(outcome)),
            Ran::Cancelled(outcome) => {
                Settlement::Cancelled(clean(stopped(outcome, "the call was cancelled")))
            }
            Ran::TimedOut(outcome) => {
                let why = format!("the call took longer than {} ms and was stopped", patience.as_millis());
                Settlement::TimedOut(clean(stopped(outcome, &why)))
            }
        }
    }

    /// Everything that is decided before anything runs.
    fn judge<'a>(&'a self, call: &Call<'_>, authority: &Authority<'_>) -> Judged<'a> {
        let entry = self.registry.find(call.tool);
        let parsed = CallArgs::parse(call.args);
        let check = match (entry, &parsed) {
            (Some(entry), Ok(args)) => checked(entry, args),
            (None, _) | (_, Err(_)) => ArgsCheck::NotChecked,
        };
        let args = match &parsed {
            Ok(args) => Arguments::Read { args, check: &check },
            Err(error) => Arguments::Malformed(error),
        };
        let gated = tool::Call { called: call.tool, pin: CalledPin::Held, args };
        let verdict = tool::gate(
            &gated,
            &GateContext {
                tool: entry.map_or(Known::Unknown, |entry| Known::Tool(&entry.def.facts)),
                manifest_effects: authority.manifest_effects,
                skill: authority.skill,
                capabilities: authority.capabilities,
                approvals: authority.approvals,
            },
        );
        let verdict = match authority.approved {
            Some(approved) => verdict.after_approval_of(approved),
            None => verdict,
        };
        match (verdict, entry, parsed) {
            (Verdict::Allow { .. }, Some(entry), Ok(args)) => Judged::Run(Ready { entry, args }),
            (Verdict::Ask { rule, call_hash }, _, _) => Judged::Ask { rule, call_hash },
            (Verdict::Deny(denial), _, _) => Judged::Deny(Box::new(denial)),
            // The gate allows neither an unknown tool nor unread arguments.
            (Verdict::Allow { .. }, None, _) | (Verdict::Allow { .. }, _, Err(_)) => {
                Judged::Deny(Box::new(Denial::Unknown { called: tool::Quoted::of(call.tool) }))
            }
        }
    }
}

/// What is decided about a call.
enum Judged<'a> {
    Run(Ready<'a>),
    Ask { rule: RuleRef, call_hash: CallHash },
    Deny(Box<Denial>),
}

/// A call that may run.
struct Ready<'a> {
    entry: &'a Entry,
    args: CallArgs,
}

fn checked(entry: &Entry, args: &CallArgs) -> ArgsCheck {
    let problems = entry.schema.problems(args.value());
    if problems.is_empty() { ArgsCheck::Valid } else { ArgsCheck::Invalid(problems) }
}

async fn run(ready: Ready<'_>, call: &Call<'_>, scope: &Scope, stop: CancellationToken) -> Outcome {
    let context = Context { scope, call: &call.id, watcher: &call.watcher, cancel: &stop };
    match &ready.entry.executor {
        Executor::BuiltIn(tool) => tool.run(ready.args.value().clone(), context).await,
        Executor::Function(function) => function.run(ready.args.value().clone(), context).await,
        Executor::Mcp(tool) => tool.run(ready.args.value(), context).await,
        Executor::Reading(tool) => tool.run(ready.args.value().clone(), context).await,
    }
}

/// What a call came to that did not end by itself.
fn stopped(mut outcome: Outcome, why: &str) -> Outcome {
    outcome.is_error = true;
    outcome.parts.push(Part::Text(format!("[{why}]")));
    outcome
}
