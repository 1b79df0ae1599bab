//! What types cannot say about a script. Every problem is found in one pass.

use std::collections::{BTreeMap, HashMap, HashSet};

use regex::Regex;

use super::locate::Path;
use super::{Block, Conversation, Expect, Fault, Reply, Script, TextExpect, ToolCall, Turn, Until, Words};
use crate::limits::{CONVERSATIONS, DELAY_MS, TURNS};

/// Whether a name may be that of a tool.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=128).contains(&name.len()) && name.bytes().all(legal)
}

pub(super) fn check(script: &Script) -> Vec<(Path, String)> {
    let mut check = Check::default();
    let root = Path::default();
    check.script(script, &root);
    check.problems
}

#[derive(Default)]
struct Check {
    problems: Vec<(Path, String)>,
}

impl Check {
    fn say(&mut self, path: Path, what: impl Into<String>) {
        self.problems.push((path, what.into()));
    }

    fn script(&mut self, script: &Script, root: &Path) {
        let list = root.key("conversations");
        if script.conversations.is_empty() && script.default_reply.is_none() {
            self.say(list.clone(), "a script needs a conversation or a `default_reply`");
        }
        if script.conversations.len() > CONVERSATIONS {
            self.say(list.clone(), format!("more than {CONVERSATIONS} conversations"));
        }
        self.names(script, &list);
        for (index, conversation) in script.conversations.iter().enumerate() {
            self.conversation(script, conversation, &list.index(index));
        }
        for (index, fault) in script.faults.iter().enumerate() {
            let path = root.key("faults").index(index);
            if fault.at == 0 {
                self.say(path.key("at"), "requests are counted from 1");
            }
            if fault.times == 0 {
                self.say(path.key("times"), "a fault that never happens; remove it or give 1 or more");
            }
            self.fault(&fault.what, &path.key("what"));
        }
        if let Some(reply) = &script.default_reply {
            self.reply(reply, &root.key("default_reply"));
        }
    }

    /// Ids are unique, and only one conversation takes what fits nowhere else.
    fn names(&mut self, script: &Script, list: &Path) {
        let mut seen = HashMap::new();
        let mut open = None;
        for (index, conversation) in script.conversations.iter().enumerate() {
            let path = list.index(index);
            if let Some(id) = &conversation.id {
                if id.trim().is_empty() {
                    self.say(path.key("id"), "an id may not be empty");
                }
                if let Some(first) = seen.insert(id, index) {
                    self.say(path.key("id"), format!("`{id}` is already the id of conversations[{first}]"));
                }
            }
            if conversation.takes_any() {
                if let Some(first) = open {
                    let what = format!(
                        "no `id` and no `first_message`, like conversations[{first}]: no request could be told apart"
                    );
                    self.say(path, what);
                }
                open = Some(index);
            }
        }
    }

    fn conversation(&mut self, script: &Script, conversation: &Conversation, path: &Path) {
        if conversation.turns.is_empty() || conversation.turns.len() > TURNS {
            self.say(path.key("turns"), format!("a conversation has 1 to {TURNS} turns"));
        }
        if let Some(first) = &conversation.first_message {
            let at = path.key("first_message");
            self.text(first, &at);
            if first.index.is_some() {
                self.say(at.key("index"), "there is only one first message");
            }
        }
        if let Some(fork) = &conversation.fork_of {
            let at = path.key("fork_of");
            let parent =
                script.conversations.iter().find(|other| other.id.as_ref() == Some(&fork.conversation));
            match parent {
                None => self.say(
                    at.key("conversation"),
                    format!("no conversation has the id `{}`", fork.conversation),
                ),
                Some(parent) if std::ptr::eq(parent, conversation) => {
                    self.say(at.key("conversation"), "a conversation cannot be a fork of itself");
                }
                Some(parent) if fork.at_turn == 0 || fork.at_turn > parent.turns.len() => {
                    let turns = parent.turns.len();
                    self.say(at.key("at_turn"), format!("`{}` has turns 1 to {turns}", fork.conversation));
                }
                Some(_) => {}
            }
        }
        self.captures(conversation, path);
        for (index, turn) in conversation.turns.iter().enumerate() {
            self.turn(turn, &path.key("turns").index(index));
        }
    }

    /// A name is caught before it is used.
    fn captures(&mut self, conversation: &Conversation, path: &Path) {
        let mut later: BTreeMap<String, usize> = BTreeMap::new();
        for (index, turn) in conversation.turns.iter().enumerate() {
            for name in turn.capture.iter().flat_map(|pattern| groups(pattern)) {
                later.entry(name).or_insert(index);
            }
        }
        let uses = |text: &str, name: &str| crate::capture::names(text).any(|used| used == name);
        for (index, turn) in conversation.turns.iter().enumerate() {
            let reply = turn.reply.as_ref().and_then(|reply| serde_json::to_string(reply).ok());
            let expect = turn.expect.as_ref().and_then(|expect| serde_json::to_string(expect).ok());
            for (name, caught) in &later {
                let at = path.key("turns").index(index);
                if *caught > index && reply.as_ref().is_some_and(|text| uses(text, name)) {
                    self.say(
                        at.key("reply"),
                        format!("`${name}` is used before turns[{caught}] captures it"),
                    );
                }
                if *caught >= index && expect.as_ref().is_some_and(|text| uses(text, name)) {
                    self.say(
                        at.key("expect"),
                        format!("`${name}` is expected before turns[{caught}] captures it"),
                    );
                }
            }
        }
    }

