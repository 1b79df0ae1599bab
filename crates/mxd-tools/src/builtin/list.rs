//! All built-in tools: what a model is told about them, and which function each is.

use mxd_core::tool::SideEffect;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::Context;
use super::{background, bash};
use crate::outcome::Outcome;
use crate::shell::limits::{MAX_AWAIT_MS, MAX_FOREGROUND_TIMEOUT_MS};

/// The server they belong to.
pub const SERVER: &str = "mxd";

/// How much longer than a tool waits by itself its call may take.
const MARGIN_MS: u64 = 30_000;

/// A built-in tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Runs a command.
    Bash,
    /// Looks after commands.
    Background,
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
    vec![
        Listing {
            tool: BuiltIn::Bash,
            name: bash::NAME,
            description: bash::DESCRIPTION,
            input_schema: schema::<bash::Args>(),
            effect: SideEffect::Shell,
            timeout_ms: MAX_FOREGROUND_TIMEOUT_MS + MARGIN_MS,
        },
        Listing {
            tool: BuiltIn::Background,
            name: background::NAME,
            description: background::DESCRIPTION,
            input_schema: schema::<background::Args>(),
            effect: SideEffect::Shell,
            timeout_ms: MAX_AWAIT_MS + MARGIN_MS,
        },
    ]
}

impl BuiltIn {
    /// Runs it.
    pub async fn run(self, args: Value, context: Context<'_>) -> Outcome {
        match self {
            Self::Bash => match read(args) {
                Ok(args) => bash::run(args, context).await,
                Err(misfit) => misfit,
            },
            Self::Background => match read(args) {
                Ok(args) => background::run(args, context).await,
                Err(misfit) => misfit,
            },
        }
    }
}

/// Arguments that fit the schema and not the type are possible: `1.0` is an integer for one and not for the other.
fn read<T: DeserializeOwned>(args: Value) -> Result<T, Outcome> {
    serde_json::from_value(args).map_err(|error| Outcome::error(format!("the arguments do not fit: {error}")))
}

/// The schema of arguments, without what tells a model nothing.
fn schema<T: JsonSchema>() -> Value {
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
