//! From what a command refers to, to the files it means on this machine and how they are started.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::contents::{Contents, Kind};
use super::error::PackageError;
use super::npm::{self, Installed};
use super::places::{Environment, Places};
use super::pypi::{self, Distribution, Distributions};
use super::reference::{Bin, Reference, Runtime};

/// A package that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) contents: Contents,
    /// The program and its arguments.
    pub(super) words: Vec<Word>,
    /// The interpreter.
    pub(super) interpreter: Option<PathBuf>,
    /// Its version, where one is written down.
    pub(super) version: Option<String>,
}

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// As it is.
    Plain(String),
    /// A path in the copy of the contents.
    Inside(String),
}

/// Python without anything but its own library: neither the user's settings nor what is installed.
const PYTHON: [&str; 4] = ["-I", "-S", "-B", "-c"];
/// Calls a function of a module. Arguments: where modules are, the module, the function, the name of the program.
const CALL: &str = "import sys
site, module, name, program = sys.argv[1:5]
sys.path.insert(0, site)
sys.argv[:5] = [program]
import importlib
target = importlib.import_module(module)
for part in name.split('.'):
    target = getattr(target, part)
sys.exit(target())";
/// Runs a module. Arguments: where modules are, the module.
const MODULE: &str = "import sys, runpy
site, module = sys.argv[1:3]
sys.path.insert(0, site)
sys.argv[:3] = [module]
runpy.run_module(module, run_name='__main__', alter_sys=True)";
/// Runs a script. Arguments: where modules are, the script.
const SCRIPT: &str = "import sys, os, runpy
site, script = sys.argv[1:3]
sys.path[:0] = [os.path.dirname(script), site]
sys.argv[:3] = [script]
runpy.run_path(script, run_name='__main__')";

/// The folder of the contents of one program.
const BIN: &str = "bin";
/// The folder of the contents of a script and what is beside it.
const TREE: &str = "tree";

pub(super) fn find(reference: &Reference, places: &Places) -> Result<Found, PackageError> {
    match reference {
        Reference::Npm { name, version, bin, args } => {
            let package = Installed::find(name, version, &places.node_modules())?;
            let program = package.program(bin)?;
            of_node(&package, &program, (places.program("node")?, &[], args))
        }
        Reference::PyPi { name, version, script, args } => {
            let (environment, all) = pypi::find(name, version, places.environments())?;
            let missing = || PackageError::PyPiMissing { name: name.clone(), version: version.clone() };
            call_script((&environment, &all), all.get(name).ok_or_else(missing)?, (script, args))
        }
        Reference::Module { python, module, args } => {
            let environment = environment_of(&places.program(python)?, python, places)?;
            let all = Distributions::of(&environment)?;
            run_module((&environment, &all), all.with_module(module)?, (module, args))
        }
        Reference::Script { runtime, interpreter, options, script, args } => {
            let path = places.script(script)?;
            let interpreter = places.program(interpreter)?;
            match runtime {
                Runtime::Node => node_script(&path, places, (interpreter, options, args)),
                Runtime::Python => python_script(&path, places, (interpreter, args)),
            }
        }
        Reference::Program { command, args } => program(command, args, places),
    }
}

/// How Node.js is started: the interpreter, its options, the arguments.
type Node<'a> = (PathBuf, &'a [String], &'a [String]);

fn of_node(package: &Installed, path: &str, (node, options, args): Node<'_>) -> Result<Found, PackageError> {
    let script = Word::Inside(format!("{}/{path}", package.place()));
    Ok(Found {
        contents: package.contents()?,
        words: words(&node, options, [script], args),
        interpreter: Some(node),
        version: Some(package.version().to_owned()),
    })
}

fn words<const N: usize>(
    program: &Path,
    options: &[String],
    inside: [Word; N],
    args: &[String],
) -> Vec<Word> {
    let program = Word::Plain(program.to_string_lossy().into_owned());
    let plain = |words: &[String]| words.iter().cloned().map(Word::Plain).collect::<Vec<_>>();
    [vec![program], plain(options), inside.into(), plain(args)].concat()
}

fn python_words<const N: usize>(python: &Path, code: &str, inside: [Word; N], args: &[String]) -> Vec<Word> {
    let options: Vec<String> = PYTHON.iter().chain([&code]).map(|word| (*word).to_owned()).collect();
    words(python, &options, inside, args)
}

fn call_script(
    (environment, all): (&Environment, &Distributions),
    distribution: &Distribution,
    (script, args): (&str, &[String]),
) -> Result<Found, PackageError> {
    let (module, function) = distribution.entry_point(script)?;
    let site = Word::Inside(pypi::FOLDER.to_owned());
    let inside = [site, Word::Plain(module), Word::Plain(function), Word::Plain(script.to_owned())];
    Ok(Found {
        contents: all.contents(distribution)?,
        words: python_words(&environment.python, CALL, inside, args),
        interpreter: Some(environment.python.clone()),
        version: Some(distribution.version().to_owned()),
    })
}

fn run_module(
    (environment, all): (&Environment, &Distributions),
    distribution: &Distribution,
    (module, args): (&str, &[String]),
) -> Result<Found, PackageError> {
    let inside = [Word::Inside(pypi::FOLDER.to_owned()), Word::Plain(module.to_owned())];
    Ok(Found {
        contents: all.contents(distribution)?,
        words: python_words(&environment.python, MODULE, inside, args),
        interpreter: Some(environment.python.clone()),
        version: Some(distribution.version().to_owned()),
    })
}

