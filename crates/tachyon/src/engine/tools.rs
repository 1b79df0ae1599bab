//! The static registry: every tool with its name, its description and the schemas of what goes in and comes out.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{
    artifact_get, call, chain_list, chain_register, compile, deploy, registry_lookup, simulate, test,
};
use crate::fault::Fault;

/// A verb of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Compiles sources.
    Compile,
    /// Runs the tests of sources.
    Test,
    /// Says what would happen.
    Simulate,
    /// Puts a contract on a chain.
    Deploy,
    /// Asks a contract, or has it do something.
    Call,
    /// Lists chains.
    ChainList,
    /// Makes a chain known.
    ChainRegister,
    /// Gives a compiled contract.
    ArtifactGet,
    /// Says what became of a deployment.
    RegistryLookup,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// Only this machine's data changes.
    Keeps,
    /// Money may move.
    Sends,
}

/// One row of the registry.
pub(crate) struct Row {
    pub(crate) tool: Tool,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) input: fn() -> Value,
    pub(crate) output: fn() -> Value,
}

/// All tools, in the order in which they are listed.
pub(crate) const ROWS: &[Row] = &[
    Row {
        tool: Tool::Compile,
        name: "tachyon_compile",
        title: "Compile Solidity",
        description: "Compiles Solidity sources or a project folder and keeps the artifacts. Errors come with file, line and column in error.details.diagnostics.",
        effect: Effect::Keeps,
        input: schema::<compile::Request>,
        output: envelope::<compile::Response>,
    },
    Row {
        tool: Tool::Test,
        name: "tachyon_test",
        title: "Test contracts",
        description: "Compiles sources and runs their tests (setUp, test*, fuzz tests with counterexamples, invariant*) with the usual cheatcodes. A test that needs a cheatcode this runner lacks is reported as unsupported, never as passed.",
        effect: Effect::Reads,
        input: schema::<test::Request>,
        output: envelope::<test::Response>,
    },
    Row {
        tool: Tool::Simulate,
        name: "tachyon_simulate",
        title: "Simulate a call",
        description: "Says what a call or creation would return, emit and cost, with decoded reverts. Needs no key and changes nothing.",
        effect: Effect::Reads,
        input: schema::<simulate::Request>,
        output: envelope::<simulate::Response>,
    },
    Row {
        tool: Tool::Deploy,
        name: "tachyon_deploy",
        title: "Deploy a contract",
        description: "Deploys a compiled contract once per idempotency key: simulated first, refused when it would revert, and reported done only with a successful receipt. After an error with retry=true call again with the same key.",
        effect: Effect::Sends,
        input: schema::<deploy::Request>,
        output: envelope::<deploy::Response>,
    },
    Row {
        tool: Tool::Call,
        name: "tachyon_call",
        title: "Call a contract",
        description: "Calls a function. One that only reads, or simulate_only, is simulated; everything else is simulated, sent, and waited for.",
        effect: Effect::Sends,
        input: schema::<call::Request>,
        output: envelope::<call::Response>,
    },
    Row {
        tool: Tool::ChainList,
        name: "tachyon_chain_list",
        title: "List chains",
        description: "Lists the chains that can be named as chain_id. `dev` is embedded, free, and always there.",
        effect: Effect::Reads,
        input: schema::<chain_list::Request>,
        output: envelope::<chain_list::Response>,
    },
    Row {
        tool: Tool::ChainRegister,
        name: "tachyon_chain_register",
        title: "Register a chain",
        description: "Makes a JSON-RPC node known under a name, after checking that it is of the given chain.",
        effect: Effect::Keeps,
        input: schema::<chain_register::Request>,
        output: envelope::<chain_register::Response>,
    },
    Row {
        tool: Tool::ArtifactGet,
        name: "tachyon_artifact_get",
        title: "Get a compiled contract",
        description: "Gives ABI, bytecode and compiler of a compiled contract.",
        effect: Effect::Reads,
        input: schema::<artifact_get::Request>,
        output: envelope::<artifact_get::Response>,
    },
    Row {
        tool: Tool::RegistryLookup,
        name: "tachyon_registry_lookup",
        title: "Look up a deployment",
        description: "Says what became of a deployment, by its idempotency key.",
        effect: Effect::Reads,
        input: schema::<registry_lookup::Request>,
        output: envelope::<registry_lookup::Response>,
    },
];

impl Tool {
    /// The tool of this name.
    pub fn named(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.tool)
    }

    /// The names of all tools, in order.
    pub fn names() -> Vec<&'static str> {
        ROWS.iter().map(|row| row.name).collect()
    }

    /// Refuses fields that the tool does not have, by name. Reading a request is not enough: where a type is made of
    /// several, what is missing is told before what is unknown.
    pub(super) fn check_fields(self, arguments: &Value) -> Result<(), Fault> {
        let Value::Object(given) = arguments else { return Ok(()) };
        let Some(row) = ROWS.iter().find(|row| row.tool == self) else { return Ok(()) };
        let schema = (row.input)();
        let known = schema.get("properties").and_then(Value::as_object);
        let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
        let quoted = |name: &String| format!("`{name}`");
        let unknown: Vec<String> = given.keys().filter(|name| !is_known(name)).map(quoted).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let known: Vec<String> = known.into_iter().flat_map(|known| known.keys()).map(quoted).collect();
        let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let noun = if unknown.len() == 1 { "field" } else { "fields" };
        Err(Fault::invalid(format!("unknown {noun} {}; expected {expected}", unknown.join(", "))))
    }
}

/// The schema of what is read. It lets fields through that nobody knows: the engine refuses them, and names them in the
/// same form as every other problem, whatever client asks.
fn schema<T: JsonSchema>() -> Value {
    let mut schema = of::<T>(SchemaSettings::draft2020_12().for_deserialize());
    open(&mut schema);
    schema
}

/// Lets every object have more fields than are described.
fn open(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            if is_closed {
                fields.insert("additionalProperties".to_owned(), Value::Bool(true));
            }
            fields.values_mut().for_each(open);
        }
        Value::Array(items) => items.iter_mut().for_each(open),
        _ => {}
    }
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
        fields.remove("$schema");
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    without_formats(&mut schema);
    schema
}

/// Formats of numbers are words of one library, and validators that do not know them complain.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(Value::is_string) {
                fields.remove("format");
            }
            fields.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

/// The schema of an answer around its data.
fn envelope<T: JsonSchema>() -> Value {
    // What is left out when it is empty is not required.
    let mut data = of::<T>(SchemaSettings::draft2020_12().for_serialize());
    // A failure may tell only a part.
    if let Some(fields) = data.as_object_mut() {
        fields.remove("required");
    }
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "tool": { "type": "string", "description": "the tool that failed" },
            "data": data,
            "error": {
                "type": "object",
                "properties": {
                    "code": { "type": "string" },
                    "message": { "type": "string" },
                    "retry": { "type": "boolean", "description": "whether the same request may be sent again as it is" },
                    "details": {}
                },
                "required": ["code", "message", "retry"]
            }
        },
        "required": ["ok"]
    })
}
