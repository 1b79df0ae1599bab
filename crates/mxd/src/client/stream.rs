//! The stream of a project: what was there, what becomes durable, what is being written right now.

use std::time::Duration;

use reqwest::header;
use serde::Deserialize;
use serde_json::Value;

use super::Failure;
use super::view::{Commit, Snapshot};

/// The daemon's heart beats more often than this.
const SILENCE: Duration = Duration::from_secs(45);
/// One event of the stream at most; a snapshot of twenty thousand tasks fits.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// What a stream tells.
#[derive(Debug, Clone)]
pub(crate) enum Happening {
    /// All tasks as they stand.
    Snapshot(Box<Snapshot>),
    /// Something has become durable.
    Commit(Box<Commit>),
    /// Something is being written.
    Delta(Delta),
    /// The daemon lives.
    Heartbeat,
}

/// What is being written right now.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Delta {
    pub(crate) task: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) content: String,
}

/// An open stream.
#[derive(Debug)]
pub(crate) struct Stream {
    answer: reqwest::Response,
    unread: Vec<u8>,
    base: String,
    /// The last thing that was durable, as the daemon names it.
    cursor: Option<String>,
}

impl Stream {
    pub(super) async fn open(request: reqwest::RequestBuilder, base: &str) -> Result<Self, Failure> {
        let request = request.header(header::ACCEPT, "text/event-stream");
        let answer = request.send().await.map_err(|error| Failure::unreachable(base, &error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(Failure::refused(status, &answer.text().await.unwrap_or_default()));
        }
        Ok(Self { answer, unread: Vec::new(), base: base.to_owned(), cursor: None })
    }

    /// Up to where it has told.
    pub(crate) fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The next thing it tells; none when the daemon has ended it.
    pub(crate) async fn next(&mut self) -> Result<Option<Happening>, Failure> {
        loop {
            while let Some(block) = self.take_block() {
                if let Some(id) = block.lines().find_map(|line| line.strip_prefix("id:")) {
                    self.cursor = Some(id.trim().to_owned());
                }
                if let Some(happening) = read(&block)? {
                    return Ok(Some(happening));
                }
            }
            if self.unread.len() > MOST_BYTES {
                return Err(Failure::new("the daemon sent an event that is too large to be read"));
            }
            let silent = || Failure::new("the daemon has gone silent").hint("`mxd daemon status` says more.");
            let chunk = tokio::time::timeout(SILENCE, self.answer.chunk()).await.map_err(|_| silent())?;
            match chunk.map_err(|error| Failure::unreachable(&self.base, &error))? {
                Some(chunk) => self.unread.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }

    /// The next whole event, without the empty line behind it.
    fn take_block(&mut self) -> Option<String> {
        let end = self.unread.windows(2).position(|pair| pair == b"\n\n")?;
        let block = self.unread.drain(..end + 2).take(end).collect::<Vec<u8>>();
        Some(String::from_utf8_lossy(&block).into_owned())
    }
}

fn read(block: &str) -> Result<Option<Happening>, Failure> {
    let (mut name, mut data) = ("message", String::new());
    for line in block.lines() {
        if let Some(text) = line.strip_prefix("event:") {
            name = text.trim();
        } else if let Some(text) = line.strip_prefix("data:") {
            data.push_str(text.strip_prefix(' ').unwrap_or(text));
        }
    }
    let strange = |error: serde_json::Error| {
        Failure::new(format!("the daemon told something that cannot be read: {error}"))
            .hint("It may be of another version: `mxd daemon restart`.")
    };
    Ok(Some(match name {
        "snapshot" => Happening::Snapshot(serde_json::from_str(&data).map_err(strange)?),
        "commit" => Happening::Commit(serde_json::from_str(&data).map_err(strange)?),
        "delta" => match serde_json::from_str::<Value>(&data).and_then(serde_json::from_value) {
            Ok(delta) => Happening::Delta(delta),
            // A kind of a newer version; it is only for the eye.
            Err(_) => return Ok(None),
        },
        "heartbeat" => Happening::Heartbeat,
        "auth_expired" => return Err(Failure::new("the daemon does not know us any more").hint("Try again.")),
        _ => return Ok(None),
    }))
}
