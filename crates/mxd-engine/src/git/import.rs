//! The one door into the user's repository: what an agent committed, taken over object by object.
//!
//! A git in one sandbox reads the agent's repository and writes a pack. A git in another sandbox, which sees nothing of the
//! agent's, takes the pack apart: it hashes every object and checks its form and its links. What comes out lies in a folder
//! of its own until everything that the commits need is there; then the files move into the user's object store, and only
//! then does the branch move. An object that is not what its name says is never found under that name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mxd_tools::sandbox::End;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::error::{GitError, shown};
use super::files::blocking;
use super::inspect::{Inspected, Wish};
use super::lane::TaskTurn;
use super::limits;
use super::names::{Branch, ObjectId};
use super::private::Private;
use super::refs::{RefError, Swap};
use super::repository::{Place, Repository};
use super::run::Call;
use super::status::Stands;
use super::worktree::Worktree;

/// Packs with at least so many objects stay packs; smaller ones become single objects, as git itself does.
const KEPT_AS_PACK: u32 = 100;

/// Where an agent's repository stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tip {
    /// The commit of the agent's branch; none when the agent deleted it.
    pub(super) commit: Option<ObjectId>,
    /// What the agent has checked out.
    pub(super) stands: Stands,
    /// The commit of that, when it is not its branch.
    pub(super) at: Option<ObjectId>,
}

impl Repository {
    /// Takes over what an agent committed since the last time, by its branch.
    ///
    /// # Errors
    ///
    /// When an object is not what its name says, or git fails. Nothing has moved then.
    pub(super) async fn import_branch(&self, branch: &Branch) -> Result<(), RefError> {
        if !branch.is_of_agents() {
            return Ok(());
        }
        let found = super::worktree::list(self)?.into_iter().find(|worktree| worktree.branch == *branch);
        let Some(worktree) = found else { return Ok(()) };
        let turn = self.task_turn(worktree.task).await;
        self.import(&worktree, &turn).await.map(drop)
    }

    /// The same for a worktree; says where the agent's repository stands.
    pub(super) async fn import(&self, worktree: &Worktree, _: &TaskTurn) -> Result<Tip, RefError> {
        let private = Private::of(self.common(), worktree.task);
        let ours = self.branch(&worktree.branch).await?;
        if !private.exists() {
            // One that was made before agents had repositories of their own.
            let head = ours.clone().unwrap_or_else(|| worktree.base.clone());
            self.make_private(worktree, &head).await?;
        }
        let reader = self.read_private(worktree.task).await?;
        let tip = self.tip(&reader, &worktree.branch).await?;
        if let Some(at) = &tip.at {
            // No branch of the user's has it, but it can be looked at.
            self.transfer(&reader, std::slice::from_ref(at), &[ours.as_ref(), Some(&worktree.base)]).await?;
        }
        let known = private.known()?;
        let Some(theirs) = &tip.commit else { return Ok(tip) };
        let (moved_there, moved_here) = (known.as_ref() != Some(theirs), known != ours);
        if ours.as_ref() == Some(theirs) {
            if moved_there {
                private.write_known(theirs)?;
            }
            return Ok(tip);
        }
        if !moved_there {
            return self.follow_outside(worktree, ours, tip).await;
        }
        self.transfer(&reader, std::slice::from_ref(theirs), &[ours.as_ref(), Some(&worktree.base)]).await?;
        if let (true, Some(ours)) = (moved_here, &ours)
            && !self.is_ancestor(ours, theirs).await?
        {
            if self.is_ancestor(theirs, ours).await? {
                return self.follow_outside(worktree, Some(ours.clone()), tip).await;
            }
            return Err(RefError::WentApart { branch: worktree.branch.clone(), theirs: theirs.clone() });
        }
        let name = worktree.branch.refname();
        let swap = Swap { name: &name, from: ours.as_ref(), to: Some(theirs), why: "mxd: from the agent" };
        {
            let turn = self.turn().await;
            self.swap_ref(&turn, swap).await?;
        }
        private.write_known(theirs)?;
        self.refresh_user_index(worktree, theirs).await?;
        Ok(tip)
    }

    /// Takes over everything that an agent's repository holds, also what only its history remembers. Returns the commits, and
    /// what was staged as a tree.
    pub(super) async fn import_everything(&self, worktree: &Worktree) -> Result<Vec<ObjectId>, RefError> {
        if !Private::of(self.common(), worktree.task).exists() {
            return Ok(Vec::new());
        }
        let reader = self.read_private(worktree.task).await?;
        let call = Call::new(["rev-list", "--no-walk", "--all", "--reflog", "--ignore-missing"]);
        let head = Call::new(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).accepts(&[1, 128]);
        let listed = self.ask(Place::Files(&reader), call).await?;
        let head = self.ask(Place::Files(&reader), head).await?;
        let text = format!("{}{}", listed.text(), head.text());
        let mut found: Vec<ObjectId> = text.lines().filter_map(|line| line.parse().ok()).collect();
        found.sort();
        found.dedup();
        found.truncate(limits::GRAVE_HEADS);
        if !found.is_empty() {
            self.transfer(&reader, &found, &[Some(&worktree.base)]).await?;
        }
        Ok(found)
    }

