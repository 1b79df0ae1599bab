//! Secrets that become known one by one while the program runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use secrecy::{ExposeSecret as _, SecretString};

use super::{MAX_VALUES, MIN_BYTES, Secrets};

/// Values that can be known at the same time.
pub const VAULT_VALUES: usize = 16 * MAX_VALUES;

/// What stands for a text in which secrets cannot be looked for any more.
const WITHHELD: &str = "[withheld: more secrets are in use than can be kept out of a text]";

/// Every secret that was handed out. It only grows, is shared by all of its clones, and shows nothing when debugged.
#[derive(Clone, Default)]
pub struct Vault {
    inner: Arc<RwLock<Inner>>,
}

#[derive(Default)]
struct Inner {
    values: Vec<SecretString>,
    /// What to look for, [`MAX_VALUES`] values each.
    searches: Vec<Secrets>,
    /// Whether there is a value that is not looked for.
    overflown: bool,
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("values", &self.read().values.len()).finish_non_exhaustive()
    }
}

impl Vault {
    /// Keeps a value out of every text from now on. Values that are too short to be told from words are not looked for.
    pub fn learn(&self, value: &str) {
        let known = |inner: &Inner| inner.values.iter().any(|known| known.expose_secret() == value);
        if value.trim().len() < MIN_BYTES || known(&self.read()) {
            return;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if known(&inner) {
            return;
        }
        if inner.values.len() >= VAULT_VALUES {
            inner.overflown = true;
            return;
        }
        inner.values.push(value.into());
        let first = (inner.values.len() - 1) / MAX_VALUES * MAX_VALUES;
        match Secrets::new(inner.values[first..].iter().map(|value| value.expose_secret())) {
            Ok(search) => {
                inner.searches.truncate(first / MAX_VALUES);
                inner.searches.push(search);
            }
            Err(_) => inner.overflown = true,
        }
    }

    /// A text without secrets; without anything, when there are more of them than can be looked for.
    pub fn redact(&self, text: &str) -> String {
        let inner = self.read();
        if inner.overflown {
            return WITHHELD.to_owned();
        }
        inner.searches.iter().fold(text.to_owned(), |text, search| search.redact(&text))
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learned_is_in_no_text_of_any_clone() {
        let vault = Vault::default();
        let clone = vault.clone();
        vault.learn("correct-horse");
        vault.learn("battery/staple");
        vault.learn("short");
        assert_eq!(clone.redact("a correct-horse, short"), "a [redacted], short");
        assert_eq!(clone.redact("?q=battery%2Fstaple"), "?q=[redacted]");
        assert_eq!(format!("{vault:?}"), "Vault { values: 2, .. }");
    }

    #[test]
    fn every_value_is_looked_for_and_one_too_many_hides_everything() {
        let vault = Vault::default();
        let value = |number: usize| format!("secret-number-{number:05}");
        (0..=MAX_VALUES).for_each(|number| vault.learn(&value(number)));
        vault.learn(&value(0));
        for number in [0, 1, MAX_VALUES - 1, MAX_VALUES] {
            assert_eq!(vault.redact(&value(number)), "[redacted]", "{number}");
        }
        assert_eq!(vault.redact("no secret"), "no secret");
        // The rest without building a search for each of them.
        vault.inner.write().unwrap().values.resize(VAULT_VALUES, "filled up".into());
        vault.learn(&value(VAULT_VALUES));
        assert_eq!(vault.redact("no secret"), WITHHELD);
    }
}
