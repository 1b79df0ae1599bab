//! Where the daemon is, and what shows it that we are its user.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Failure;

/// Names the data directory.
const DATA: &str = "MXD_DATA_DIR";
/// Names a daemon elsewhere.
const URL: &str = "MXD_DAEMON_URL";
/// The address of the running daemon, in the data directory.
pub(crate) const ADDRESS_FILE: &str = "daemon.json";
/// What shows the daemon that a program runs for its user, in the data directory.
pub(crate) const TOKEN_FILE: &str = "cli.token";

/// The folder that holds everything of ours.
pub(crate) fn data_folder() -> Result<PathBuf, Failure> {
    if let Some(folder) = std::env::var_os(DATA).filter(|folder| !folder.is_empty()) {
        return std::path::absolute(&folder).map_err(|error| Failure::new(format!("{DATA}: {error}")));
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    home.map(|home| Path::new(&home).join(".mxd")).ok_or_else(|| {
        Failure::new("neither MXD_DATA_DIR nor HOME says where data is kept").hint("Set HOME.")
    })
}

/// The address of the daemon that owns a data directory, as it wrote it down.
pub(crate) fn address_of(data: &Path) -> Option<String> {
    let text = fs::read_to_string(data.join(ADDRESS_FILE)).ok()?;
    let written: serde_json::Value = serde_json::from_str(&text).ok()?;
    written.get("url")?.as_str().map(str::to_owned)
}

/// The address, and the token when there is one.
pub(super) fn daemon() -> Result<(String, Option<String>), Failure> {
    let data = data_folder()?;
    let token = token(&data)?;
    if let Ok(url) = std::env::var(URL)
        && !url.is_empty()
    {
        return Ok((url, token));
    }
    address_of(&data).map(|url| (url, token)).ok_or_else(Failure::no_daemon)
}

/// The token, if the file is ours alone.
fn token(data: &Path) -> Result<Option<String>, Failure> {
    let path = data.join(TOKEN_FILE);
    let Ok(metadata) = fs::metadata(&path) else { return Ok(None) };
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        let message = format!("{} can be read by others and is not used", path.display());
        return Err(Failure::new(message).hint("Remove it and start the daemon again: it makes a new one."));
    }
    let text =
        fs::read_to_string(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    Ok(Some(text.trim().to_owned()))
}
