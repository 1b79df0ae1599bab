//! What a command and its arguments refer to, before anybody looks for it.

use std::path::Path;

use mxd_core::manifest::Program;
use mxd_core::tool::Version;
use thiserror::Error;

/// What a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `npx -y name@version …`
    Npm {
        /// Which package.
        name: String,
        /// In which version.
        version: Version,
        /// Which of its programs: the only one, or the one named like it, unless somebody says so.
        bin: Bin,
        /// The program's arguments.
        args: Vec<String>,
    },
    /// `uvx name==version …`
    PyPi {
        /// Which distribution.
        name: String,
        /// In which version.
        version: Version,
        /// Which of its programs.
        script: String,
        /// The program's arguments.
        args: Vec<String>,
    },
    /// `python -m module …`
    Module {
        /// The interpreter as it was named.
        python: String,
        /// The module.
        module: String,
        /// The program's arguments.
        args: Vec<String>,
    },
    /// `node path …` or `python path …`
    Script {
        /// What interprets it.
        runtime: Runtime,
        /// The interpreter as it was named.
        interpreter: String,
        /// Options for the interpreter.
        options: Vec<String>,
        /// The script.
        script: String,
        /// The program's arguments.
        args: Vec<String>,
    },
    /// A program by its name or its path.
    Program {
        /// The name or the path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// Which program of an npm package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bin {
    /// The one that npx takes by itself.
    Default,
    /// The one of this name.
    Named(String),
}

/// What interprets a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    /// Node.js.
    Node,
    /// Python.
    Python,
}

/// Why nobody can tell what a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Unclear {
    #[error("`{command}` runs whatever its arguments say, so no digest can be about it")]
    Launcher { command: String },
    #[error("`{command}` is given `{option}`, which makes it run more than one package")]
    Option { command: String, option: String },
    #[error("`{command}` is not told what to run")]
    Nothing { command: String },
    #[error("`{given}` does not name one version")]
    Unpinned { given: String, form: &'static str },
}

impl Unclear {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Launcher { .. } => {
                "Name the server's program itself, or use npx, uvx, node or python.".to_owned()
            }
            Self::Option { option, .. } => format!("Remove `{option}`."),
            Self::Nothing { .. } => "Add the package or the script.".to_owned(),
            Self::Unpinned { form, .. } => format!("Write {form}, with all three numbers."),
        }
    }
}

/// Programs that run something else, for whose digest theirs would say nothing.
const LAUNCHERS: &[&str] = &[
    "ash", "bash", "bun", "bunx", "busybox", "cargo", "cmd", "corepack", "dash", "deno", "doas", "docker",
    "env", "fish", "go", "java", "ksh", "nice", "nohup", "perl", "php", "pipx", "pnpm", "pnpx", "podman",
    "pwsh", "ruby", "sh", "ssh", "stdbuf", "sudo", "timeout", "tsx", "xargs", "yarn", "zsh",
];

/// Options of Node.js that load nothing.
const NODE_OPTIONS: &[&str] = &["--enable-source-maps", "--no-deprecation", "--no-warnings"];
const NODE_MEMORY: &str = "--max-old-space-size=";
/// Options of Python that load nothing.
const PYTHON_OPTIONS: &[&str] = &["-B", "-E", "-I", "-S", "-s", "-u"];

impl Reference {
    /// Reads a command.
    ///
    /// # Errors
    ///
    /// When it does not say which one package, program or script runs.
    pub fn of(program: &Program) -> Result<Self, Unclear> {
        let Program { command, args, .. } = program;
        let name = Path::new(command).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let after = |words: usize| Words { command, left: args.get(words..).unwrap_or_default() };
        match (name, args.first().map(String::as_str), args.get(1).map(String::as_str)) {
            ("npx", _, _) => npx(after(0)),
            ("npm", Some("exec" | "x"), _) => npx(after(1)),
            ("uvx", _, _) => uvx(after(0)),
            ("uv", Some("tool"), Some("run")) => uvx(after(2)),
            ("npm" | "uv", _, _) => Err(Unclear::Launcher { command: command.clone() }),
            ("node" | "nodejs", _, _) => node(after(0)),
            _ if is_python(name) => python(after(0)),
            _ if LAUNCHERS.contains(&name) => Err(Unclear::Launcher { command: command.clone() }),
            _ => Ok(Self::Program { command: command.clone(), args: args.clone() }),
        }
    }

