//! The settings as their files are now: read again whenever one of them has changed.

use std::sync::{Arc, Mutex, PoisonError};

use super::layer::{Layer, Places};
use super::problem::Problems;
use super::read;
use super::settled::Config;

/// The settings of a project, for whoever must not go by what they were when the project was opened: rules that were
/// tightened hold for the next call.
#[derive(Debug)]
pub struct CurrentConfig {
    places: Places,
    last: Mutex<Option<Loaded>>,
}

/// What the files said, and the settings that were made of it.
#[derive(Debug)]
struct Loaded {
    fingerprint: Fingerprint,
    config: Result<Arc<Config>, Problems>,
}

/// The bytes of every layer's file, or why they cannot be read. Times and sizes would miss a change within one tick of
/// the clock, and the files are small.
type Fingerprint = [Result<read::Bytes, String>; 3];

impl CurrentConfig {
    /// The settings at these places, which nobody has read yet.
    pub fn new(places: Places) -> Self {
        Self { places, last: Mutex::default() }
    }

    /// Where they are read from.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The settings as they are now. It blocks while files are read.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub fn load(&self) -> Result<Arc<Config>, Problems> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fingerprint = Layer::ALL.map(|layer| match self.places.file(layer) {
            Some(file) => read::bytes(&self.places, layer, &file),
            None => Ok(None),
        });
        if let Some(loaded) = &*last
            && loaded.fingerprint == fingerprint
        {
            return loaded.config.clone();
        }
        // A file that changes meanwhile differs from this fingerprint, so that the next look reads it again.
        let config = Config::load(&self.places).map(Arc::new);
        *last = Some(Loaded { fingerprint, config: config.clone() });
        config
    }
}
