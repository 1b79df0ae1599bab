//! Denials: why a call does not run, by which rule, and what the model is told.

use std::fmt::{self, Write as _};

use super::approval::RuleRef;
use super::args::ArgsError;
use super::capability::Ungranted;
use super::effect::{EffectSet, SideEffect};
use super::id::ToolId;
use super::limits;
use super::pin::Pin;
use super::skill::SkillName;
use super::text::Quoted;

/// The checks of the gate, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateStep {
    /// Is there such a tool?
    Known,
    /// Is it held to a version, and is it that version?
    Pinned,
    /// Does the manifest allow its class?
    Effect,
    /// Does the active skill list it?
    Skill,
    /// Is it granted to the task?
    Capability,
    /// Do the arguments fit the tool's schema?
    Arguments,
    /// What does the approval policy say?
    Approval,
}

/// What is wrong with one argument, as whoever checked the schema found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgProblem {
    /// Where, as a JSON pointer; empty for the arguments as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// Why a call does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentences of `for_model` say what the fields are")]
pub enum Denial {
    Unknown { called: Quoted },
    Native { called: Quoted },
    Unpinned { tool: ToolId },
    OtherPin { tool: ToolId, called: Pin, held: Pin },
    PinChanged { tool: ToolId, held: Pin, found: Pin },
    EffectUnknown { tool: ToolId },
    EffectNotAllowed { tool: ToolId, effect: SideEffect, allowed: EffectSet },
    NotInSkill { tool: ToolId, skill: SkillName },
    OtherPinInSkill { tool: ToolId, skill: SkillName, listed: Pin, held: Pin },
    NotGranted { tool: ToolId, why: Ungranted },
    ArgsMalformed { tool: ToolId, error: ArgsError },
    ArgsNotChecked { tool: ToolId },
    ArgsInvalid { tool: ToolId, problems: Vec<ArgProblem> },
    NotApproved { tool: ToolId, rule: RuleRef },
}

