//! The orchestrator tools: what agents can ask of the task tree, of each other and of the user.
//!
//! To a model they are tools like all others; they are decided here, in the core, instead of being run
//! somewhere. Each is a struct whose fields are its arguments: what the model reads about them, what is
//! accepted and what the rest of the core works with are one definition. The strategy, when to use which, is
//! in the system text; here stands only how.

mod folders;
mod look;
mod reference;
mod schema;
mod talk;
mod tasks;

use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use super::args::{ArgsError, CallArgs};
use super::effect::SideEffect;
use super::text::Quoted;
use crate::limits::Limits;

pub use folders::{CreateFolder, DeleteFolder, RenameFolder};
pub use look::{GetTask, GetTree, LogKind, SearchLogs, SearchTasks, TreeFormat};
pub use reference::TaskRef;
pub use talk::{Clarify, Done, ListProjects, SendMessage, SendMessageToProject, Yield};
pub use tasks::{
    CHECK_BYTES, CloseTask, Comeback, CreateTask, DeleteTask, ForkTaskContext, MAX_CHECKS, MergeTask,
    NewStatus, ReorderTasks, ResetTask, UpdateTask,
};

/// The server they belong to.
pub const SERVER: &str = "mxd";

const TITLE_CHARS: usize = Limits::DEFAULT.title_chars;
const DESCRIPTION_BYTES: usize = Limits::DEFAULT.description_bytes;

/// A message between tasks is a part of what an inbox takes, because its reader has to read all of it at once.
pub const MESSAGE_BYTES: usize = Limits::DEFAULT.message_bytes / 8;

/// How a tool goes together with others of the same turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// With any others.
    Any,
    /// With others it succeeds and does nothing; of several in one turn only the last counts.
    Idle,
    /// With others it is refused, and the others run.
    Refused,
}

/// The arguments of one tool.
trait Arguments: DeserializeOwned + schemars::JsonSchema {
    /// What a model reads about the tool.
    const DESCRIPTION: &'static str;

    /// What the types of the fields cannot say.
    fn check(&self) -> Result<(), Misfit> {
        Ok(())
    }
}

/// An orchestrator tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// What it is called on its server.
    pub name: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// The schema of its arguments.
    pub input_schema: Value,
    /// What it does to the world.
    pub effect: SideEffect,
}

macro_rules! orchestrator {
    ($($tool:ident = $name:literal, $effect:ident, $company:ident;)+) => {
        /// A call of an orchestrator tool, with its arguments.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Orchestrator {
            $(#[doc = concat!("`", $name, "`")] $tool($tool),)+
        }

        impl Orchestrator {
            /// The names of all of them, in the order in which models see them.
            pub const NAMES: &[&str] = &[$($name),+];

            /// Reads a call: the name of the tool on its server, and the arguments as the model wrote them.
            ///
            /// # Errors
            ///
            /// When there is no such tool, or the arguments are not its.
            pub fn parse(name: &str, args: &str) -> Result<Self, OrchestratorError> {
                match name {
                    $($name => arguments($name, args).map(Self::$tool),)+
                    _ => Err(OrchestratorError::Unknown { name: Quoted::of(name) }),
                }
            }

            /// What the tool is called on its server.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$tool(_) => $name,)+
                }
            }

            /// How it goes together with others of the same turn.
            pub fn company(&self) -> Company {
                match self {
                    $(Self::$tool(_) => Company::$company,)+
                }
            }
        }

        /// All of them, in the order in which models see them.
        pub fn listings() -> Vec<Listing> {
            vec![$(Listing {
                name: $name,
                description: <$tool as Arguments>::DESCRIPTION,
                input_schema: schema::of::<$tool>(),
                effect: SideEffect::$effect,
            }),+]
        }
    };
}

