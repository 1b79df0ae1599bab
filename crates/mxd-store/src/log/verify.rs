//! Proving that nothing was altered or lost: every checksum, every number, every link of the hash chain.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::prune::{Record, records_in};
use crate::disk::Disk;
use crate::layout::Layout;
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;
use crate::segment::header::spell_hash;
use crate::segment::walk::{Hole, Survey};

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Segments read.
    pub segments: usize,
    /// Sound commits.
    pub commits: u64,
    /// The last commit.
    pub head: u64,
    /// Segments whose text was changed by recorded removals.
    pub pruned: usize,
    /// Everything that is not as it should be; empty means that nothing was altered or lost.
    pub problems: Vec<Problem>,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file concerned.
    pub path: PathBuf,
    /// Where, in the uncompressed text.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// How often the log is read again when its owner changed it meanwhile.
const TRIES: usize = 4;

/// Reads the whole log in `dir` and proves or refutes that it is whole. Changes nothing, takes no lock, and may
/// run beside the owner of the log; what the owner is writing meanwhile may show as an unfinished end.
pub fn verify(disk: &dyn Disk, dir: &Path) -> io::Result<Proof> {
    let layout = Layout::new(dir);
    let mut last = attempt(disk, &layout);
    for _ in 1..TRIES {
        // A segment that was packed or pruned while we read looks wrong once; what is wrong looks wrong again.
        match &last {
            Ok(proof) if proof.problems.is_empty() => break,
            Err(error) if error.kind() != io::ErrorKind::NotFound => break,
            Ok(_) | Err(_) => {}
        }
        let again = attempt(disk, &layout);
        let same = matches!((&last, &again), (Ok(one), Ok(other)) if one.problems == other.problems);
        last = again;
        if same {
            break;
        }
    }
    last
}

fn attempt(disk: &dyn Disk, layout: &Layout) -> io::Result<Proof> {
    let mut checker = Checker { proof: Proof::default(), next: 1, before: None, replaced: HashMap::new() };
    let mut files = Vec::new();
    for name in disk.list(&layout.log())? {
        match SegmentFile::parse(&name) {
            Some(file) if files.last().is_some_and(|last: &SegmentFile| last.number == file.number) => {}
            Some(file) => files.push(file),
            None => checker.problem(&layout.log().join(&name), 0, "does not belong into a log folder".into()),
        }
    }
    files.sort_by_key(|file| file.number);
    let mut read_files = Vec::new();
    for file in files {
        let path = file.path(&layout.log());
        let mut records = Vec::new();
        let (survey, hash) = read(disk, &path, file, &mut records)?;
        checker.replaced.extend(records.into_iter().map(|record| ((record.segment, record.was), record.now)));
        read_files.push((file, path, survey, hash));
    }
    for (number, (file, path, survey, hash)) in (1..).zip(read_files) {
        if file.number != number {
            checker.problem(&path, 0, format!("segment {number:06} is missing before it"));
            break;
        }
        checker.segment(file, &path, &survey, hash);
    }
    Ok(checker.proof)
}

/// Surveys a segment, hashes its text and collects the records of removals in it.
fn read(
    disk: &dyn Disk,
    path: &Path,
    file: SegmentFile,
    records: &mut Vec<Record>,
) -> io::Result<(Survey, String)> {
    let mut chunks = Chunks::open(disk, path, file.form)?;
    let (mut survey, mut hash) = (Survey::default(), Sha256::new());
    let mut text = Vec::new();
    while let Some(span) = chunks.next(&mut text)? {
        hash.update(&text);
        records_in(&text, records);
        survey.take(file.form, span, &text, &mut |_| {});
    }
    Ok((survey, spell_hash(&hash.finalize())))
}

struct Checker {
    proof: Proof,
    next: u64,
    /// The segment before, with its number and the hash of its text.
    before: Option<(PathBuf, u32, String)>,
    /// What recorded removals replaced: (segment, old hash) to new hash.
    replaced: HashMap<(u32, String), String>,
}

impl Checker {
    fn segment(&mut self, file: SegmentFile, path: &Path, survey: &Survey, hash: String) {
        self.proof.segments += 1;
        match &survey.header {
            None => self.problem(path, 0, "the first line is not a sound header".into()),
            Some(header) => {
                if header.segment != file.number {
                    self.problem(path, 0, format!("says that it is segment {:06}", header.segment));
                }
                self.link(path, header.previous.as_deref());
                self.sequence(path, header.first);
            }
        }
        let mut missing = 0;
        for Hole { start, bytes, from, to } in &survey.holes {
            let from = from.unwrap_or(self.next);
            missing += to.saturating_sub(from);
            let lost =
                if from < *to { format!(", commits {from} to {} are lost", to - 1) } else { String::new() };
            self.problem(path, *start, format!("{bytes} bytes are not what was written{lost}"));
        }
        if let Some((start, bytes)) = survey.tail {
            self.problem(path, start, format!("the last {bytes} bytes are unfinished or damaged"));
        }
        if let Some((first, last)) = survey.seqs {
            self.proof.commits += (last + 1).saturating_sub(first.max(self.next)).saturating_sub(missing);
            self.proof.head = self.proof.head.max(last);
        }
        self.next = survey.next().unwrap_or(self.next).max(self.next);
        self.before = Some((path.to_owned(), file.number, hash));
    }

    /// Compares the hash that a header carries with the text it speaks of.
    fn link(&mut self, path: &Path, previous: Option<&str>) {
        let Some((before, number, hash)) = self.before.take() else {
            if previous.is_some() {
                self.problem(path, 0, "names a segment before it, which is not there".into());
            }
            return;
        };
        let mut expected = previous.unwrap_or_default().to_owned();
        let recorded = expected != hash;
        let mut steps = self.replaced.len();
        while expected != hash && steps > 0 {
            let Some(now) = self.replaced.get(&(number, expected.clone())) else {
                break;
            };
            expected.clone_from(now);
            steps -= 1;
        }
        if expected != hash {
            self.problem(
                &before,
                0,
                format!("its text has another hash than the next segment says ({expected})"),
            );
        } else if recorded {
            self.proof.pruned += 1;
        }
    }

    fn sequence(&mut self, path: &Path, first: u64) {
        if first != self.next {
            self.problem(path, 0, format!("begins with commit {first} instead of {}", self.next));
        }
        self.next = self.next.max(first);
    }

    fn problem(&mut self, path: &Path, offset: u64, what: String) {
        self.proof.problems.push(Problem { path: path.to_owned(), offset, what });
    }
}
