//! SIGKILL at any moment.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use mxd_store::disk::OsDisk;
use mxd_store::{Line, Log, Options, Replay, verify};

use crate::dice::Dice;
use crate::rounds::{seeds, size};

/// Kills an appending process hundreds of times: every acknowledged commit is there afterwards, in order, once.
pub(crate) fn at_any_moment() {
    for seed in seeds(1) {
        let mut dice = Dice::new(seed);
        let dir = tempfile::tempdir().unwrap();
        let (mut acknowledged, mut kills) = (Vec::new(), 0);
        while kills < size(200, 400) {
            let heard = dice.below(60) as usize;
            hammer_and_kill(dir.path(), &format!("{seed}-{kills}"), heard, &mut acknowledged);
            kills += 1;
            if kills % 20 == 0 {
                compare(dir.path(), &acknowledged);
            }
        }
        assert!(acknowledged.len() > kills * 5, "{} commits in {kills} lives", acknowledged.len());
        let proof = verify(&OsDisk, dir.path()).unwrap();
        assert_eq!(proof.problems, []);
        assert!(proof.segments > 10, "{} segments", proof.segments);
    }
}

/// One life: ends after `heard` acknowledgements were heard, in the middle of further ones.
fn hammer_and_kill(dir: &Path, nonce: &str, heard: usize, acknowledged: &mut Vec<(u64, String)>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["hammer".as_ref(), dir.as_os_str(), nonce.as_ref()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut hear = |line: std::io::Result<String>| {
        let line = line.unwrap();
        // The last line may be cut short: its commit was acknowledged, but we cannot know which it was.
        if let Some((seq, text)) = line.split_once(' ').filter(|(_, text)| text.ends_with(&"x".repeat(300))) {
            acknowledged.push((seq.parse().unwrap(), text.to_owned()));
        }
    };
    lines.by_ref().take(heard).for_each(&mut hear);
    child.kill().unwrap();
    lines.for_each(&mut hear);
    child.wait().unwrap();
}

/// Everything acknowledged is in the log under its number, and no text is there twice.
fn compare(dir: &Path, acknowledged: &[(u64, String)]) {
    #[derive(Default)]
    struct Texts(Vec<String>);
    impl Replay for Texts {
        fn restore(&mut self, _state: &[u8]) -> bool {
            false
        }

        fn commit(&mut self, line: &Line<'_>) {
            assert_eq!(line.seq as usize, self.0.len() + 1, "the numbers have no gap");
            let events: Vec<serde_json::Value> = serde_json::from_str(line.events).unwrap();
            self.0.push(events[0]["text"].as_str().unwrap().to_owned());
        }
    }
    let mut texts = Texts::default();
    let log = Log::open(dir, Options::default(), &mut texts).unwrap();
    assert_eq!(log.report().damages, []);
    for (seq, text) in acknowledged {
        assert_eq!(texts.0.get(*seq as usize - 1), Some(text), "commit {seq}");
    }
    let once: HashSet<&String> = texts.0.iter().collect();
    assert_eq!(once.len(), texts.0.len(), "no commit is there twice");
}
