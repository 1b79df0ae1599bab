//! The schema of arguments, without what tells a model nothing.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

pub(super) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let generator = settings.with_transform(RecursiveTransform(simplify)).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("description");
    // An object without arguments still has to say so.
    schema.insert("type".to_owned(), "object".into());
    schema.to_value()
}

/// Takes formats out, and makes one list of words that each have a schema of their own.
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