    /// What an agent had staged, as a tree of the user's repository; none when its index says nothing that can be used.
    pub(super) async fn import_staged(&self, worktree: &Worktree) -> Result<Option<ObjectId>, RefError> {
        if !Private::of(self.common(), worktree.task).exists() {
            return Ok(None);
        }
        let changer = self.change_private(worktree).await?;
        let written = self.ask(Place::Files(&changer), Call::new(["write-tree"]).accepts(&[128])).await?;
        let Ok(tree) = written.line().parse::<ObjectId>() else { return Ok(None) };
        let reader = self.read_private(worktree.task).await?;
        // Of a tree only other trees are left out, and in a partial clone some of its files are nowhere on this machine.
        let base = self.tree(&worktree.base).await?;
        self.transfer(&reader, std::slice::from_ref(&tree), &[Some(&worktree.base), Some(&base)]).await?;
        Ok(Some(tree))
    }

    async fn tip(&self, reader: &Inspected, branch: &Branch) -> Result<Tip, GitError> {
        let name = branch.refname();
        let place = Place::Files(reader);
        let call =
            Call::new(["for-each-ref", "--format=%(HEAD) %(objectname) %(objecttype) %(symref)", &name]);
        let answer = self.ask(place, call).await?;
        let line = answer.text().lines().next().unwrap_or_default().to_owned();
        let (is_head, rest) = (line.starts_with('*'), line.get(2..).unwrap_or_default());
        let mut words = rest.split(' ');
        let commit = match (words.next(), words.next(), words.next()) {
            (Some(id), Some("commit"), None | Some("")) => id.parse().ok(),
            _ => None,
        };
        if is_head && commit.is_some() {
            return Ok(Tip { commit, stands: Stands::OnItsBranch, at: None });
        }
        let symbolic = self.ask(place, Call::new(["symbolic-ref", "-q", "HEAD"]).accepts(&[1, 128])).await?;
        let resolved = Call::new(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).accepts(&[1, 128]);
        let resolved = self.ask(place, resolved).await?.line().parse().ok();
        let at: Option<ObjectId> = resolved;
        let stands = match (Branch::from_refname(&symbolic.line()), &at) {
            (Some(on), _) if on == *branch => Stands::OnItsBranch,
            (Some(on), _) => Stands::OnAnother(on),
            (None, Some(commit)) => Stands::Detached(commit.clone()),
            (None, None) => Stands::Unknown,
        };
        Ok(Tip { commit, stands, at })
    }

    /// Somebody outside moved the branch, such as the user in a terminal, and the agent did not: its repository follows. Files
    /// stay as they are.
    async fn follow_outside(
        &self,
        worktree: &Worktree,
        ours: Option<ObjectId>,
        tip: Tip,
    ) -> Result<Tip, RefError> {
        let Some(ours) = ours else { return Ok(Tip { commit: None, ..tip }) };
        let changer = self.change_private(worktree).await?;
        let call = match tip.stands {
            Stands::OnItsBranch => Call::new(["reset", "-q", ours.as_str()]),
            _ => Call::new(["update-ref", &worktree.branch.refname(), ours.as_str()]),
        };
        self.ask(Place::Files(&changer), call).await?;
        Private::of(self.common(), worktree.task).write_known(&ours)?;
        Ok(Tip { commit: Some(ours), ..tip })
    }

    /// The index that the user's own git has for the worktree says what the branch says.
    async fn refresh_user_index(&self, worktree: &Worktree, head: &ObjectId) -> Result<(), GitError> {
        let index = worktree.own.join("index");
        self.ask(Place::Index(&index), Call::new(["read-tree", head.as_str()])).await.map(drop)
    }

    /// Brings objects from an agent's repository, or from a sandbox in which its files were hashed, into the user's.
    pub(super) async fn transfer(
        &self,
        reader: &Inspected,
        wanted: &[ObjectId],
        known: &[Option<&ObjectId>],
    ) -> Result<(), RefError> {
        let mut list: String = wanted.iter().map(|id| format!("{id}\n")).collect();
        let known: String = known.iter().flatten().map(|id| format!("^{id}\n")).collect();
        list.push_str(&known);
        let pack = Call::new(["pack-objects", "--revs", "--local", "--stdout", "-q", "--delta-base-offset"]);
        let verifier = self.git_in_sandbox(Wish::default()).await?;
        self.copy_pack(reader, pack.input(list.clone()), &verifier).await?;
        let check = Call::new(["rev-list", "--objects", "--quiet", "--stdin"]).input(list);
        match self.ask(Place::Files(&verifier), check).await {
            Ok(_) => {}
            Err(GitError::Failed { said, .. }) => return Err(GitError::Forged { said }.into()),
            Err(error) => return Err(error.into()),
        }
        let (from, to) = (verifier.git_dir.join("objects"), self.common().join("objects"));
        let moved = blocking(move || take_over(&from, &to)).await.and_then(|ended| ended);
        Ok(moved.map_err(GitError::file("move objects into", &self.common().join("objects")))?)
    }

