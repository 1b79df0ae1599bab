//! The approval policy: which calls run, which wait for the user's word, which do not run.
//!
//! The most specific rule that matches decides, wherever it stands. Specificity compares, in this order:
//!
//! 1. how closely the rule points at the tool: one tool, some tools of one server (`mcp:fs:read_*`), one
//!    server, some servers, only a side-effect class, everything;
//! 2. how many arguments it looks at;
//! 3. whether it also names a class.
//!
//! Among equally specific rules the stricter ruling wins: deny before ask before allow. A rule that allows
//! matches narrowly, one that asks or denies matches widely (see [`Reading`]); a match that only the wide
//! reading finds can make the ruling stricter but never milder. Where no rule matches, the [`Fallback`] of the
//! tool's class decides.
//!
//! A pattern over a command line keeps other commands out; it does not know what the options of an allowed
//! one do, and a denied word can be spelt in many ways. What must never happen is a matter of capabilities
//! and of the sandbox, not of this policy.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::arg_pattern::ArgPattern;
use super::args::CallArgs;
use super::effect::SideEffect;
use super::glob::Reading;
use super::id::ToolId;
use super::limits;
use super::pattern::{Closeness, ToolPattern};
use super::spelling::checked_text;
use super::text::Quoted;

/// What happens to a call, from mild to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It runs.
    Allow,
    /// It waits for the user's word.
    Ask,
    /// It does not run.
    Deny,
}

checked_text! {
    /// The name of an approval rule, by which a verdict cites it.
    RuleName, RuleNameError, check_name
}

/// Why a text is no name of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is no name of a rule: 1 to {} letters, digits, `-`, `_` and `.`", limits::RULE_NAME_CHARS)]
pub struct RuleNameError {
    /// What was given.
    pub given: Quoted,
}

fn check_name(name: &str) -> Result<(), RuleNameError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= limits::RULE_NAME_CHARS && name.chars().all(allowed) {
        return Ok(());
    }
    Err(RuleNameError { given: Quoted::of(name) })
}

/// One rule. All of its conditions have to hold; without any it is about every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// What it is called.
    pub name: RuleName,
    /// Which tools it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolPattern>,
    /// Which class of tools it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<SideEffect>,
    /// What it says about arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<ArgPattern>,
    /// What happens to the call.
    pub ruling: Ruling,
}

/// What happens to calls that no rule is about, by class.
///
/// The default supposes that read, write and shell tools are confined to the task's worktree, and lets them
/// run unasked. What leaves the machine or spends money cannot be taken back, so the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "one field per side-effect class")]
pub struct Fallback {
    pub read: Ruling,
    pub write: Ruling,
    pub network: Ruling,
    pub shell: Ruling,
    pub chain: Ruling,
}

impl Default for Fallback {
    fn default() -> Self {
        Self {
            read: Ruling::Allow,
            write: Ruling::Allow,
            network: Ruling::Ask,
            shell: Ruling::Allow,
            chain: Ruling::Ask,
        }
    }
}

impl Fallback {
    /// The same ruling for every class.
    pub fn always(ruling: Ruling) -> Self {
        Self { read: ruling, write: ruling, network: ruling, shell: ruling, chain: ruling }
    }

    fn of(self, effect: SideEffect) -> Ruling {
        match effect {
            SideEffect::Read => self.read,
            SideEffect::Write => self.write,
            SideEffect::Network => self.network,
            SideEffect::Shell => self.shell,
            SideEffect::Chain => self.chain,
        }
    }
}

/// The rules of a project. The default has none and goes by class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct ApprovalPolicy {
    rules: Vec<ApprovalRule>,
    fallback: Fallback,
}

/// Why there can be no such policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum PolicyError {
    #[error("the policy has {given} rules, more than {limit}")]
    TooManyRules { given: usize, limit: usize },
    #[error("the rule {rule} looks at {given} arguments, more than {limit}")]
    TooManyArgs { rule: RuleName, given: usize, limit: usize },
    #[error("two rules are called {rule}")]
    RepeatedName { rule: RuleName },
}

impl PolicyError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooManyRules { .. } => "Join rules with wildcards.",
            Self::TooManyArgs { .. } => "Look only at the arguments that matter.",
            Self::RepeatedName { .. } => "Give every rule its own name: verdicts cite it.",
        }
    }
}

