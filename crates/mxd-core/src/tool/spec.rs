//! A tool as the registry keeps it: identity, facts, and what its server says about it, cleaned.
//!
//! Titles, descriptions and schemas come from servers and go into prompts. They are cut and cleaned on the
//! way in, so nothing downstream can forget to.

use serde_json::Value;
use thiserror::Error;

use super::facts::ToolFacts;
use super::limits;
use super::text::{CleanText, TextFlags};
use super::wire_name::WireName;
use crate::prompt::ToolSpec;
use crate::raw::RawJson;

/// What a server offers, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOffer<'a> {
    /// What is known about the tool.
    pub facts: ToolFacts,
    /// A name for people.
    pub title: &'a str,
    /// What it is good for.
    pub description: &'a str,
    /// The schema of its arguments.
    pub input_schema: &'a RawJson,
    /// The schema of its results, when it has one.
    pub output_schema: Option<&'a RawJson>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What the server says about its manners.
    pub annotations: Annotations,
}

/// A tool of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDef {
    /// What the gate has to know.
    pub facts: ToolFacts,
    /// A name for people; may be empty.
    pub title: CleanText,
    /// What it is good for.
    pub description: CleanText,
    /// The schema of its arguments.
    pub input: InputSchema,
    /// The schema of its results, when it has one.
    pub output_schema: Option<RawJson>,
    /// How long a call may take.
    pub timeout_ms: u64,
    /// What the server says about its manners.
    pub annotations: Annotations,
}

/// Hints of a server about a tool. They are for people: a server that lies here gains nothing, because the
/// gate goes by the class in the manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it twice does what calling it once does.
    pub idempotent: Option<bool>,
    /// It reaches beyond a closed system.
    pub open_world: Option<bool>,
}

/// The schema of a tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSchema {
    given: RawJson,
    shown: RawJson,
    flags: TextFlags,
}

/// Why an offered tool cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum ToolDefError {
    #[error("the {which} schema of {tool} has {given} bytes, more than {limit}")]
    SchemaTooLong { tool: String, which: &'static str, given: usize, limit: usize },
    #[error("the {which} schema of {tool} is not one of an object")]
    SchemaOfNoObject { tool: String, which: &'static str },
}

impl ToolDefError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::SchemaTooLong { .. } => "Leave the tool out of the manifest, or have its server trim it.",
            Self::SchemaOfNoObject { .. } => {
                "Leave the tool out of the manifest, or have its server give a schema of type object."
            }
        }
    }
}

impl ToolDef {
    /// Takes what a server offers, checked and cleaned.
    pub fn from_offer(offer: ToolOffer<'_>) -> Result<Self, ToolDefError> {
        let tool = offer.facts.id.to_string();
        let input = InputSchema::read(&tool, offer.input_schema)?;
        if let Some(schema) = offer.output_schema {
            object_schema(&tool, "output", schema)?;
        }
        Ok(Self {
            facts: offer.facts,
            title: CleanText::clean(offer.title, limits::TITLE_BYTES),
            description: CleanText::clean(offer.description, limits::DESCRIPTION_BYTES),
            input,
            output_schema: offer.output_schema.cloned(),
            timeout_ms: offer.timeout_ms,
            annotations: offer.annotations,
        })
    }

    /// The tool as a model sees it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: WireName::of(&self.facts.id).as_str().to_owned(),
            description: self.description.text().to_owned(),
            schema: self.input.shown.clone(),
        }
    }

    /// What was taken out of its texts, or found in its schema.
    pub fn flags(&self) -> TextFlags {
        self.title.flags().plus(self.description.flags()).plus(self.input.flags)
    }
}

impl InputSchema {
    fn read(tool: &str, given: &RawJson) -> Result<Self, ToolDefError> {
        let mut schema = object_schema(tool, "input", given)?;
        let flags = clean(&mut schema);
        // Untouched, it stays byte for byte what the server wrote.
        let shown = match RawJson::parse(&schema.to_string()) {
            Ok(shown) if !flags.is_clean() => shown,
            Ok(_) | Err(_) => given.clone(),
        };
        Ok(Self { given: given.clone(), shown, flags })
    }

    /// The schema as the server gave it, for checking arguments.
    pub fn given(&self) -> &RawJson {
        &self.given
    }

    /// The schema that models see: its texts are cleaned.
    pub fn shown(&self) -> &RawJson {
        &self.shown
    }

    /// What was taken out of its texts, and what was found where nothing can be taken out.
    pub fn flags(&self) -> TextFlags {
        self.flags
    }
}

fn object_schema(tool: &str, which: &'static str, schema: &RawJson) -> Result<Value, ToolDefError> {
    let (given, limit) = (schema.get().len(), limits::SCHEMA_BYTES);
    if given > limit {
        return Err(ToolDefError::SchemaTooLong { tool: tool.to_owned(), which, given, limit });
    }
    let value: Option<Value> = serde_json::from_str(schema.get()).ok();
    let value = value.filter(|value| value.get("type").and_then(Value::as_str) == Some("object"));
    value.ok_or_else(|| ToolDefError::SchemaOfNoObject { tool: tool.to_owned(), which })
}

/// Cleans what a schema says to its reader and counts what hides elsewhere in it.
///
/// Names of properties and listed values mean what they are, hidden characters included, so they stay.
fn clean(schema: &mut Value) -> TextFlags {
    let hides = |text: &str| CleanText::clean(text, usize::MAX).flags();
    match schema {
        Value::Object(members) => {
            let mut flags = TextFlags::default();
            for (key, value) in members {
                flags = flags.plus(hides(key));
                flags = flags.plus(match (key.as_str(), &mut *value) {
                    ("description" | "title" | "$comment", Value::String(text)) => {
                        let cleaned = CleanText::clean(text, limits::DESCRIPTION_BYTES);
                        cleaned.text().clone_into(text);
                        cleaned.flags()
                    }
                    ("const" | "default" | "enum" | "examples", value) => clean(&mut value.clone()),
                    (_, value) => clean(value),
                });
            }
            flags
        }
        Value::Array(elements) => elements.iter_mut().map(clean).fold(TextFlags::default(), TextFlags::plus),
        Value::String(text) => hides(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => TextFlags::default(),
    }
}
