//! `read_file`: a window of a text file with line numbers, or a picture.

mod utf16;
mod window;

use std::fmt::Write as _;
use std::io::{self, BufReader, Cursor, Read};
use std::num::{NonZeroU32, NonZeroU64};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::{Encoding, HEAD, Kind};
use crate::confine::{ConfineError, Confinement, Opened};
use crate::outcome::{Outcome, Part};
use crate::scope::Scope;
use utf16::Utf16;
use window::{End, Shown, Window};

/// What models call it.
pub const NAME: &str = "read_file";

/// What models are told about it.
pub const DESCRIPTION: &str = "Reads a file. Text comes with line numbers, a number and a tab before each line, \
    which are not part of the file. At most 2,000 lines or 64 KB come at once; read on with offset. Very long \
    lines are cut. PNG, JPEG, GIF and WebP files come as pictures.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Read;

/// How many lines come when nobody says how many.
const DEFAULT_LINES: u32 = 2_000;

/// Files up to this size are remembered by their content, larger ones by size and time.
const REMEMBERED_WHOLE: u64 = 1 << 20;

/// The largest picture, in bytes: what providers take, before base64.
const MAX_PICTURE: u64 = 3_750_000;

const BUFFER: usize = 64 * 1024;

/// What to read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the worktree.
    pub path: String,
    /// The first line to read, counted from 1.
    #[serde(default)]
    pub offset: Option<NonZeroU64>,
    /// How many lines to read; 2000 when left out.
    #[serde(default)]
    pub limit: Option<NonZeroU32>,
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Confine(#[from] ConfineError),
    #[error("{path} is a binary file ({what}, {size} bytes); it cannot be shown as text")]
    Binary { path: String, what: &'static str, size: u64 },
    #[error("{path} is a picture of {size} bytes; at most {MAX_PICTURE} can be shown: make it smaller first")]
    PictureTooLarge { path: String, size: u64 },
    #[error("{path} has only {lines} lines; offset {offset} is beyond its end")]
    BeyondEnd { path: String, lines: u64, offset: u64 },
    #[error("reading {path} failed: {source}")]
    Io { path: String, source: io::Error },
}

/// Reads a file.
pub fn run(args: &Args, scope: &Scope) -> Outcome {
    read(args, scope).unwrap_or_else(|error| Outcome::error(error.to_string()))
}

fn read(args: &Args, scope: &Scope) -> Result<Outcome, ReadError> {
    let mut opened = Confinement::of(scope)?.resolve(&args.path)?.open()?;
    let failed = |source| ReadError::Io { path: args.path.clone(), source };
    if opened.size <= REMEMBERED_WHOLE {
        let content = opened.read_whole(&args.path)?;
        let outcome = show(args, &opened, &content, Cursor::new(&content))?;
        scope.files.have_read(&opened, &content);
        return Ok(outcome);
    }
    let mut head = Vec::with_capacity(HEAD);
    (&opened.file).take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
    let outcome = show(args, &opened, &head, head.as_slice().chain(&opened.file))?;
    scope.files.have_read_part(&opened);
    Ok(outcome)
}

/// Shows what `content` delivers, which begins with `head`.
fn show(args: &Args, opened: &Opened, head: &[u8], content: impl Read) -> Result<Outcome, ReadError> {
    let path = || args.path.clone();
    let failed = |source| ReadError::Io { path: path(), source };
    let size = opened.size.max(head.len() as u64);
    match Kind::of(&head[..head.len().min(HEAD)]) {
        Kind::Binary(what) => Err(ReadError::Binary { path: path(), what, size }),
        Kind::Picture(_) if size > MAX_PICTURE => Err(ReadError::PictureTooLarge { path: path(), size }),
        Kind::Picture(media_type) => {
            let mut bytes = Vec::new();
            content.take(MAX_PICTURE).read_to_end(&mut bytes).map_err(failed)?;
            let words = Part::Text(format!("[{}: {media_type}, {size} bytes]", args.path));
            let picture = Part::Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) };
            Ok(Outcome { parts: vec![words, picture], ..Outcome::default() })
        }
        Kind::Text(encoding) => {
            let window = Window {
                first: args.offset.map_or(1, NonZeroU64::get),
                lines: u64::from(args.limit.map_or(DEFAULT_LINES, NonZeroU32::get)),
            };
            let mut content = content;
            let mark = encoding.mark().len() as u64;
            io::copy(&mut (&mut content).take(mark), &mut io::sink()).map_err(failed)?;
            let shown = match encoding {
                Encoding::Utf8 | Encoding::Utf8WithMark => {
                    window.show(BufReader::with_capacity(BUFFER, content))
                }
                Encoding::Utf16Little | Encoding::Utf16Big => {
                    window.show(BufReader::with_capacity(BUFFER, Utf16::new(content, encoding)))
                }
            };
            described(args, encoding, window, shown.map_err(failed)?)
        }
    }
}

/// The lines, and what is to be said about them.
fn described(args: &Args, encoding: Encoding, window: Window, shown: Shown) -> Result<Outcome, ReadError> {
    let mut notes: Vec<&str> = encoding.note().into_iter().collect();
    if shown.crlf {
        notes.push("CRLF line ends");
    }
    if shown.lossy {
        notes.push("not valid UTF-8: \u{fffd} stands for bytes that are not text");
    }
    let mut text = shown.text;
    let mut note = |words: &str| {
        let _never_fails = writeln!(text, "[{words}]");
    };
    match shown.end {
        End::Cut { next } => note(&format!("more lines follow; read on with offset {next}")),
        End::File { lines: 0, .. } => note(&format!("{} is empty", args.path)),
        End::File { lines, .. } if window.first > lines => {
            return Err(ReadError::BeyondEnd { path: args.path.clone(), lines, offset: window.first });
        }
        End::File { lines, .. } if window.first > 1 => note(&format!("end of the file, {lines} lines")),
        End::File { .. } => {}
    }
    if matches!(shown.end, End::File { lines, last_line_ends: false } if lines > 0) {
        notes.push("no line end after the last line");
    }
    if !notes.is_empty() {
        note(&notes.join("; "));
    }
    Ok(Outcome::text(text))
}
