//! Making what is only to be looked at unchangeable, with everything that is mounted inside of it.
//!
//! A bind mount takes no notice of the read-only flag when it is made, so each mount is changed afterwards. Flags
//! that the machine's owner set must be repeated, or the kernel refuses.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use super::place::{Kind, Place};
use super::{NEW, NOTHING, OLD, under};

/// Takes the right to change from every mount that lies in a place to be looked at.
pub(super) fn read_only(places: &[Place]) -> Result<(), String> {
    let table = under(OLD, "/proc/thread-self/mountinfo");
    let text = fs::read(&table).map_err(|error| format!("reading the mounts: {error}"))?;
    for line in text.split(|&byte| byte == b'\n') {
        let Some((point, flags)) = parse(line) else { continue };
        let Ok(seen_at) = point.strip_prefix(NEW) else { continue };
        if !is_read_only(places, &Path::new("/").join(seen_at)) || flags.contains(MsFlags::MS_RDONLY) {
            continue;
        }
        let flags = flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        mount(NOTHING, &point, NOTHING, flags, NOTHING)
            .map_err(|error| format!("making {} unchangeable: {error}", seen_at.display()))?;
    }
    Ok(())
}

/// Whether the innermost place around a path is one to be looked at.
fn is_read_only(places: &[Place], path: &Path) -> bool {
    let around = places.iter().filter(|place| path.starts_with(&place.at));
    around.max_by_key(|place| place.at.as_os_str().len()).is_some_and(|place| place.kind == Kind::Read)
}

/// The mount point and the flags of one line of `mountinfo`: `id parent device root point options …`.
fn parse(line: &[u8]) -> Option<(PathBuf, MsFlags)> {
    let mut fields = line.split(|&byte| byte == b' ').skip(4);
    let point = PathBuf::from(OsString::from_vec(unescape(fields.next()?)));
    let options = std::str::from_utf8(fields.next()?).ok()?;
    let mut flags = MsFlags::empty();
    for option in options.split(',') {
        flags |= match option {
            "ro" => MsFlags::MS_RDONLY,
            "nosuid" => MsFlags::MS_NOSUID,
            "nodev" => MsFlags::MS_NODEV,
            "noexec" => MsFlags::MS_NOEXEC,
            "noatime" => MsFlags::MS_NOATIME,
            "nodiratime" => MsFlags::MS_NODIRATIME,
            "relatime" => MsFlags::MS_RELATIME,
            _ => MsFlags::empty(),
        };
    }
    Some((point, flags))
}

/// Spaces and the like are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let code = after.get(..3).filter(|_| byte == b'\\').and_then(octal);
        if code.is_some() {
            rest = &after[3..];
        }
        plain.push(code.unwrap_or(byte));
    }
    plain
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_its_point_and_the_flags_to_be_kept() {
        let line = br"36 35 98:0 /mnt1 /mnt\040two\134x rw,noatime,nosuid master:1 - ext3 /dev/root rw";
        let (point, flags) = parse(line).unwrap();
        assert_eq!(point, Path::new(r"/mnt two\x"));
        assert_eq!(flags, MsFlags::MS_NOATIME | MsFlags::MS_NOSUID);
    }

    #[test]
    fn the_innermost_place_decides() {
        let place = |at: &str, kind| Place { at: at.into(), from: at.into(), kind };
        let places = [place("/r", Kind::Read), place("/r/w", Kind::Write), place("/r/w/r", Kind::Read)];
        let answers = ["/r", "/r/x", "/r/w", "/r/w/x", "/r/w/r/x", "/rx"]
            .map(|path| is_read_only(&places, path.as_ref()));
        assert_eq!(answers, [true, true, false, false, true, false]);
    }
}