impl Denial {
    /// A name for programs, which stays the same when the sentences are reworded.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_tool",
            Self::Native { .. } => "native_tool",
            Self::Unpinned { .. } => "unpinned_tool",
            Self::OtherPin { .. } => "other_pin",
            Self::PinChanged { .. } => "pin_changed",
            Self::EffectUnknown { .. } => "effect_unknown",
            Self::EffectNotAllowed { .. } => "effect_not_allowed",
            Self::NotInSkill { .. } => "not_in_skill",
            Self::OtherPinInSkill { .. } => "other_pin_in_skill",
            Self::NotGranted { .. } => "not_granted",
            Self::ArgsMalformed { .. } => "arguments_malformed",
            Self::ArgsNotChecked { .. } => "arguments_not_checked",
            Self::ArgsInvalid { .. } => "arguments_invalid",
            Self::NotApproved { .. } => "not_approved",
        }
    }

    /// Which check failed.
    pub fn step(&self) -> GateStep {
        match self {
            Self::Unknown { .. } | Self::Native { .. } => GateStep::Known,
            Self::Unpinned { .. } | Self::OtherPin { .. } | Self::PinChanged { .. } => GateStep::Pinned,
            Self::EffectUnknown { .. } | Self::EffectNotAllowed { .. } => GateStep::Effect,
            Self::NotInSkill { .. } | Self::OtherPinInSkill { .. } => GateStep::Skill,
            Self::NotGranted { .. } => GateStep::Capability,
            Self::ArgsMalformed { .. } | Self::ArgsNotChecked { .. } | Self::ArgsInvalid { .. } => {
                GateStep::Arguments
            }
            Self::NotApproved { .. } => GateStep::Approval,
        }
    }

    /// The rule that denies, in words somebody can search for.
    pub fn rule(&self) -> String {
        match self {
            Self::Unknown { .. } | Self::Native { .. } => "known".to_owned(),
            Self::Unpinned { .. } | Self::OtherPin { .. } | Self::PinChanged { .. } => "pinned".to_owned(),
            Self::EffectUnknown { .. } | Self::EffectNotAllowed { .. } => {
                "manifest:allowed_side_effects".to_owned()
            }
            Self::NotInSkill { skill, .. } | Self::OtherPinInSkill { skill, .. } => {
                format!("skill:{skill}:tools")
            }
            Self::NotGranted { why, .. } => format!("capability:{why}"),
            Self::ArgsMalformed { .. } | Self::ArgsNotChecked { .. } | Self::ArgsInvalid { .. } => {
                "arguments".to_owned()
            }
            Self::NotApproved { rule, .. } => rule.to_string(),
        }
    }

    /// What the model reads as the result of its call: what was denied, by which rule, and what to do.
    pub fn for_model(&self) -> String {
        let mut reason = self.to_string();
        if reason.len() > limits::DENIAL_BYTES {
            reason.truncate(reason.floor_char_boundary(limits::DENIAL_BYTES));
            reason.push('…');
        }
        format!("Denied ({}): {reason}. {}", self.rule(), self.advice())
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "Call one of the tools you were given, by its exact name.",
            Self::Native { .. } => "Use another tool; calling this one again changes nothing.",
            Self::Unpinned { .. } | Self::PinChanged { .. } | Self::EffectUnknown { .. } => {
                "Do not call it again; use another tool, or tell the user that the manifest needs a look."
            }
            Self::OtherPin { .. } => "Call it in the version it is held to.",
            Self::EffectNotAllowed { .. } => {
                "Reach the goal with tools of the allowed classes, or say why not."
            }
            Self::NotInSkill { .. } | Self::OtherPinInSkill { .. } => {
                "Keep to the tools the skill lists, or say that the skill lacks one."
            }
            Self::NotGranted { .. } => "Do it another way, or ask the task above to do this part.",
            Self::ArgsMalformed { error, .. } => error.hint(),
            Self::ArgsNotChecked { .. } => "This is not your mistake; use another tool or tell the user.",
            Self::ArgsInvalid { .. } => "Correct the arguments and call it again.",
            Self::NotApproved { .. } => "Do it another way, or tell the user what you need and why.",
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { called } => write!(f, "there is no tool `{called}`"),
            Self::Native { called } => write!(f, "`{called}` is a native tool, which cannot be called"),
            Self::Unpinned { tool } => write!(f, "{tool} is not held to a version"),
            Self::OtherPin { tool, called, held } => {
                write!(f, "{tool} was called as {called} and is held to {held}")
            }
            Self::PinChanged { tool, held, found } => {
                write!(f, "{tool} is held to {held}, and its server now offers {found}")
            }
            Self::EffectUnknown { tool } => write!(f, "nobody said what {tool} does to the world"),
            Self::EffectNotAllowed { tool, effect, allowed } => {
                write!(f, "{tool} has the side effect {effect}, and the manifest allows {allowed}")
            }
            Self::NotInSkill { tool, skill } => write!(f, "the skill {skill} does not list {tool}"),
            Self::OtherPinInSkill { tool, skill, listed, held } => {
                write!(f, "the skill {skill} lists {tool} as {listed}, and it is held to {held}")
            }
            Self::NotGranted { tool, why } => write!(f, "this task may not use {tool} ({why})"),
            Self::ArgsMalformed { tool, error } => write!(f, "the call of {tool} cannot be read: {error}"),
            Self::ArgsNotChecked { tool } => {
                write!(f, "the arguments of {tool} were not checked against its schema")
            }
            Self::ArgsInvalid { tool, problems } => write_problems(f, tool, problems),
            Self::NotApproved { tool, rule } => match rule {
                RuleRef::Rule(rule) => write!(f, "the rule {rule} denies this call of {tool}"),
                RuleRef::Fallback(effect) => {
                    write!(f, "{tool} is a {effect} tool, and those are denied where no rule allows them")
                }
            },
        }
    }
}

fn write_problems(f: &mut fmt::Formatter<'_>, tool: &ToolId, problems: &[ArgProblem]) -> fmt::Result {
    write!(f, "the arguments of {tool} do not fit its schema")?;
    let mut mark = ':';
    for ArgProblem { path, problem } in problems.iter().take(limits::ARG_PROBLEMS) {
        f.write_char(mark)?;
        mark = ';';
        match path.as_str() {
            "" => write!(f, " {}", Quoted::of(problem))?,
            path => write!(f, " at `{}` {}", Quoted::of(path), Quoted::of(problem))?,
        }
    }
    match problems.len().saturating_sub(limits::ARG_PROBLEMS) {
        0 => Ok(()),
        more => write!(f, "; and {more} more"),
    }
}

impl std::error::Error for Denial {}
