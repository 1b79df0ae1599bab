//! `SKILL.md`: front matter between two lines `---`, then prose.
//!
//! The front matter is a small part of YAML, read strictly: lines `key: value`, in which the value is plain
//! or in quotes and ends on its line, and `allowed-tools` either as such a value (tools separated by commas
//! or space) or as lines `- tool` below it. Keys other than `name`, `description`, `version` and
//! `allowed-tools` are somebody else's and skipped, with the indented lines below them. Everything else of
//! YAML is refused, so that nobody relies on a reading that another program does not share.
//!
//! A tool may stand in any of its three spellings, the capability with wildcards.

use super::fault::{SkillErrors, SkillFault};
use super::value::{double_quoted, is_rest_empty, single_quoted, without_comment};
use super::{Draft, Skill};
use crate::tool::text::Quoted;

const FENCE: &str = "---";
const NAME: &str = "name";
const ALLOWED: &str = "allowed-tools";
/// Keys that somebody may have meant for [`ALLOWED`].
const MISSPELT: [&str; 5] = ["allowed_tools", "allowedtools", "tools", "allowed-tool", "allow-tools"];

/// Reads a `SKILL.md`.
pub fn parse_md(text: &str) -> Result<Skill, SkillErrors> {
    let mut reader = Reader { draft: Draft::of(text)?, below: Below::Nothing, keys: Vec::new() };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    if lines.next().map(str::trim_end) != Some(FENCE) {
        reader.draft.faults.add(1, SkillFault::NoFrontMatter);
        return reader.draft.finish(NAME);
    }
    let mut is_open = true;
    for (index, line) in lines.by_ref().enumerate() {
        if line.trim_end() == FENCE {
            is_open = false;
            break;
        }
        reader.line(index + 2, line.trim_end());
    }
    if is_open {
        reader.draft.faults.add(1, SkillFault::OpenFrontMatter);
    }
    reader.draft.body = lines.collect();
    reader.draft.finish(NAME)
}

struct Reader {
    draft: Draft,
    below: Below,
    keys: Vec<String>,
}

/// What an indented line or a list belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// To no key.
    Nothing,
    /// To the tools.
    Tools,
    /// To a key of somebody else.
    Foreign,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') {
            return;
        }
        if content.len() < line.len() || content.starts_with('-') {
            return self.below(number, content);
        }
        self.below = Below::Nothing;
        let key = line.split_once(':').filter(|(key, value)| is_key(key) && !value.starts_with(|c| c != ' '));
        let Some((key, value)) = key else {
            return self.malformed(number, line);
        };
        if self.keys.iter().any(|seen| seen == key) {
            return self.draft.faults.add(number, SkillFault::RepeatedKey { key: Quoted::of(key) });
        }
        self.keys.push(key.to_owned());
        self.key(number, key, value.trim());
    }

    fn key(&mut self, number: usize, key: &str, value: &str) {
        let known = [NAME, "description", "version", ALLOWED].into_iter().find(|known| *known == key);
        let Some(known) = known else {
            self.below = Below::Foreign;
            if MISSPELT.contains(&key.to_ascii_lowercase().as_str()) {
                self.draft.faults.add(number, SkillFault::MisspeltTools { key: Quoted::of(key) });
            }
            return;
        };
        if known == ALLOWED {
            self.below = Below::Tools;
        }
        let Some(said) = self.scalar(number, known, value) else {
            return;
        };
        match known {
            NAME => self.draft.set_name(number, &said),
            "version" => self.draft.set_version(number, &said),
            "description" => self.draft.description = Some(said),
            _ => self.tools(number, &said),
        }
    }

    fn below(&mut self, number: usize, content: &str) {
        let item = content.strip_prefix('-').filter(|item| item.starts_with(' '));
        match (self.below, item) {
            (Below::Foreign, _) => {}
            (Below::Tools, Some(item)) => {
                if let Some(said) = self.scalar(number, ALLOWED, item.trim()) {
                    self.tools(number, &said);
                }
            }
            (Below::Tools | Below::Nothing, _) => self.malformed(number, content),
        }
    }

    fn tools(&mut self, number: usize, said: &str) {
        let entries = said.split([',', ' ', '\t', '\n']).filter(|entry| !entry.is_empty());
        self.draft.tools.extend(entries.map(|entry| (number, entry.to_owned())));
    }

    fn scalar(&mut self, number: usize, key: &'static str, value: &str) -> Option<String> {
        let said = scalar(value).map_err(|problem| SkillFault::Value { key, problem });
        self.draft.faults.take(number, said)
    }

    fn malformed(&mut self, number: usize, line: &str) {
        let form = if self.below == Below::Tools { "- tool" } else { "key: value" };
        self.draft.faults.add(number, SkillFault::Form { given: Quoted::of(line), form });
    }
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// What a value says.
fn scalar(value: &str) -> Result<String, &'static str> {
    let (said, rest) = match value.chars().next() {
        Some('"') => double_quoted(value)?,
        Some('\'') => single_quoted(value)?,
        Some('|' | '>') => return Err("a value ends on its line"),
        Some('[' | '{') => return Err("lists and maps in brackets are not read"),
        Some('&' | '*' | '!' | '%' | '@' | '`' | '?' | '-' | ']' | '}' | ',') => {
            return Err("a plain value begins with none of & * ! % @ ` ? - ] } ,");
        }
        Some(_) | None => {
            let plain = without_comment(value);
            if plain.contains(": ") || plain.ends_with(':') {
                return Err("a plain value has no colon before a space or at its end");
            }
            (plain.to_owned(), "")
        }
    };
    if is_rest_empty(rest) { Ok(said) } else { Err("something follows the closing quote") }
}
