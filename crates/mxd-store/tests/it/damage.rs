//! Truncation at every byte and damage to every byte: the log always opens, and says exactly what is wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mxd_store::disk::Disk;
use mxd_store::{Damage, Log, ReadError, verify};

use crate::common::{draft, manual, open_on, read_everything, without_room};
use crate::dice::Dice;
use crate::rounds::{seeds, size};
use crate::sim::SimDisk;

const ROOT: &str = "/project";
const SEGMENT: u64 = 4_096;

/// A log that has grown until its last segment is full.
struct Stage {
    disk: SimDisk,
    /// The last segment and its text.
    path: PathBuf,
    text: Vec<u8>,
    /// Commits in the segments before.
    before: u64,
}

impl Stage {
    fn open(&self) -> Log {
        Log::open_on(Arc::new(self.disk.clone()), Path::new(ROOT), manual(u64::MAX), &mut ()).unwrap()
    }

    /// Where the lines of the last segment begin and end, the header first.
    fn lines(&self) -> Vec<(usize, usize)> {
        let ends = self
            .text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(position, _)| position + 1);
        let mut start = 0;
        ends.map(|end| (std::mem::replace(&mut start, end), end)).collect()
    }
}

/// Calls `each` whenever a segment of a growing log is full, until `bytes` have been written.
fn grow(seed: u64, bytes: usize, mut each: impl FnMut(&Stage, &mut Dice)) {
    let mut dice = Dice::new(seed);
    let disk = SimDisk::default();
    let (log, _) = open_on(Arc::new(disk.clone()), Path::new(ROOT), manual(SEGMENT)).unwrap();
    let (mut number, mut before, mut written) = (1, 0, 0);
    while written < bytes {
        let path = Path::new(ROOT).join(format!("log/{number:06}.jsonl"));
        log.append(draft(&format!("T{}", dice.below(5)), &words(&mut dice))).unwrap();
        while without_room(disk.bytes(&path)).len() < SEGMENT as usize {
            log.append(draft(&format!("T{}", dice.below(5)), &words(&mut dice))).unwrap();
        }
        log.upkeep().unwrap();
        // With the snapshot, opening concerns itself with the last segment only.
        log.save_snapshot(before, vec![]).unwrap();
        let text = without_room(disk.bytes(&path));
        disk.put(&path, text.clone());
        written += text.len();
        each(&Stage { disk: disk.copy(), path, text, before }, &mut dice);
        before = *log.head().borrow();
        number += 1;
    }
}

/// Text with everything in it that JSON escapes, and now and then what looks like a line of ours.
fn words(dice: &mut Dice) -> String {
    let pieces =
        ["word ", "\n", "\"quoted\" ", "ümläut ", "{\"seq\":7,", "\\", ",\"crc\":\"00000000\"}", "\u{1}"];
    (0..dice.below(40)).map(|_| pieces[dice.below(pieces.len() as u64) as usize]).collect()
}

#[test]
fn truncated_at_every_byte_the_longest_valid_prefix_is_recovered() {
    for seed in seeds(1) {
        grow(seed, size(60_000, 500_000), |stage, _| {
            let lines = stage.lines();
            for cut in 0..stage.text.len() {
                stage.disk.put(&stage.path, stage.text[..cut].to_vec());
                let log = stage.open();
                let whole = lines.iter().filter(|(_, end)| *end <= cut).count() as u64;
                assert_eq!(
                    *log.head().borrow(),
                    stage.before + whole.saturating_sub(1),
                    "seed {seed}, cut at {cut}"
                );
                assert_eq!(log.report().damages, [], "seed {seed}, cut at {cut}");
                let end = lines.iter().map(|(_, end)| *end).filter(|end| *end <= cut).max().unwrap_or(0);
                let torn = log.report().torn.as_ref();
                assert_eq!(
                    torn.map(|torn| (torn.offset, torn.bytes)),
                    (end < cut).then_some((end as u64, (cut - end) as u64))
                );
                if let Some(torn) = torn {
                    assert_eq!(
                        stage.disk.bytes(&torn.kept),
                        stage.text[end..cut],
                        "what was cut off is kept"
                    );
                    stage.disk.take(&torn.kept);
                }
                if cut % 61 == 0 {
                    assert_eq!(
                        log.append(draft("T1", "goes on")).unwrap(),
                        stage.before + whole.saturating_sub(1) + 1
                    );
                    assert_eq!(read_everything(&log).len() as u64, *log.head().borrow());
                    assert_eq!(
                        verify(&stage.disk, Path::new(ROOT)).unwrap().problems,
                        [],
                        "seed {seed}, cut at {cut}"
                    );
                }
            }
        });
    }
}

#[test]
fn every_damaged_byte_is_reported_with_its_line_and_the_rest_loads() {
    for seed in seeds(1) {
        grow(seed, size(60_000, 500_000), |stage, dice| {
            let lines = stage.lines();
            let last = lines.len() - 1;
            for (number, (start, end)) in lines.iter().enumerate() {
                for position in *start..*end {
                    let mut text = stage.text.clone();
                    text[position] ^= 1 + dice.below(255) as u8;
                    stage.disk.put(&stage.path, text);
                    let when = format!("seed {seed}, {} byte {position}", stage.path.display());
                    check_flip(stage, Flip { number, last, span: (*start, *end), position }, &when);
                }
            }
        });
    }
}

/// A damaged byte: in which line of the segment, the header being line 0.
struct Flip {
    number: usize,
    last: usize,
    span: (usize, usize),
    position: usize,
}

