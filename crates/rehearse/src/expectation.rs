//! Whether a request says what its turn expects.

use regex::Regex;

use crate::script::{Expect, ResultExpect, TextExpect};
use crate::view::{Part, Role, ToolResult, View};

/// What a request adds to the one that was answered before it.
#[derive(Debug)]
pub(crate) struct Added<'a> {
    view: &'a View,
    results: Vec<&'a ToolResult>,
    texts: Vec<&'a str>,
    images: usize,
}

impl<'a> Added<'a> {
    /// Everything from message `from` on that the model did not say itself.
    pub(crate) fn since(view: &'a View, from: usize) -> Self {
        let messages = view.messages.get(from..).unwrap_or_default();
        let heard = || messages.iter().filter(|message| matches!(message.role, Role::User | Role::Tool));
        let parts = || heard().flat_map(|message| &message.parts);
        let results: Vec<&ToolResult> = parts().filter_map(Part::result).collect();
        let images = parts().filter(|part| matches!(part, Part::Image(_))).count();
        let images = images + results.iter().map(|result| result.images).sum::<usize>();
        Self { view, results, texts: parts().filter_map(Part::text).collect(), images }
    }

    /// All of it as one text: results first, then user texts.
    pub(crate) fn text(&self) -> String {
        let results = self.results.iter().map(|result| result.text.as_str());
        results.chain(self.texts.iter().copied()).collect::<Vec<_>>().join("\n")
    }

    /// What is not as expected, one sentence each.
    pub(crate) fn failures(&self, expect: &Expect) -> Vec<String> {
        let mut failures = Vec::new();
        let counts = [
            ("tool results", expect.tool_result_count, self.results.len()),
            ("user texts", expect.user_text_count, self.texts.len()),
            ("images", expect.image_count, self.images),
        ];
        for (what, expected, found) in counts {
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                failures.push(format!("expected {expected} {what}, found {found}"));
            }
        }
        failures.extend(expect.tool_results.iter().filter_map(|expect| self.result(expect)));
        failures.extend(expect.user_texts.iter().filter_map(|expect| self.user_text(expect)));
        let system = self.view.system_text();
        let system_wrong = expect.system.as_ref().and_then(|expect| unlike(&system, expect));
        failures.extend(system_wrong.map(|reason| format!("the system text {reason}")));
        failures.extend(self.tools(expect));
        if let Some(model) = expect.model.as_ref().filter(|model| **model != self.view.model) {
            failures.push(format!("expected the model `{model}`, found `{}`", self.view.model));
        }
        failures
    }

    fn tools(&self, expect: &Expect) -> Vec<String> {
        let offered = |name: &str| self.view.tools.iter().any(|tool| tool == name);
        let missing = expect.offers_tools.iter().filter(|name| !offered(name));
        let missing = missing.map(|name| format!("expected the tool `{name}` to be offered"));
        let surplus = expect.lacks_tools.iter().filter(|name| offered(name));
        missing.chain(surplus.map(|name| format!("expected the tool `{name}` not to be offered"))).collect()
    }

    fn user_text(&self, expect: &TextExpect) -> Option<String> {
        match expect.index {
            Some(index) => match self.texts.get(index) {
                None => Some(format!("there is no user text {index}, only {}", self.texts.len())),
                Some(text) => unlike(text, expect).map(|reason| format!("user text {index} {reason}")),
            },
            None => any(&self.texts, "user text", |text| unlike(text, expect)),
        }
    }

    fn result(&self, expect: &ResultExpect) -> Option<String> {
        let wrong = |result: &&ToolResult| {
            let error = result.is_error.unwrap_or_default();
            match expect.is_error {
                Some(true) if !error => Some(format!("is no error: {:?}", result.text)),
                Some(false) if error => Some(format!("is an error: {:?}", result.text)),
                _ => unlike(&result.text, &expect.text()),
            }
        };
        let called = |result: &&ToolResult| match &expect.call {
            Some(name) => self.view.called(&result.id) == Some(name),
            None => true,
        };
        if let Some(index) = expect.index {
            return match self.results.get(index) {
                None => Some(format!("there is no tool result {index}, only {}", self.results.len())),
                Some(result) if !called(result) => {
                    let name = self.view.called(&result.id).unwrap_or("an unknown tool");
                    Some(format!("tool result {index} answers a call of `{name}`"))
                }
                Some(result) => wrong(result).map(|reason| format!("tool result {index} {reason}")),
            };
        }
        let Some(name) = &expect.call else { return any(&self.results, "tool result", wrong) };
        let answers: Vec<_> = self.results.iter().copied().filter(called).collect();
        if answers.is_empty() {
            return Some(format!("there is no result of a call of `{name}`"));
        }
        answers.iter().find_map(wrong).map(|reason| format!("the result of `{name}` {reason}"))
    }
}

/// `None` when one of them is right, else why the last one is not.
fn any<T>(all: &[T], what: &str, wrong: impl Fn(&T) -> Option<String>) -> Option<String> {
    let mut reason = "was added at all".to_owned();
    for one in all {
        reason = wrong(one)?;
    }
    Some(match all.len() {
        0 => format!("no {what} {reason}"),
        1 => format!("the {what} {reason}"),
        count => format!("none of {count} {what}s is as expected; the last one {reason}"),
    })
}

/// Why a text is not as expected.
pub(crate) fn unlike(text: &str, expect: &TextExpect) -> Option<String> {
    let missing = expect.contains.iter().find(|part| !text.contains(part));
    let missing = missing.map(|part| format!("does not contain {part:?}: {text:?}"));
    let surplus = || {
        let found = expect.not_contains.iter().find(|part| text.contains(part));
        found.map(|part| format!("contains {part:?}: {text:?}"))
    };
    let unmatched = || {
        let matches = |pattern: &str| Regex::new(pattern).is_ok_and(|regex| regex.is_match(text));
        let found = expect.matches.iter().find(|pattern| !matches(pattern));
        found.map(|pattern| format!("does not match `{pattern}`: {text:?}"))
    };
    missing.or_else(surplus).or_else(unmatched)
}
