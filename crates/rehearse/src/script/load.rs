//! Reading a script, and saying what is wrong with one.

use std::fmt;
use std::io::Read as _;
use std::path::Path as FilePath;

use serde::Serialize;

use super::locate::Path;
use super::{Script, check};
use crate::limits::SCRIPT_BYTES;

/// Something wrong in a script, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptProblem {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The way to the value: `conversations[0].turns[2]`. Empty when the text could not be read at all.
    pub path: String,
    /// What is wrong and what was expected.
    pub what: String,
}

impl fmt::Display for ScriptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

/// Why a script was refused.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file could not be read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// The file is larger than any script.
    #[error("{file}: more than {SCRIPT_BYTES} bytes, which no script may have")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The script says something it may not say.
    #[error("{}", list(file, problems))]
    Wrong {
        /// The file, or the name given to the text.
        file: String,
        /// Everything that is wrong, in the order of the script.
        problems: Vec<ScriptProblem>,
    },
}

fn list(file: &str, problems: &[ScriptProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{file}:{problem}")).collect();
    lines.join("\n")
}

impl ScriptError {
    /// The problems in the script itself.
    pub fn problems(&self) -> &[ScriptProblem] {
        match self {
            Self::Wrong { problems, .. } => problems,
            Self::Unreadable { .. } | Self::TooLarge { .. } => &[],
        }
    }
}

impl Script {
    /// Reads and checks a script file.
    pub fn load(path: impl AsRef<FilePath>) -> Result<Self, ScriptError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let unreadable = |source| ScriptError::Unreadable { file: file.clone(), source };
        let opened = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        opened.take(SCRIPT_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > SCRIPT_BYTES {
            return Err(ScriptError::TooLarge { file });
        }
        Self::parse(&file, &text)
    }

    /// Reads and checks a script; `name` is how errors call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let wrong = |problems| ScriptError::Wrong { file: name.to_owned(), problems };
        let script: Self = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            // serde_json repeats the place at the end of its message.
            let what = error.to_string().replace(&format!(" at line {line} column {column}"), "");
            wrong(vec![ScriptProblem { line, column, path: String::new(), what }])
        })?;
        let found = script.problems();
        if found.is_empty() {
            return Ok(script);
        }
        let place = |(path, what): (Path, String)| {
            let (line, column) = path.locate(text);
            ScriptProblem { line, column, path: path.to_string(), what }
        };
        Err(wrong(found.into_iter().map(place).collect()))
    }

    /// Checks a script that was built in code; problems are placed in its printed form.
    pub fn checked(self) -> Result<Self, ScriptError> {
        let text = serde_json::to_string_pretty(&self).unwrap_or_default();
        Self::parse("script", &text)
    }

    fn problems(&self) -> Vec<(Path, String)> {
        check::check(self)
    }
}
