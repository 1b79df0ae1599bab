//! Which compilers all files of a compilation accept.

use semver::Version;

use super::{scan, unbuilt};
use crate::fault::Fault;

/// What the pragmas of all files say together.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Each must be satisfied; the text is kept for messages.
    requirements: Vec<(String, Requirement)>,
}

/// Alternatives, of which one must hold.
type Requirement = Vec<Vec<Bound>>;

/// A version must be at least, or less than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtLeast([u64; 3]),
    Below([u64; 3]),
}

impl Wanted {
    pub(super) fn of<'a>(sources: impl Iterator<Item = &'a str>) -> Result<Self, Fault> {
        let mut wanted = Self::default();
        for text in sources.flat_map(|source| scan::directives(source).pragmas) {
            if wanted.requirements.iter().any(|(known, _)| *known == text) {
                continue;
            }
            let requirement = parse(&text).ok_or_else(|| {
                unbuilt(format!("`pragma solidity {text}` cannot be understood; write it like ^0.8.20"))
            })?;
            wanted.requirements.push((text, requirement));
        }
        Ok(wanted)
    }

    pub(super) fn accepts(&self, version: &Version) -> bool {
        let version = [version.major, version.minor, version.patch];
        let holds = |bound: &Bound| match bound {
            Bound::AtLeast(least) => version >= *least,
            Bound::Below(limit) => version < *limit,
        };
        self.requirements.iter().all(|(_, any)| any.iter().any(|all| all.iter().all(holds)))
    }

    /// In the words of the sources.
    pub(super) fn shown(&self) -> String {
        let texts: Vec<&str> = self.requirements.iter().map(|(text, _)| text.as_str()).collect();
        if texts.is_empty() { "any version".into() } else { texts.join(" and ") }
    }
}

fn parse(text: &str) -> Option<Requirement> {
    text.split("||").map(all_of).collect()
}

/// Comparisons that must all hold: `>=0.8.0 <0.9.0`, or a range with a hyphen.
fn all_of(text: &str) -> Option<Vec<Bound>> {
    if let Some((low, high)) = text.split_once(" - ") {
        let (low, high) = (Partial::parse(low.trim())?, Partial::parse(high.trim())?);
        return Some([low.from(), high.until()].into_iter().flatten().collect());
    }
    let mut bounds = Vec::new();
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|char: char| char.is_ascii_digit() || matches!(char, '*' | 'x' | 'X' | 'v'))?;
        let operator = rest[..end].trim();
        rest = rest[end..].trim_start_matches('v');
        let end = rest.find(|char: char| !(char.is_ascii_digit() || matches!(char, '.' | '*' | 'x' | 'X')));
        let (version, after) = rest.split_at(end.unwrap_or(rest.len()));
        bounds.extend(Partial::parse(version)?.bounds(operator)?);
        rest = after.trim_start();
    }
    Some(bounds)
}

/// A version of which later parts may be missing.
struct Partial {
    parts: [u64; 3],
    given: usize,
}

impl Partial {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = [0; 3];
        let mut given = 0;
        for (index, part) in text.split('.').enumerate() {
            if matches!(part, "*" | "x" | "X") {
                break;
            }
            *parts.get_mut(index)? = part.parse().ok()?;
            given = index + 1;
        }
        Some(Self { parts, given })
    }

    /// The next version after raising the part at this place.
    fn raised(&self, place: usize) -> [u64; 3] {
        let mut parts = [0; 3];
        parts[..=place].copy_from_slice(&self.parts[..=place]);
        parts[place] += 1;
        parts
    }

    fn from(&self) -> Option<Bound> {
        Some(Bound::AtLeast(self.parts))
    }

    /// Up to the last version that is meant; without a limit when every one is.
    fn until(&self) -> Option<Bound> {
        self.given.checked_sub(1).map(|place| Bound::Below(self.raised(place)))
    }

    fn bounds(&self, operator: &str) -> Option<Vec<Bound>> {
        let bounds = match operator {
            // Unlike in Rust's manifests, a bare version is exactly that version.
            "" | "=" => vec![self.from(), self.until()],
            ">=" => vec![self.from()],
            "<" => vec![Some(Bound::Below(self.parts))],
            "<=" => vec![self.until()],
            ">" => vec![self.until().map(|bound| match bound {
                Bound::Below(next) | Bound::AtLeast(next) => Bound::AtLeast(next),
            })],
            "~" => vec![self.from(), Some(Bound::Below(self.raised(self.given.clamp(1, 2) - 1)))],
            "^" => {
                let first = self.parts.iter().take(self.given).position(|part| *part > 0);
                let place = first.unwrap_or(self.given.saturating_sub(1));
                vec![self.from(), Some(Bound::Below(self.raised(place)))]
            }
            _ => return None,
        };
        Some(bounds.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_mean_what_they_mean_to_the_compiler() {
        let accepts = |pragma: &str, version: &str| {
            let source = format!("pragma solidity {pragma};");
            Wanted::of([source.as_str()].into_iter()).unwrap().accepts(&version.parse().unwrap())
        };
        for (pragma, version) in [
            ("^0.8.20", "0.8.30"),
            ("0.8.20", "0.8.20"),
            (">=0.8.0 <0.9.0", "0.8.5"),
            ("~0.8.3", "0.8.9"),
            (">= 0.8.0", "0.9.1"),
            ("0.8.x", "0.8.7"),
            ("*", "0.5.0"),
            ("0.7.6 || ^0.8.1", "0.8.1"),
            ("0.8.2 - 0.8.5", "0.8.5"),
            ("<=0.8.5", "0.8.5"),
            ("^0.8", "0.8.99"),
            (">0.8.5", "0.8.6"),
            ("=0.8.4", "0.8.4"),
            (">=0.4.22<0.9.0", "0.8.1"),
            ("v0.8.1", "0.8.1"),
            ("0.8", "0.8.3"),
            ("^1.2.3", "1.9.0"),
        ] {
            assert!(accepts(pragma, version), "{pragma} {version}");
        }
        for (pragma, version) in [
            ("^0.8.20", "0.8.19"),
            ("^0.8.20", "0.9.0"),
            ("0.8.20", "0.8.21"),
            (">=0.8.0 <0.9.0", "0.9.0"),
            ("~0.8.3", "0.9.0"),
            ("0.8.x", "0.9.0"),
            ("0.7.6 || ^0.8.1", "0.8.0"),
            ("0.8.2 - 0.8.5", "0.8.6"),
            ("<0.8.5", "0.8.5"),
            (">0.8.5", "0.8.5"),
            ("^0.0.3", "0.0.4"),
        ] {
            assert!(!accepts(pragma, version), "{pragma} {version}");
        }
        for wrong in ["", "latest", ">>0.8", "0.8.0.1"] {
            let source = format!("pragma solidity {wrong};");
            assert!(Wanted::of([source.as_str()].into_iter()).is_err(), "{wrong}");
        }
    }
}