    /// Has one git write a pack and another one take it apart.
    async fn copy_pack(&self, reader: &Inspected, pack: Call, verifier: &Inspected) -> Result<(), GitError> {
        let name = shown(&pack.args);
        let failed = |source| GitError::Talk { command: name.clone(), source };
        let mut source = reader.start(&pack, &name).await?;
        let (stdin, stdout, stderr) = (source.stdin.take(), source.stdout.take(), source.stderr.take());
        let input = pack.input.clone().unwrap_or_default();
        let give = async move {
            if let Some(mut stdin) = stdin {
                // A git that does not want all of it says why when it ends.
                let _ = stdin.write_all(&input).await;
            }
        };
        let complaints = async {
            match stderr {
                Some(stderr) => super::run::read_tail(stderr).await.unwrap_or_default(),
                None => Vec::new(),
            }
        };
        let Some(stdout) = stdout else { return Err(failed(io::Error::other("it has no output"))) };
        let transfer = async {
            let ((), complaints, unpacked) = tokio::join!(give, complaints, unpack(stdout, verifier));
            let ended = source.wait().await.map_err(|error| failed(io::Error::other(error)))?;
            if ended.end != End::Code(0) {
                let said = String::from_utf8_lossy(&complaints).trim().to_owned();
                return Err(GitError::Forged { said });
            }
            unpacked
        };
        match tokio::time::timeout(limits::IMPORT_TIME, transfer).await {
            Ok(ended) => ended,
            Err(_) => Err(GitError::TimedOut { command: name.clone(), limit: limits::IMPORT_TIME }),
        }
    }
}

/// Feeds a pack to a git that takes it apart and checks every object in it.
async fn unpack(mut pack: impl tokio::io::AsyncRead + Unpin, verifier: &Inspected) -> Result<(), GitError> {
    let bad = |what: &str| GitError::Forged { said: what.to_owned() };
    let mut header = [0_u8; 12];
    if pack.read_exact(&mut header).await.is_err() {
        return Err(bad("no pack came out of the agent's repository"));
    }
    let count = header.last_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    if !header.starts_with(b"PACK") {
        return Err(bad("what came out of the agent's repository is no pack"));
    }
    if count == 0 {
        // Everything is there already.
        let _ = tokio::io::copy(&mut pack, &mut tokio::io::sink()).await;
        return Ok(());
    }
    let limit = format!("--max-input-size={}", limits::IMPORT);
    let call = if count < KEPT_AS_PACK {
        Call::new(["unpack-objects", "-q", "--strict", &limit])
    } else {
        Call::new(["index-pack", "--stdin", "--strict", "--fsck-objects", &limit])
    };
    // The files are in the user's repository when they have moved, so they have to be on the disk before.
    let call = call.settings(&[("core.fsync".to_owned(), "objects".to_owned())]).input(Vec::new());
    let name = shown(&call.args);
    let failed = |source| GitError::Talk { command: name.clone(), source };
    let mut child = verifier.start(&call, &name).await?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        let Some(mut stdin) = stdin else { return };
        // One that refuses a pack in the middle of it says why.
        if stdin.write_all(&header).await.is_ok() {
            let _ = tokio::io::copy(&mut pack, &mut stdin).await;
        }
    };
    let said = async {
        match stderr {
            Some(stderr) => super::run::read_tail(stderr).await.unwrap_or_default(),
            None => Vec::new(),
        }
    };
    let ((), said, _) = tokio::join!(feed, said, super::run::read_head(stdout, limits::OUTPUT));
    let ended = child.wait().await.map_err(|error| failed(io::Error::other(error)))?;
    match ended.end {
        End::Code(0) => Ok(()),
        _ => Err(bad(String::from_utf8_lossy(&said).trim())),
    }
}

/// Moves verified objects into the user's store. An index of a pack comes last: with it the pack is seen.
fn take_over(from: &Path, to: &Path) -> io::Result<()> {
    let mut packs = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_fan =
            name.len() == 2 && name.to_str().is_some_and(|name| name.chars().all(|c| c.is_ascii_hexdigit()));
        if is_fan && entry.file_type()?.is_dir() {
            move_files(&entry.path(), &to.join(&name), files_in(&entry.path())?)?;
        } else if name == "pack" {
            packs = files_in(&entry.path())?;
        }
    }
    packs.retain(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("pack-"))
    });
    packs.sort_by_key(|path| path.extension().is_some_and(|end| end == "idx"));
    move_files(&from.join("pack"), &to.join("pack"), packs)
}

fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn move_files(_: &Path, to: &Path, files: Vec<PathBuf>) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for file in files {
        let Some(name) = file.file_name() else { continue };
        let target = to.join(name);
        // What is there under that name was checked before, and a reader may have it open.
        if !target.exists() {
            fs::rename(&file, &target)?;
        }
    }
    fs::File::open(to)?.sync_all()
}
