//! What is done beside the writing: packing closed segments and keeping the catalog.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::Shared;
use super::catalog;
use super::view::Closed;
use crate::segment::pack::pack;
use crate::segment::{Form, SegmentFile};

impl Shared {
    /// Packs every closed segment that is still plain and brings the catalog up to date.
    pub(crate) fn upkeep(&self) -> io::Result<()> {
        let _alone = self.rewriting.lock().unwrap_or_else(PoisonError::into_inner);
        self.pack_closed()?;
        self.save_catalog()
    }

    /// Packs what is plain; the caller has the right to rewrite segments.
    pub(crate) fn pack_closed(&self) -> io::Result<()> {
        loop {
            let plain = {
                let view = self.view();
                view.closed.values().find(|segment| segment.file.form == Form::Plain).cloned()
            };
            let Some(segment) = plain else { return Ok(()) };
            self.pack_one(&segment)?;
        }
    }

    fn pack_one(&self, segment: &Closed) -> io::Result<()> {
        let (number, log) = (segment.file.number, self.layout.log());
        let draft = self.layout.tmp().join(SegmentFile::packed(number).name());
        let index = segment.index(&*self.disk, &self.layout)?;
        let (index, bytes) = pack(&*self.disk, (&segment.file.path(&log), &index), &draft)?;
        // The index is on disk and read back when somebody asks for this segment.
        catalog::save_index(&*self.disk, &self.layout, (number, bytes), &index)?;
        let packed =
            Closed::new(SegmentFile::packed(number), bytes, segment.seqs).with_damage(segment.damage.clone());
        self.put_in_place(&draft, packed)?;
        self.disk.remove(&segment.file.path(&log))?;
        self.disk.sync_dir(&log)
    }

    /// Gives a finished file its name and shows it to readers, in one step for them. Whenever this is interrupted,
    /// the old file or the new one is there.
    pub(crate) fn put_in_place(&self, draft: &Path, segment: Closed) -> io::Result<()> {
        let log = self.layout.log();
        {
            let _alone = self.swap.write().unwrap_or_else(PoisonError::into_inner);
            self.disk.rename(draft, &segment.file.path(&log))?;
            self.view_mut().closed.insert(segment.file.number, Arc::new(segment));
        }
        self.disk.sync_dir(&log)
    }

    pub(crate) fn save_catalog(&self) -> io::Result<()> {
        let entries = self.view().catalog();
        catalog::save_catalog(&*self.disk, &self.layout, &entries)
    }

    /// Something read from a segment was not what was written: let the next boot look at it.
    pub(crate) fn distrust(&self, number: u32) {
        if let Some(segment) = self.view().closed.get(&number) {
            segment.suspect();
        }
        let _ = self.disk.remove(&self.layout.catalog());
    }
}