    /// The version that the command itself names.
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Npm { version, .. } | Self::PyPi { version, .. } => Some(version),
            Self::Module { .. } | Self::Script { .. } | Self::Program { .. } => None,
        }
    }
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// The words of a command, from the left.
struct Words<'a> {
    command: &'a str,
    left: &'a [String],
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, left) = self.left.split_first()?;
        self.left = left;
        Some(first)
    }

    fn needed(&mut self) -> Result<&'a str, Unclear> {
        self.next().ok_or_else(|| Unclear::Nothing { command: self.command.to_owned() })
    }

    fn refused(&self, option: &str) -> Unclear {
        Unclear::Option { command: self.command.to_owned(), option: option.to_owned() }
    }

    fn rest(self) -> Vec<String> {
        self.left.to_vec()
    }
}

fn npx(mut words: Words<'_>) -> Result<Reference, Unclear> {
    let mut package = None;
    let first = loop {
        match words.needed()? {
            "-y" | "--yes" | "-q" | "--quiet" | "--prefer-offline" | "--offline" => {}
            "--" => break words.needed()?,
            option @ ("-p" | "--package") if package.is_some() => return Err(words.refused(option)),
            "-p" | "--package" => package = Some(words.needed()?),
            option if option.starts_with("--package=") && package.is_none() => {
                package = option.strip_prefix("--package=");
            }
            option if option.starts_with('-') => return Err(words.refused(option)),
            word => break word,
        }
    };
    let (given, bin) = match package {
        Some(package) => (package, Bin::Named(first.to_owned())),
        None => (first, Bin::Default),
    };
    let unpinned = || Unclear::Unpinned { given: given.to_owned(), form: "name@1.2.3" };
    // The first letter may be the @ of a scope.
    let at = given.char_indices().skip(1).filter(|(_, c)| *c == '@').map(|(at, _)| at).last();
    let (name, version) = at.map(|at| (&given[..at], &given[at + 1..])).ok_or_else(unpinned)?;
    let version = version.parse().map_err(|_| unpinned())?;
    if !is_npm_name(name) {
        return Err(unpinned());
    }
    Ok(Reference::Npm { name: name.to_owned(), version, bin, args: words.rest() })
}

/// Whether a name is one of a package, and so of a folder, and not a path or a URL.
pub(super) fn is_npm_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-._~".contains(c))
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
        None => is_part(name),
    }
}

fn uvx(mut words: Words<'_>) -> Result<Reference, Unclear> {
    let mut from = None;
    let first = loop {
        match words.needed()? {
            "-q" | "--quiet" | "--offline" => {}
            "--from" if from.is_none() => from = Some(words.needed()?),
            option if option.starts_with('-') => return Err(words.refused(option)),
            word => break word,
        }
    };
    let given = from.unwrap_or(first);
    let unpinned = || Unclear::Unpinned { given: given.to_owned(), form: "name==1.2.3" };
    let (name, version) = given.split_once("==").or_else(|| given.split_once('@')).ok_or_else(unpinned)?;
    let version = version.parse().map_err(|_| unpinned())?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if name.is_empty() || !name.chars().all(is_part) {
        return Err(unpinned());
    }
    let script = if from.is_some() { first } else { name };
    Ok(Reference::PyPi { name: name.to_owned(), version, script: script.to_owned(), args: words.rest() })
}

fn node(mut words: Words<'_>) -> Result<Reference, Unclear> {
    let mut options = Vec::new();
    let script = loop {
        match words.needed()? {
            "--" => break words.needed()?,
            option if NODE_OPTIONS.contains(&option) || option.starts_with(NODE_MEMORY) => {
                options.push(option.to_owned());
            }
            option if option.starts_with('-') => return Err(words.refused(option)),
            word => break word,
        }
    };
    let (interpreter, script) = (words.command.to_owned(), script.to_owned());
    Ok(Reference::Script { runtime: Runtime::Node, interpreter, options, script, args: words.rest() })
}

fn python(mut words: Words<'_>) -> Result<Reference, Unclear> {
    let python = words.command.to_owned();
    let script = loop {
        match words.needed()? {
            "-m" => {
                let module = words.needed()?.to_owned();
                return Ok(Reference::Module { python, module, args: words.rest() });
            }
            option if PYTHON_OPTIONS.contains(&option) => {}
            option if option.starts_with('-') => return Err(words.refused(option)),
            word => break word,
        }
    };
    Ok(Reference::Script {
        runtime: Runtime::Python,
        interpreter: python,
        options: Vec::new(),
        script: script.to_owned(),
        args: words.rest(),
    })
}
