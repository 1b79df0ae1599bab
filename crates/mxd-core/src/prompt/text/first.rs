//! The first message of a conversation: who the agent is, where it works, and what it starts with.

use std::fmt::Write as _;

use super::budget::Funds;
use super::fence::{Fence, cut, guarded};
use super::memory::Memory;
use crate::id::TaskId;

/// Differences between a worktree and the user's checkout, at most.
const NAMES_SHOWN: usize = 30;

/// Bytes of one such name, of a path or of a command.
const NAME_BYTES: usize = 300;

/// Skills that are named.
const SKILLS_SHOWN: usize = 100;

/// Bytes of the description of a skill.
const SKILL_BYTES: usize = 500;

/// Bytes of a description; a task cannot have a longer one.
const DESCRIPTION_BYTES: usize = crate::limits::Limits::DEFAULT.description_bytes;

/// What an agent is told before anything else.
#[derive(Debug, Clone)]
pub struct FirstMessage<'a> {
    /// Its task.
    pub task: TaskId,
    /// The title.
    pub title: &'a str,
    /// The description.
    pub description: &'a str,
    /// What stands above it.
    pub above: Above<'a>,
    /// Where it works.
    pub workplace: Workplace<'a>,
    /// Commands that have to succeed before the task can be passed.
    pub checks: &'a [String],
    /// What it may spend.
    pub funds: Funds,
    /// What the project remembers.
    pub memory: &'a Memory,
    /// Skills it can use.
    pub skills: &'a [SkillLine<'a>],
}

/// What stands above a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above<'a> {
    /// The user.
    User,
    /// Another task.
    Task {
        /// Which.
        id: TaskId,
        /// Its title.
        title: &'a str,
    },
}

/// Where an agent works.
#[derive(Debug, Clone, Copy)]
pub struct Workplace<'a> {
    /// The working directory.
    pub directory: &'a str,
    /// The branch; none when HEAD is detached.
    pub branch: Option<&'a str>,
    /// What the branch started from; none for the root, who reads the base branch itself.
    pub base: Option<Base<'a>>,
}

/// What a worktree started from.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// The branch.
    pub branch: &'a str,
    /// The commit.
    pub commit: &'a str,
    /// How the worktree differs from the user's checkout, a sentence each: what was not carried over, what was. None
    /// when nobody has looked: the user's checkout changes after the launch.
    pub differences: Option<&'a [String]>,
}

/// A skill, in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillLine<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
}

impl FirstMessage<'_> {
    /// The text. What was written by people and other agents stands inside of fences.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _infallible = write!(text, "# Your task\n\nTask: {}\nTitle: {}\n", self.task, line(self.title));
        text.push_str(&self.position());
        let _infallible = writeln!(text, "Budget: {}", self.funds.line());
        if self.description.trim().is_empty() {
            text.push_str("\nThe task has no description beside its title.\n");
        } else {
            let fenced = Fence::new("task_description").around(self.description, DESCRIPTION_BYTES);
            let _infallible = write!(text, "\n{fenced}\n");
        }
        text.push_str(&self.checks());
        let _infallible = write!(text, "\n# Where you work\n\n{}", self.workplace.text());
        let _infallible = write!(text, "\n# What the project remembers\n\n{}\n", self.memory.block());
        text.push_str(&self.skills());
        text
    }

    fn position(&self) -> String {
        match self.above {
            Above::User => "Above: nobody; this is the root task, and you speak with the user\n".to_owned(),
            Above::Task { id, title } => format!("Above: {id} ({})\n", line(title)),
        }
    }

    fn checks(&self) -> String {
        if self.checks.is_empty() {
            return String::new();
        }
        let mut text = "\nChecks, which are run on what you committed when you call done:\n".to_owned();
        for check in self.checks {
            let _infallible = writeln!(text, "* `{}`", line(check));
        }
        text
    }

    fn skills(&self) -> String {
        if self.skills.is_empty() {
            return String::new();
        }
        let one = |skill: &SkillLine<'_>| {
            format!("* {}: {}", line(skill.name), cut(&line(skill.description), SKILL_BYTES))
        };
        let list: Vec<String> = self.skills.iter().take(SKILLS_SHOWN).map(one).collect();
        format!("\n# Skills\n\n{}\n", Fence::new("skills").around(&list.join("\n"), usize::MAX))
    }
}

impl Workplace<'_> {
    fn text(&self) -> String {
        let mut text = format!("Directory: {}\n", line(self.directory));
        match self.branch {
            Some(branch) => {
                let _infallible = writeln!(text, "Branch: {}", line(branch));
            }
            None => text.push_str("Branch: none, HEAD is detached\n"),
        }
        let Some(base) = self.base else {
            text.push_str(
                "This is a copy of the base branch for you to read, as it is committed; it follows the branch. What the user \
                 has not committed is not in it. Let tasks below yours change things.\n",
            );
            return text;
        };
        let _infallible = writeln!(text, "Started from: {} at {}", line(base.branch), line(base.commit));
        let Some(differences) = base.differences else { return text };
        text.push_str(
            "Everything that is committed there is in your worktree; files that git ignores are not, ",
        );
        text.push_str("unless they were copied.\n");
        for difference in differences.iter().take(NAMES_SHOWN) {
            let _infallible = writeln!(text, "* {}", line(difference));
        }
        if let Some(more @ 1..) = differences.len().checked_sub(NAMES_SHOWN) {
            let _infallible = writeln!(text, "* and {more} more");
        }
        text
    }
}

/// A name as one short line.
fn line(name: &str) -> String {
    let visible: String = name.chars().filter(|c| !crate::tool::is_hidden(*c)).collect();
    let one: Vec<&str> = visible.split(char::is_control).filter(|part| !part.is_empty()).collect();
    let one = guarded(&one.join(" "));
    match one.floor_char_boundary(NAME_BYTES) {
        end if end < one.len() => format!("{}…", &one[..end]),
        _ => one,
    }
}
