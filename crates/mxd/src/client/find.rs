//! Where the daemon is, and what shows it that we are its user.

use std::path::{Path, PathBuf};

use mxd_server::{Contact, ContactError};

use super::Failure;

/// Names the data directory.
const DATA: &str = "MXD_DATA_DIR";
/// Names a daemon elsewhere.
const URL: &str = "MXD_DAEMON_URL";
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

/// The address, and what shows the daemon that this program runs for its user.
pub(super) fn daemon() -> Result<(String, Option<String>), Failure> {
    let contact = Contact::read(&data_folder()?);
    if let Ok(url) = std::env::var(URL)
        && !url.is_empty()
    {
        return Ok((url, contact.ok().map(|contact| contact.token)));
    }
    match contact {
        Ok(contact) => Ok((format!("http://{}", contact.address), Some(contact.token))),
        Err(ContactError::None { .. }) => Err(Failure::no_daemon()),
        Err(error @ ContactError::File { .. }) => Err(Failure::new(error.to_string()).hint(error.hint())),
    }
}
