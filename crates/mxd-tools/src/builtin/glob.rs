//! Patterns of file names, as agents write them.

use std::ffi::OsStr;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_000;

/// A pattern of file names. Without a `/` it is about the name alone, at any depth.
#[derive(Debug)]
pub(super) struct Pattern {
    path: GlobMatcher,
    name_only: bool,
    /// The components that name hidden files.
    hidden: Vec<GlobMatcher>,
}

/// Why a pattern is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum PatternError {
    #[error("the pattern {pattern:?} is not a glob: {why}")]
    Invalid { pattern: String, why: String },
    #[error("the pattern {pattern:?} is absolute; give the folder as path and the rest as pattern")]
    Absolute { pattern: String },
    #[error("the pattern is {bytes} bytes long; at most {MAX_PATTERN} are possible")]
    TooLong { bytes: usize },
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.len() > MAX_PATTERN {
            return Err(PatternError::TooLong { bytes: pattern.len() });
        }
        if pattern.starts_with('/') {
            return Err(PatternError::Absolute { pattern: pattern.to_owned() });
        }
        let hidden = pattern.split('/').filter(|part| part.starts_with('.'));
        Ok(Self {
            path: compiled(pattern.trim_end_matches('/'))?,
            name_only: !pattern.trim_end_matches('/').contains('/'),
            hidden: hidden.map(compiled).collect::<Result<_, _>>()?,
        })
    }

    /// Whether what lies at this path fits.
    pub(super) fn fits(&self, path: &Path) -> bool {
        match path.file_name() {
            Some(name) if self.name_only => self.path.is_match(name),
            _ => self.path.is_match(path),
        }
    }

    /// Whether the pattern asks for a hidden file or folder of this name.
    pub(super) fn names_hidden(&self, name: &OsStr) -> bool {
        self.hidden.iter().any(|hidden| hidden.is_match(name))
    }
}

fn compiled(pattern: &str) -> Result<GlobMatcher, PatternError> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|error| PatternError::Invalid {
        pattern: pattern.to_owned(),
        why: error.kind().to_string(),
    })?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern).unwrap().fits(Path::new(path))
    }

    #[test]
    fn a_pattern_without_a_slash_fits_at_any_depth() {
        assert!(fits("*.rs", "a.rs") && fits("*.rs", "src/deep/a.rs") && fits("{a,b}.rs", "src/b.rs"));
        assert!(!fits("*.rs", "a.rs.txt"));
    }

    #[test]
    fn a_pattern_with_a_slash_is_about_the_whole_path() {
        assert!(fits("src/*.rs", "src/a.rs") && !fits("src/*.rs", "src/deep/a.rs"));
        assert!(fits("src/**/*.rs", "src/a.rs") && fits("src/**/*.rs", "src/deep/a.rs"));
        assert!(!fits("src/*.rs", "other/src/a.rs") && fits("./src/*", "src/a"));
    }

    #[test]
    fn hidden_names_must_be_named() {
        let pattern = Pattern::new(".github/*.yml").unwrap();
        assert!(pattern.names_hidden(OsStr::new(".github")) && !pattern.names_hidden(OsStr::new(".cache")));
        assert!(!Pattern::new("*").unwrap().names_hidden(OsStr::new(".env")));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let told = |pattern: &str| Pattern::new(pattern).unwrap_err().to_string();
        assert_eq!(told("a[b"), "the pattern \"a[b\" is not a glob: unclosed character class; missing ']'");
        assert!(told("/etc/*").contains("absolute"));
        assert!(told(&"a".repeat(2_000)).contains("2000 bytes"));
    }
}
