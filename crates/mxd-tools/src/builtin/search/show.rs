//! What was found, in words.

use std::fmt::Write as _;

use super::best::Found;
use super::hits::{Hits, Line};
use super::{Args, HEAD, OutputMode};
use crate::builtin::content::counted;

/// The most that is shown, in bytes.
const MAX_BYTES: usize = 48 * 1024;

/// Describes what was found.
pub(super) fn report(found: Found, args: &Args, path: &str) -> String {
    let mut text = String::new();
    let mut shown = Shown { limit: args.head_limit.unwrap_or(HEAD.0).max(1) as usize, results: 0 };
    if found.matching_files == 0 {
        let _never_fails =
            writeln!(text, "no matches in {path} (hidden, ignored and binary files are not searched)");
    }
    let mode = args.output_mode.unwrap_or_default();
    for (path, hits) in &found.files {
        if shown.results >= shown.limit || text.len() >= MAX_BYTES {
            break;
        }
        match mode {
            OutputMode::Content => shown.content(&mut text, path, hits),
            OutputMode::FilesWithMatches => shown.line(&mut text, path),
            OutputMode::Count => shown.line(&mut text, &format!("{path}: {}", hits.matches)),
        }
    }
    let (total, what) = match mode {
        OutputMode::Content => (found.matching_lines, "matching lines"),
        OutputMode::FilesWithMatches | OutputMode::Count => (found.matching_files, "files"),
    };
    if total > shown.results as u64 {
        let files = counted(found.matching_files, "file");
        let of = if mode == OutputMode::Content { format!(" in {files}") } else { String::new() };
        let results = shown.results;
        let _never_fails = writeln!(
            text,
            "[cut: {results} of {total} {what}{of} shown; narrow the search, or raise head_limit (at most {})]",
            HEAD.1
        );
    }
    if found.unreadable > 0 {
        let _never_fails = writeln!(text, "[{} could not be read]", unreadable(found.unreadable));
    }
    text
}

fn unreadable(number: u64) -> String {
    if number == 1 { "1 file or folder".to_owned() } else { format!("{number} files or folders") }
}

/// How much has been shown.
struct Shown {
    limit: usize,
    results: usize,
}

impl Shown {
    fn line(&mut self, text: &mut String, line: &str) {
        let _never_fails = writeln!(text, "{line}");
        self.results += 1;
    }

    fn content(&mut self, text: &mut String, path: &str, hits: &Hits) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _never_fails = writeln!(text, "{path}");
        for line in &hits.lines {
            // What stands before the first match that is not shown is not shown either.
            let over = self.results >= self.limit;
            match line {
                Line::Match { .. } | Line::Gap if over => return,
                _ if text.len() >= MAX_BYTES => return,
                Line::Match { number, text: words } => {
                    let _never_fails = writeln!(text, "{number}: {words}");
                    self.results += 1;
                }
                Line::Context { number, text: words } => {
                    let _never_fails = writeln!(text, "{number}- {words}");
                }
                Line::Gap => text.push_str("--\n"),
            }
        }
    }
}
