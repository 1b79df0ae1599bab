//! Changing keys of one layer: the rest stays as it is, and nothing is written that could not be read again.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::check;
use super::layer::{Layer, Places};
use super::problem::{Fault, Problem, Problems};
use super::read::{self, LayerFile};
use super::settled::Config;
use crate::home::make_private_folder;

/// Why a key was not changed. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is no place for this layer.
    #[error("there is no {layer} layer here")]
    NoLayer {
        /// Which.
        layer: Layer,
    },
    /// The configuration would be wrong.
    #[error("{0}")]
    Refused(Problems),
    /// The system refused.
    #[error("{file} cannot be {what}: {source}", file = file.display())]
    Io {
        /// Which file.
        file: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl WriteError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLayer { .. } => "Call it inside of a registered project, or name another layer.",
            Self::Refused(_) => "Nothing was changed. Each problem says what to do.",
            Self::Io { .. } => "Nothing was changed. See to the file and its folder.",
        }
    }
}

/// Gives a key, or a member of one, a value in one layer.
///
/// # Errors
///
/// When the layer would be wrong with it, or cannot be written. The file is then as it was.
pub fn set(places: &Places, layer: Layer, path: &str, value: Value) -> Result<(), WriteError> {
    change(places, layer, |document| put(document, path, Some(value)))
}

/// Takes a key, or a member of one, out of one layer.
///
/// # Errors
///
/// When the layer would be wrong without it, or cannot be written. The file is then as it was.
pub fn unset(places: &Places, layer: Layer, path: &str) -> Result<(), WriteError> {
    change(places, layer, |document| put(document, path, None))
}

/// Changes several keys of one layer at once: what is null goes, objects are changed member by member, everything else
/// is replaced. A credential that comes back as the mark it was shown as stays as it is.
///
/// # Errors
///
/// When the layer would be wrong with it, or cannot be written. The file is then as it was.
pub fn patch(places: &Places, layer: Layer, patch: &Map<String, Value>) -> Result<(), WriteError> {
    change(places, layer, |document| patch_below(document, patch))
}

fn patch_below(place: &mut Value, patch: &Map<String, Value>) {
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    let Value::Object(members) = place else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.shift_remove(name);
            }
            mark if *mark == super::hidden() => {}
            Value::Object(inner) => {
                patch_below(members.entry(name.clone()).or_insert_with(|| Value::Object(Map::new())), inner);
            }
            other => {
                members.insert(name.clone(), other.clone());
            }
        }
    }
}

/// Adds a host to those that the commands of one project may reach. The list of a project stands in the place of the
/// user's, so what is in that comes along.
///
/// # Errors
///
/// When the settings cannot be read, or the layer cannot be written. The file is then as it was.
pub fn allow_host(places: &Places, rule: &str) -> Result<(), WriteError> {
    const KEY: &str = "sandbox.network.allow";
    let config = Config::load(places).map_err(WriteError::Refused)?;
    let Value::Array(mut allowed) = config.value(KEY) else {
        return set(places, Layer::Project, KEY, Value::from(vec![rule]));
    };
    if allowed.iter().any(|known| known.as_str() == Some(rule)) {
        return Ok(());
    }
    allowed.push(Value::from(rule));
    set(places, Layer::Project, KEY, Value::from(allowed))
}

/// What somebody means who types a value: JSON where it is some, otherwise the text itself.
pub fn value_of(typed: &str) -> Value {
    serde_json::from_str(typed).unwrap_or_else(|_| Value::String(typed.to_owned()))
}

fn change(places: &Places, layer: Layer, edit: impl FnOnce(&mut Value)) -> Result<(), WriteError> {
    let (Some(folder), Some(file)) = (places.folder(layer), places.file(layer)) else {
        return Err(WriteError::NoLayer { layer });
    };
    // People keep their own files elsewhere and link to them; such a link stays.
    let linked = if layer == Layer::Repository { None } else { fs::canonicalize(&file).ok() };
    let file = linked.unwrap_or(file);
    let failed = |what: &'static str| {
        let file = file.clone();
        move |source: io::Error| WriteError::Io { file, what, source }
    };
    make_folder(places, &folder, layer).map_err(failed("created"))?;
    // Whoever changes a layer at the same time waits here, so that no change is lost.
    let lock = File::open(&folder).map_err(failed("locked"))?;
    lock.lock().map_err(failed("locked"))?;
    let (mut files, problems) = read::layers(places);
    Problems::check(problems.into_iter().filter(|problem| problem.layer == layer).collect())
        .map_err(WriteError::Refused)?;
    let mode = read_mode(&file, layer).map_err(failed("read"))?;
    let known = unknown_names(&files);
    let mut changed = match files.iter().position(|file| file.layer == layer) {
        Some(index) => files.remove(index),
        None => {
            LayerFile { layer, file: file.clone(), text: String::new(), value: Map::new().into(), mode: None }
        }
    };
    edit(&mut changed.value);
    changed.text = format!("{:#}\n", changed.value);
    changed.mode = (layer != Layer::Repository).then_some(mode);
    verify(changed, (files, known), &file, mode)?.publish().map_err(failed("written"))
}