orchestrator! {
    GetTree = "get_tree", Read, Any;
    GetTask = "get_task", Read, Any;
    SearchTasks = "search_tasks", Read, Any;
    SearchLogs = "search_logs", Read, Any;
    CreateTask = "create_task", Write, Any;
    UpdateTask = "update_task", Write, Any;
    ReorderTasks = "reorder_tasks", Write, Any;
    MergeTask = "merge_task", Write, Any;
    CloseTask = "close_task", Write, Any;
    ResetTask = "reset_task", Write, Any;
    DeleteTask = "delete_task", Write, Any;
    ForkTaskContext = "fork_task_context", Write, Refused;
    CreateFolder = "create_folder", Write, Any;
    RenameFolder = "rename_folder", Write, Any;
    DeleteFolder = "delete_folder", Write, Any;
    // Talking and ending change nothing on the machine, and an agent that may only read has to be able to report.
    SendMessage = "send_message", Read, Any;
    Clarify = "clarify", Read, Any;
    Yield = "yield", Read, Idle;
    Done = "done", Read, Refused;
    ListProjects = "list_projects", Read, Any;
    SendMessageToProject = "send_message_to_project", Read, Any;
}

/// Why a call is none of an orchestrator tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OrchestratorError {
    /// There is no such tool.
    #[error("there is no tool `{name}` on the server {SERVER}")]
    Unknown {
        /// What was called.
        name: Quoted,
    },
    /// The arguments are no object.
    #[error("the call of {tool} cannot be read: {source}")]
    Unreadable {
        /// Which tool.
        tool: &'static str,
        /// Why.
        source: ArgsError,
    },
    /// The arguments are not those of the tool.
    #[error("the arguments of {tool} do not fit: {misfit}")]
    Misfit {
        /// Which tool.
        tool: &'static str,
        /// What does not fit.
        misfit: Misfit,
    },
}

impl OrchestratorError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "Call one of the tools you were given, by its exact name.",
            Self::Unreadable { source, .. } => source.hint(),
            Self::Misfit { .. } => "Nothing was done. Correct the arguments and call it again.",
        }
    }

    /// What the model reads as the result of its call.
    pub fn for_model(&self) -> String {
        format!("{self}. {}", self.hint())
    }
}

/// What is wrong with arguments, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{problem}", place(argument))]
pub struct Misfit {
    /// Which argument, such as `children[2]`; empty for all of them together.
    pub argument: String,
    /// What is wrong with it.
    pub problem: Quoted,
}

impl Misfit {
    fn new(argument: impl Into<String>, problem: &str) -> Self {
        Self { argument: argument.into(), problem: Quoted::of(problem) }
    }
}

fn place(argument: &str) -> String {
    if argument.is_empty() { String::new() } else { format!("`{}` ", Quoted::of(argument)) }
}

fn arguments<T: Arguments>(tool: &'static str, args: &str) -> Result<T, OrchestratorError> {
    let args = CallArgs::parse(args).map_err(|source| OrchestratorError::Unreadable { tool, source })?;
    let misfit = |misfit| OrchestratorError::Misfit { tool, misfit };
    let read: T = serde_path_to_error::deserialize(args.value()).map_err(|error| misfit(unread(&error)))?;
    read.check().map_err(misfit)?;
    Ok(read)
}

/// The path of a missing or unknown argument is that of the object it should or should not be in.
fn unread(error: &serde_path_to_error::Error<serde_json::Error>) -> Misfit {
    let (path, problem) = (error.path().to_string(), error.inner().to_string());
    let argument = if path == "." || problem.starts_with("unknown field") { String::new() } else { path };
    let mark = if argument.is_empty() { "" } else { "has an " };
    Misfit::new(argument, &format!("{mark}{problem}"))
}

fn bytes(argument: &str, text: &str, limit: usize) -> Result<(), Misfit> {
    if text.len() <= limit {
        return Ok(());
    }
    Err(Misfit::new(argument, &format!("has {} bytes, more than {limit}", text.len())))
}

fn count(argument: &str, given: usize, limit: usize) -> Result<(), Misfit> {
    if given <= limit {
        Ok(())
    } else {
        Err(Misfit::new(argument, &format!("has {given} items, more than {limit}")))
    }
}

fn number(argument: &str, given: u32, range: RangeInclusive<u32>) -> Result<(), Misfit> {
    if range.contains(&given) {
        return Ok(());
    }
    Err(Misfit::new(argument, &format!("is {given}, not a number from {} to {}", range.start(), range.end())))
}
