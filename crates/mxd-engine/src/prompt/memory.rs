//! Loading `.mxd/memory.md` of a worktree.

use std::path::Path;

use mxd_core::prompt::text::{MEMORY_PATH, Memory};

use crate::config::{FOLDER, beneath};

/// Bytes of the file; a longer one is not loaded at all.
const MAX_BYTES: usize = 1 << 20;

/// Reads the memory file of a worktree. Its content comes from whoever wrote to the branch, so links are not followed; an
/// agent that is told why it has no memory can repair it.
pub fn load_memory(worktree: &Path) -> Memory {
    let name = MEMORY_PATH.rsplit('/').next().unwrap_or(MEMORY_PATH);
    match beneath::read(worktree, &Path::new(FOLDER).join(name), MAX_BYTES) {
        Ok(None) => Memory::Missing,
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => Memory::Text(text),
            Err(_) => Memory::Unreadable("it is not UTF-8".to_owned()),
        },
        Err(error) => Memory::Unreadable(error.to_string()),
    }
}
