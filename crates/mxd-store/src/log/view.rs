//! What readers see: the closed segments, and of the open one only what is durable.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::catalog::{self, Catalog, Entry};
use super::recent::Recent;
use crate::disk::Disk;
use crate::layout::Layout;
use crate::segment::chunk::Chunks;
use crate::segment::index::SegmentIndex;
use crate::segment::walk::Survey;
use crate::segment::{Form, SegmentFile};

/// All segments of a log at one moment.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) closed: BTreeMap<u32, Arc<Closed>>,
    pub(crate) active: Active,
    /// What was written last.
    pub(crate) recent: Recent,
}

/// The segment that grows.
#[derive(Debug)]
pub(crate) struct Active {
    pub(crate) file: SegmentFile,
    /// The first and the last durable commit.
    pub(crate) seqs: Option<(u64, u64)>,
    pub(crate) damage: KnownDamage,
    pub(crate) index: SegmentIndex,
}

impl Active {
    /// One without commits.
    pub(crate) fn new(file: SegmentFile) -> Self {
        Self { file, seqs: None, damage: KnownDamage::default(), index: SegmentIndex::default() }
    }
}

/// What is known to be wrong with a segment. Readers pass over it; anything else that is wrong is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownDamage {
    /// Whether anything is.
    pub(crate) any: bool,
    /// The commits that are lost by it, each range first and last.
    pub(crate) lost: Vec<(u64, u64)>,
}

impl KnownDamage {
    /// The next number from `seq` on that is not known to be lost.
    pub(crate) fn next_kept(&self, seq: u64) -> u64 {
        let ranges = self.lost.iter().filter(|(from, to)| (*from..=*to).contains(&seq));
        ranges.map(|(_, to)| to + 1).max().map_or(seq, |next| self.next_kept(next))
    }
}

/// A segment that will not grow any more.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) file: SegmentFile,
    pub(crate) bytes: u64,
    /// The first and the last sound commit; none if nothing in it can be read.
    pub(crate) seqs: Option<(u64, u64)>,
    pub(crate) damage: KnownDamage,
    /// Set when something read from it was not what was written, and nobody had known.
    suspect: AtomicBool,
    index: OnceLock<Arc<SegmentIndex>>,
}

impl Closed {
    pub(crate) fn new(file: SegmentFile, bytes: u64, seqs: Option<(u64, u64)>) -> Self {
        let (damage, suspect) = (KnownDamage::default(), AtomicBool::new(false));
        Self { file, bytes, seqs, damage, suspect, index: OnceLock::new() }
    }

    pub(crate) fn with_index(mut self, index: SegmentIndex) -> Self {
        self.index = OnceLock::from(Arc::new(index));
        self
    }

    pub(crate) fn with_damage(mut self, damage: KnownDamage) -> Self {
        self.damage = damage;
        self
    }

    /// Lets the next boot look at it.
    pub(crate) fn suspect(&self) {
        self.suspect.store(true, Ordering::Relaxed);
    }

    /// The index: from memory, from its cache, or by reading the segment.
    pub(crate) fn index(&self, disk: &dyn Disk, layout: &Layout) -> io::Result<Arc<SegmentIndex>> {
        if let Some(index) = self.index.get() {
            return Ok(Arc::clone(index));
        }
        let index = match catalog::load_index(disk, layout, self.file.number, self.bytes) {
            Some(index) => index,
            None => {
                let index = survey(disk, layout, self.file)?.index;
                // A cache that cannot be written costs time, nothing else.
                let _ = catalog::save_index(disk, layout, (self.file.number, self.bytes), &index);
                index
            }
        };
        Ok(Arc::clone(self.index.get_or_init(|| Arc::new(index))))
    }

    /// What the catalog may say of it; nothing if it is damaged.
    pub(crate) fn entry(&self) -> Option<Entry> {
        let sound = !self.damage.any && !self.suspect.load(Ordering::Relaxed);
        let (first, last) = self.seqs.filter(|_| sound)?;
        Some(Entry { form: self.file.form, bytes: self.bytes, first, last })
    }
}

impl View {
    /// The last durable commit, 0 if there is none.
    pub(crate) fn head(&self) -> u64 {
        let closed = || self.closed.values().rev().find_map(|segment| segment.seqs);
        self.active.seqs.or_else(closed).map_or(0, |(_, last)| last)
    }

    /// Whether a closed segment waits to be packed.
    pub(crate) fn has_plain(&self) -> bool {
        self.closed.values().any(|segment| segment.file.form == Form::Plain)
    }

    /// What the catalog may say.
    pub(crate) fn catalog(&self) -> Catalog {
        self.closed.iter().filter_map(|(number, segment)| Some((*number, segment.entry()?))).collect()
    }
}

/// Walks over one segment alone.
pub(crate) fn survey(disk: &dyn Disk, layout: &Layout, file: SegmentFile) -> io::Result<Survey> {
    survey_file(disk, &file.path(&layout.log()), file.form)
}

/// Walks over a segment that may not have its place yet.
pub(crate) fn survey_file(disk: &dyn Disk, path: &Path, form: Form) -> io::Result<Survey> {
    let mut chunks = Chunks::open(disk, path, form)?;
    let (mut survey, mut text) = (Survey::default(), Vec::new());
    while let Some(span) = chunks.next(&mut text)? {
        survey.take(form, span, &text, &mut |_| {});
    }
    Ok(survey)
}
