//! Which commits are missing where: the damage of all segments, told in order.

use super::report::{Damage, Report};
use super::view::KnownDamage;
use crate::layout::Layout;
use crate::limits::DAMAGES_LISTED;
use crate::segment::SegmentFile;
use crate::segment::walk::{Hole, Survey};

/// Goes through the segments in order and notes which commits are missing where.
pub(crate) struct Ledger<'a> {
    layout: &'a Layout,
    report: &'a mut Report,
    /// The commit that should come next.
    next: u64,
    /// Damage at the end of a segment; what it cost shows with the next one.
    open: Option<(SegmentFile, u64, u64)>,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(layout: &'a Layout, report: &'a mut Report) -> Self {
        Self { layout, report, next: 1, open: None }
    }

    /// The number of the commit after all that were noted.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Notes a segment that was read; tells what is wrong inside.
    pub(crate) fn survey(&mut self, file: SegmentFile, survey: &Survey) -> KnownDamage {
        let begin = survey.header.as_ref().map(|header| header.first).or(survey.seqs.map(|(first, _)| first));
        // Without its header, a segment's first hole tells from where on commits are missing.
        let headless = survey.header.is_none() && !survey.holes.is_empty();
        self.arrive(file, begin.filter(|_| !headless));
        let mut damage = KnownDamage { any: !survey.is_sound(), lost: Vec::new() };
        for Hole { start, bytes, from, to } in &survey.holes {
            let from = from.unwrap_or(self.next);
            self.damage(file, (*start, *bytes), (from, *to));
            damage.lost.extend((from < *to).then(|| (from, to - 1)));
        }
        self.next = survey.next().unwrap_or(self.next).max(self.next);
        self.open = survey.tail.map(|(start, bytes)| (file, start, bytes));
        damage
    }

    /// Notes a segment that the catalog speaks for.
    pub(crate) fn commits(&mut self, file: SegmentFile, seqs: Option<(u64, u64)>) {
        self.arrive(file, seqs.map(|(first, _)| first));
        self.next = seqs.map_or(self.next, |(_, last)| last + 1);
    }

    /// The next segment begins with `first`: whatever lies between it and what we had is lost.
    fn arrive(&mut self, file: SegmentFile, first: Option<u64>) {
        let first = first.unwrap_or(self.next);
        match self.open.take() {
            Some((damaged, start, bytes)) => self.damage(damaged, (start, bytes), (self.next, first)),
            None if first > self.next => self.damage(file, (0, 0), (self.next, first)),
            None => {}
        }
        self.next = first.max(self.next);
    }

    fn damage(&mut self, file: SegmentFile, (offset, bytes): (u64, u64), (from, to): (u64, u64)) {
        if self.report.damages.len() >= DAMAGES_LISTED {
            self.report.damages_unlisted += 1;
            return;
        }
        let lost = (from < to).then(|| (from, to - 1));
        self.report.damages.push(Damage { path: file.path(&self.layout.log()), offset, bytes, lost });
    }
}
