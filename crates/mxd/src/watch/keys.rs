//! What the keys of `mxd watch` do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::message;
use super::model::{Model, Typing, Wanted};

/// Lines that a page is scrolled by.
const PAGE: usize = 10;

/// What a key leads to, outside of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Nothing,
    Quit,
    /// Something is wanted of the project.
    Ask {
        path: String,
        body: Value,
    },
}

impl Model {
    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Action {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if with_control && key.code == KeyCode::Char('c') {
            return Action::Quit;
        }
        match self.typing.take() {
            Some(typing) => self.type_on(typing, key.code),
            None => self.command(key.code),
        }
    }

    fn type_on(&mut self, mut typing: Typing, key: KeyCode) -> Action {
        match key {
            KeyCode::Esc => return Action::Nothing,
            KeyCode::Enter => return self.send(&typing),
            KeyCode::Backspace => {
                typing.text.pop();
            }
            KeyCode::Char(c) => typing.text.push(c),
            _ => {}
        }
        self.typing = Some(typing);
        Action::Nothing
    }

    fn send(&mut self, typing: &Typing) -> Action {
        let text = typing.text.trim();
        match (&typing.what, &self.chosen) {
            _ if text.is_empty() => Action::Nothing,
            (Wanted::Message, Some(task)) => message(task, text),
            (Wanted::Answer { task, question }, _) => Action::Ask {
                path: "/clarify".to_owned(),
                body: json!({ "taskId": task, "clarificationId": question, "answer": text }),
            },
            (Wanted::Message, None) => Action::Nothing,
        }
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
            KeyCode::Enter => self.typing = Some(Typing { text: String::new(), what: Wanted::Message }),
            KeyCode::Char('s') => return self.of_chosen("stop"),
            KeyCode::Char('i') => return self.of_chosen("interrupt"),
            KeyCode::Char('a') => return self.answer("once"),
            KeyCode::Char('d') => return self.answer("deny"),
            _ => {}
        }
        Action::Nothing
    }

    fn of_chosen(&self, what: &str) -> Action {
        match &self.chosen {
            Some(task) => Action::Ask { path: format!("/tasks/{task}/{what}"), body: json!({}) },
            None => Action::Nothing,
        }
    }

    /// Answers what waits: of the chosen task first, then of any.
    fn answer(&mut self, decision: &str) -> Action {
        let chosen = self.chosen.clone().unwrap_or_default();
        let approvals = &self.needs.approvals;
        let call = approvals.iter().find(|call| call.task_id == chosen).or_else(|| approvals.first());
        if let Some(call) = call {
            return Action::Ask {
                path: "/approve".to_owned(),
                body: json!({
                    "taskId": call.task_id, "approvalId": call.approval_id, "decision": decision,
                    "argsDigest": call.args_digest,
                }),
            };
        }
        let asked = &self.needs.clarifications;
        let question = asked.iter().find(|asked| asked.task_id == chosen).or_else(|| asked.first());
        match question {
            Some(asked) if decision == "once" => {
                let what =
                    Wanted::Answer { task: asked.task_id.clone(), question: asked.clarification_id.clone() };
                self.note.clone_from(&asked.question);
                self.typing = Some(Typing { text: String::new(), what });
            }
            _ => self.notice("nothing waits for you"),
        }
        Action::Nothing
    }
}
