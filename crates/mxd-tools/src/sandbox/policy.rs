//! What a command may touch, as data that travels to the supervisor.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a command may touch. What is not named is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Files and folders to look at. Those that do not exist are left out.
    pub read: Vec<PathBuf>,
    /// Files and folders to change. Those that do not exist are an error.
    pub write: Vec<PathBuf>,
    /// Folders that look writable, while the changes are kept elsewhere.
    pub overlays: Vec<Overlay>,
    /// What is invisible although it lies inside of something named above.
    pub hide: Vec<PathBuf>,
    /// Folders of the agent's own that stand in for shared ones, such as `/tmp`. Below the top level they are
    /// only writable where they are.
    pub stand_ins: Vec<StandIn>,
    /// Files and folders that are seen in the place of others, to be looked at. Below the top level they are only
    /// readable where they are.
    pub read_only_stand_ins: Vec<StandIn>,
    /// Folders whose size counts against the limits of the disk, the first of them on the file system that is asked what is
    /// free.
    pub measured: Vec<PathBuf>,
    /// Whether files may be removed, but neither made nor written.
    pub only_removal: bool,
    /// Whom it may talk to.
    pub network: Network,
    /// How much it may use.
    pub limits: Limits,
}

/// A folder that stands in for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// Where the command sees it.
    pub at: PathBuf,
    /// Where it is.
    pub folder: PathBuf,
}

/// A folder seen through a layer of changes. Below the top level it is only read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// The folder, which stays as it is.
    pub lower: PathBuf,
    /// Where changes go.
    pub upper: PathBuf,
    /// A folder beside `upper` that the kernel needs.
    pub work: PathBuf,
}

/// Whom a command may talk to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nobody outside of its own sandbox.
    #[default]
    None,
    /// The hosts that a proxy lets through.
    Proxy {
        /// The proxy's socket, at the top level.
        socket: Option<PathBuf>,
        /// The loopback port at which the command finds it.
        port: u16,
    },
    /// Everybody: only without a sandbox.
    Open,
}

/// How much a command may use. Every number is a limit of one process, except where it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory that are its own; together, where the machine has control groups.
    pub memory_bytes: u64,
    /// Processes and threads, together.
    pub processes: u64,
    /// Bytes of the largest file.
    pub file_bytes: u64,
    /// Seconds of processor time.
    pub cpu_seconds: u64,
    /// Open files.
    pub open_files: u64,
    /// Bytes on the disk, together.
    pub disk_bytes: u64,
    /// Files and folders on the disk, together.
    pub disk_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 8 << 30,
            processes: 1024,
            file_bytes: 8 << 30,
            cpu_seconds: 4 * 3600,
            open_files: 4096,
            disk_bytes: 64 << 30,
            disk_files: 8_000_000,
        }
    }
}
