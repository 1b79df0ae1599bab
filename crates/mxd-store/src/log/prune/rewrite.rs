//! Copying a segment without what is to go.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::value::RawValue;

use super::Prune;
use super::sweep::named_in;
use crate::blobs::BlobId;
use crate::disk::Disk;
use crate::line::{EventLabel, Line, Place, write_line};
use crate::segment::Form;
use crate::segment::chunk::Chunks;
use crate::segment::pack::Packer;

/// Whether a commit has an event that is to go.
pub(super) fn concerns(prune: &Prune<'_>, line: &Line<'_>) -> bool {
    let events: Vec<&RawValue> = serde_json::from_str(line.events).unwrap_or_default();
    in_reach(prune, line)
        && events.iter().any(|event| label(event).is_ok_and(|label| unwanted(prune, &label)))
}

/// Copies a packed segment without the unwanted events; gives how many there were and the new hash. The blobs they
/// named are added to `named`.
pub(super) fn rewrite(
    disk: &dyn Disk,
    (from, to): (&Path, &Path),
    prune: &Prune<'_>,
    named: &mut BTreeSet<BlobId>,
) -> io::Result<(u64, String)> {
    let mut chunks = Chunks::open(disk, from, Form::Packed)?;
    let mut packer = Packer::create(disk, to)?;
    let (mut text, mut out, mut events) = (Vec::new(), Vec::new(), 0);
    while let Some(span) = chunks.next(&mut text)? {
        if !span.sound {
            let reason = format!("{} is damaged at byte {}", from.display(), span.start);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        out.clear();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let sound = line.strip_suffix(b"\n").and_then(Line::read);
            match sound.filter(|line| in_reach(prune, line)) {
                Some(sound) => events += thin(&sound, prune, named, &mut out)?,
                None => out.extend_from_slice(line),
            }
        }
        packer.add(&out)?;
    }
    Ok((events, packer.finish()?.1))
}

/// Writes a commit without its unwanted events; gives how many there were.
fn thin(
    line: &Line<'_>,
    prune: &Prune<'_>,
    named: &mut BTreeSet<BlobId>,
    out: &mut Vec<u8>,
) -> io::Result<u64> {
    let events: Vec<&RawValue> = serde_json::from_str(line.events)?;
    let (mut kept, mut tasks, mut removed): (Vec<&str>, Vec<Cow<'_, str>>, u64) = Default::default();
    for event in events {
        let label = label(event)?;
        if unwanted(prune, &label) {
            removed += 1;
            named_in(event.get().as_bytes(), |id| {
                named.insert(id);
            });
        } else {
            if !tasks.contains(&label.task) {
                tasks.push(label.task);
            }
            kept.push(event.get());
        }
    }
    let tasks: Vec<&str> = tasks.iter().map(AsRef::as_ref).collect();
    write_line(Place { seq: line.seq, durable: line.durable, at: line.at }, &tasks, &kept.join(","), out);
    Ok(removed)
}

fn in_reach(prune: &Prune<'_>, line: &Line<'_>) -> bool {
    line.seq <= prune.through && line.tasks().any(|task| task == prune.task)
}

fn unwanted(prune: &Prune<'_>, label: &EventLabel<'_>) -> bool {
    label.task == prune.task && prune.types.contains(&&*label.kind)
}

fn label(event: &RawValue) -> serde_json::Result<EventLabel<'_>> {
    EventLabel::read(event.get())
}
