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

/// Takes out what says nothing, and says the rest in the shortest way: one list of words instead of a schema for each,
/// one type that may be null instead of a choice.
fn simplify(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(words) = words(schema.get("oneOf")) {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), words.into());
    }
    if let Some(mut words) = optional_words(schema.get("anyOf")) {
        words.push(Value::Null);
        schema.remove("anyOf");
        schema.insert("type".to_owned(), Value::from(vec!["string", "null"]));
        schema.insert("enum".to_owned(), words.into());
    }
}

fn words(choices: Option<&Value>) -> Option<Vec<Value>> {
    choices?.as_array()?.iter().map(|choice| choice.get("const").cloned()).collect()
}

fn optional_words(choices: Option<&Value>) -> Option<Vec<Value>> {
    match choices?.as_array()?.as_slice() {
        [one, null] if null.get("type") == Some(&"null".into()) => words(one.get("oneOf")),
        _ => None,
    }
}
