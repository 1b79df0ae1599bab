//! What one task may use: what the project has, less what the manifests and skills from the root down to it take away.

use std::collections::BTreeSet;
use std::path::Path;

use mxd_core::manifest::{AgentManifest, ResourceAccess, Sampling, ServerSpec};
use mxd_core::tool::{
    CapabilityLayer, CapabilitySet, CapabilitySetError, EffectSet, PinnedTool, ServerName, SideEffect, Skill,
    SkillScope, SkillTool, SkillTools, ToolId, ToolName, ToolPattern, ToolUri,
};
use mxd_tools::builtin;

use super::ledger::Ledger;
use super::skills::Skills;
use super::stock::{self, Stock, StockError, Supplied};

/// What a task, or one above it, was created with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) manifest: Option<String>,
    pub(crate) skill: Option<String>,
}

/// What one task may use.
#[derive(Debug)]
pub(crate) struct Remit {
    pub(crate) effects: EffectSet,
    pub(crate) capabilities: CapabilitySet,
    /// The skill it works by.
    pub(crate) skill: Option<Skill>,
    /// What the skills of this task and of those above list.
    skills: Vec<Vec<ToolPattern>>,
    /// Servers for which no model writes, because a manifest on the way down does not say so.
    silent: BTreeSet<ServerName>,
    /// Servers whose resources are not read, because a manifest on the way down does not say so.
    closed: BTreeSet<ServerName>,
    /// What it does not have although a manifest lists it, in words.
    pub(crate) remarks: Vec<String>,
}

/// Why nobody knows what a task may use.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RemitError {
    #[error(transparent)]
    Manifest(#[from] StockError),
    #[error("there is no skill {name}; there are: {known}")]
    NoSkill { name: String, known: String },
    #[error("the skill {name} cannot be used by a task: {source}")]
    Skill { name: String, source: CapabilitySetError },
    #[error("the manifest {path} cannot be used by a task: {source}")]
    Layer { path: String, source: CapabilitySetError },
}

impl Remit {
    /// What is left when each task from the root down has taken away what it takes away. The last link is the task's own.
    pub(crate) fn of(
        stock: &Stock,
        links: &[Link],
        (checkout, skills): (&Path, &Skills),
    ) -> Result<Self, RemitError> {
        let capabilities = CapabilitySet::root(stock.grants.clone());
        let mut remit = Self {
            effects: stock.effects,
            capabilities,
            skill: None,
            skills: Vec::new(),
            silent: BTreeSet::new(),
            closed: BTreeSet::new(),
            remarks: Vec::new(),
        };
        for link in links {
            if let Some(path) = &link.manifest {
                let manifest = stock::parse(path, &stock::read(path, checkout)?)?;
                remit.take_manifest(path, &manifest, stock)?;
            }
            remit.take_skill(link.skill.as_deref(), skills)?;
        }
        Ok(remit)
    }

    fn take_manifest(
        &mut self,
        path: &str,
        manifest: &AgentManifest,
        stock: &Stock,
    ) -> Result<(), RemitError> {
        self.effects = self.effects.iter().filter(|effect| manifest.allowed.contains(*effect)).collect();
        let mut grants = Vec::new();
        for server in &manifest.servers {
            if server.sampling == Sampling::Off {
                self.silent.insert(server.name.clone());
            }
            if server.resources == ResourceAccess::Closed {
                self.closed.insert(server.name.clone());
            }
            if builtin::is_built_in(server) || stock.has(server) {
                grants.extend(listed(server, stock));
            } else {
                self.remarks.push(format!(
                    "{path} lists the server {}, which this project does not have in that form",
                    server.name
                ));
            }
        }
        grants.extend(stock::reading(manifest.servers.iter().filter(|server| stock.has(server))));
        let layer = CapabilityLayer::granting(grants).and_then(|layer| self.capabilities.child(layer));
        self.capabilities = layer.map_err(|source| RemitError::Layer { path: path.to_owned(), source })?;
        Ok(())
    }

    /// The skill of a task above limits this one, too; the task's own is what the gate names.
    fn take_skill(&mut self, name: Option<&str>, skills: &Skills) -> Result<(), RemitError> {
        if let Some(above) = self.skill.take() {
            let layer = CapabilityLayer::granting(patterns(&above.tools));
            let layer = layer.and_then(|layer| self.capabilities.child(layer));
            let failed = |source| RemitError::Skill { name: above.name.to_string(), source };
            self.capabilities = layer.map_err(failed)?;
        }
        let Some(name) = name else { return Ok(()) };
        let found = skills.known.iter().find(|(known, _)| known.as_str() == name);
        let Some((_, skill)) = found else {
            let known: Vec<String> = skills.known.keys().map(ToString::to_string).collect();
            return Err(RemitError::NoSkill { name: name.to_owned(), known: known.join(", ") });
        };
        self.skills.push(patterns(&skill.tools));
        self.skill = Some(skill.clone());
        Ok(())
    }

    /// A server of the project as this task may use it.
    pub(crate) fn narrowed(&self, supplied: &Supplied) -> Supplied {
        let mut narrowed = supplied.clone();
        if self.silent.contains(&narrowed.spec.name) {
            narrowed.spec.sampling = Sampling::Off;
        }
        if self.closed.contains(&narrowed.spec.name) {
            narrowed.spec.resources = ResourceAccess::Closed;
        }
        narrowed
    }

