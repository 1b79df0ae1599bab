//! Libraries a test contract needs, put on the state before it.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes};

use super::machine::{End, Machine};
use crate::fault::Fault;
use crate::registry::Artifact;

/// How deep libraries may need each other.
const DEPTH: usize = 16;

/// The creation code of a contract, with all its libraries deployed.
pub(super) fn linked(artifact: &Artifact, all: &[Artifact], machine: &mut Machine) -> Result<Bytes, Fault> {
    let mut placed = BTreeMap::new();
    link(artifact, all, machine, &mut Placed { addresses: &mut placed, depth: 0 })
}

struct Placed<'a> {
    addresses: &'a mut BTreeMap<String, Address>,
    depth: usize,
}

fn link(
    artifact: &Artifact,
    all: &[Artifact],
    machine: &mut Machine,
    placed: &mut Placed<'_>,
) -> Result<Bytes, Fault> {
    for library in artifact.unlinked.keys() {
        if placed.addresses.contains_key(library) {
            continue;
        }
        let body = all.iter().find(|one| format!("{}:{}", one.path, one.name) == *library);
        let body = body.filter(|_| placed.depth < DEPTH);
        let body =
            body.ok_or_else(|| Fault::internal(format!("the library `{library}` is not among the sources")))?;
        let mut deeper = Placed { addresses: placed.addresses, depth: placed.depth + 1 };
        let code = link(body, all, machine, &mut deeper)?;
        match machine.deploy(code).end {
            End::Created(address) => placed.addresses.insert(library.clone(), address),
            _ => return Err(Fault::internal(format!("the library `{library}` cannot be deployed"))),
        };
    }
    artifact.linked(placed.addresses)
}
