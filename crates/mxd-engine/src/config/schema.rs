//! The published schema of a configuration file, and a file held against it.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::document::Document;

/// The JSON Schema of a configuration file, for editors and other programs.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let generator = settings.with_transform(RecursiveTransform(plain)).into_generator();
    generator.into_root_schema_for::<Document>().to_value()
}

/// A key is left out instead of being null; and defaults stand in one place, which is not the type.
fn plain(schema: &mut schemars::Schema) {
    schema.remove("format");
    schema.remove("default");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(types)) = schema.get("type")
        && let [one, Value::String(null)] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        schema.insert("type".to_owned(), one);
    }
    if let Some(Value::Array(choices)) = schema.get("anyOf")
        && let [Value::Object(one), null] = choices.as_slice()
        && null.get("type") == Some(&"null".into())
    {
        let one = one.clone();
        schema.remove("anyOf");
        for (key, value) in one {
            if schema.get(&key).is_none() {
                schema.insert(key, value);
            }
        }
    }
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let words: Option<Vec<Value>> =
        choices.and_then(|choices| choices.iter().map(|choice| choice.get("const").cloned()).collect());
    if let Some(words) = words {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), words.into());
    }
}

/// Something about a value that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// A key that is not there, and those that are.
    UnknownKey { key: String, known: Vec<String> },
    /// Anything else, in words that repeat nothing of the file.
    Shape(String),
}

/// Everything about a file that is not as the schema says, by JSON pointer.
pub(super) fn mismatches(file: &Value) -> Vec<(String, Mismatch)> {
    static VALIDATOR: OnceLock<(Value, Option<Validator>)> = OnceLock::new();
    let (schema, validator) = VALIDATOR.get_or_init(|| {
        let schema = schema();
        let validator = jsonschema::validator_for(&schema).ok();
        (schema, validator)
    });
    let Some(validator) = validator else {
        return vec![(String::new(), Mismatch::Shape("the schema of this program is broken".to_owned()))];
    };
    let errors = validator.iter_errors(file).filter(|error| !is_within_servers(error));
    errors.flat_map(|error| told(schema, &error)).collect()
}

/// Whether an error is about what stands in `mcpServers`. The reader of manifests checks the entries and words what is
/// wrong with them; here it would be told a second time.
fn is_within_servers(error: &ValidationError<'_>) -> bool {
    let schema_path = error.schema_path().to_string();
    ["additionalProperties", "propertyNames"]
        .iter()
        .any(|part| schema_path.starts_with(&format!("/properties/mcpServers/{part}")))
}

fn told(schema: &Value, error: &ValidationError<'_>) -> Vec<(String, Mismatch)> {
    let at = error.instance_path().to_string();
    let words = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let part = error.schema_path().to_string();
            let part = part.strip_suffix("/additionalProperties").unwrap_or_default();
            let properties = schema.pointer(part).and_then(|part| part.get("properties")?.as_object());
            let known: Vec<String> = properties.map(|all| all.keys().cloned().collect()).unwrap_or_default();
            let unknown = |key: &String| {
                let below = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                (below, Mismatch::UnknownKey { key: key.clone(), known: known.clone() })
            };
            return unexpected.iter().map(unknown).collect();
        }
        ValidationErrorKind::Required { property } => {
            format!("`{}` is missing", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                jsonschema::error::TypeKind::Single(kind) => kind.to_string(),
                jsonschema::error::TypeKind::Multiple(kinds) => {
                    kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("it is {} instead of {wanted}", kind_of(error.instance()))
        }
        ValidationErrorKind::Enum { options } => format!("it is none of {options}"),
        ValidationErrorKind::Minimum { limit } => format!("it is less than {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("it is more than {limit}"),
        ValidationErrorKind::MinLength { limit: 1 } => "it is empty".to_owned(),
        ValidationErrorKind::MinLength { limit } => format!("it is shorter than {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("it is longer than {limit} characters"),
        ValidationErrorKind::MaxItems { limit } => format!("it has more than {limit} items"),
        ValidationErrorKind::MaxProperties { limit } => format!("it has more than {limit} members"),
        _ => error.masked_with("the value").to_string(),
    };
    vec![(at, Mismatch::Shape(words))]
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
