//! `SKILL.mtx`: sections that begin with `§NAME` at the start of a line.
//!
//! Two of them are read here. `§SKILL` has lines `key=value`, of which `id`, `version` and `description` are
//! ours; the value may stand in double quotes. `§TOOLS` has one pinned tool URI per line, or `none`. Missing
//! or empty, it lists no tools. `#` begins a comment. All other sections belong to other readers; together
//! they are the body.

use super::fault::{SkillErrors, SkillFault};
use super::value::{double_quoted, is_rest_empty, without_comment};
use super::{Draft, Skill};
use crate::tool::text::Quoted;

const SKILL: &str = "SKILL";
const TOOLS: &str = "TOOLS";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    BeforeFirst,
    Skill,
    Tools,
    Other,
}

/// Reads a `SKILL.mtx`.
pub fn parse_mtx(text: &str) -> Result<Skill, SkillErrors> {
    let mut reader = Reader { draft: Draft::of(text)?, section: Section::BeforeFirst, seen: Seen::default() };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line);
    }
    if !reader.seen.skill {
        reader.draft.faults.add(1, SkillFault::MissingSection { section: SKILL });
    }
    reader.draft.finish("id")
}

struct Reader {
    draft: Draft,
    section: Section,
    seen: Seen,
}

#[derive(Default)]
struct Seen {
    skill: bool,
    tools: bool,
    keys: Vec<&'static str>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        if let Some(header) = line.strip_prefix('§') {
            self.section = self.header(number, line, header);
        }
        if self.section == Section::Other {
            self.draft.body.push_str(line);
            self.draft.body.push('\n');
            return;
        }
        let content = without_comment(line);
        if content.is_empty() || line.starts_with('§') {
            return;
        }
        match self.section {
            Section::BeforeFirst => {
                self.draft.faults.add(number, SkillFault::BeforeSections { given: Quoted::of(content) });
            }
            Section::Skill => self.key(number, line.trim()),
            Section::Tools => self.tool(number, content),
            Section::Other => {}
        }
    }

    fn header(&mut self, number: usize, line: &str, header: &str) -> Section {
        let name = without_comment(header);
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let is_close = header.starts_with(name);
        if !is_name || !is_close {
            self.draft.faults.add(number, SkillFault::Header { given: Quoted::of(line.trim_end()) });
            return Section::Other;
        }
        let (section, seen, known) = match name {
            SKILL => (Section::Skill, &mut self.seen.skill, SKILL),
            TOOLS => (Section::Tools, &mut self.seen.tools, TOOLS),
            _ => return Section::Other,
        };
        if std::mem::replace(seen, true) {
            self.draft.faults.add(number, SkillFault::RepeatedSection { section: known });
        }
        section
    }

    fn key(&mut self, number: usize, line: &str) {
        let Some((key, value)) = line.split_once('=') else {
            let fault = SkillFault::Form { given: Quoted::of(line), form: "key=value" };
            return self.draft.faults.add(number, fault);
        };
        let Some(key) = ["id", "version", "description"].into_iter().find(|known| *known == key.trim())
        else {
            return;
        };
        if self.seen.keys.contains(&key) {
            return self.draft.faults.add(number, SkillFault::RepeatedKey { key: Quoted::of(key) });
        }
        self.seen.keys.push(key);
        let said = value_of(value.trim());
        let Some(said) =
            self.draft.faults.take(number, said.map_err(|problem| SkillFault::Value { key, problem }))
        else {
            return;
        };
        match key {
            "id" => self.draft.set_name(number, &said),
            "version" => self.draft.set_version(number, &said),
            _ => self.draft.description = Some(said),
        }
    }

    /// Only whole URIs and the word for none: what is called here was decided when the skill was written.
    fn tool(&mut self, number: usize, entry: &str) {
        if entry == "none" || entry.contains("://") && !entry.contains(char::is_whitespace) {
            self.draft.tools.push((number, entry.to_owned()));
        } else {
            let fault = SkillFault::Form { given: Quoted::of(entry), form: "matrix://tool/…@<pin>" };
            self.draft.faults.add(number, fault);
        }
    }
}

fn value_of(value: &str) -> Result<String, &'static str> {
    if !value.starts_with('"') {
        return Ok(without_comment(value).to_owned());
    }
    let (said, rest) = double_quoted(value)?;
    if is_rest_empty(rest) { Ok(said) } else { Err("something follows the closing quote") }
}
