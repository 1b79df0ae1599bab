//! The gate: every call of a tool passes it, in one order, and nothing passes by default.
//!
//! Known → pinned → side-effect class allowed by the manifest → listed by the active skill → granted to the
//! task → arguments fit the schema → approval policy. The first check that fails is the answer. A fact that
//! is missing is a failure.

use super::approval::{ApprovalPolicy, RuleRef, Ruling, Subject};
use super::args::{ArgsError, CallArgs, CallHash};
use super::capability::CapabilitySet;
use super::denial::{ArgProblem, Denial};
use super::effect::{EffectSet, SideEffect};
use super::facts::{Known, PinState, ToolFacts};
use super::id::PinnedTool;
use super::pin::Pin;
use super::skill::{Listed, SkillName, SkillTools};
use super::text::Quoted;

/// A call as it came.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The name that was called, as it was spelt.
    pub called: &'a str,
    /// The version that was called.
    pub pin: CalledPin<'a>,
    /// The arguments.
    pub args: Arguments<'a>,
}

/// The version that was called.
#[derive(Debug, Clone, Copy)]
pub enum CalledPin<'a> {
    /// The caller used a spelling without one, as models do, and means the one the session holds.
    Held,
    /// The caller named it.
    Named(&'a Pin),
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// They could not be read.
    Malformed(&'a ArgsError),
    /// They could.
    Read {
        /// What they say.
        args: &'a CallArgs,
        /// Whether they fit the tool's schema.
        check: &'a ArgsCheck,
    },
}

/// Whether arguments fit the tool's schema. Whoever has the schema finds out; the gate goes by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgsCheck {
    /// They do.
    Valid,
    /// They do not.
    Invalid(Vec<ArgProblem>),
    /// Nobody looked.
    NotChecked,
}

/// What the call is held against.
#[derive(Debug, Clone, Copy)]
pub struct GateContext<'a> {
    /// What the called name turned out to be.
    pub tool: Known<'a>,
    /// The classes the manifest allows; an empty set allows none.
    pub manifest_effects: EffectSet,
    /// The skill that is active.
    pub skill: SkillScope<'a>,
    /// What the task may use.
    pub capabilities: &'a CapabilitySet,
    /// The approval policy.
    pub approvals: &'a ApprovalPolicy,
}

/// Which skill is active.
#[derive(Debug, Clone, Copy)]
pub enum SkillScope<'a> {
    /// None; no skill restricts the call.
    NoSkill,
    /// This one, and only what it lists passes.
    Active {
        /// Its name.
        name: &'a SkillName,
        /// What it lists.
        tools: &'a SkillTools,
    },
}

/// What the gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow {
        /// By which rule.
        rule: RuleRef,
    },
    /// It waits for the user's word about exactly this call.
    Ask {
        /// By which rule.
        rule: RuleRef,
        /// The call.
        call_hash: CallHash,
    },
    /// It does not run.
    Deny(Denial),
}

impl Verdict {
    /// The verdict once the user has approved the call of this hash. The word given for one call opens no
    /// other, and no denial.
    #[must_use]
    pub fn after_approval_of(self, approved: CallHash) -> Self {
        match self {
            Self::Ask { rule, call_hash } if call_hash == approved => Self::Allow { rule },
            Self::Allow { .. } | Self::Ask { .. } | Self::Deny(_) => self,
        }
    }
}

/// What the gate says about a call.
pub fn gate(call: &Call<'_>, context: &GateContext<'_>) -> Verdict {
    judge(call, context).unwrap_or_else(|denial| Verdict::Deny(*denial))
}

/// What a check found; denials are boxed because they are rare and large.
type Judged<T> = Result<T, Box<Denial>>;

fn judge(call: &Call<'_>, context: &GateContext<'_>) -> Judged<Verdict> {
    let facts = known(call, context.tool)?;
    let tool = pinned(call, facts)?;
    let effect = effect_allowed(facts, context.manifest_effects)?;
    listed(&tool, context.skill)?;
    granted(&tool, context.capabilities)?;
    let args = arguments_fit(&tool, call.args)?;
    approved(&tool, &Subject { id: &tool.id, effect, args }, context.approvals)
}

