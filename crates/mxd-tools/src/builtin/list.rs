//! All built-in tools: what a model is told about them, and which function each is.

use mxd_core::tool::SideEffect;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::context::Context;
use super::{background, bash, edit_file, list_files, read_file, search, write_file};
use crate::outcome::Outcome;
use crate::scope::Scope;
use crate::shell::limits::{MAX_AWAIT_MS, MAX_FOREGROUND_TIMEOUT_MS};

/// The server they belong to.
pub const SERVER: &str = "mxd";

/// How much longer than a tool waits by itself its call may take.
const MARGIN_MS: u64 = 30_000;

/// How long work on files may take.
const FILES_MS: u64 = 120_000;

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Runs a command.
    Bash,
    /// Looks after commands.
    Background,
    /// Reads a file.
    ReadFile,
    /// Writes a file.
    WriteFile,
    /// Changes a part of a file.
    EditFile,
    /// Lists files.
    ListFiles,
    /// Searches files.
    Search,
}

/// A built-in tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Which it is.
    pub tool: BuiltIn,
    /// What it is called on its server.
    pub name: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// The schema of its arguments.
    pub input_schema: Value,
    /// What it does to the world.
    pub effect: SideEffect,
    /// How long a call may take.
    pub timeout_ms: u64,
}

/// All of them, in the order in which models see them.
pub fn tools() -> Vec<Listing> {
    use BuiltIn::{Background, Bash, EditFile, ListFiles, ReadFile, Search, WriteFile};
    let bash_ms = MAX_FOREGROUND_TIMEOUT_MS + MARGIN_MS;
    vec![
        listing::<bash::Args>(Bash, bash::EFFECT, bash_ms, (bash::NAME, bash::DESCRIPTION)),
        listing::<background::Args>(
            Background,
            background::EFFECT,
            MAX_AWAIT_MS + MARGIN_MS,
            (background::NAME, background::DESCRIPTION),
        ),
        listing::<read_file::Args>(
            ReadFile,
            read_file::EFFECT,
            FILES_MS,
            (read_file::NAME, read_file::DESCRIPTION),
        ),
        listing::<write_file::Args>(
            WriteFile,
            write_file::EFFECT,
            FILES_MS,
            (write_file::NAME, write_file::DESCRIPTION),
        ),
        listing::<edit_file::Args>(
            EditFile,
            edit_file::EFFECT,
            FILES_MS,
            (edit_file::NAME, edit_file::DESCRIPTION),
        ),
        listing::<list_files::Args>(
            ListFiles,
            list_files::EFFECT,
            FILES_MS,
            (list_files::NAME, list_files::DESCRIPTION),
        ),
        listing::<search::Args>(Search, search::EFFECT, FILES_MS, (search::NAME, search::DESCRIPTION)),
    ]
}

fn listing<Args: JsonSchema>(
    tool: BuiltIn,
    effect: SideEffect,
    timeout_ms: u64,
    (name, description): (&'static str, &'static str),
) -> Listing {
    Listing { tool, name, description, input_schema: schema::<Args>(), effect, timeout_ms }
}

impl BuiltIn {
    /// Runs it.
    pub async fn run(self, args: Value, context: Context<'_>) -> Outcome {
        let done = match self {
            Self::Bash => match read(args) {
                Ok(args) => Ok(bash::run(args, context).await),
                Err(misfit) => Err(misfit),
            },
            Self::Background => match read(args) {
                Ok(args) => Ok(background::run(args, context).await),
                Err(misfit) => Err(misfit),
            },
            Self::ReadFile => on_files(args, context, |args, scope, _| read_file::run(args, scope)).await,
            Self::WriteFile => on_files(args, context, |args, scope, _| write_file::run(args, scope)).await,
            Self::EditFile => on_files(args, context, |args, scope, _| edit_file::run(args, scope)).await,
            Self::ListFiles => on_files(args, context, list_files::run).await,
            Self::Search => on_files(args, context, search::run).await,
        };
        done.unwrap_or_else(|misfit| misfit)
    }
}

/// Works on files, which blocks, on a thread where that hinders nobody.
async fn on_files<Args: DeserializeOwned + Send + 'static>(
    args: Value,
    context: Context<'_>,
    work: impl FnOnce(&Args, &Scope, &CancellationToken) -> Outcome + Send + 'static,
) -> Result<Outcome, Outcome> {
    let args = read::<Args>(args)?;
    let (scope, cancel) = (context.scope.clone(), context.cancel.clone());
    let done = tokio::task::spawn_blocking(move || work(&args, &scope, &cancel)).await;
    done.map_err(|_panicked| Outcome::error("the tool failed for a reason of its own; try another way"))
}

/// Arguments that fit the schema and not the type are possible: `1.0` is an integer for one and not for the other.
pub(crate) fn read<T: DeserializeOwned>(args: Value) -> Result<T, Outcome> {
    serde_json::from_value(args).map_err(|error| Outcome::error(format!("the arguments do not fit: {error}")))
}

/// The schema of arguments, without what tells a model nothing.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let generator = settings.with_transform(RecursiveTransform(simplify)).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    schema.to_value()
}

/// Takes out formats, and makes one list of words that each have a schema of their own.
fn simplify(schema: &mut Schema) {
    schema.remove("format");
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let words: Option<Vec<Value>> =
        choices.and_then(|choices| choices.iter().map(|choice| choice.get("const").cloned()).collect());
    if let Some(words) = words {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), words.into());
    }
}