/// The environment that an interpreter belongs to: that of its folder, or the one that it names itself.
fn environment_of(real: &Path, named: &str, places: &Places) -> Result<Environment, PackageError> {
    let given = places.near.first().map_or_else(PathBuf::new, Clone::clone).join(named);
    let venv = given.parent().and_then(Path::parent).filter(|_| named.contains('/'));
    if let Some(environment) = venv.and_then(Environment::of) {
        return Ok(environment);
    }
    let on_path = places.path.split(':').map(|folder| Path::new(folder).join(named));
    let active = on_path.into_iter().find(|path| path.is_file());
    if let Some(found) = active.and_then(|path| Environment::of(path.parent()?.parent()?)) {
        return Ok(found);
    }
    ask(real)
}

/// What an interpreter says about itself. It may be a program that only chooses one.
fn ask(python: &Path) -> Result<Environment, PackageError> {
    const QUESTION: &str = "import os, sys, sysconfig; print(os.path.realpath(sys.executable)); print(sysconfig.get_path('purelib'))";
    let failed = |why: String| PackageError::Description { path: python.to_owned(), why };
    let answer = Command::new(python).args(["-I", "-c", QUESTION]).output();
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&answer.stdout);
    match text.lines().collect::<Vec<_>>()[..] {
        [python, site] if answer.status.success() => {
            Ok(Environment { python: python.into(), site: site.into() })
        }
        _ => Err(failed("it does not say where its packages are".to_owned())),
    }
}

fn node_script(path: &Path, places: &Places, node: Node<'_>) -> Result<Found, PackageError> {
    if let Some((folder, inside)) = Installed::around(path) {
        let package = Installed::in_folder(&folder)?;
        return of_node(&package, &inside.to_string_lossy(), node);
    }
    let (contents, script) = tree(path, "package.json", places)?;
    let (interpreter, options, args) = node;
    let words = words(&interpreter, options, [Word::Inside(script)], args);
    Ok(Found { contents, words, interpreter: Some(interpreter), version: None })
}

fn python_script(
    path: &Path,
    places: &Places,
    (python, args): (PathBuf, &[String]),
) -> Result<Found, PackageError> {
    let (contents, script) = tree(path, "pyproject.toml", places)?;
    // A chooser of interpreters is no interpreter.
    let python = ask(&python)?.python;
    let site = Word::Inside(format!("{TREE}/{SITE}"));
    let words = python_words(&python, SCRIPT, [site, Word::Inside(script)], args);
    Ok(Found { contents, words, interpreter: Some(python), version: None })
}

/// Where a tree may have modules that others wrote, such as `pip install --target` puts them.
const SITE: &str = "site-packages";

/// The folder around a script: the nearest with a file that makes it a project, or else its own.
fn tree(script: &Path, mark: &str, places: &Places) -> Result<(Contents, String), PackageError> {
    let own = script.parent().unwrap_or(script);
    let is_home = |folder: &&Path| places.home.starts_with(folder);
    let inner = || own.ancestors().take_while(|folder| !is_home(folder));
    let folder = inner().find(|folder| folder.join(mark).is_file()).unwrap_or(own);
    if is_home(&folder) || folder == Path::new("/tmp") {
        return Err(PackageError::TooWide { folder: folder.to_owned() });
    }
    let mut contents = Contents::of_kind(Kind::Tree);
    let skips =
        |path: &Path| path == Path::new(".git") || path.file_name().is_some_and(|name| name == "__pycache__");
    contents.folder(TREE, folder, &skips)?;
    let inside = script.strip_prefix(folder).unwrap_or(script);
    Ok((contents, format!("{TREE}/{}", inside.to_string_lossy())))
}

fn program(command: &str, args: &[String], places: &Places) -> Result<Found, PackageError> {
    let path = places.program(command)?;
    let name = Path::new(command).file_name().unwrap_or_default().to_string_lossy().into_owned();
    match npm::interpreter(&path)?.as_deref() {
        Some("node") => return node_script(&path, places, (places.program("node")?, &[], args)),
        Some(python) if python.starts_with("python") => {
            let folder = path.parent().and_then(Path::parent);
            if let Some(environment) = folder.and_then(Environment::of) {
                let all = Distributions::of(&environment)?;
                if let Some(distribution) = all.with_script(&name) {
                    return call_script((&environment, &all), distribution, (&name, args));
                }
            }
            return python_script(&path, places, (places.program(python)?, args));
        }
        Some(_) | None => {}
    }
    let mut contents = Contents::of_kind(Kind::Program);
    let at = format!("{BIN}/{name}");
    contents.file(&at, path)?;
    let args = args.iter().cloned().map(Word::Plain);
    let words = std::iter::once(Word::Inside(at)).chain(args).collect();
    Ok(Found { contents, words, interpreter: None, version: None })
}

/// What a package is called when somebody asks for the digest of a path.
pub(super) fn at_path(path: &Path, places: &Places) -> Result<Contents, PackageError> {
    let path = places.script(&path.to_string_lossy())?;
    if path.is_dir() {
        let is_package = path.join("package.json").is_file() && Installed::around(&path.join("x")).is_some();
        if is_package {
            return Installed::in_folder(&path)?.contents();
        }
        let mut contents = Contents::of_kind(Kind::Tree);
        contents.folder(TREE, &path, &|path| path == Path::new(".git"))?;
        return Ok(contents);
    }
    Ok(program(&path.to_string_lossy(), &[], places)?.contents)
}

impl Bin {
    /// The program's name, when somebody gave it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Default => None,
            Self::Named(name) => Some(name),
        }
    }
}
