//! Arguments against the schema of their tool.

use std::fmt::Display;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use mxd_core::tool::ArgProblem;
use serde_json::Value;

/// Problems of one call that are told.
const MAX_PROBLEMS: usize = 10;
/// Bytes of what is wrong with one argument.
const MAX_PROBLEM_BYTES: usize = 300;

/// A schema, compiled once. It never loads anything from elsewhere.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of the arguments is no JSON Schema: {why}")]
pub struct SchemaError {
    /// What is wrong with it.
    pub why: String,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// When it is none, or refers to something outside of itself.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        // A pattern of a foreign server must not make us think for ever.
        let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
        let validator = options.build(schema).map_err(|error| SchemaError { why: short(&error) })?;
        Ok(Self { validator })
    }

    /// What is wrong with these arguments; nothing when they fit.
    pub fn problems(&self, args: &Value) -> Vec<ArgProblem> {
        self.validator.iter_errors(args).flat_map(|error| problems(&error)).take(MAX_PROBLEMS).collect()
    }
}

fn problems(error: &ValidationError<'_>) -> Vec<ArgProblem> {
    let at = error.instance_path().to_string();
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    let here = |problem: String| vec![ArgProblem { path: at.clone(), problem: short(&problem) }];
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().map_or_else(|| property.to_string(), str::to_owned);
            vec![ArgProblem { path: below(&name), problem: "is required".to_owned() }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| ArgProblem { path: below(name), problem: "is no argument of this tool".to_owned() })
            .collect(),
        ValidationErrorKind::Type { kind } => {
            here(format!("is {}, expected {}", kind_of(error.instance()), expected(kind)))
        }
        ValidationErrorKind::Enum { options } => here(format!("is not one of {options}")),
        ValidationErrorKind::Constant { expected_value } => here(format!("is not {expected_value}")),
        ValidationErrorKind::Minimum { limit } => here(format!("is less than {limit}")),
        ValidationErrorKind::Maximum { limit } => here(format!("is more than {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => here(format!("is not more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => here(format!("is not less than {limit}")),
        ValidationErrorKind::MinLength { limit } => here(format!("is shorter than {limit} characters")),
        ValidationErrorKind::MaxLength { limit } => here(format!("is longer than {limit} characters")),
        ValidationErrorKind::MinItems { limit } => here(format!("has fewer than {limit} elements")),
        ValidationErrorKind::MaxItems { limit } => here(format!("has more than {limit} elements")),
        ValidationErrorKind::Pattern { pattern } => here(format!("does not match {pattern}")),
        // The value itself stays out: it is the model's own, and it may be long.
        _ => here(error.masked_with("the value").to_string()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn short(problem: &impl Display) -> String {
    let whole = problem.to_string();
    match whole.floor_char_boundary(MAX_PROBLEM_BYTES) {
        end if end < whole.len() => format!("{}…", &whole[..end]),
        _ => whole,
    }
}
