//! What stands at the foot of the screen: a note, what is asked, and what is typed or can be pressed.

use mxd_core::show::one_line;

use super::call::Word;
use super::model::{Model, Typing};
use super::rows::{end_of, start_of, visible, width_of, wrapped};

/// How much of a note is shown.
const NOTE: usize = 400;
/// The cells a title gets at least.
const TITLE: usize = 8;
/// Where somebody types.
const CURSOR: &str = "▏";

/// The rows of the foot, as many as these at most.
pub(super) fn rows(model: &Model, width: usize, most: usize) -> Vec<String> {
    let mut above = wrapped(&one_line(&model.note, NOTE), width);
    let asked = model.typing.as_ref().and_then(|typing| typing.question.as_ref());
    if let Some(asked) = asked {
        if model.note.is_empty() {
            above.clear();
        }
        let lines = asked.question.trim_end().lines();
        above.extend(lines.flat_map(|line| wrapped(&visible(&line.replace('\t', "    ")), width)));
    }
    let room = most.saturating_sub(1).max(1);
    if above.len() > room {
        let over = above.len() - room + 1;
        above.truncate(room - 1);
        above.push(start_of(&format!("… {over} more rows have no room here"), width));
    }
    above.push(match &model.typing {
        Some(typing) => typed(typing, width),
        None => keys(model, width),
    });
    above
}

/// Whom it is for, and the end of what was typed.
fn typed(typing: &Typing, width: usize) -> String {
    let what = if typing.question.is_some() { "answer" } else { "message" };
    let title = start_of(&one_line(&typing.title, NOTE), (width / 3).max(TITLE));
    let whom = format!("{what} to “{title}” › ");
    let room = width.saturating_sub(width_of(&whom) + width_of(CURSOR));
    format!("{whom}{}{CURSOR}", end_of(&visible(&typing.text.replace('\n', "⏎")), room))
}

/// What can be pressed. Where there is no room for all of it, what is needed least is left out.
fn keys(model: &Model, width: usize) -> String {
    // Each with its rank: the highest goes first, and the way out never.
    let mut keys: Vec<(u8, &str)> = match &model.shown {
        Some(shown) => vec![
            (0, if shown.word == Word::Allow { "y allow" } else { "y deny" }),
            (1, "n leave it"),
            (2, "PgUp PgDn scroll"),
            (3, "Ctrl-C quit"),
        ],
        None => {
            let mut keys = vec![(3, "↑↓ choose"), (2, "Enter write"), (4, "s stop"), (5, "i interrupt")];
            keys.extend(answers(model).map(|key| (1, key)));
            keys.extend([(6, "c collapse"), (0, "q quit")]);
            keys
        }
    };
    loop {
        let line = keys.iter().map(|(_, key)| *key).collect::<Vec<_>>().join("  ");
        let least = keys.iter().enumerate().max_by_key(|(_, (rank, _))| *rank).map(|(n, _)| n);
        match least {
            Some(least) if width_of(&line) > width && keys.len() > 1 => drop(keys.remove(least)),
            _ => return line,
        }
    }
}

/// What can be said to what waits.
fn answers(model: &Model) -> Option<&'static str> {
    let needs = &model.needs;
    let chosen = model.chosen.as_deref().unwrap_or_default();
    if needs.approvals.iter().any(|call| call.task_id == chosen) {
        Some("a allow  d deny")
    } else if needs.clarifications.iter().any(|asked| asked.task_id == chosen) {
        Some("a answer")
    } else if needs.approvals.is_empty() && needs.clarifications.is_empty() {
        None
    } else {
        Some("a who waits")
    }
}
