//! Gates: a question that a person answers.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use super::node::GateStep;
use crate::answer::WEAK;
use crate::cli::GatePolicy;

/// Answers that mean no, whatever the options are.
const REFUSALS: &[&str] = &["no", "deny", "reject", "stop", "cancel"];

/// The answer of a gate.
pub(super) enum Word {
    /// The plan goes on, with this answer.
    Pass(String),
    /// It ends, for this reason.
    Refused(String),
}

/// Asks.
pub(super) fn ask(gate: &GateStep, policy: GatePolicy) -> Word {
    match policy {
        GatePolicy::Approve => answer(gate, gate.options.first().map_or("yes", String::as_str)),
        GatePolicy::Deny => Word::Refused("gates are answered with no".to_owned()),
        GatePolicy::Prompt if !io::stdin().is_terminal() => {
            Word::Refused("there is nobody to ask; see --gate-policy".to_owned())
        }
        GatePolicy::Prompt => prompt(gate),
    }
}

fn prompt(gate: &GateStep) -> Word {
    let options = gate.options.join("/");
    let _closed = write!(anstream::stderr(), "{WEAK}?{WEAK:#} {} [{options}] ", gate.question);
    let _closed = io::stderr().flush();
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(1..) => answer(gate, line.trim()),
        Ok(0) | Err(_) => Word::Refused("nobody answered".to_owned()),
    }
}

/// An option, by its whole name.
fn answer(gate: &GateStep, given: &str) -> Word {
    let chosen = gate.options.iter().find(|option| option.eq_ignore_ascii_case(given));
    match chosen {
        Some(option) if !REFUSALS.contains(&option.to_ascii_lowercase().as_str()) => {
            Word::Pass(option.clone())
        }
        Some(option) => Word::Refused(format!("the answer was {option}")),
        None => Word::Refused(format!("`{given}` is none of {}", gate.options.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(options: &[&str], given: &str) -> Result<String, String> {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        match answer(&GateStep { question: "?".to_owned(), options }, given) {
            Word::Pass(answer) => Ok(answer),
            Word::Refused(why) => Err(why),
        }
    }

    #[test]
    fn only_an_option_that_is_no_refusal_passes() {
        assert_eq!(said(&["yes", "no"], "YES"), Ok("yes".to_owned()));
        assert_eq!(said(&["red", "blue"], "blue"), Ok("blue".to_owned()));
        assert_eq!(said(&["yes", "no"], "no"), Err("the answer was no".to_owned()));
        assert_eq!(said(&["yes", "no"], "y"), Err("`y` is none of yes, no".to_owned()));
        assert_eq!(said(&["no"], ""), Err("`` is none of no".to_owned()));
    }
}