fn check_flip(stage: &Stage, flip: Flip, when: &str) {
    let Flip { number, last, span: (start, end), position } = flip;
    let log = stage.open();
    let report = log.report();
    let seq = stage.before + number as u64;
    let expect = |offset: usize, bytes: usize, lost| {
        vec![Damage { path: stage.path.clone(), offset: offset as u64, bytes: bytes as u64, lost }]
    };
    if number == last {
        // Nothing sound follows: it cannot be told from an unfinished write. It is cut off, and kept.
        let torn = report.torn.as_ref().expect(when);
        assert_eq!((torn.offset, torn.bytes), (start as u64, (end - start) as u64), "{when}");
        assert_eq!(stage.disk.bytes(&torn.kept).len(), end - start, "{when}");
        stage.disk.take(&torn.kept);
        assert_eq!(report.damages, [], "{when}");
        assert_eq!(*log.head().borrow(), seq - 1, "{when}");
        return;
    }
    let lost = (number > 0).then_some((seq, seq));
    let expected =
        if position + 1 == end { expect(position, 1, None) } else { expect(start, end - start, lost) };
    assert_eq!(report.damages, expected, "{when}");
    assert_eq!(report.torn, None, "{when}");
    assert_eq!(*log.head().borrow(), stage.before + last as u64, "{when}");
    if position % 61 == 0 {
        let missing = u64::from(number > 0 && position + 1 != end);
        assert_eq!(read_everything(&log).len() as u64, stage.before + last as u64 - missing, "{when}");
        assert_ne!(verify(&stage.disk, Path::new(ROOT)).unwrap().problems, [], "{when}");
    }
}

#[test]
fn every_damaged_byte_of_a_packed_segment_is_noticed_and_the_rest_loads() {
    for seed in seeds(1) {
        let mut stages = 0;
        grow(seed, size(30_000, 120_000), |stage, dice| {
            stages += 1;
            if stages < 3 {
                return;
            }
            let path = Path::new(ROOT).join(format!("log/{:06}.jsonl.zst", stages - 1));
            let packed = stage.disk.bytes(&path);
            for cache in ["catalog", "snapshot"] {
                stage.disk.take(&Path::new(ROOT).join("cache").join(cache));
            }
            let whole = {
                let (log, replayed) =
                    open_on(Arc::new(stage.disk.clone()), Path::new(ROOT), manual(u64::MAX)).unwrap();
                assert_eq!(log.report().damages, []);
                replayed
            };
            let mut harmless = 0;
            for position in 0..packed.len() {
                let mut bytes = packed.clone();
                bytes[position] ^= 1 + dice.below(255) as u8;
                stage.disk.put(&path, bytes);
                let when = format!("seed {seed}, {} byte {position}", path.display());
                let (log, replayed) =
                    open_on(Arc::new(stage.disk.clone()), Path::new(ROOT), manual(u64::MAX)).unwrap();
                if let [damage] = log.report().damages.as_slice() {
                    assert_eq!(damage.path, path, "{when}");
                    let (from, to) = damage.lost.expect(&when);
                    assert_eq!(replayed.seqs(), without(&whole.seqs(), from..=to), "{when}");
                } else {
                    // Some bits of the compression mean nothing: then the text is as it was.
                    assert_eq!(log.report().damages, [], "{when}");
                    assert_eq!(replayed, whole, "{when}");
                    harmless += 1;
                }
                assert_eq!(log.append(draft("T1", "on")).unwrap(), whole.0.len() as u64 + 1, "{when}");
                drop(log);
                stage.disk.put(&stage.path, stage.text.clone());
            }
            assert!(
                harmless * 20 < packed.len(),
                "{harmless} of {} bytes may change unnoticed",
                packed.len()
            );
            stage.disk.put(&path, packed);
        });
    }
}

fn without(seqs: &[u64], lost: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    seqs.iter().copied().filter(|seq| !lost.contains(seq)).collect()
}

#[test]
fn damage_that_the_catalog_hides_shows_on_reading_and_at_the_next_boot() {
    let mut stages = 0;
    grow(1, 12_000, |stage, _| {
        stages += 1;
        if stages < 3 {
            return;
        }
        let path = Path::new(ROOT).join("log/000001.jsonl.zst");
        let mut bytes = stage.disk.bytes(&path);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        stage.disk.put(&path, bytes);
        // The snapshot covers the segment and the catalog speaks for it, so it is not looked at.
        let log = stage.open();
        assert_eq!(log.report().damages, []);
        assert!(matches!(log.read(0, 10).unwrap_err(), ReadError::Damaged { .. }));
        drop(log);
        for _ in 0..2 {
            let log = stage.open();
            assert_eq!(log.report().damages.len(), 1, "a damaged segment never enters the catalog again");
            assert!(!read_everything(&log).is_empty());
            log.upkeep().unwrap();
        }
    });
}

#[test]
fn damage_after_the_boot_is_an_error_that_names_the_place() {
    let mut stages = 0;
    grow(1, 12_000, |stage, _| {
        stages += 1;
        if stages < 3 {
            return;
        }
        let disk: Arc<dyn Disk> = Arc::new(stage.disk.clone());
        let (log, _) = open_on(Arc::clone(&disk), Path::new(ROOT), manual(u64::MAX)).unwrap();
        let path = Path::new(ROOT).join("log/000001.jsonl.zst");
        let mut bytes = stage.disk.bytes(&path);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        stage.disk.put(&path, bytes);
        let error = log.read(0, 10).unwrap_err();
        assert!(matches!(&error, ReadError::Damaged { path: named, .. } if *named == path), "{error}");
        assert!(log.read(stage.before, 10).is_ok(), "the rest can be read");
        drop(log);
        let (log, _) = open_on(disk, Path::new(ROOT), manual(u64::MAX)).unwrap();
        assert_eq!(log.report().damages.len(), 1);
        assert!(!read_everything(&log).is_empty());
    });
}
