//! `search`: a regular expression in all files, on ripgrep's engine.

mod best;
mod hits;
mod show;

use std::fs::File;
use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use mxd_core::tool::SideEffect;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::glob::{Pattern, PatternError};
use crate::confine::{ConfineError, Confinement, Entry, EntryKind, Place, Tree, What};
use crate::outcome::Outcome;
use crate::scope::Scope;
use best::Best;
use hits::{Ended, Hits};

/// What models call it.
pub const NAME: &str = "search";

/// What models are told about it.
pub const DESCRIPTION: &str = "Searches files for a regular expression (Rust syntax, as in ripgrep). Files that \
    .gitignore leaves out, hidden and binary ones are not searched. Results are sorted by path. output_mode content \
    shows matching lines with their numbers, files_with_matches only paths, count how many lines match in each file.";

/// What it does to the world.
pub const EFFECT: SideEffect = SideEffect::Read;

/// How many results come when nobody says how many, and how many at most.
const HEAD: (u32, u32) = (50, 200);

/// The most lines of context on each side.
const MAX_CONTEXT: u32 = 10;

/// The longest expression, in bytes.
const MAX_PATTERN: usize = 10_000;

/// The most memory one file may take, in bytes: a long line, or the whole file when matching across lines.
const MAX_HEAP: usize = 16 << 20;

/// The most folders that can be excluded.
const MAX_EXCLUDED: usize = 100;

/// What to search for, and where.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The regular expression.
    pub pattern: String,
    /// The folder or file to search, relative to the worktree; the worktree when left out.
    #[serde(default)]
    pub path: Option<String>,
    /// Search only files that fit this glob, such as `*.rs`; with `!` in front, only those that do not.
    #[serde(default)]
    pub glob: Option<String>,
    /// How many lines to show before and after each matching line, at most 10.
    #[serde(default)]
    #[schemars(range(max = 10))]
    pub context: Option<u32>,
    /// What to show; content when left out.
    #[serde(default)]
    pub output_mode: Option<OutputMode>,
    /// How many results to show: matching lines, or files; 50 when left out, at most 200.
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub head_limit: Option<u32>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    pub case_insensitive: Option<bool>,
    /// Whether the expression can match across lines; `(?s)` lets the dot match line ends.
    #[serde(default)]
    pub multiline: Option<bool>,
    /// Names or paths of folders to pass over.
    #[serde(default)]
    pub excluded_dirs: Option<Vec<String>>,
}

/// What to show of what was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Matching lines with their numbers.
    #[default]
    Content,
    /// Paths of files that match.
    FilesWithMatches,
    /// How many lines match, by file.
    Count,
}

