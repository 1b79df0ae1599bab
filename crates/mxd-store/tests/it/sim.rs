//! A disk that loses power: whatever was not synced may be there, or not, or only in part, in any order.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use mxd_store::disk::{Disk, DiskFile, LockError, LockGuard};

use crate::dice::Dice;

/// What a disk writes at once, or not at all.
const SECTOR: usize = 512;

/// Files in memory, as they are now and as they would be found after a power cut.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimDisk(Arc<Mutex<World>>);

#[derive(Debug, Default)]
struct World {
    inodes: Vec<Inode>,
    /// The names as programs see them.
    names: BTreeMap<String, usize>,
    /// Changes of names that no `sync_dir` has confirmed yet, in order.
    unsynced: Vec<NameChange>,
    /// The names that are certain to survive.
    synced: BTreeMap<String, usize>,
    /// How many more bytes fit.
    space: Option<u64>,
    /// Counts down with every changing operation; at zero the power goes.
    fuse: Option<u64>,
    /// How many operations still succeed, and how many fail after that.
    glitch: Option<(u64, u64)>,
    off: bool,
}

#[derive(Debug, Default, Clone)]
struct Inode {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// Writes and cuts since the last sync, in order.
    unsynced: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

#[derive(Debug, Clone)]
enum NameChange {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

impl SimDisk {
    /// After `operations` more changing operations, every further one fails.
    pub(crate) fn set_fuse(&self, operations: u64) {
        self.world().fuse = Some(operations);
    }

    /// After `operations` more changing operations, `failures` fail.
    pub(crate) fn set_glitch(&self, operations: u64, failures: u64) {
        self.world().glitch = Some((operations, failures));
    }

    /// Lets `bytes` more bytes be written; `None` for no limit.
    pub(crate) fn set_space(&self, bytes: Option<u64>) {
        self.world().space = bytes;
    }

    /// Another disk with the same files, all of them durable.
    pub(crate) fn copy(&self) -> Self {
        let world = self.world();
        let whole =
            |inode: &Inode| Inode { now: inode.now.clone(), synced: inode.now.clone(), unsynced: vec![] };
        let inodes = world.inodes.iter().map(whole).collect();
        let (names, synced) = (world.names.clone(), world.names.clone());
        Self(Arc::new(Mutex::new(World { inodes, names, synced, ..World::default() })))
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, path: &Path) -> Vec<u8> {
        let world = self.world();
        world.inodes[world.inode(path).unwrap()].now.clone()
    }

    /// Puts bytes into a file behind everybody's back.
    pub(crate) fn put(&self, path: &Path, bytes: Vec<u8>) {
        let mut world = self.world();
        let inode = Inode { now: bytes.clone(), synced: bytes, unsynced: vec![] };
        let number = world.inode(path).unwrap_or(world.inodes.len());
        if number == world.inodes.len() {
            world.inodes.push(inode);
        } else {
            world.inodes[number] = inode;
        }
        world.names.insert(key(path), number);
        world.synced.insert(key(path), number);
    }

    /// Takes a file away behind everybody's back.
    pub(crate) fn take(&self, path: &Path) {
        let mut world = self.world();
        world.names.remove(&key(path));
        world.synced.remove(&key(path));
    }

    /// What the next process finds when this one is killed: everything, as durable or not as it was.
    pub(crate) fn after_kill(&self) -> Self {
        let world = self.world();
        let (inodes, names) = (world.inodes.clone(), world.names.clone());
        let (unsynced, synced) = (world.unsynced.clone(), world.synced.clone());
        Self(Arc::new(Mutex::new(World { inodes, names, unsynced, synced, ..World::default() })))
    }