/// A group or a model that is named and not known.
struct UnknownName {
    name: Option<Value>,
    problem: Problem,
}

impl UnknownName {
    fn is_same(&self, other: &Self) -> bool {
        let place = |one: &Self| (one.problem.layer, one.problem.path.clone());
        self.name == other.name && place(self) == place(other)
    }
}

fn unknown_names(files: &[LayerFile]) -> Vec<UnknownName> {
    let problems = check::unknown_groups(files).into_iter().chain(check::unknown_models(files));
    let named = |problem: Problem| {
        let file = files.iter().find(|file| file.layer == problem.layer);
        UnknownName { name: file.and_then(|file| file.value.get(&problem.path)).cloned(), problem }
    };
    problems.map(named).collect()
}

/// A new text for a file, found good.
struct Verified {
    file: PathBuf,
    text: String,
    mode: u32,
}

fn verify(
    changed: LayerFile,
    (others, known): (Vec<LayerFile>, Vec<UnknownName>),
    file: &Path,
    mode: u32,
) -> Result<Verified, WriteError> {
    let mut problems = changed.shape_problems();
    if problems.is_empty() {
        problems = check::layer(&changed);
    }
    let (layer, text) = (changed.layer, changed.text.clone());
    if problems.is_empty() {
        let mut all = others;
        all.push(changed);
        all.sort_by_key(|file| file.layer);
        let is_name = |problem: &Problem| matches!(problem.fault, Fault::UnknownGroup { .. });
        problems = check::together(&all)
            .into_iter()
            .filter(|problem| problem.layer == layer && !is_name(problem))
            .collect();
        // A name that was wrong before keeps nobody from changing something else.
        let is_new = |name: &UnknownName| !known.iter().any(|known| known.is_same(name));
        problems.extend(unknown_names(&all).into_iter().filter(is_new).map(|name| name.problem));
    }
    Problems::check(problems).map_err(WriteError::Refused)?;
    Ok(Verified { file: file.to_owned(), text, mode })
}

impl Verified {
    /// Puts it in place of the old file at once: whoever reads sees the one or the other.
    fn publish(&self) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut draft = tempfile::Builder::new().prefix(".config-").tempfile_in(folder)?;
        draft.write_all(self.text.as_bytes())?;
        draft.as_file().set_permissions(Permissions::from_mode(self.mode))?;
        draft.as_file().sync_all()?;
        draft.persist(&self.file).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    }
}

fn make_folder(places: &Places, folder: &Path, layer: Layer) -> io::Result<()> {
    if layer != Layer::Repository {
        // The folder of a project is inside of the data folder, and as private as that is.
        make_private_folder(&places.data)?;
        return make_private_folder(folder);
    }
    fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    // A folder of the repository that is a link would lead the file out of it.
    if fs::symlink_metadata(folder)?.is_symlink() {
        return Err(io::Error::other("its folder is a link"));
    }
    Ok(())
}

/// The user's own files are private; that of the repository belongs to everybody who has it.
fn read_mode(file: &Path, layer: Layer) -> io::Result<u32> {
    if layer != Layer::Repository {
        return Ok(0o600);
    }
    match fs::symlink_metadata(file) {
        Ok(there) => Ok(there.permissions().mode() & 0o777),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0o644),
        Err(error) => Err(error),
    }
}

/// Puts a value where a path leads, or takes it out, with the folders that are empty then.
fn put(document: &mut Value, path: &str, value: Option<Value>) {
    let parts: Vec<&str> = path.split('.').collect();
    put_below(document, &parts, value);
}

fn put_below(place: &mut Value, parts: &[&str], value: Option<Value>) {
    let [first, rest @ ..] = parts else { return };
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    let Value::Object(members) = place else { return };
    match (rest, value) {
        ([], Some(value)) => {
            members.insert((*first).to_owned(), value);
        }
        ([], None) => {
            members.shift_remove(*first);
        }
        (rest, value) => {
            if value.is_none() && !members.contains_key(*first) {
                return;
            }
            let below = members.entry((*first).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            put_below(below, rest, value);
            if below.as_object().is_some_and(Map::is_empty) {
                members.shift_remove(*first);
            }
        }
    }
}