#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Confine(#[from] ConfineError),
    #[error(transparent)]
    Glob(#[from] PatternError),
    #[error("the regular expression is {bytes} bytes long; at most {MAX_PATTERN} are possible")]
    TooLong { bytes: usize },
    #[error("not a regular expression: {why}")]
    Regex { why: String },
    #[error("{what} may be at most {limit}, not {given}")]
    Limit { what: &'static str, limit: u32, given: usize },
    #[error("{path} is a binary file and cannot be searched")]
    Binary { path: String },
    #[error("searching {path} failed: {source}")]
    Io { path: String, source: io::Error },
    #[error("the search was cancelled")]
    Cancelled,
}

/// What a call asks for, checked.
struct Order {
    matcher: RegexMatcher,
    mode: OutputMode,
    limit: usize,
    context: usize,
    multiline: bool,
}

/// Searches files.
pub fn run(args: &Args, scope: &Scope, cancel: &CancellationToken) -> Outcome {
    match search(args, scope, cancel) {
        Ok(words) => Outcome::text(words),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn search(args: &Args, scope: &Scope, cancel: &CancellationToken) -> Result<String, SearchError> {
    let order = Order::new(args)?;
    let glob = args.glob.as_deref().map(Filter::new).transpose()?;
    let excluded = args.excluded_dirs.as_deref().unwrap_or_default();
    if excluded.len() > MAX_EXCLUDED {
        let (what, limit) = ("the number of excluded_dirs", MAX_EXCLUDED as u32);
        return Err(SearchError::Limit { what, limit, given: excluded.len() });
    }
    let path = args.path.as_deref().unwrap_or(".");
    let start = Confinement::of(scope)?.resolve(path)?;
    let best = Best::new(order.mode, order.limit);
    match start.what() {
        What::Folder => {
            let wanted_hidden = |name: &_| glob.as_ref().is_some_and(|glob| glob.pattern.names_hidden(name));
            let tree = Tree { start: &start, wanted_hidden: &wanted_hidden, excluded, cancel };
            search_tree(&order, &tree, glob.as_ref(), &best);
        }
        What::Entry(_) | What::Missing(_) => search_one(&order, &start, cancel, &best)?,
    }
    if cancel.is_cancelled() {
        return Err(SearchError::Cancelled);
    }
    Ok(show::report(best.into_found(), args, path))
}

/// Searches a file that was named, whatever its name is.
fn search_one(
    order: &Order,
    place: &Place,
    cancel: &CancellationToken,
    best: &Best,
) -> Result<(), SearchError> {
    let opened = place.open()?;
    let mut hits = Hits::new(order.keep());
    let reader = Cancellable { file: opened.file, cancel };
    match hits.search(&mut order.searcher(), &order.matcher, reader) {
        Ok(Ended::Binary) => Err(SearchError::Binary { path: place.asked().to_owned() }),
        Ok(Ended::Whole) => {
            best.add(place.shown().to_string_lossy().into_owned(), hits);
            Ok(())
        }
        Err(_) if cancel.is_cancelled() => Err(SearchError::Cancelled),
        Err(source) => Err(SearchError::Io { path: place.asked().to_owned(), source }),
    }
}

fn search_tree(order: &Order, tree: &Tree<'_>, glob: Option<&Filter>, best: &Best) {
    let prefix = tree.start.shown();
    let visit = |searcher: &mut Searcher, entry: &Entry<'_>| {
        if entry.kind != EntryKind::File || glob.is_some_and(|glob| !glob.admits(entry)) {
            return;
        }
        let Some(file) = entry.open() else { return best.add_unreadable() };
        let path = prefix.join(entry.path).to_string_lossy().into_owned();
        // What comes after enough results is only counted.
        let keep = if best.would_keep(&path) { order.keep() } else { 0 };
        let mut hits = Hits::new(keep);
        match hits.search(searcher, &order.matcher, Cancellable { file, cancel: tree.cancel }) {
            Ok(Ended::Binary) => {}
            Ok(Ended::Whole) => best.add(path, hits),
            Err(_) => best.add_unreadable(),
        }
    };
    let walked = tree.walk(|| order.searcher(), visit);
    (0..walked.unreadable).for_each(|_| best.add_unreadable());
}

impl Order {
    fn new(args: &Args) -> Result<Self, SearchError> {
        if args.pattern.len() > MAX_PATTERN {
            return Err(SearchError::TooLong { bytes: args.pattern.len() });
        }
        let context = within("context", args.context.unwrap_or(0), MAX_CONTEXT)?;
        let limit = within("head_limit", args.head_limit.unwrap_or(HEAD.0), HEAD.1)?.max(1);
        let multiline = args.multiline.unwrap_or(false);
        // The matcher puts the expression into a group, so it would point at the wrong place.
        let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
        parser.parse(&args.pattern).map_err(|error| SearchError::Regex { why: error.to_string() })?;
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).unicode(true).case_insensitive(args.case_insensitive.unwrap_or(false));
        if !multiline {
            builder.line_terminator(Some(b'\n')).ban_byte(Some(0));
        }
        let matcher =
            builder.build(&args.pattern).map_err(|error| SearchError::Regex { why: why(&error) })?;
        Ok(Self { matcher, mode: args.output_mode.unwrap_or_default(), limit, context, multiline })
    }

    /// How many matching lines of one file are worth keeping.
    fn keep(&self) -> usize {
        match self.mode {
            OutputMode::Content => self.limit,
            OutputMode::FilesWithMatches | OutputMode::Count => 0,
        }
    }

    fn searcher(&self) -> Searcher {
        let first_only = (self.mode == OutputMode::FilesWithMatches).then_some(1);
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(self.mode == OutputMode::Content)
            .multi_line(self.multiline)
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(MAX_HEAP))
            .max_matches(first_only)
            .build()
    }
}

fn within(what: &'static str, given: u32, limit: u32) -> Result<usize, SearchError> {
    if given > limit {
        return Err(SearchError::Limit { what, limit, given: given as usize });
    }
    Ok(given as usize)
}

fn why(error: &grep_regex::Error) -> String {
    match error.kind() {
        grep_regex::ErrorKind::NotAllowed(_) => format!("{error}; set multiline to match across lines"),
        _ => error.to_string(),
    }
}

/// Which files are searched.
struct Filter {
    pattern: Pattern,
    inverted: bool,
}

impl Filter {
    fn new(glob: &str) -> Result<Self, PatternError> {
        let (pattern, inverted) = match glob.strip_prefix('!') {
            Some(pattern) => (pattern, true),
            None => (glob, false),
        };
        Ok(Self { pattern: Pattern::new(pattern)?, inverted })
    }

    fn admits(&self, entry: &Entry<'_>) -> bool {
        self.pattern.fits(entry.path) != self.inverted
    }
}

/// A file whose reading can be ended.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}
