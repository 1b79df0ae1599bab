//! What was asked, kept for the test and written as JSONL.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

use crate::violation::Violation;
use crate::wire::Wire;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The reply of its turn.
    Replied,
    /// The reply it had got before: the script says that it may be asked again.
    Repeated,
    /// A fault of the script.
    Fault,
    /// An error, because a rule was broken or an expectation was not met.
    Refused,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoggedRequest {
    /// Its number, over all conversations, from 1.
    pub number: u64,
    /// The wire it came on.
    pub wire: Wire,
    /// The conversation it belongs to: its id, or `#2` for the second of the script.
    pub conversation: Option<String>,
    /// The turn it asked for, counted from 1.
    pub turn: Option<usize>,
    /// What became of it.
    pub outcome: Outcome,
    /// What was wrong with it.
    pub violations: Vec<Violation>,
    /// The prompt, one short line per block.
    pub shape: Vec<String>,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

impl LoggedRequest {
    /// The shape as one text, for snapshots.
    pub fn shape_text(&self) -> String {
        self.shape.join("\n")
    }
}

/// The requests so far, and the file they are written to.
#[derive(Debug, Default)]
pub(crate) struct Log {
    requests: Vec<LoggedRequest>,
    file: Option<File>,
    keeps_bodies: bool,
    failure: Option<String>,
}

impl Log {
    pub(crate) fn new(file: Option<File>, keeps_bodies: bool) -> Self {
        Self { file, keeps_bodies, ..Self::default() }
    }

    pub(crate) fn keeps_bodies(&self) -> bool {
        self.keeps_bodies
    }

    pub(crate) fn push(&mut self, request: LoggedRequest) {
        if let Some(file) = &mut self.file
            && let Err(error) = write(file, &request)
        {
            self.failure.get_or_insert(format!("the request log could not be written: {error}"));
        }
        self.requests.push(request);
    }

    pub(crate) fn requests(&self) -> &[LoggedRequest] {
        &self.requests
    }

    pub(crate) fn failure(&self) -> Option<&String> {
        self.failure.as_ref()
    }
}

fn write(file: &mut File, request: &LoggedRequest) -> io::Result<()> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// Why a rehearsal did not go as the script says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Broken rules and unmet expectations, each with the number of its request.
    pub violations: Vec<(u64, Violation)>,
    /// What the script has and no request asked for.
    pub left_over: Vec<String>,
}

impl Report {
    pub(crate) fn is_empty(&self) -> bool {
        self.violations.is_empty() && self.left_over.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rehearsal did not go as the script says")?;
        for (number, violation) in &self.violations {
            write!(f, "\nrequest {number}: {violation}")?;
        }
        for rest in &self.left_over {
            write!(f, "\nleft over: {rest}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}
