//! Credentials in plain text: known shapes anywhere, and any value under a name that means a credential.
//!
//! Manifests are signed, shared and logged, so a credential in one is a leak. What is found is never quoted.

mod names;
mod pairs;
mod shapes;

use std::fmt;

/// Where a value stands; decides what the hint shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// A variable of the server's process.
    Env,
    /// A header.
    Header,
    /// An argument, an endpoint or a description, where no reference is read.
    Elsewhere,
}

/// A credential in plain text, without the credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    what: &'static str,
    fix: String,
}

impl Finding {
    /// What it looks like.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// What to write instead.
    pub fn hint(&self) -> String {
        format!("{} If it was ever shared, revoke it.", self.fix)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// What stands for a reference in the text that is looked at. JSON texts can hold it, but then it only hides
/// itself.
pub(super) const HOLE: char = '\u{0}';

/// What is said about a value that its name gives away.
const UNDER_NAME: &str = "a credential";

/// Looks for a credential in a value. References in it are holes.
pub(super) fn find(spot: Spot, name: &str, value: &str) -> Option<Finding> {
    // In the arguments of a shell a variable stands for its value.
    let is_variable = spot == Spot::Elsewhere && pairs::begins_with_variable(value);
    let by_name = || (!is_variable && names::credential_under(name, value)).then_some(UNDER_NAME);
    let in_pairs = || pairs::named(value).any(|(name, value)| names::credential_under(name, value));
    let what = shapes::find(value)
        .or_else(by_name)
        .or_else(|| shapes::seed_phrase(value))
        .or_else(|| in_pairs().then_some(UNDER_NAME))?;
    Some(Finding { what, fix: fix(spot, name) })
}

/// Looks for a credential in prose, where a name before a colon means nothing.
pub(super) fn find_in_prose(text: &str) -> Option<Finding> {
    shapes::find(text).map(|what| Finding { what, fix: "Remove it: everybody reads this.".to_owned() })
}

/// Whether a text that stands at the wrong place may be a credential.
pub(super) fn may_be_credential(text: &str) -> bool {
    shapes::find(text).is_some() || text.split([' ', ',', ';']).any(names::looks_random)
}

fn fix(spot: Spot, name: &str) -> String {
    let variable: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    match spot {
        Spot::Env => format!("Put it into the environment and write {name}=$env:{name} here."),
        Spot::Header => format!("Put it into the environment and refer to it here, such as $env:{variable}."),
        Spot::Elsewhere => {
            "Put it into the environment and pass it with $env:NAME in env or headers.".to_owned()
        }
    }
}
