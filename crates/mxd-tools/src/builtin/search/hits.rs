//! What matches in one file.

use std::io::{self, Read};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};

use crate::builtin::content::whole_characters;

/// The most of a line that is shown, in bytes.
const MAX_LINE: usize = 400;

/// How much of a long line is shown before the match, in bytes.
const BEFORE: usize = 100;

/// The matching lines of a file, of which some are kept.
#[derive(Debug)]
pub(super) struct Hits {
    keep: usize,
    /// How many matches there are.
    pub(super) matches: u64,
    /// How many of them are among the lines.
    pub(super) kept: usize,
    pub(super) lines: Vec<Line>,
}

/// A line that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Match {
        number: u64,
        text: String,
    },
    Context {
        number: u64,
        text: String,
    },
    /// Lines that are not shown.
    Gap,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Whole,
    /// The file is not text.
    Binary,
}

impl Hits {
    pub(super) fn new(keep: usize) -> Self {
        Self { keep, matches: 0, kept: 0, lines: Vec::new() }
    }

    pub(super) fn search(
        &mut self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        reader: impl Read,
    ) -> io::Result<Ended> {
        let mut gather = Gather { hits: self, matcher, ended: Ended::Whole };
        searcher.search_reader(matcher, reader, &mut gather)?;
        Ok(gather.ended)
    }
}

struct Gather<'a> {
    hits: &'a mut Hits,
    matcher: &'a RegexMatcher,
    ended: Ended,
}

impl Sink for Gather<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let lines = found.lines().count().max(1) as u64;
        self.hits.matches += lines;
        for (number, line) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
            if self.hits.kept >= self.hits.keep {
                break;
            }
            let text = excerpt(line, self.matcher);
            self.hits.lines.push(Line::Match { number, text });
            self.hits.kept += 1;
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let hits = &mut *self.hits;
        let follows_kept = *context.kind() == SinkContextKind::After && hits.matches == hits.kept as u64;
        if hits.kept < hits.keep || (hits.keep > 0 && follows_kept) {
            let text = excerpt(context.bytes(), self.matcher);
            hits.lines.push(Line::Context { number: context.line_number().unwrap_or(0), text });
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if self.hits.kept < self.hits.keep {
            self.hits.lines.push(Line::Gap);
        }
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        if finish.binary_byte_offset().is_some() {
            self.ended = Ended::Binary;
        }
        Ok(())
    }
}

/// A line as it is shown: the part around the match when it is long.
fn excerpt(line: &[u8], matcher: &RegexMatcher) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    let at = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    let from = at.saturating_sub(BEFORE).min(line.len() - MAX_LINE);
    // Not in the middle of a character.
    let from = (from..from + 4).find(|at| line[*at] & 0xc0 != 0x80).unwrap_or(from);
    let part = whole_characters(&line[from..(from + MAX_LINE).min(line.len())]);
    let before = if from > 0 { "…" } else { "" };
    let after = if from + part.len() < line.len() { "…" } else { "" };
    format!("{before}{}{after} [line cut: {} bytes]", String::from_utf8_lossy(part), line.len())
}
