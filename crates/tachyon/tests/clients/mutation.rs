//! Breaking contracts on purpose: one small change in one place, chosen by a seed.

use std::collections::BTreeMap;

/// A change of one piece of text in one file.
pub(crate) struct Mutation {
    file: String,
    at: usize,
    from: &'static str,
    to: &'static str,
}

/// What is changed into what. Spaces keep them away from other operators.
const CHANGES: [(&str, &str); 18] = [
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " >= "),
    (" > ", " <= "),
    (" <= ", " < "),
    (" >= ", " > "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" && ", " || "),
    (" || ", " && "),
    (" += ", " -= "),
    (" -= ", " += "),
    ("= true;", "= false;"),
    ("= false;", "= true;"),
    ("return true;", "return false;"),
    ("onlyOwner ", ""),
    ("++i", "i += 2"),
];

/// Chooses a place in a contract, not in a test.
pub(crate) fn choose(files: &BTreeMap<String, String>, seed: u64) -> Mutation {
    let mut places = Vec::new();
    for (file, text) in files.iter().filter(|(file, _)| !file.contains("/test") && !file.contains("/mocks/"))
    {
        for (from, to) in CHANGES {
            let found = text.match_indices(from).filter(|(at, _)| !is_comment(text, *at));
            places.extend(found.map(|(at, _)| Mutation { file: file.clone(), at, from, to }));
        }
    }
    let index = fastrand::Rng::with_seed(seed).usize(..places.len());
    places.swap_remove(index)
}

fn is_comment(text: &str, at: usize) -> bool {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    line.contains("//") || line.trim_start().starts_with('*') || line.trim_start().starts_with("/*")
}

impl Mutation {
    pub(crate) fn apply(&self, files: &mut BTreeMap<String, String>) {
        let text = files.get_mut(&self.file).unwrap();
        text.replace_range(self.at..self.at + self.from.len(), self.to);
    }

    pub(crate) fn shown(&self) -> String {
        format!("{} byte {}: `{}` becomes `{}`", self.file, self.at, self.from, self.to)
    }
}