    /// Puts the pins that tools are held to in place of digests that mean the same.
    pub(crate) fn resolve_pins(&mut self, ledger: &Ledger) {
        let Some(skill) = &mut self.skill else { return };
        let resolved = |entry: &SkillTool| match entry {
            SkillTool::Uri(ToolUri::Mcp(tool)) => {
                let pin = ledger.held_pin(tool).unwrap_or_else(|| tool.pin.clone());
                SkillTool::Uri(ToolUri::Mcp(PinnedTool { id: tool.id.clone(), pin }))
            }
            SkillTool::Uri(ToolUri::Native(_)) | SkillTool::Wire(_) | SkillTool::Pattern(_) => entry.clone(),
        };
        skill.tools = skill.tools.entries().iter().map(resolved).collect();
    }

    /// The skill as the gate takes it.
    pub(crate) fn scope(&self) -> SkillScope<'_> {
        match &self.skill {
            Some(skill) => SkillScope::Active { name: &skill.name, tools: &skill.tools },
            None => SkillScope::NoSkill,
        }
    }

    /// Whether the agent has a tool about the tree. Manifests cannot list them: what they change is ours, and their
    /// class says enough. To report and to ask is always possible.
    pub(crate) fn has_orchestrator(&self, id: &ToolId, effect: SideEffect) -> bool {
        if effect == SideEffect::Read {
            return true;
        }
        let in_skill = |tools: &Vec<ToolPattern>| tools.iter().any(|pattern| pattern.matches(id));
        self.effects.contains(effect) && self.skills.iter().all(in_skill)
    }
}

/// What a manifest that a task names lists of a server: all of it, or some tools.
fn listed(server: &ServerSpec, stock: &Stock) -> Vec<ToolPattern> {
    let all = stock.server(&server.name).is_some_and(|supplied| {
        let has = |name: &ToolName| server.declared().iter().any(|tool| tool.name == *name);
        let declared = supplied.spec.declared();
        !declared.is_empty() && declared.iter().all(|tool| has(&tool.name))
    });
    if all {
        return stock::all_of(&server.name).into_iter().collect();
    }
    server.declared().iter().filter_map(|tool| stock::exactly(&server.name, &tool.name)).collect()
}

/// What a skill lists, as patterns. An entry that names no tool of a server gives nothing.
fn patterns(tools: &SkillTools) -> Vec<ToolPattern> {
    let pattern = |entry: &SkillTool| match entry {
        SkillTool::Uri(ToolUri::Mcp(tool)) => stock::exactly(&tool.id.server, &tool.id.tool),
        SkillTool::Uri(ToolUri::Native(_)) => None,
        SkillTool::Wire(name) => name.literal().ok().and_then(|id| stock::exactly(&id.server, &id.tool)),
        SkillTool::Pattern(pattern) => Some(pattern.clone()),
    };
    tools.entries().iter().filter_map(pattern).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::provision::Source;

    fn manifest(says: Value) -> Value {
        let tool = json!({ "name": "t", "side_effect_class": "read" });
        let server = json!({
            "alias": "s", "transport": "http", "endpoint": "https://example.org/mcp", "version": "1.0.0",
            "package_digest": format!("sha256:{}", mxd_core::tool::Digest::of(b"x")),
            "sampling": says, "resources": says, "tools": [tool],
        });
        json!({
            "schema_version": 1, "agent": "matrix://agent/a", "allowed_side_effects": ["read"],
            "servers": [server],
        })
    }

    /// The server of a task whose manifests, from the root down, say this, and whether the task may read resources.
    fn narrowed(project: bool, down: &[bool]) -> (ServerSpec, bool) {
        let folder = tempfile::tempdir().unwrap();
        let links = down.iter().enumerate().map(|(depth, sampling)| {
            let path = format!("{depth}.json");
            let text = manifest(json!(sampling)).to_string();
            let mut file = std::fs::File::create(folder.path().join(&path)).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            Link { manifest: Some(path), skill: None }
        });
        let links: Vec<Link> = links.collect();
        let whole = stock::parse("whole.json", &manifest(json!(project)).to_string()).unwrap();
        let all = stock::all_of(&whole.servers[0].name).into_iter().chain(stock::reading(&whole.servers));
        let grants = CapabilityLayer::granting(all).unwrap();
        let spec = whole.servers[0].clone();
        let supplied = Supplied { spec, source: Source::Manifest };
        let stock = Stock { effects: whole.allowed, grants, servers: vec![supplied.clone()] };
        let remit = Remit::of(&stock, &links, (folder.path(), &Skills::default())).unwrap();
        let reads = remit.capabilities.is_granted(&"mcp:mxd:read_resource".parse().unwrap()).is_ok();
        (remit.narrowed(&supplied).spec, reads)
    }

    fn written_for(project: bool, down: &[bool]) -> Sampling {
        narrowed(project, down).0.sampling
    }

    #[test]
    fn a_model_writes_for_a_server_when_all_manifests_down_to_the_task_say_so() {
        assert_eq!(written_for(true, &[]), Sampling::On);
        assert_eq!(written_for(true, &[true, true]), Sampling::On);
        assert_eq!(written_for(true, &[false, true]), Sampling::Off);
        assert_eq!(written_for(false, &[true]), Sampling::Off);
    }

    #[test]
    fn resources_are_read_when_all_manifests_down_to_the_task_say_so() {
        let read = |project, down: &[bool]| {
            let (spec, reads) = narrowed(project, down);
            (spec.resources, reads)
        };
        assert_eq!(read(true, &[]), (ResourceAccess::Open, true));
        assert_eq!(read(true, &[true, true]), (ResourceAccess::Open, true));
        assert_eq!(read(true, &[false, true]), (ResourceAccess::Closed, false));
        assert_eq!(read(false, &[true]), (ResourceAccess::Closed, false));
        assert_eq!(read(false, &[]), (ResourceAccess::Closed, false));
    }
}
