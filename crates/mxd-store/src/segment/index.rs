//! Where in a segment the commits of a number or of a task lie: by blocks, not by lines, so that it stays small.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::limits::BLOCK_BYTES;

/// A run of whole lines. In a packed segment it is exactly one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    /// The first commit in it.
    pub(crate) first: u64,
    /// Where it begins in the file.
    pub(crate) start: u64,
    /// How many bytes of the file it takes.
    pub(crate) bytes: u64,
}

/// A block and where the commits in it end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) block: Block,
    /// The first commit of the next block, if there is one.
    pub(crate) next: Option<u64>,
}

/// Where a line stands in a plain segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineSpan {
    pub(crate) start: u64,
    /// Its length with the line end.
    pub(crate) bytes: u64,
    /// Whether the line end before it is damaged.
    pub(crate) joined: bool,
}

/// The blocks of a segment and which tasks each one speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentIndex {
    blocks: Vec<Block>,
    /// For each task the numbers of its blocks, ascending.
    tasks: HashMap<Box<str>, Vec<u32>>,
}

impl SegmentIndex {
    /// Notes one line of a plain segment. A line that is `joined` to the one before, because the line end between
    /// them is damaged, can only be found together with it.
    pub(crate) fn add<'a>(&mut self, seq: u64, span: LineSpan, tasks: impl Iterator<Item = &'a str>) {
        let LineSpan { start, bytes, joined } = span;
        let full = |block: &Block| block.bytes >= BLOCK_BYTES as u64 && !joined;
        if self.blocks.last().is_none_or(full) {
            self.blocks.push(Block { first: seq, start, bytes: 0 });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.bytes = start + bytes - block.start;
        }
        self.note(tasks);
    }

    /// Begins the block of one frame of a packed segment.
    pub(crate) fn begin_frame(&mut self, first: u64, span: (u64, u64)) {
        self.blocks.push(Block { first, start: span.0, bytes: span.1 });
    }

    /// Notes the tasks of one line of the last block.
    pub(crate) fn note<'a>(&mut self, tasks: impl Iterator<Item = &'a str>) {
        let Some(number) = self.blocks.len().checked_sub(1).and_then(|last| u32::try_from(last).ok()) else {
            return;
        };
        for task in tasks {
            match self.tasks.get_mut(task) {
                Some(numbers) if numbers.last() == Some(&number) => {}
                Some(numbers) => numbers.push(number),
                None => {
                    self.tasks.insert(task.into(), vec![number]);
                }
            }
        }
    }

    /// The same tasks in blocks that stand elsewhere.
    pub(crate) fn with_blocks(&self, blocks: Vec<Block>) -> Self {
        Self { blocks, tasks: self.tasks.clone() }
    }

    /// All blocks.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The blocks that may hold commits after `after`.
    pub(crate) fn after(&self, after: u64) -> Vec<Extent> {
        (self.first_after(after)..self.blocks.len()).filter_map(|number| self.extent(number)).collect()
    }

    /// The blocks that may hold commits of `task` after `after`.
    pub(crate) fn of_task(&self, task: &str, after: u64) -> Vec<Extent> {
        let from = self.first_after(after);
        let numbers = self.tasks.get(task).map_or(&[][..], Vec::as_slice);
        numbers
            .iter()
            .map(|number| *number as usize)
            .filter(|number| *number >= from)
            .filter_map(|number| self.extent(number))
            .collect()
    }

    fn first_after(&self, after: u64) -> usize {
        self.blocks.partition_point(|block| block.first <= after).saturating_sub(1)
    }

    fn extent(&self, number: usize) -> Option<Extent> {
        let block = *self.blocks.get(number)?;
        Some(Extent { block, next: self.blocks.get(number + 1).map(|next| next.first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_number_and_by_task() {
        let mut index = SegmentIndex::default();
        let line = BLOCK_BYTES as u64 / 2;
        for seq in 1..=9 {
            let task = if seq == 7 { "rare" } else { "common" };
            let span = LineSpan { start: 100 + (seq - 1) * line, bytes: line, joined: false };
            index.add(seq, span, std::iter::once(task));
        }
        let firsts =
            |extents: Vec<Extent>| extents.iter().map(|extent| extent.block.first).collect::<Vec<_>>();
        assert_eq!(firsts(index.after(0)), [1, 3, 5, 7, 9]);
        assert_eq!(firsts(index.after(4)), [3, 5, 7, 9]);
        assert_eq!(firsts(index.after(5)), [5, 7, 9]);
        assert_eq!(firsts(index.of_task("rare", 0)), [7]);
        assert_eq!(firsts(index.of_task("rare", 9)), [0u64; 0]);
        assert_eq!(firsts(index.of_task("common", 6)), [5, 7, 9]);
        assert_eq!(index.after(7).iter().map(|extent| extent.next).collect::<Vec<_>>(), [Some(9), None]);
        assert_eq!(index.blocks()[1], Block { first: 3, start: 100 + 2 * line, bytes: 2 * line });
    }
}
