//! Handing out the text of a log: every commit as it was written, also of a log that another process owns.

use std::io::{self, Write};
use std::path::Path;

use crate::disk::Disk;
use crate::layout::Layout;
use crate::line::Line;
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;
use crate::segment::header::Header;

/// Writes every commit of the log in `dir` to `out`, one line each, oldest first. Changes nothing and takes no lock.
///
/// # Errors
///
/// When a segment cannot be read, or `out` does not take what it is given.
pub fn export(disk: &dyn Disk, dir: &Path, out: &mut dyn Write) -> io::Result<u64> {
    let layout = Layout::new(dir);
    let names = disk.list(&layout.log())?;
    let mut files: Vec<SegmentFile> = names.iter().filter_map(|name| SegmentFile::parse(name)).collect();
    files.sort_by_key(|file| file.number);
    // While one is packed it is there in both forms, which hold the same.
    files.dedup_by_key(|file| file.number);
    let (mut commits, mut text) = (0, Vec::new());
    let last = files.last().map(|file| file.number);
    for file in files {
        // Lines that are not sound, with nothing sound behind them yet: at the end of the log they were never finished.
        let mut doubtful = Vec::new();
        let mut chunks = Chunks::open(disk, &file.path(&layout.log()), file.form)?;
        while chunks.next(&mut text)?.is_some() {
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                let whole = line.strip_suffix(b"\n").unwrap_or(line);
                // Blank lines are room for commits to come.
                if whole.is_empty() || Header::read(whole).is_some() {
                    continue;
                }
                doubtful.push(line.to_owned());
                if whole.len() < line.len() && Line::read(whole).is_some() {
                    commits += give(&mut doubtful, out)?;
                }
            }
        }
        if Some(file.number) != last {
            commits += give(&mut doubtful, out)?;
        }
    }
    Ok(commits)
}

fn give(lines: &mut Vec<Vec<u8>>, out: &mut dyn Write) -> io::Result<u64> {
    let count = lines.len() as u64;
    lines.drain(..).try_for_each(|line| out.write_all(&line))?;
    Ok(count)
}
