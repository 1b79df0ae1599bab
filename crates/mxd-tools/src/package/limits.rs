//! Every limit of packages, as data in one place.

/// Files and links of one package with all it depends on.
pub const FILES: usize = 200_000;
/// Bytes of all of them.
pub const BYTES: u64 = 4 << 30;
/// Folders inside of folders.
pub const DEPTH: usize = 64;
/// Packages that one package needs, itself among them.
pub const PACKAGES: usize = 5_000;
/// Bytes of a file that describes a package.
pub const DESCRIPTION_BYTES: u64 = 16 << 20;
/// Folders around a manifest that are looked at for installed packages.
pub const ANCESTORS: usize = 64;
/// Installations of one kind that are looked at.
pub const INSTALLATIONS: usize = 1_000;
