//! The table of routes: each is declared once, and the router and the OpenAPI document follow from it.

use std::collections::BTreeMap;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::fault::ErrorBody;

/// A route before it is added.
#[derive(Debug)]
pub(crate) struct Route {
    method: Verb,
    path: &'static str,
    summary: &'static str,
    query: Option<fn(&mut Schemas) -> Value>,
    body: Option<fn(&mut Schemas) -> Value>,
    answer: Answers,
    status: u16,
    access: Access,
}

/// The methods there are.
#[derive(Debug, Clone, Copy)]
enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Session,
    Everybody,
}

/// What a route answers when all is well.
#[derive(Debug)]
enum Answers {
    Json(fn(&mut Schemas) -> Value),
    Other(&'static str),
}

impl Route {
    fn new(method: Verb, path: &'static str, summary: &'static str) -> Self {
        let answer = Answers::Json(|_| json!({ "type": "object" }));
        Self { method, path, summary, query: None, body: None, answer, status: 200, access: Access::Session }
    }

    pub(crate) fn get(path: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Get, path, summary)
    }

    pub(crate) fn post(path: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Post, path, summary)
    }

    pub(crate) fn patch(path: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Patch, path, summary)
    }

    pub(crate) fn delete(path: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Delete, path, summary)
    }

    /// What it takes as its body.
    pub(crate) fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some(|schemas| schemas.requests.subschema_for::<T>().to_value());
        self
    }

    /// What it takes as its query.
    pub(crate) fn asks<T: JsonSchema>(mut self) -> Self {
        self.query = Some(|schemas| schemas.requests.root_schema_for::<T>().to_value());
        self
    }

    /// What it answers.
    pub(crate) fn gives<T: JsonSchema>(mut self) -> Self {
        self.answer = Answers::Json(|schemas| schemas.answers.subschema_for::<T>().to_value());
        self
    }

    /// That it answers something else than JSON.
    pub(crate) fn gives_other(mut self, media_type: &'static str) -> Self {
        self.answer = Answers::Other(media_type);
        self
    }

    /// Its status when all is well, when it is not 200.
    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// That one need not be logged in.
    pub(crate) fn open(mut self) -> Self {
        self.access = Access::Everybody;
        self
    }
}

/// The schemas that the document refers to: what is read may be given otherwise than what is written.
struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = |contract: Contract| {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
                settings.contract = contract;
            })
        };
        Self {
            requests: settings(Contract::Deserialize).into_generator(),
            answers: settings(Contract::Serialize).into_generator(),
        }
    }
}

/// All routes so far.
pub(crate) struct Api {
    router: Router<App>,
    schemas: Schemas,
    paths: BTreeMap<&'static str, Map<String, Value>>,
    open: Vec<(axum::http::Method, &'static str)>,
}

impl Api {
    pub(crate) fn new() -> Self {
        Self { router: Router::new(), schemas: Schemas::new(), paths: BTreeMap::new(), open: Vec::new() }
    }

    pub(crate) fn add<H, T>(mut self, route: Route, handler: H) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let (filter, name, method) = match route.method {
            Verb::Get => (MethodFilter::GET, "get", axum::http::Method::GET),
            Verb::Post => (MethodFilter::POST, "post", axum::http::Method::POST),
            Verb::Patch => (MethodFilter::PATCH, "patch", axum::http::Method::PATCH),
            Verb::Delete => (MethodFilter::DELETE, "delete", axum::http::Method::DELETE),
        };
        self.router = self.router.route(route.path, on(filter, handler));
        if route.access == Access::Everybody {
            self.open.push((method, route.path));
        }
        let operation = self.operation(&route, name);
        self.paths.entry(route.path).or_default().insert(name.to_owned(), operation);
        self
    }

    fn operation(&mut self, route: &Route, method: &str) -> Value {
        let mut parameters = path_parameters(route.path);
        if let Some(query) = route.query {
            parameters.extend(query_parameters(&query(&mut self.schemas)));
        }
        let good = match &route.answer {
            Answers::Json(schema) => {
                json!({ "application/json": { "schema": schema(&mut self.schemas) } })
            }
            Answers::Other(media_type) => json!({ *media_type: {} }),
        };
        let error = self.schemas.answers.subschema_for::<ErrorBody>().to_value();
        let mut operation = json!({
            "operationId": operation_id(method, route.path),
            "summary": route.summary,
            "responses": {
                route.status.to_string(): { "description": "Done.", "content": good },
                "default": {
                    "description": "Not done; the code says why.",
                    "content": { "application/json": { "schema": error } },
                },
            },
        });
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        if let Some(body) = route.body {
            let schema = body(&mut self.schemas);
            operation["requestBody"] = json!({ "content": { "application/json": { "schema": schema } } });
        }
        if route.access == Access::Everybody {
            operation["security"] = json!([]);
        }
        operation
    }

    /// The router, the document, and the routes for which one need not be logged in.
    pub(crate) fn finish(mut self) -> (Router<App>, Value, Vec<(axum::http::Method, &'static str)>) {
        let mut schemas = self.schemas.requests.take_definitions(true);
        schemas.extend(self.schemas.answers.take_definitions(true));
        schemas.sort_keys();
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "mxd",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "The daemon of Matrix. Times are milliseconds since 1970; ids are ULIDs, and those of tasks may be shortened to a unique beginning of at least 8 characters.",
                "license": { "name": "MIT", "identifier": "MIT" },
            },
            "security": [{ "token": [] }, { "session": [] }],
            "paths": self.paths,
            "components": {
                "securitySchemes": {
                    "token": { "type": "http", "scheme": "bearer" },
                    "session": { "type": "apiKey", "in": "cookie", "name": "mxd_session" },
                },
                "schemas": schemas,
            },
        });
        (self.router, document, self.open)
    }
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } });
    names.map(parameter).collect()
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter =
            json!({ "name": name, "in": "query", "required": required(name), "schema": schema });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter
    };
    properties.map(parameter).collect()
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(['/', '-', '.']).filter(|word| !word.is_empty());
    let mut id = method.to_owned();
    for word in words {
        let word = word.trim_matches(['{', '}']);
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
    }
    id
}