    /// What a machine finds after a power cut at this moment: everything that was synced, and of the rest whatever
    /// the dice say, sector by sector.
    pub(crate) fn after_power_cut(&self, dice: &mut Dice) -> Self {
        let world = self.world();
        let mut survivor = World { synced: world.synced.clone(), ..World::default() };
        for inode in &world.inodes {
            let found = inode.after_power_cut(dice);
            survivor.inodes.push(Inode { now: found.clone(), synced: found, unsynced: Vec::new() });
        }
        for change in &world.unsynced {
            if dice.below(2) == 0 {
                continue;
            }
            match change {
                NameChange::Create(path, inode) => {
                    survivor.synced.insert(path.clone(), *inode);
                }
                NameChange::Rename(from, to) => {
                    if let Some(inode) = survivor.synced.remove(from) {
                        survivor.synced.insert(to.clone(), inode);
                    }
                }
                NameChange::Remove(path) => {
                    survivor.synced.remove(path);
                }
            }
        }
        survivor.names = survivor.synced.clone();
        Self(Arc::new(Mutex::new(survivor)))
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

impl Inode {
    fn after_power_cut(&self, dice: &mut Dice) -> Vec<u8> {
        let mut found = self.synced.clone();
        for change in &self.unsynced {
            match change {
                Change::SetLen(len) => {
                    if dice.below(2) != 0 {
                        found.resize(*len, 0);
                    }
                }
                Change::Write { offset, bytes } => {
                    // Sometimes the length arrives and the bytes do not: then there are zeros.
                    if dice.below(3) == 0 && found.len() < offset + bytes.len() {
                        let reached = offset + dice.below(bytes.len() as u64 + 1) as usize;
                        found.resize(found.len().max(reached), 0);
                    }
                    for (position, sector) in sectors(*offset, bytes) {
                        if dice.below(2) == 0 {
                            continue;
                        }
                        // A sector cannot stand behind the end of the file; the file grows over what is missing.
                        found.resize(found.len().max(position + sector.len()), 0);
                        found[position..position + sector.len()].copy_from_slice(sector);
                    }
                }
            }
        }
        found
    }
}

/// The pieces of a write that fall into one sector each.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = offset + done;
        let len = (SECTOR - start % SECTOR).min(bytes.len() - done);
        let piece = &bytes[done..done + len];
        done += len;
        (len > 0).then_some((start, piece))
    })
}

fn key(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

impl World {
    /// Every changing operation passes here; it fails once the power is gone.
    fn step(&mut self) -> io::Result<()> {
        if let Some(fuse) = &mut self.fuse {
            self.off |= *fuse == 0;
            *fuse = fuse.saturating_sub(1);
        }
        let glitch = matches!(self.glitch, Some((0, 1..)));
        self.glitch = match self.glitch {
            Some((0, failures)) => failures.checked_sub(1).map(|left| (0, left)),
            Some((operations, failures)) => Some((operations - 1, failures)),
            None => None,
        };
        match (self.off, glitch) {
            (true, _) => Err(io::Error::other("the power is off")),
            (_, true) => Err(io::Error::other("for a moment, it does not work")),
            (false, false) => Ok(()),
        }
    }

    fn inode(&self, path: &Path) -> io::Result<usize> {
        self.names.get(&key(path)).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Disk for SimDisk {
    /// Folders are durable at once: they hold no data and are made again if missing.
    fn make_dir(&self, _path: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let world = self.world();
        let prefix = key(dir) + "/";
        let inside = world.names.range(prefix.clone()..).map_while(|(path, _)| path.strip_prefix(&prefix));
        Ok(inside.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut world = self.world();
        world.step()?;
        let inode = match world.inode(path) {
            Ok(inode) => {
                world.inodes[inode].now.clear();
                world.inodes[inode].unsynced.push(Change::SetLen(0));
                inode
            }
            Err(_) => {
                world.inodes.push(Inode::default());
                let inode = world.inodes.len() - 1;
                world.names.insert(key(path), inode);
                world.unsynced.push(NameChange::Create(key(path), inode));
                inode
            }
        };
        Ok(Box::new(SimFile { disk: self.clone(), inode }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let inode = self.world().inode(path)?;
        Ok(Box::new(SimFile { disk: self.clone(), inode }))
    }

    fn open_for_writing(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.open(path)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        let world = self.world();
        Ok(world.inodes[world.inode(path)?].now.len() as u64)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.step()?;
        let inode = world.inode(from)?;
        world.names.remove(&key(from));
        world.names.insert(key(to), inode);
        world.unsynced.push(NameChange::Rename(key(from), key(to)));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.step()?;
        world.inode(path)?;
        world.names.remove(&key(path));
        world.unsynced.push(NameChange::Remove(key(path)));
        Ok(())
    }

    /// Confirms the names in this folder, and with a rename the one it came from.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.step()?;
        let concerns = |path: &str| Path::new(path).parent() == Some(dir);
        let (confirmed, rest) =
            std::mem::take(&mut world.unsynced).into_iter().partition(|change| match change {
                NameChange::Create(path, _) | NameChange::Remove(path) => concerns(path),
                NameChange::Rename(from, to) => concerns(from) || concerns(to),
            });
        let confirmed: Vec<NameChange> = confirmed;
        world.unsynced = rest;
        for change in confirmed {
            match change {
                NameChange::Create(path, inode) => {
                    world.synced.insert(path, inode);
                }
                NameChange::Rename(from, to) => {
                    // The creation of the old name needs no sync of its own: the rename carries the file along.
                    let creates =
                        |change: &NameChange| matches!(change, NameChange::Create(path, _) if *path == from);
                    let created = world.unsynced.iter().rposition(creates);
                    let fresh = created.map(|position| world.unsynced.remove(position));
                    let older = world.synced.remove(&from);
                    let inode = match fresh {
                        Some(NameChange::Create(_, inode)) => Some(inode),
                        Some(NameChange::Rename(..) | NameChange::Remove(_)) | None => older,
                    };
                    if let Some(inode) = inode {
                        world.synced.insert(to, inode);
                    }
                }
                NameChange::Remove(path) => {
                    world.synced.remove(&path);
                }
            }
        }
        Ok(())
    }

    fn lock(&self, _path: &Path) -> Result<LockGuard, LockError> {
        Ok(LockGuard::unshared())
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl DiskFile for SimFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let world = self.disk.world();
        let bytes = &world.inodes[self.inode].now;
        let start = (offset as usize).min(bytes.len());
        let count = buf.len().min(bytes.len() - start);
        buf[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut world = self.disk.world();
        world.step()?;
        let offset = offset as usize;
        // Only what makes the file longer takes space.
        let there = world.inodes[self.inode].now.len();
        let reach = world.space.map_or(usize::MAX, |space| there + space as usize);
        let fits = bytes.len().min(reach.saturating_sub(offset));
        if fits == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if let Some(space) = &mut world.space {
            *space -= (offset + fits).saturating_sub(there) as u64;
        }
        let inode = &mut world.inodes[self.inode];
        inode.now.resize(inode.now.len().max(offset + fits), 0);
        inode.now[offset..offset + fits].copy_from_slice(&bytes[..fits]);
        inode.unsynced.push(Change::Write { offset, bytes: bytes[..fits].to_vec() });
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut world = self.disk.world();
        world.step()?;
        let given_back = world.inodes[self.inode].now.len().saturating_sub(len as usize);
        if let Some(space) = &mut world.space {
            *space += given_back as u64;
        }
        let inode = &mut world.inodes[self.inode];
        inode.now.resize(len as usize, 0);
        inode.unsynced.push(Change::SetLen(len as usize));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut world = self.disk.world();
        world.step()?;
        let inode = &mut world.inodes[self.inode];
        inode.synced = inode.now.clone();
        inode.unsynced.clear();
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.world().inodes[self.inode].now.len() as u64)
    }
}
