//! Landlock: which files may be changed, and below the top level also which may be seen.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::super::level::Level;
use super::super::policy::{Network, Policy};

/// What we know of; an older kernel holds less, and says so.
const KNOWN: ABI = ABI::V9;

/// Where Landlock stands alone, this much must be held: before, truncating a file was nobody's business.
const NEEDED_ALONE: ABI = ABI::V3;

/// What a kernel holds only from a version on, where Landlock stands alone.
const SINCE: &[(ABI, &str)] = &[
    (ABI::V5, "device controls"),
    (ABI::V6, "signals to other processes of the user, and abstract sockets"),
    (ABI::V9, "sockets in the file system"),
];

/// Devices that every program may use.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/shm",
];

/// The agent's own at the top level, and the user's below it: there, they would let it read what is typed.
const TERMINALS: &str = "/dev/pts";

/// Restricts this process and all it will start. Returns what this kernel does not hold.
pub(super) fn restrict(level: Level, policy: &Policy) -> Result<Vec<String>, String> {
    let failed = |error: landlock::RulesetError| format!("restricting files: {error}");
    let ruleset = handled(level, policy).and_then(Ruleset::create).map_err(failed)?;
    let mut rules = Rules { ruleset, only_removal: policy.only_removal };
    match level {
        Level::Full => rules.see(Path::new("/"))?,
        Level::Landlock | Level::Off => see_named(&mut rules, policy)?,
    }
    change_named(&mut rules, level, policy)?;
    if let (Level::Landlock, Network::Proxy { port, .. }) = (level, &policy.network) {
        rules.connect(*port)?;
    }
    let status = rules.ruleset.restrict_self().map_err(failed)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("the kernel has no Landlock".to_owned());
    }
    let held = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => ABI::Unsupported,
    };
    let missing = SINCE.iter().filter(|(since, _)| level < Level::Full && held < *since);
    Ok(missing.map(|(_, what)| format!("Landlock of this kernel does not hold {what}")).collect())
}

/// What the rules are about: everything, and what must not be missing.
fn handled(level: Level, policy: &Policy) -> Result<Ruleset, landlock::RulesetError> {
    let alone = level < Level::Full;
    let needed = |alone| if alone { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let ruleset = Ruleset::default()
        .set_compatibility(needed(alone))
        .handle_access(AccessFs::from_all(NEEDED_ALONE))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?;
    if !alone {
        // With a network of its own, a command may listen and connect as it likes.
        return Ok(ruleset);
    }
    // Without sockets there is nothing to hold.
    ruleset
        .set_compatibility(needed(policy.network != Network::None))
        .handle_access(AccessNet::from_all(KNOWN))
        .map(|ruleset| ruleset.set_compatibility(CompatLevel::BestEffort))
}

/// From here on, this thread and what it starts can neither signal nor trace the process it belongs to. Moving files
/// between folders is forbidden by every set of rules that does not speak of it, so this one allows it.
pub(in super::super) fn fence_off() -> Result<(), String> {
    let failed = |error: landlock::RulesetError| format!("fencing off the supervisor: {error}");
    let fence = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::Refer)
        .and_then(|rules| rules.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    let root = PathFd::new("/").map_err(|error| format!("fencing off the supervisor: {error}"))?;
    let fence = fence.add_rule(PathBeneath::new(root, AccessFs::Refer)).map_err(failed)?;
    fence.restrict_self().map(drop).map_err(failed)
}

/// Below the top level everything is still there, so what may be seen is listed.
fn see_named(rules: &mut Rules, policy: &Policy) -> Result<(), String> {
    rules.see(Path::new("/proc"))?;
    let stand_ins = policy.read_only_stand_ins.iter().map(|stand_in| &stand_in.folder);
    let lowers = policy.overlays.iter().map(|overlay| &overlay.lower);
    for path in policy.read.iter().chain(lowers).chain(stand_ins) {
        see_except(rules, path, &policy.hide)?;
    }
    Ok(())
}

/// Landlock cannot take back a part of what it gave, so what lies around something hidden is given piece by piece.
fn see_except(rules: &mut Rules, path: &Path, hidden: &[PathBuf]) -> Result<(), String> {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return Ok(());
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return rules.see(path);
    }
    rules.list(path)?;
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    for entry in entries.flatten() {
        see_except(rules, &entry.path(), hidden)?;
    }
    Ok(())
}

fn change_named(rules: &mut Rules, level: Level, policy: &Policy) -> Result<(), String> {
    for path in &policy.write {
        rules.change(path)?;
    }
    for stand_in in &policy.stand_ins {
        rules.change(if level == Level::Full { &stand_in.at } else { &stand_in.folder })?;
    }
    if level == Level::Full {
        for overlay in policy.overlays.iter().filter(|overlay| overlay.lower.is_dir()) {
            rules.change(&overlay.lower)?;
        }
    }
    let terminals = (level == Level::Full).then_some(&TERMINALS);
    for device in DEVICES.iter().chain(terminals) {
        rules.use_device(Path::new(device))?;
    }
    Ok(())
}

struct Rules {
    ruleset: RulesetCreated,
    /// Whether what may be changed may only be removed.
    only_removal: bool,
}

impl Rules {
    fn see(&mut self, path: &Path) -> Result<(), String> {
        self.add(path, AccessFs::from_read(KNOWN) | AccessFs::ResolveUnix)
    }

    fn list(&mut self, path: &Path) -> Result<(), String> {
        self.add(path, AccessFs::ReadDir.into())
    }

    fn change(&mut self, path: &Path) -> Result<(), String> {
        if !path.exists() {
            return Err(format!("{} is to be writable, but is not there", path.display()));
        }
        let remove = AccessFs::RemoveFile | AccessFs::RemoveDir | AccessFs::Truncate;
        let access = if self.only_removal {
            AccessFs::from_read(KNOWN) | AccessFs::ResolveUnix | remove
        } else {
            AccessFs::from_all(KNOWN) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
        };
        self.add(path, access)
    }

    fn use_device(&mut self, path: &Path) -> Result<(), String> {
        let create = AccessFs::MakeReg | AccessFs::RemoveFile | AccessFs::Truncate;
        let access = AccessFs::from_read(KNOWN) | AccessFs::WriteFile | AccessFs::IoctlDev | create;
        self.add(path, access)
    }

    fn connect(&mut self, port: u16) -> Result<(), String> {
        let rule = NetPort::new(port, AccessNet::ConnectTcp);
        (&mut self.ruleset).add_rule(rule).map(drop).map_err(|error| format!("opening port {port}: {error}"))
    }

    /// What is not there needs no rule. A file takes no rights that only a folder can have.
    fn add(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), String> {
        let Ok(opened) = PathFd::new(path) else { return Ok(()) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
        let rule = PathBeneath::new(opened, access);
        (&mut self.ruleset)
            .add_rule(rule)
            .map(drop)
            .map_err(|error| format!("a rule for {}: {error}", path.display()))
    }
}
