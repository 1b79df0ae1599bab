//! Power cuts at every kind of moment: no acknowledged commit is lost, none is half visible.

use std::path::Path;
use std::sync::Arc;

use mxd_store::{AppendError, Draft, Log, Prune, Upkeep, verify};

use crate::common::{draft, manual, open_on};
use crate::dice::Dice;
use crate::rounds::seeds;
use crate::sim::SimDisk;

/// Several lives of one log, each ended by a power cut in the middle of its work.
#[test]
fn power_cuts_lose_nothing_that_was_acknowledged() {
    for seed in seeds(2_500) {
        let mut dice = Dice::new(seed);
        let mut disk = SimDisk::default();
        let mut history = History::default();
        for life in 0..4 {
            history.open_and_compare(&disk, &format!("seed {seed}, life {life}"));
            disk.set_fuse(dice.below(120));
            history.live(&disk, &mut dice);
            // Some lives end with the process only: the next one finds everything, synced or not, and builds on it.
            disk = if dice.below(3) == 0 { disk.after_kill() } else { disk.after_power_cut(&mut dice) };
        }
        history.open_and_compare(&disk, &format!("seed {seed}, the end"));
        let proof = verify(&disk, Path::new("/project")).unwrap();
        assert_eq!(proof.problems, [], "seed {seed}");
    }
}

/// What is known about the log from the answers it gave.
#[derive(Default)]
struct History {
    /// The texts that were acknowledged, in order, each with what may have been pruned from it since.
    acknowledged: Vec<String>,
    /// Sent, but the answer was an error or never came: these may be there or not, in this order.
    in_doubt: Vec<String>,
    /// Whether a prune of the task `secret` was asked for that may or may not have happened.
    prune_in_doubt: bool,
    sent: u64,
}

impl History {
    fn live(&mut self, disk: &SimDisk, dice: &mut Dice) {
        let Ok((log, _)) = open_on(Arc::new(disk.clone()), Path::new("/project"), manual(1_500)) else {
            return;
        };
        for _ in 0..60 {
            let alive = match dice.below(12) {
                0 => log.upkeep().is_ok(),
                1 => self.prune(&log),
                2 => log.save_snapshot(*log.head().borrow(), b"state".to_vec()).is_ok(),
                _ => self.append(&log, dice),
            };
            if !alive {
                return;
            }
        }
    }

    fn append(&mut self, log: &Log, dice: &mut Dice) -> bool {
        let texts: Vec<String> = (0..1 + dice.below(5)).map(|_| self.text(dice)).collect();
        let drafts: Vec<Draft> = texts.iter().map(|text| draft(task_of(text), text)).collect();
        let Ok(answers) = log.append_all(drafts) else {
            return false;
        };
        let alive = answers.iter().all(Result::is_ok);
        for (text, answer) in texts.into_iter().zip(answers) {
            match answer {
                Ok(seq) => {
                    assert_eq!(seq as usize, self.acknowledged.len() + 1);
                    self.acknowledged.push(text);
                }
                Err(AppendError::Io { .. }) => self.in_doubt.push(text),
                Err(error) => panic!("{error}"),
            }
        }
        alive
    }

    /// A text of a random length, up to several sectors, that says which it is.
    fn text(&mut self, dice: &mut Dice) -> String {
        self.sent += 1;
        let kind = if dice.below(4) == 0 { "secret" } else { "public" };
        format!("{kind} {} {}", self.sent, "x".repeat(dice.below(1_200) as usize))
    }

    fn prune(&mut self, log: &Log) -> bool {
        let through = *log.head().borrow();
        let why = "the user asked for it";
        let done = log.prune(&Prune { task: "secret", through, types: &["note"], why, at: 7 });
        match &done {
            Ok(pruned) if pruned.events == 0 => {}
            Ok(_) => {
                self.forget_secrets();
                self.acknowledged.push("record".into());
            }
            Err(_) => self.prune_in_doubt = true,
        }
        done.is_ok()
    }

    fn forget_secrets(&mut self) {
        for text in self.acknowledged.iter_mut().filter(|text| text.starts_with("secret")) {
            *text = "pruned".into();
        }
    }

    /// Opens what the cut left and settles what was in doubt.
    fn open_and_compare(&mut self, disk: &SimDisk, when: &str) {
        let options = mxd_store::Options { upkeep: Upkeep::Manual, threads: 1, ..manual(1_500) };
        // A snapshot of nothing: everything is replayed.
        let mut replayed = Everything::default();
        let log = Log::open_on(Arc::new(disk.clone()), Path::new("/project"), options, &mut replayed)
            .unwrap_or_else(|error| panic!("{when}: {error}"));
        assert_eq!(log.report().damages, [], "{when}");
        let found = replayed.0;
        if self.prune_in_doubt && found.get(self.acknowledged.len()).is_some_and(|text| text == "record") {
            self.forget_secrets();
            self.acknowledged.push("record".into());
            self.in_doubt.clear();
        }
        self.prune_in_doubt = false;
        let certain = self.acknowledged.len();
        assert!(
            found.len() >= certain,
            "{when}: {} of {certain} acknowledged commits are there",
            found.len()
        );
        assert_eq!(found[..certain], self.acknowledged, "{when}");
        let extra = &found[certain..];
        assert_eq!(
            extra,
            &self.in_doubt[..extra.len().min(self.in_doubt.len())],
            "{when}: not what was sent"
        );
        self.acknowledged = found;
        self.in_doubt.clear();
    }
}

fn task_of(text: &str) -> &str {
    text.split(' ').next().unwrap()
}

/// Replays to the text of each commit.
#[derive(Default)]
struct Everything(Vec<String>);

impl mxd_store::Replay for Everything {
    fn restore(&mut self, _state: &[u8]) -> bool {
        false
    }

    fn commit(&mut self, line: &mxd_store::Line<'_>) {
        assert_eq!(line.seq as usize, self.0.len() + 1, "the numbers have no gap");
        let events: Vec<serde_json::Value> = serde_json::from_str(line.events).unwrap();
        self.0.push(match events.first() {
            None => "pruned".into(),
            Some(event) if event["type"] == "log_pruned" => "record".into(),
            Some(event) => event["text"].as_str().unwrap().to_owned(),
        });
    }
}
