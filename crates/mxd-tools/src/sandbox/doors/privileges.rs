//! Privileges: those one has, and those one could get.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// From here on, set-user-id programs give nothing.
pub(super) fn give_up_new() -> Result<(), String> {
    set_no_new_privs(true).map_err(|error| format!("giving up new privileges: {error}"))
}

/// Drops every capability, also the ones a root user would get back by starting a program.
pub(super) fn give_up_own() -> Result<(), String> {
    let failed = |error| format!("giving up capabilities: {error}");
    let has = capabilities(None).map_err(failed)?;
    if has.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().iter() {
            // The kernel may not know all of them.
            let _unknown = remove_capability_from_bounding_set(capability);
        }
    }
    clear_ambient_capability_set().map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(failed)
}
