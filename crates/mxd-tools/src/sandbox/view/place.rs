//! The places of a view, in the order in which they are put.

use std::path::PathBuf;

use super::super::policy::Policy;

/// One file or folder of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the command sees it.
    pub(super) at: PathBuf,
    /// Where it is.
    pub(super) from: PathBuf,
    /// How.
    pub(super) kind: Kind,
}

/// How a place is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Overlay { upper: PathBuf, work: PathBuf },
}

impl Kind {
    /// A place to work in that is missing would be noticed too late.
    pub(super) fn must_exist(&self) -> bool {
        match self {
            Self::Read => false,
            Self::Write | Self::Overlay { .. } => true,
        }
    }
}

/// Folders before what lies in them. Of two places at one path the writable one counts.
pub(super) fn sorted(policy: &Policy) -> Vec<Place> {
    let here =
        |kind: Kind| move |path: &PathBuf| Place { at: path.clone(), from: path.clone(), kind: kind.clone() };
    let mut places: Vec<Place> = Vec::new();
    places.extend(policy.write.iter().map(here(Kind::Write)));
    places.extend(policy.stand_ins.iter().map(|stand_in| Place {
        at: stand_in.at.clone(),
        from: stand_in.folder.clone(),
        kind: Kind::Write,
    }));
    places.extend(policy.read_only_stand_ins.iter().map(|stand_in| Place {
        at: stand_in.at.clone(),
        from: stand_in.folder.clone(),
        kind: Kind::Read,
    }));
    places.extend(policy.overlays.iter().map(|overlay| Place {
        at: overlay.lower.clone(),
        from: overlay.lower.clone(),
        kind: Kind::Overlay { upper: overlay.upper.clone(), work: overlay.work.clone() },
    }));
    places.extend(policy.read.iter().map(here(Kind::Read)));
    // Stable, so what was pushed first wins.
    places.sort_by(|a, b| a.at.cmp(&b.at));
    places.dedup_by(|later, earlier| later.at == earlier.at);
    places
}
