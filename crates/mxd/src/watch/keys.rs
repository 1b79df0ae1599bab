//! What the keys of `mxd watch` do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::call::{Shown, Word};
use super::model::{Model, Sent, Typing};
use crate::client::view::Clarification;
use crate::command::send::fresh_id;

/// Lines that a page is scrolled by.
const PAGE: usize = 10;

/// What a key leads to, outside of the screen.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Nothing,
    Quit,
    Ask(Box<Ask>),
}

/// Something that is wanted of the project.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) path: String,
    pub(super) body: Value,
    /// What was typed for it, which must not be lost.
    pub(super) words: Option<Typing>,
}

impl Model {
    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Action {
        // A letter with Shift is another letter; with anything else it is none.
        let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        if key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('c') {
            return Action::Quit;
        }
        let action = match (self.typing.take(), self.shown.take()) {
            (Some(typing), shown) => {
                self.shown = shown;
                if is_plain { self.type_on(typing, key.code) } else { self.change(typing, key) }
            }
            (None, Some(shown)) if is_plain => self.decide(shown, key.code),
            (None, None) if is_plain => self.command(key.code),
            (None, shown) => {
                self.shown = shown;
                Action::Nothing
            }
        };
        self.take_up();
        action
    }

    /// Takes a text from the clipboard. It is never a command.
    pub(super) fn paste(&mut self, text: &str) {
        if let Some(typing) = &mut self.typing {
            // Terminals send the end of a line as the key that makes one.
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            typing.text.extend(text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        }
    }

    fn type_on(&mut self, mut typing: Typing, key: KeyCode) -> Action {
        match key {
            KeyCode::Esc => {
                self.leave(typing);
                return Action::Nothing;
            }
            KeyCode::Enter => return self.send(typing),
            KeyCode::Backspace => {
                typing.text.pop();
            }
            KeyCode::Char(c) => typing.text.push(c),
            _ => {}
        }
        self.typing = Some(typing);
        Action::Nothing
    }

    /// Changes a line as shells do it.
    fn change(&mut self, mut typing: Typing, key: KeyEvent) -> Action {
        let is_control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Char('u') if is_control => typing.text.clear(),
            KeyCode::Char('w') if is_control => {
                let words = typing.text.trim_end();
                let before = words.trim_end_matches(|c: char| !c.is_whitespace()).len();
                typing.text.truncate(before);
            }
            // What the key above Enter sends on some terminals.
            KeyCode::Char('h') if is_control => drop(typing.text.pop()),
            _ => {}
        }
        self.typing = Some(typing);
        Action::Nothing
    }

    fn leave(&mut self, typing: Typing) {
        if self.is_gone(&typing.task) && !typing.text.is_empty() {
            self.notice("the next message begins with these words");
            self.kept = typing.text;
        } else {
            self.note.clear();
        }
    }

    fn send(&mut self, mut typing: Typing) -> Action {
        let text = typing.text.trim().to_owned();
        if text.is_empty() {
            return Action::Nothing;
        }
        if self.is_gone(&typing.task) {
            self.notice(&format!("“{}” is gone; Esc keeps the words for the next message", typing.title));
            self.typing = Some(typing);
            return Action::Nothing;
        }
        let (path, body) = match &typing.question {
            Some(asked) => {
                let (task, question) = (&asked.task_id, &asked.clarification_id);
                let body = json!({ "taskId": task, "clarificationId": question, "answer": text });
                ("/clarify".to_owned(), body)
            }
            None => {
                // The same words under the same name are the same message, however often they are sent.
                let sent = typing.sent.take().filter(|sent| sent.text == text);
                let sent = sent.unwrap_or_else(|| Sent { id: fresh_id(), text });
                let body = json!({ "id": sent.id, "content": sent.text });
                typing.sent = Some(sent);
                (format!("/tasks/{}/message", typing.task), body)
            }
        };
        Action::Ask(Box::new(Ask { path, body, words: Some(typing) }))
    }

    fn command(&mut self, key: KeyCode) -> Action {
        self.note.clear();
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return Action::Quit,
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Char('c') => self.collapse(),
            KeyCode::Char('g') | KeyCode::End => self.back = 0,
            KeyCode::PageUp => self.back = self.back.saturating_add(PAGE),
            KeyCode::PageDown => self.back = self.back.saturating_sub(PAGE),
            KeyCode::Enter => self.write(),
            KeyCode::Char('s') => return self.of_chosen("stop"),
            KeyCode::Char('i') => return self.of_chosen("interrupt"),
            KeyCode::Char('a') => self.answer(Word::Allow),
            KeyCode::Char('d') => self.answer(Word::Deny),
            _ => {}
        }
        Action::Nothing
    }

    /// Takes a key while a call is shown.
    fn decide(&mut self, mut shown: Shown, key: KeyCode) -> Action {
        self.note.clear();
        match key {
            KeyCode::Char('y') => match shown.give() {
                Ok(ask) => return Action::Ask(Box::new(ask)),
                Err(why) => self.notice(why),
            },
            KeyCode::Char('n') | KeyCode::Esc => return Action::Nothing,
            KeyCode::Up | KeyCode::Char('k') => shown.from = shown.from.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => shown.from = shown.from.saturating_add(1),
            KeyCode::PageUp => shown.from = shown.from.saturating_sub(shown.height),
            KeyCode::PageDown => shown.from = shown.from.saturating_add(shown.height),
            _ => {}
        }
        self.shown = Some(shown);
        Action::Nothing
    }

    fn of_chosen(&self, what: &str) -> Action {
        match &self.chosen {
            Some(task) => {
                let path = format!("/tasks/{task}/{what}");
                Action::Ask(Box::new(Ask { path, body: json!({}), words: None }))
            }
            None => Action::Nothing,
        }
    }

    /// Begins a message to the chosen task. It stays for this one, whatever is chosen later.
    fn write(&mut self) {
        if let Some(task) = self.chosen.clone() {
            let text = std::mem::take(&mut self.kept);
            self.typing =
                Some(Typing { text, title: self.title_of(&task), task, question: None, sent: None });
        }
    }

    /// Takes up what waits of the chosen task; where nothing does, goes to a task that waits, and no further.
    fn answer(&mut self, word: Word) {
        let chosen = self.chosen.clone().unwrap_or_default();
        let call = self.needs.approvals.iter().find(|call| call.task_id == chosen);
        let asked = self.needs.clarifications.iter().find(|asked| asked.task_id == chosen);
        match (call, asked) {
            (Some(call), _) => self.shown = Some(Shown::new(call.clone(), word)),
            (None, Some(asked)) if word == Word::Allow => self.reply(asked.clone()),
            _ => self.go_to_waiting(word),
        }
    }

    fn reply(&mut self, asked: Clarification) {
        let (task, title) = (asked.task_id.clone(), asked.task_title.clone());
        self.typing = Some(Typing { text: String::new(), task, title, question: Some(asked), sent: None });
    }

    fn go_to_waiting(&mut self, word: Word) {
        let calls = self.needs.approvals.iter().map(|call| &call.task_id);
        let questions = self.needs.clarifications.iter().map(|asked| &asked.task_id);
        let questions = questions.filter(|_| word == Word::Allow);
        let waiting = calls.chain(questions).find(|task| self.tree.get(task).is_some()).cloned();
        match waiting {
            Some(task) => {
                self.notice(&format!("“{}” waits for you: look, then press again", self.title_of(&task)));
                self.choose(task);
            }
            None if word == Word::Deny => self.notice("no call waits for you"),
            None => self.notice("nothing waits for you"),
        }
    }
}
