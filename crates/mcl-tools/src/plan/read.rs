//! Reading a plan: its form and its references, all problems at once.

use std::collections::{BTreeMap, BTreeSet};

use mxd_core::json::{self, Bounds, Kind, Position};
use mxd_core::tool::{InvalidSideEffect, SideEffect};
use serde_json::{Map, Value};

use super::node::{GateStep, Node, ToolStep, Work};
use super::template::{Template, is_id};
use crate::answer::{Failure, Trouble};
use crate::code::Code;
use crate::files::PLAN_BYTES;

/// What a plan may be.
const BOUNDS: Bounds = Bounds { bytes: PLAN_BYTES, depth: 96 };
/// Nodes of one plan.
const NODES: usize = 1_000;
/// Options of one gate.
const OPTIONS: usize = 16;
/// Problems that are told.
const PROBLEMS: usize = 100;
/// The version that is read.
const VERSION: &str = "plan_tree@1";

/// Labels that change nothing.
const PLAN_KEYS: &[&str] =
    &["v", "id", "description", "intent_id", "created_at", "created_by", "model_digest", "root"];
/// What a plan may say elsewhere and nobody here would keep.
const UNKEPT: &[&str] = &["skill_ref", "budget", "hash"];
const NODE_KEYS: &[&str] = &["id", "kind", "description", "children", "tool_call", "gate"];
const TOOL_KEYS: &[&str] = &["tool_ref", "args", "timeout_ms", "side_effect_class"];
const GATE_KEYS: &[&str] = &["question", "options"];

