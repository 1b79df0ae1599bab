//! Reading one layer: its file, its text, its JSON, and everything that is wrong with it by itself.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mxd_core::json::{self, Bounds, Kind, Node, Position};
use mxd_core::tool::Quoted;
use serde_json::Value;

use super::beneath;
use super::keys::LEFT_OVER;
use super::layer::{FILE, FOLDER, Layer, Places};
use super::problem::{Fault, Problem};
use super::schema::{Mismatch, mismatches};

/// What a file may be at most.
pub(super) const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 32 };

/// How alike a key must be to one that was perhaps meant, from 0 to 1.
const ALIKE: f32 = 0.6;

/// The file of one layer, as far as it could be read.
#[derive(Debug)]
pub(super) struct LayerFile {
    pub(super) layer: Layer,
    pub(super) file: PathBuf,
    pub(super) text: String,
    pub(super) value: Value,
    /// The mode of the file, where it is a file of the user's own.
    pub(super) mode: Option<u32>,
}

/// The layers that are there, and what is wrong with those that are not fit to be read.
pub(super) fn layers(places: &Places) -> (Vec<LayerFile>, Vec<Problem>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for layer in Layer::ALL {
        let Some(file) = places.file(layer) else { continue };
        match load(places, layer, &file) {
            Ok(None) => {}
            Ok(Some(loaded)) => found.push(loaded),
            Err(fault) => {
                let position = if let Fault::Json(error) = &fault { error.position() } else { None };
                problems.push(Problem { layer, file, path: String::new(), position, fault });
            }
        }
    }
    (found, problems)
}

fn load(places: &Places, layer: Layer, file: &Path) -> Result<Option<LayerFile>, Fault> {
    let read = bytes(places, layer, file).map_err(|why| Fault::Unreadable { why })?;
    let Some((bytes, mode)) = read else { return Ok(None) };
    let (text, value) = parsed(bytes)?;
    Ok(Some(LayerFile { layer, file: file.to_owned(), text, value, mode }))
}

/// What a file holds and the mode it has, if there is one.
pub(super) type Bytes = Option<(Vec<u8>, Option<u32>)>;

pub(super) fn bytes(places: &Places, layer: Layer, file: &Path) -> Result<Bytes, String> {
    if let (Layer::Repository, Some(root)) = (layer, &places.repository) {
        let read = beneath::read(root, &Path::new(FOLDER).join(FILE), BOUNDS.bytes)
            .map_err(|error| error.to_string())?;
        return Ok(read.map(|bytes| (bytes, None)));
    }
    match read_own(file) {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn read_own(file: &Path) -> std::io::Result<(Vec<u8>, Option<u32>)> {
    if !fs::metadata(file)?.is_file() {
        return Err(std::io::Error::other("it is no plain file"));
    }
    let mut open = File::open(file)?;
    let mode = open.metadata()?.permissions().mode() & 0o777;
    let mut bytes = Vec::new();
    open.by_ref().take(BOUNDS.bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes, Some(mode)))
}

fn parsed(bytes: Vec<u8>) -> Result<(String, Value), Fault> {
    let text = String::from_utf8(bytes).map_err(|_| Fault::NotUtf8)?;
    let text = if text.trim().is_empty() { "{}".to_owned() } else { text };
    json::read(&text, BOUNDS).map_err(Fault::Json)?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| Fault::Unreadable { why: Quoted::of(&error.to_string()).to_string() })?;
    if !value.is_object() {
        return Err(Fault::Shape { problem: "it is no object".to_owned() });
    }
    Ok((text, value))
}

impl LayerFile {
    /// A problem at a place that is given as a JSON pointer.
    pub(super) fn problem(&self, pointer: &str, fault: Fault) -> Problem {
        let (path, position) = match json::read(&self.text, BOUNDS) {
            Ok(node) => locate(&self.text, &node, pointer),
            Err(_) => (pointer.to_owned(), None),
        };
        Problem { layer: self.layer, file: self.file.clone(), path, position, fault }
    }

    /// What does not fit the schema, and keys that are there twice.
    pub(super) fn shape_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (pointer, mismatch) in mismatches(&self.value) {
            let fault = match mismatch {
                Mismatch::UnknownKey { key, known } => unknown(&key, &known),
                Mismatch::Shape(problem) => Fault::Shape { problem },
            };
            problems.push(self.problem(&pointer, fault));
        }
        if let Ok(node) = json::read(&self.text, BOUNDS) {
            let mut repeated = Vec::new();
            repeated_keys(&node, "", &mut repeated);
            for (pointer, key) in repeated {
                problems.push(self.problem(&pointer, Fault::RepeatedKey { key: Quoted::of(&key) }));
            }
        }
        problems
    }
}

fn unknown(key: &str, known: &[String]) -> Fault {
    if let Some((key, instead)) = LEFT_OVER.iter().find(|(old, _)| *old == key) {
        return Fault::LeftOver { key, instead };
    }
    let lower = key.to_lowercase().replace(['-', '_', '.'], "");
    let plain: Vec<String> = known.iter().map(|known| known.to_lowercase()).collect();
    let candidates: Vec<&str> = plain.iter().map(String::as_str).collect();
    let close = similar::get_close_matches(lower.as_str(), &candidates, 1, ALIKE);
    let place = close.first().and_then(|close| plain.iter().position(|known| known == close));
    Fault::UnknownKey { key: Quoted::of(key), nearest: place.and_then(|place| known.get(place)).cloned() }
}

fn repeated_keys(node: &Node<'_>, pointer: &str, found: &mut Vec<(String, String)>) {
    match &node.kind {
        Kind::Object(members) => {
            for (index, (key, value)) in members.iter().enumerate() {
                let below = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                if members[..index].iter().any(|(earlier, _)| earlier == key) {
                    found.push((below.clone(), key.clone()));
                }
                repeated_keys(value, &below, found);
            }
        }
        Kind::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                repeated_keys(element, &format!("{pointer}/{index}"), found);
            }
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => {}
    }
}

/// The readable path of a JSON pointer, and where its value stands in the text, or the nearest value around it.
fn locate(text: &str, root: &Node<'_>, pointer: &str) -> (String, Option<Position>) {
    let (mut path, mut at, mut node) = (String::new(), root.at, Some(root));
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let next = match node.map(|node| &node.kind) {
            Some(Kind::Object(members)) => {
                members.iter().rev().find(|(key, _)| *key == segment).map(|(_, value)| value)
            }
            Some(Kind::Array(elements)) => segment.parse().ok().and_then(|index: usize| elements.get(index)),
            _ => None,
        };
        match node.map(|node| &node.kind) {
            Some(Kind::Array(_)) => path.push_str(&format!("[{segment}]")),
            _ if path.is_empty() => path = Quoted::of(&segment).to_string(),
            _ => path.push_str(&format!(".{}", Quoted::of(&segment))),
        }
        at = next.map_or(at, |next| next.at);
        node = next;
    }
    (path, Some(Position::of(text, at)))
}