/// Which rule decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleRef {
    /// A rule of the policy.
    Rule(RuleName),
    /// None of them; the class decided.
    Fallback(SideEffect),
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(name) => write!(f, "approval:{name}"),
            Self::Fallback(effect) => write!(f, "approval:fallback:{effect}"),
        }
    }
}

/// What the policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled {
    /// What happens to it.
    pub ruling: Ruling,
    /// By which rule.
    pub rule: RuleRef,
}

/// How specific a rule is; the greater one decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    aim: Aim,
    args: usize,
    names_class: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Aim {
    Everything,
    Class,
    SomeServers,
    OneServer,
    SomeTools,
    OneTool,
}

impl ApprovalRule {
    /// How specific it is.
    pub fn specificity(&self) -> Specificity {
        let aim = match (self.tool.as_ref().map(ToolPattern::closeness), self.effect) {
            (Some(Closeness::OneTool), _) => Aim::OneTool,
            (Some(Closeness::SomeTools), _) => Aim::SomeTools,
            (Some(Closeness::OneServer), _) => Aim::OneServer,
            (Some(Closeness::SomeServers), _) => Aim::SomeServers,
            (Some(Closeness::Any) | None, Some(_)) => Aim::Class,
            (Some(Closeness::Any) | None, None) => Aim::Everything,
        };
        Specificity { aim, args: self.args.len(), names_class: self.effect.is_some() }
    }

    fn matches(&self, subject: &Subject<'_>, reading: Reading) -> bool {
        self.tool.as_ref().is_none_or(|tool| tool.matches(subject.id))
            && self.effect.is_none_or(|effect| effect == subject.effect)
            && self.args.iter().all(|pattern| pattern.matches(subject.args, reading))
    }
}

/// The call that is ruled on.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool.
    pub id: &'a ToolId,
    /// Its class.
    pub effect: SideEffect,
    /// The arguments.
    pub args: &'a CallArgs,
}

impl ApprovalPolicy {
    /// A policy; the order of its rules makes no difference.
    pub fn new(rules: Vec<ApprovalRule>, fallback: Fallback) -> Result<Self, PolicyError> {
        if rules.len() > limits::APPROVAL_RULES {
            return Err(PolicyError::TooManyRules { given: rules.len(), limit: limits::APPROVAL_RULES });
        }
        let mut names = BTreeSet::new();
        for rule in &rules {
            if rule.args.len() > limits::ARGS_PER_RULE {
                let (given, limit) = (rule.args.len(), limits::ARGS_PER_RULE);
                return Err(PolicyError::TooManyArgs { rule: rule.name.clone(), given, limit });
            }
            if !names.insert(&rule.name) {
                return Err(PolicyError::RepeatedName { rule: rule.name.clone() });
            }
        }
        Ok(Self { rules, fallback })
    }

    /// Its rules.
    pub fn rules(&self) -> &[ApprovalRule] {
        &self.rules
    }

    /// What happens to a call.
    pub fn rule_on(&self, subject: &Subject<'_>) -> Ruled {
        let certain = self.rules.iter().filter(|rule| rule.matches(subject, Reading::Narrow));
        let certain = certain.max_by_key(|rule| (rule.specificity(), rule.ruling, &rule.name));
        let (floor, ruling) = match certain {
            Some(rule) => (Some(rule.specificity()), rule.ruling),
            None => (None, self.fallback.of(subject.effect)),
        };
        // What matches only in doubt must not push a stricter rule aside, so here the ruling comes first.
        let doubtful = self.rules.iter().filter(|rule| rule.ruling > ruling);
        let doubtful = doubtful.filter(|rule| Some(rule.specificity()) >= floor);
        let doubtful = doubtful.filter(|rule| rule.matches(subject, Reading::Wide));
        match doubtful.max_by_key(|rule| (rule.ruling, rule.specificity(), &rule.name)).or(certain) {
            Some(rule) => Ruled { ruling: rule.ruling, rule: RuleRef::Rule(rule.name.clone()) },
            None => Ruled { ruling, rule: RuleRef::Fallback(subject.effect) },
        }
    }
}

/// How a policy is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    rules: Vec<ApprovalRule>,
    #[serde(default)]
    fallback: Fallback,
}

impl TryFrom<Stored> for ApprovalPolicy {
    type Error = PolicyError;

    fn try_from(stored: Stored) -> Result<Self, PolicyError> {
        Self::new(stored.rules, stored.fallback)
    }
}