/// The plan in a file, or everything that is wrong with it.
pub(super) fn plan(file: &str, bytes: &[u8]) -> Result<Node, Failure> {
    let whole = |what: String, hint: &str| Trouble::new(Code::Invalid, format!("{file}: {what}"), hint);
    let text = str::from_utf8(bytes).map_err(|_| whole("it is not UTF-8".to_owned(), "Save it as UTF-8."))?;
    let root = json::read(text, BOUNDS).map_err(|error| whole(error.to_string(), error.hint()))?;
    let mut reader = Reader { file, text, problems: Vec::new(), ids: BTreeSet::new(), nodes: 0 };
    let node = reader.plan(&root);
    if let Some(node) = &node {
        reader.references(node, &mut BTreeSet::new());
    }
    match node {
        Some(node) if reader.problems.is_empty() => Ok(node),
        _ => {
            reader.problems.truncate(PROBLEMS);
            Err(reader.problems)
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    problems: Vec<Trouble>,
    ids: BTreeSet<String>,
    nodes: usize,
}

type Members<'n, 'a> = BTreeMap<&'n str, &'n json::Node<'a>>;

impl Reader<'_> {
    fn wrong(&mut self, (at, path): (usize, &str), what: &str, hint: &str) {
        let line = Position::of(self.text, at).line;
        let message = format!("{}: {path} (line {line}): {what}", self.file);
        let trouble = Trouble::new(Code::Invalid, message, hint);
        self.problems.push(Trouble { path: Some(path.to_owned()), line: Some(line), ..trouble });
    }

    fn members<'n, 'a>(
        &mut self,
        node: &'n json::Node<'a>,
        path: &str,
        keys: &[&str],
    ) -> Option<Members<'n, 'a>> {
        let Kind::Object(members) = &node.kind else {
            let what = format!("it is {} instead of an object", node.kind.name());
            self.wrong((node.at, path), &what, "Write an object.");
            return None;
        };
        let mut found = BTreeMap::new();
        for (key, value) in members {
            let place = (value.at, format!("{path}.{key}"));
            if UNKEPT.contains(&key.as_str()) {
                let what = "it would not be kept here";
                self.wrong((place.0, &place.1), what, "Remove it, if the plan may run without.");
            } else if !keys.contains(&key.as_str()) {
                let hint = format!("There are {}.", keys.join(", "));
                self.wrong((place.0, &place.1), "it is no key here", &hint);
            }
            if found.insert(key.as_str(), value).is_some() {
                self.wrong((place.0, &place.1), "it is there twice", "Keep one of them.");
            }
        }
        Some(found)
    }

    fn string(&mut self, members: &Members<'_, '_>, key: &str, (at, path): (usize, &str)) -> Option<String> {
        match members.get(key).map(|value| &value.kind) {
            Some(Kind::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(_) => {
                self.wrong((at, &format!("{path}.{key}")), "it is no text", "Write a text.");
                None
            }
            None => {
                self.wrong((at, path), &format!("`{key}` is missing"), &format!("Add `{key}`."));
                None
            }
        }
    }

    fn plan(&mut self, root: &json::Node<'_>) -> Option<Node> {
        let members = self.members(root, "plan", PLAN_KEYS)?;
        let version = self.string(&members, "v", (root.at, "plan"));
        if version.as_deref().is_some_and(|version| version != VERSION) {
            self.wrong(
                (root.at, "plan.v"),
                "this program reads plan_tree@1",
                "Write \"v\": \"plan_tree@1\".",
            );
        }
        let Some(node) = members.get("root") else {
            self.wrong((root.at, "plan"), "`root` is missing", "Add `root`.");
            return None;
        };
        self.node(node, "root".to_owned())
    }

    fn node(&mut self, node: &json::Node<'_>, path: String) -> Option<Node> {
        self.nodes += 1;
        if self.nodes > NODES {
            if self.nodes == NODES + 1 {
                self.wrong(
                    (node.at, &path),
                    &format!("there are more than {NODES} nodes"),
                    "Split the plan.",
                );
            }
            return None;
        }
        let members = self.members(node, &path, NODE_KEYS)?;
        let here = (node.at, path.as_str());
        let id = self.string(&members, "id", here);
        if let Some(id) = &id {
            if !is_id(id) {
                let hint = "Use up to 64 letters, digits, `_` and `-`.";
                self.wrong(here, &format!("`{id}` is no id"), hint);
            } else if !self.ids.insert(id.clone()) {
                self.wrong(here, &format!("the id `{id}` is there twice"), "Give each node its own.");
            }
        }
        let kind = self.string(&members, "kind", here)?;
        let work = self.work(&kind, &members, here)?;
        Some(Node { id: id?, path, work })
    }

    fn work(&mut self, kind: &str, members: &Members<'_, '_>, here: (usize, &str)) -> Option<Work> {
        let own = match kind {
            "sequential" | "parallel" => "children",
            "tool_call" | "gate" => kind,
            "step" | "sub_dispatch" => {
                let what = format!("a node of the kind {kind} needs a model");
                self.wrong(here, &what, "Give the plan to an agent; here only tools are called.");
                return None;
            }
            other => {
                let hint = "There are sequential, parallel, tool_call and gate.";
                self.wrong(here, &format!("`{other}` is no kind of node"), hint);
                return None;
            }
        };
        for other in ["children", "tool_call", "gate"].iter().filter(|key| **key != own) {
            if members.contains_key(other) {
                self.wrong(
                    here,
                    &format!("`{other}` does not go with {kind}"),
                    &format!("Remove `{other}`."),
                );
            }
        }
        let Some(payload) = members.get(own) else {
            self.wrong(here, &format!("`{own}` is missing"), &format!("Add `{own}`."));
            return None;
        };
        let path = format!("{}.{own}", here.1);
        match kind {
            "sequential" => self.children(payload, &path).map(Work::Sequential),
            "parallel" => self.children(payload, &path).map(Work::Parallel),
            "tool_call" => self.tool(payload, &path).map(Work::Tool),
            _ => self.gate(payload, &path).map(Work::Gate),
        }
    }

    fn children(&mut self, list: &json::Node<'_>, path: &str) -> Option<Vec<Node>> {
        match &list.kind {
            Kind::Array(items) if !items.is_empty() => {
                let nodes: Vec<Option<Node>> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.node(item, format!("{path}[{index}]")))
                    .collect();
                nodes.into_iter().collect()
            }
            _ => {
                self.wrong((list.at, path), "it is no list of nodes", "Write at least one node.");
                None
            }
        }
    }

    fn tool(&mut self, payload: &json::Node<'_>, path: &str) -> Option<ToolStep> {
        let members = self.members(payload, path, TOOL_KEYS)?;
        let uri = self.string(&members, "tool_ref", (payload.at, path));
        let args = match members.get("args") {
            None => Some(Template::Plain(Value::Object(Map::new()))),
            Some(args) if matches!(args.kind, Kind::Object(_)) => {
                self.template(args, &format!("{path}.args"))
            }
            Some(args) => {
                self.wrong((args.at, &format!("{path}.args")), "it is no object", "Write an object.");
                None
            }
        };
        let timeout_ms = members.get("timeout_ms").and_then(|value| {
            let given = if let Kind::Number(number) = value.kind { number.parse().ok() } else { None };
            let given = given.filter(|given| (1..=3_600_000).contains(given));
            if given.is_none() {
                let hint = "Write a whole number from 1 to 3600000.";
                self.wrong(
                    (value.at, &format!("{path}.timeout_ms")),
                    "it is no number of milliseconds",
                    hint,
                );
            }
            given
        });
        let effect = members.get("side_effect_class").and_then(|value| {
            let Kind::String(word) = &value.kind else {
                self.wrong(
                    (value.at, &format!("{path}.side_effect_class")),
                    "it is no text",
                    "Write a text.",
                );
                return None;
            };
            let failed = |error: InvalidSideEffect| {
                self.wrong(
                    (value.at, &format!("{path}.side_effect_class")),
                    &error.to_string(),
                    "Write the class of the manifest, or none.",
                );
            };
            word.parse::<SideEffect>().map_err(failed).ok()
        });
        Some(ToolStep { uri: uri?, args: args?, timeout_ms, effect })
    }

    fn gate(&mut self, payload: &json::Node<'_>, path: &str) -> Option<GateStep> {
        let members = self.members(payload, path, GATE_KEYS)?;
        let question = self.string(&members, "question", (payload.at, path));
        let options = match members.get("options").map(|value| (value.at, &value.kind)) {
            None => vec!["yes".to_owned(), "no".to_owned()],
            Some((at, Kind::Array(items))) => {
                let word = |item: &json::Node<'_>| match &item.kind {
                    Kind::String(word) if !word.trim().is_empty() => Some(word.clone()),
                    _ => None,
                };
                let words: Option<Vec<String>> = items.iter().map(word).collect();
                let words = words.filter(|words| (1..=OPTIONS).contains(&words.len()));
                if words.is_none() {
                    let hint = format!("Write 1 to {OPTIONS} texts.");
                    self.wrong((at, &format!("{path}.options")), "it is no list of options", &hint);
                }
                words?
            }
            Some((at, _)) => {
                self.wrong((at, &format!("{path}.options")), "it is no list of options", "Write a list.");
                return None;
            }
        };
        Some(GateStep { question: question?, options })
    }

    fn template(&mut self, node: &json::Node<'_>, path: &str) -> Option<Template> {
        match &node.kind {
            Kind::Null => Some(Template::Plain(Value::Null)),
            Kind::Bool(value) => Some(Template::Plain((*value).into())),
            Kind::Number(number) => serde_json::from_str(number).ok().map(Template::Plain),
            Kind::String(text) => {
                let wrong = |what: String| {
                    let hint =
                        "Write ${node}, ${node.output} or ${node.outputs.field}; for the text itself, \\${.";
                    self.wrong((node.at, path), &format!("`{what}` is no reference"), hint);
                };
                Template::of_string(text).map_err(wrong).ok()
            }
            Kind::Array(items) => {
                let items: Vec<Option<Template>> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.template(item, &format!("{path}[{index}]")))
                    .collect();
                items.into_iter().collect::<Option<Vec<_>>>().map(Template::List)
            }
            Kind::Object(members) => {
                let mut seen = BTreeSet::new();
                let mut filled = Vec::new();
                for (key, value) in members {
                    let below = format!("{path}.{key}");
                    if !seen.insert(key) {
                        self.wrong((value.at, &below), "it is there twice", "Keep one of them.");
                    }
                    filled.push(self.template(value, &below).map(|value| (key.clone(), value)));
                }
                filled.into_iter().collect::<Option<Vec<_>>>().map(Template::Object)
            }
        }
    }

    /// References lead to calls and gates that have ended before.
    fn references(&mut self, node: &Node, ended: &mut BTreeSet<String>) {
        match &node.work {
            Work::Sequential(children) => children.iter().for_each(|child| self.references(child, ended)),
            Work::Parallel(children) => {
                let before = ended.clone();
                for child in children {
                    let mut beside = before.clone();
                    self.references(child, &mut beside);
                    ended.extend(beside);
                }
            }
            Work::Gate(_) => drop(ended.insert(node.id.clone())),
            Work::Tool(step) => {
                for reference in step.args.references() {
                    if !ended.contains(&reference.node) {
                        let what =
                            format!("`{}` is no call or gate that has ended before this one", reference.node);
                        let message = format!("{}: {}: {what}", self.file, node.path);
                        let hint = "Refer to a node that comes before in a sequence.";
                        let trouble = Trouble::new(Code::Invalid, message, hint);
                        self.problems.push(Trouble { path: Some(node.path.clone()), ..trouble });
                    }
                }
                ended.insert(node.id.clone());
            }
        }
    }
}
