//! What comments in the sources say about how a test is run: `forge-config: default.fuzz.runs = 500` before it, or before its
//! contract.

use std::collections::HashMap;

use crate::limits;

/// How one test is run, where its source says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Inline {
    /// Whether a revert may be expected of the test's own code.
    pub(super) internal_reverts: bool,
    pub(super) fuzz_runs: Option<u32>,
    pub(super) invariant_runs: Option<u32>,
    pub(super) invariant_depth: Option<u32>,
    /// Something this runner does not know, or that is more than it does.
    pub(super) unknown: Option<String>,
}

/// What all sources of a compilation say.
#[derive(Debug, Default)]
pub(super) struct InlineBook {
    /// By file and name of a function or contract.
    by_place: HashMap<(String, String), Inline>,
    /// By name alone, for tests that a contract inherits.
    by_name: HashMap<String, Inline>,
}

impl InlineBook {
    pub(super) fn of<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut book = Self::default();
        for (file, text) in files.filter(|(_, text)| text.contains(MARK)) {
            let mut said: Option<Inline> = None;
            for line in text.lines() {
                if let Some((_, setting)) = line.split_once(MARK) {
                    said.get_or_insert_default().read(setting.trim().trim_end_matches("*/").trim());
                } else if let Some(name) = declared(line)
                    && let Some(inline) = said.take()
                {
                    book.by_name.insert(name.to_owned(), inline.clone());
                    book.by_place.insert((file.to_owned(), name.to_owned()), inline);
                }
            }
        }
        book
    }

    /// What is said about a test: about itself, else about its contract.
    pub(super) fn about(&self, file: &str, contract: &str, test: &str) -> Inline {
        let place = |name: &str| self.by_place.get(&(file.to_owned(), name.to_owned()));
        let found = place(test).or_else(|| self.by_name.get(test)).or_else(|| place(contract));
        found.cloned().unwrap_or_default()
    }
}

const MARK: &str = "forge-config:";

/// The function or contract that a line begins.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("abstract ");
    let rest = line.strip_prefix("function ").or_else(|| line.strip_prefix("contract "))?;
    rest.split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '$')).next()
}

impl Inline {
    fn read(&mut self, setting: &str) {
        let Some((key, value)) = setting.split_once('=') else {
            self.unknown = Some(setting.to_owned());
            return;
        };
        let key = key.trim().trim_start_matches("default.").replace('-', "_");
        let number = || value.trim().parse::<u32>().ok();
        let known = match key.as_str() {
            "allow_internal_expect_revert" => {
                self.internal_reverts = value.trim() == "true";
                true
            }
            "fuzz.runs" => {
                self.fuzz_runs = number().filter(|runs| (1..=limits::FUZZ_RUNS_MOST).contains(runs));
                self.fuzz_runs.is_some()
            }
            "invariant.runs" => {
                self.invariant_runs = number().filter(|runs| (1..=limits::INVARIANT_MOST).contains(runs));
                self.invariant_runs.is_some()
            }
            "invariant.depth" => {
                self.invariant_depth = number().filter(|depth| (1..=limits::INVARIANT_MOST).contains(depth));
                self.invariant_depth.is_some()
            }
            _ => false,
        };
        if !known {
            self.unknown = Some(setting.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_belong_to_what_follows_them() {
        let text = "/// forge-config: default.allow_internal_expect_revert = true\nabstract contract A {\n\
                    /// forge-config: default.fuzz.runs = 12\n/// forge-config: default.invariant.depth = 5\n\
                    function test_a(uint x) public {}\nfunction test_b() public {}\n\
                    /** forge-config: default.fuzz.runs = 99999999 */\nfunction test_c() public {}\n}";
        let book = InlineBook::of([("A.sol", text)].into_iter());
        let a = book.about("A.sol", "A", "test_a");
        assert_eq!((a.fuzz_runs, a.invariant_depth, a.internal_reverts), (Some(12), Some(5), false));
        assert!(book.about("A.sol", "A", "test_b").internal_reverts, "the contract's own");
        assert_eq!(book.about("B.sol", "B", "test_a").fuzz_runs, Some(12), "an inherited test");
        assert_eq!(book.about("B.sol", "B", "test_b"), Inline::default());
        assert!(book.about("A.sol", "A", "test_c").unknown.is_some(), "more than there may be");
    }
}