fn known<'a>(call: &Call<'_>, tool: Known<'a>) -> Judged<&'a ToolFacts> {
    match tool {
        Known::Tool(facts) => Ok(facts),
        Known::Native => Err(Denial::Native { called: Quoted::of(call.called) }.into()),
        Known::Unknown => Err(Denial::Unknown { called: Quoted::of(call.called) }.into()),
    }
}

fn pinned(call: &Call<'_>, facts: &ToolFacts) -> Judged<PinnedTool> {
    let tool = facts.id.clone();
    let held = match &facts.pin {
        PinState::Held(pin) => pin.clone(),
        PinState::Missing => return Err(Denial::Unpinned { tool }.into()),
        PinState::Changed { held, found } => {
            return Err(Denial::PinChanged { tool, held: held.clone(), found: found.clone() }.into());
        }
    };
    match call.pin {
        CalledPin::Named(called) if *called != held => {
            Err(Denial::OtherPin { tool, called: called.clone(), held }.into())
        }
        CalledPin::Named(_) | CalledPin::Held => Ok(PinnedTool { id: tool, pin: held }),
    }
}

fn effect_allowed(facts: &ToolFacts, allowed: EffectSet) -> Judged<SideEffect> {
    let tool = || facts.id.clone();
    let effect = facts.effect.ok_or_else(|| Denial::EffectUnknown { tool: tool() })?;
    if allowed.contains(effect) {
        Ok(effect)
    } else {
        Err(Denial::EffectNotAllowed { tool: tool(), effect, allowed }.into())
    }
}

fn listed(tool: &PinnedTool, scope: SkillScope<'_>) -> Judged<()> {
    let SkillScope::Active { name, tools } = scope else {
        return Ok(());
    };
    let (id, skill) = (tool.id.clone(), name.clone());
    match tools.lists(tool) {
        Listed::Yes => Ok(()),
        Listed::No => Err(Denial::NotInSkill { tool: id, skill }.into()),
        Listed::OtherPin(listed) => {
            let (listed, held) = (listed.clone(), tool.pin.clone());
            Err(Denial::OtherPinInSkill { tool: id, skill, listed, held }.into())
        }
    }
}

fn granted(tool: &PinnedTool, capabilities: &CapabilitySet) -> Judged<()> {
    let granted = capabilities.is_granted(&tool.id);
    granted.map(drop).map_err(|why| Denial::NotGranted { tool: tool.id.clone(), why }.into())
}

fn arguments_fit<'a>(tool: &PinnedTool, args: Arguments<'a>) -> Judged<&'a CallArgs> {
    let tool = tool.id.clone();
    match args {
        Arguments::Malformed(error) => Err(Denial::ArgsMalformed { tool, error: error.clone() }.into()),
        Arguments::Read { args, check } => match check {
            ArgsCheck::Valid => Ok(args),
            ArgsCheck::Invalid(problems) => {
                Err(Denial::ArgsInvalid { tool, problems: problems.clone() }.into())
            }
            ArgsCheck::NotChecked => Err(Denial::ArgsNotChecked { tool }.into()),
        },
    }
}

fn approved(tool: &PinnedTool, subject: &Subject<'_>, approvals: &ApprovalPolicy) -> Judged<Verdict> {
    let ruled = approvals.rule_on(subject);
    match (ruled.ruling, ruled.rule) {
        (Ruling::Allow, rule) => Ok(Verdict::Allow { rule }),
        (Ruling::Ask, rule) => Ok(Verdict::Ask { rule, call_hash: CallHash::of(tool, subject.args) }),
        (Ruling::Deny, rule) => Err(Denial::NotApproved { tool: tool.id.clone(), rule }.into()),
    }
}
