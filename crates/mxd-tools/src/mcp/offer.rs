//! What a server offers, held against what it should.

use std::collections::BTreeMap;
use std::sync::Arc;

use mxd_core::manifest::{Discovered, LockedServer, Report, ServerSpec, compare};
use mxd_core::raw::RawJson;
use mxd_core::tool::ToolName;
use serde::Deserialize;
use serde_json::Value;

use crate::plane::schema::Schema;

/// What a server offers.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) definitions: Arc<[RawJson]>,
    pub(super) discovered: Arc<Discovered>,
    pub(super) report: Arc<Report>,
    tools: BTreeMap<ToolName, Offered>,
}

/// A tool of a server.
#[derive(Debug)]
pub(super) struct Offered {
    /// What it promises to return.
    pub(super) output: Output,
    /// What it wants of arguments.
    pub(super) input: Option<Value>,
}

/// What a tool promises to return.
#[derive(Debug)]
pub(super) enum Output {
    /// Nothing in particular.
    Anything,
    /// Data of this shape.
    Shaped(Box<Schema>),
    /// Data of a shape that cannot be checked.
    Unreadable(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    name: String,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
}

impl Offer {
    pub(super) fn new(spec: &ServerSpec, locked: Option<&LockedServer>, definitions: Vec<RawJson>) -> Self {
        let discovered = Discovered::read(&definitions);
        let report = compare(spec, locked, &discovered);
        let read = |definition: &RawJson| {
            let definition: Definition = serde_json::from_str(definition.get()).ok()?;
            let output = match definition.output_schema.filter(|schema| !schema.is_null()) {
                None => Output::Anything,
                Some(schema) => match Schema::compile(&schema) {
                    Ok(schema) => Output::Shaped(Box::new(schema)),
                    Err(error) => Output::Unreadable(error.why),
                },
            };
            Some((definition.name.parse().ok()?, Offered { output, input: definition.input_schema }))
        };
        let tools = definitions.iter().filter_map(read).collect();
        Self {
            tools,
            discovered: Arc::new(discovered),
            report: Arc::new(report),
            definitions: definitions.into(),
        }
    }

    pub(super) fn tool(&self, name: &ToolName) -> Option<&Offered> {
        self.tools.get(name)
    }

    /// Its tools by name.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&ToolName, &Offered)> {
        self.tools.iter()
    }
}
