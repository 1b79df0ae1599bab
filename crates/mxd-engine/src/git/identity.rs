//! Who commits: the user, as git itself would find out in this repository.

use super::error::GitError;
use super::repository::{Place, Repository};
use super::run::{Call, Git, Output};

/// Variables of the user's environment by which git knows an author without any setting.
pub(super) const VARIABLES: &[&str] = &["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL"];

/// The author and committer of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A name.
    pub name: String,
    /// A mail address.
    pub email: String,
}

/// Why nobody can be named as the author of a commit.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The user never said who they are.
    #[error("git does not know whose commits these are: {missing} not set. {}", IdentityError::FIX)]
    Missing {
        /// What is missing.
        missing: &'static str,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

const KEYS: &str = r"^(user|author)\.(name|email)$";

impl IdentityError {
    /// What to do about a missing identity.
    pub const FIX: &str = "Run `git config --global user.name \"Your Name\"` and \
                           `git config --global user.email you@example.org`, then try again";
}

impl Repository {
    /// The identity that git would use for a commit of the user's in this repository, included files and the
    /// environment considered. Git would make one up from the login and host name; that is never used.
    ///
    /// # Errors
    ///
    /// When the user has said no name or no address, or git fails.
    pub async fn identity(&self) -> Result<Identity, IdentityError> {
        let call = Call::new(["config", "--null", "--get-regexp", KEYS]).accepts(&[1]);
        let place = self.checkout().map_or(Place::Store, Place::Checkout);
        effective(self.git(), &self.ask(place, call).await?)
    }
}

impl Repository {
    /// Whether the user's settings say that commits are signed. Agents have no access to the user's key, so theirs are not.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub async fn asks_for_signatures(&self) -> Result<bool, GitError> {
        let call = Call::new(["config", "--type=bool", "--get", "commit.gpgSign"]).accepts(&[1]);
        // A call has a setting of its own that says no signature; only files count.
        let call = call.env("GIT_CONFIG_COUNT", "0");
        let place = self.checkout().map_or(Place::Store, Place::Checkout);
        Ok(self.ask(place, call).await?.line() == "true")
    }
}

impl Git {
    /// The identity that the user has in every repository that says nothing about it.
    ///
    /// # Errors
    ///
    /// When the user has said no name or no address, or git fails.
    pub async fn global_identity(&self) -> Result<Identity, IdentityError> {
        let call = Call::new(["config", "--global", "--null", "--get-regexp", KEYS]).accepts(&[1]);
        effective(self, &self.run(call).await?)
    }
}

/// What counts of all that was said, as git has it: the environment, then what is said of authors, then of the user.
fn effective(git: &Git, settings: &Output) -> Result<Identity, IdentityError> {
    let settings: Vec<(String, String)> = settings
        .parts()
        .filter_map(|setting| {
            let setting = String::from_utf8_lossy(setting);
            let (key, value) = setting.split_once('\n')?;
            Some((key.to_owned(), value.to_owned()))
        })
        .collect();
    // Of several values the last one counts.
    let setting =
        |key: &str| settings.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let variable = |name: &str| git.identity_variable(name);
    let name =
        variable("GIT_AUTHOR_NAME").or_else(|| setting("author.name")).or_else(|| setting("user.name"));
    let email = variable("GIT_AUTHOR_EMAIL")
        .or_else(|| setting("author.email"))
        .or_else(|| setting("user.email"))
        .or_else(|| variable("EMAIL"));
    let said =
        |value: Option<String>| value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    match (said(name), said(email)) {
        (Some(name), Some(email)) => Ok(Identity { name, email }),
        (None, Some(_)) => Err(IdentityError::Missing { missing: "user.name is" }),
        (Some(_), None) => Err(IdentityError::Missing { missing: "user.email is" }),
        (None, None) => Err(IdentityError::Missing { missing: "user.name and user.email are" }),
    }
}