    fn turn(&mut self, turn: &Turn, path: &Path) {
        if turn.reply.is_none() && !turn.fault.as_ref().is_some_and(|fault| fault.ends_turn) {
            self.say(path.clone(), "a turn needs a `reply`, or a `fault` with `ends_turn`");
        }
        if let Some(expect) = &turn.expect {
            self.expect(expect, &path.key("expect"));
        }
        for (index, pattern) in turn.capture.iter().enumerate() {
            let at = path.key("capture").index(index);
            self.regex(pattern, &at);
            if Regex::new(pattern).is_ok() && groups(pattern).is_empty() {
                self.say(at, "nothing is captured: write a named group, `(?<name>…)`");
            }
        }
        if let Some(reply) = &turn.reply {
            self.reply(reply, &path.key("reply"));
        }
        if let Some(Until::Added(text) | Until::Ever(text)) = &turn.until {
            self.text(text, &path.key("until"));
            if text.index.is_some() {
                self.say(path.key("until").key("index"), "the texts are looked at together");
            }
        }
        if let Some(fault) = &turn.fault {
            let at = path.key("fault");
            if fault.times == 0 {
                self.say(at.key("times"), "a fault that never happens; remove it or give 1 or more");
            }
            self.fault(&fault.what, &at.key("what"));
        }
        for (key, value) in [("delay_ms", turn.delay_ms), ("chunk_delay_ms", turn.chunk_delay_ms)] {
            if value.is_some_and(|ms| ms > DELAY_MS) {
                self.say(path.key(key), format!("at most {DELAY_MS} ms"));
            }
        }
        if turn.chunk_bytes == Some(0) {
            self.say(path.key("chunk_bytes"), "a chunk has at least 1 byte");
        }
        if turn.gate.as_ref().is_some_and(|gate| !is_tool_name(&gate.name)) {
            self.say(path.key("gate").key("name"), "a gate is named by 1 to 128 of A-Z a-z 0-9 - _");
        }
    }

    fn expect(&mut self, expect: &Expect, path: &Path) {
        for (index, result) in expect.tool_results.iter().enumerate() {
            self.text(&result.text(), &path.key("tool_results").index(index));
        }
        for (index, text) in expect.user_texts.iter().enumerate() {
            self.text(text, &path.key("user_texts").index(index));
        }
        if let Some(system) = &expect.system {
            self.text(system, &path.key("system"));
        }
        for (key, names) in [("offers_tools", &expect.offers_tools), ("lacks_tools", &expect.lacks_tools)] {
            for name in names.iter().filter(|name| !is_tool_name(name)) {
                self.say(path.key(key), format!("`{name}` cannot be the name of a tool"));
            }
        }
    }

    fn text(&mut self, text: &TextExpect, path: &Path) {
        let Words(patterns) = &text.matches;
        for (index, pattern) in patterns.iter().enumerate() {
            self.regex(pattern, &path.key("matches").index(index));
        }
    }

    fn regex(&mut self, pattern: &str, path: &Path) {
        if let Err(error) = Regex::new(pattern) {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.say(path.clone(), format!("not a regular expression: {reason}"));
        }
    }

    fn reply(&mut self, reply: &Reply, path: &Path) {
        let mut ids = HashSet::new();
        for (index, block) in reply.blocks.iter().enumerate() {
            let at = path.key("blocks").index(index);
            match block {
                Block::Text(text) if text.is_empty() => self.say(at.key("text"), "a text may not be empty"),
                Block::Text(_) | Block::Thinking { .. } | Block::RedactedThinking(_) => {}
                Block::ToolCall(call) => {
                    self.call(call, &at.key("tool_call"));
                    if call.id.as_ref().is_some_and(|id| !ids.insert(id)) {
                        self.say(at.key("tool_call").key("id"), "another call of this reply has the same id");
                    }
                }
            }
        }
    }

    fn call(&mut self, call: &ToolCall, path: &Path) {
        if !is_tool_name(&call.name) {
            self.say(path.key("name"), "a tool is named by 1 to 128 of A-Z a-z 0-9 - _");
        }
        match (&call.input, &call.input_text) {
            (Some(_), Some(_)) => self.say(path.clone(), "give `input` or `input_text`, not both"),
            (None, None) => self.say(path.clone(), "a call needs `input` or `input_text`"),
            (Some(input), None) if !input.is_object() => {
                self.say(path.key("input"), "the input of a tool is an object");
            }
            _ => {}
        }
    }

    fn fault(&mut self, fault: &Fault, path: &Path) {
        if let Fault::Status { status, .. } = fault
            && !(400..=599).contains(status)
        {
            self.say(path.key("status").key("status"), "a fault has a status from 400 to 599");
        }
    }
}

fn groups(pattern: &str) -> Vec<String> {
    let regex = Regex::new(pattern).ok();
    let names = regex.iter().flat_map(|regex| regex.capture_names().flatten().map(str::to_owned));
    names.collect()
}
