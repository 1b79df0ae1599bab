//! The gate: one order, nothing by default, and fewer rights never open it.

use mxd_core::tool::{
    ApprovalPolicy, ApprovalRule, ArgProblem, ArgsCheck, Arguments, Call, CallArgs, CallHash, CalledPin,
    CapabilityLayer, CapabilitySet, Denial, EffectSet, Fallback, GateContext, GateStep, Known, Pin, PinState,
    PinnedTool, Ruling, SideEffect, SkillName, SkillScope, SkillTool, SkillTools, ToolFacts, Verdict, gate,
    limits,
};
use proptest::prelude::*;

use super::any::{self, id, pattern};
use super::approvals;

/// Everything a verdict hangs on, owned, so that tests can change one thing.
#[derive(Debug, Clone)]
struct World {
    known: Result<ToolFacts, Stranger>,
    called_pin: Option<Pin>,
    effects: EffectSet,
    skill: Option<SkillTools>,
    layers: Vec<CapabilityLayer>,
    args: CallArgs,
    check: ArgsCheck,
    policy: ApprovalPolicy,
}

#[derive(Debug, Clone, Copy)]
enum Stranger {
    Native,
    Unknown,
}

impl World {
    /// A world in which a call of `mcp:fs:read_file` passes.
    fn open() -> Self {
        let facts = ToolFacts {
            id: id("mcp:fs:read_file"),
            pin: PinState::Held(pin("1.0.0")),
            effect: Some(SideEffect::Read),
        };
        Self {
            known: Ok(facts),
            called_pin: None,
            effects: SideEffect::ALL.into_iter().collect(),
            skill: None,
            layers: vec![layer(&["mcp:*:*"], &[])],
            args: CallArgs::parse(r#"{"path":"a"}"#).unwrap(),
            check: ArgsCheck::Valid,
            policy: ApprovalPolicy::default(),
        }
    }

    fn capabilities(&self) -> CapabilitySet {
        let root = CapabilitySet::root(self.layers[0].clone());
        self.layers[1..].iter().fold(root, |set, layer| set.child(layer.clone()).unwrap())
    }

    fn verdict(&self) -> Verdict {
        self.verdict_with(&self.capabilities())
    }

    fn verdict_with(&self, capabilities: &CapabilitySet) -> Verdict {
        let name: SkillName = "notes".parse().unwrap();
        let call = Call {
            called: "mcp__fs__read_file",
            pin: self.called_pin.as_ref().map_or(CalledPin::Held, CalledPin::Named),
            args: Arguments::Read { args: &self.args, check: &self.check },
        };
        let context = GateContext {
            tool: match &self.known {
                Ok(facts) => Known::Tool(facts),
                Err(Stranger::Native) => Known::Native,
                Err(Stranger::Unknown) => Known::Unknown,
            },
            manifest_effects: self.effects,
            skill: match &self.skill {
                Some(tools) => SkillScope::Active { name: &name, tools },
                None => SkillScope::NoSkill,
            },
            capabilities,
            approvals: &self.policy,
        };
        gate(&call, &context)
    }

    fn denial(&self) -> Denial {
        match self.verdict() {
            Verdict::Deny(denial) => denial,
            other => panic!("{other:?}"),
        }
    }

    fn facts(&mut self) -> &mut ToolFacts {
        self.known.as_mut().expect("a known tool")
    }
}

fn pin(text: &str) -> Pin {
    text.parse().unwrap()
}

fn tools(entries: &[&str]) -> SkillTools {
    entries.iter().map(|entry| entry.parse::<SkillTool>().unwrap()).collect()
}

fn layer(grants: &[&str], denials: &[&str]) -> CapabilityLayer {
    let read = |texts: &[&str]| texts.iter().map(|text| pattern(text)).collect::<Vec<_>>();
    CapabilityLayer::granting(read(grants)).unwrap().denying(read(denials)).unwrap()
}

fn denying(name: &str) -> ApprovalPolicy {
    serde_json::from_str(&format!(r#"{{"rules":[{{"name":"{name}","ruling":"deny"}}]}}"#)).unwrap()
}

/// One way to fail each step, from the last step to the first: applied one after the other, each must hide
/// those before it.
type Spoil = (GateStep, Change);

type Change = fn(&mut World);

const SPOILS: [Spoil; 7] = [
    (GateStep::Approval, |world| world.policy = denying("never")),
    (GateStep::Arguments, |world| world.check = ArgsCheck::NotChecked),
    (GateStep::Capability, |world| world.layers.push(layer(&[], &[]))),
    (GateStep::Skill, |world| world.skill = Some(SkillTools::NONE)),
    (GateStep::Effect, |world| world.effects = EffectSet::NONE),
    (GateStep::Pinned, |world| world.facts().pin = PinState::Missing),
    (GateStep::Known, |world| world.known = Err(Stranger::Unknown)),
];

#[test]
fn the_open_world_is_open() {
    let Verdict::Allow { rule } = World::open().verdict() else { panic!("open") };
    assert_eq!(rule.to_string(), "approval:fallback:read");
}

#[test]
fn every_denial_names_its_rule() {
    let table: [(Change, &str, &str); 17] = [
        (|w| w.known = Err(Stranger::Unknown), "unknown_tool", "known"),
        (|w| w.known = Err(Stranger::Native), "native_tool", "known"),
        (|w| w.facts().pin = PinState::Missing, "unpinned_tool", "pinned"),
        (
            |w| w.facts().pin = PinState::Changed { held: pin("1.0.0"), found: pin("1.0.1") },
            "pin_changed",
            "pinned",
        ),
        (|w| w.called_pin = Some(pin("1.0.0+other")), "other_pin", "pinned"),
        (|w| w.facts().effect = None, "effect_unknown", "manifest:allowed_side_effects"),
        (|w| w.effects = EffectSet::NONE, "effect_not_allowed", "manifest:allowed_side_effects"),
        (
            |w| w.effects = w.effects.without(SideEffect::Read),
            "effect_not_allowed",
            "manifest:allowed_side_effects",
        ),
        (|w| w.skill = Some(SkillTools::NONE), "not_in_skill", "skill:notes:tools"),
        (|w| w.skill = Some(tools(&["mcp:fs:write_*"])), "not_in_skill", "skill:notes:tools"),
        (
            |w| w.skill = Some(tools(&["matrix://tool/mcp/fs/read_file@0.9.0"])),
            "other_pin_in_skill",
            "skill:notes:tools",
        ),
        (|w| w.layers = vec![layer(&[], &[])], "not_granted", "capability:no grant in layer 0"),
        (
            |w| w.layers.push(layer(&["mcp:*:*"], &["mcp:*:read_*"])),
            "not_granted",
            "capability:denial mcp:*:read_* of layer 1",
        ),
        (|w| w.check = ArgsCheck::NotChecked, "arguments_not_checked", "arguments"),
        (|w| w.check = ArgsCheck::Invalid(Vec::new()), "arguments_invalid", "arguments"),
        (|w| w.policy = denying("never"), "not_approved", "approval:never"),
        (
            |w| w.policy = ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Deny)).unwrap(),
            "not_approved",
            "approval:fallback:read",
        ),
    ];
    for (spoil, code, rule) in table {
        let mut world = World::open();
        spoil(&mut world);
        let denial = world.denial();
        assert_eq!((denial.code(), denial.rule().as_str()), (code, rule));
        let told = denial.for_model();
        assert!(told.starts_with(&format!("Denied ({rule}): ")) && told.ends_with('.'), "{told}");
    }
}

#[test]
fn malformed_arguments_are_denied_at_their_place_in_the_order() {
    let world = World::open();
    let error = CallArgs::parse(r#"{"a":1,"a":2}"#).unwrap_err();
    let facts = world.known.as_ref().unwrap();
    let denied = |effects: EffectSet| {
        let args = Arguments::Malformed(&error);
        let context = GateContext {
            tool: Known::Tool(facts),
            manifest_effects: effects,
            skill: SkillScope::NoSkill,
            capabilities: &world.capabilities(),
            approvals: &world.policy,
        };
        match gate(&Call { called: "x", pin: CalledPin::Held, args }, &context) {
            Verdict::Deny(denial) => denial,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(denied(world.effects).code(), "arguments_malformed");
    assert!(denied(world.effects).for_model().contains("Name every argument once."));
    assert_eq!(denied(EffectSet::NONE).code(), "effect_not_allowed");
}

#[test]
fn the_first_check_that_fails_is_the_answer() {
    let mut world = World::open();
    for (step, spoil) in SPOILS {
        spoil(&mut world);
        assert_eq!(world.denial().step(), step);
    }
}

#[test]
fn the_user_is_asked_about_exactly_one_call() {
    let mut world = World::open();
    world.facts().effect = Some(SideEffect::Network);
    let Verdict::Ask { rule, call_hash } = world.verdict() else { panic!("asked") };
    assert_eq!(rule.to_string(), "approval:fallback:network");
    let tool: PinnedTool = "matrix://tool/mcp/fs/read_file@1.0.0".parse().unwrap();
    assert_eq!(call_hash, CallHash::of(&tool, &world.args));
    assert_eq!(world.verdict().after_approval_of(call_hash), Verdict::Allow { rule });
    let mut other = world.clone();
    other.args = CallArgs::parse(r#"{"path":"b"}"#).unwrap();
    assert_eq!(
        other.verdict().after_approval_of(call_hash),
        other.verdict(),
        "other arguments, another call"
    );
    let mut updated = world.clone();
    updated.facts().pin = PinState::Held(pin("1.0.1"));
    assert!(matches!(updated.verdict().after_approval_of(call_hash), Verdict::Ask { .. }), "another version");
    world.layers.push(layer(&[], &[]));
    assert!(
        matches!(world.verdict().after_approval_of(call_hash), Verdict::Deny(_)),
        "an approval opens no denial"
    );
}

#[test]
fn what_the_model_is_told_is_short_and_harmless() {
    let world = World::open();
    let called = format!("mcp__\u{1b}[2J\u{202e}{}", "x".repeat(10_000));
    let call = Call {
        called: &called,
        pin: CalledPin::Held,
        args: Arguments::Read { args: &world.args, check: &world.check },
    };
    let context = GateContext {
        tool: Known::Unknown,
        manifest_effects: world.effects,
        skill: SkillScope::NoSkill,
        capabilities: &world.capabilities(),
        approvals: &world.policy,
    };
    let Verdict::Deny(denial) = gate(&call, &context) else { panic!("denied") };
    let told = denial.for_model();
    assert!(told.len() < 500 && !told.contains(['\u{1b}', '\u{202e}']), "{told}");

    let problem = ArgProblem { path: "/a\n".repeat(1000), problem: "ä\u{0}".repeat(1000) };
    let mut world = World::open();
    world.check = ArgsCheck::Invalid(vec![problem; 30]);
    let told = world.denial().for_model();
    assert!((limits::DENIAL_BYTES..limits::DENIAL_BYTES + 200).contains(&told.len()), "{}", told.len());
    assert!(told.ends_with("…. Correct the arguments and call it again."), "{told}");
    assert!(!told.contains(char::is_control), "{told}");
    world.check =
        ArgsCheck::Invalid(vec![ArgProblem { path: "/path".into(), problem: "is missing".into() }; 12]);
    let told = world.denial().for_model();
    assert!(told.contains("at `/path` is missing;") && told.contains("and 2 more"), "{told}");
}

fn any_check() -> impl Strategy<Value = ArgsCheck> {
    prop_oneof![
        6 => Just(ArgsCheck::Valid),
        1 => Just(ArgsCheck::Invalid(Vec::new())),
        1 => Just(ArgsCheck::NotChecked),
    ]
}

fn any_facts() -> impl Strategy<Value = ToolFacts> {
    let pins = prop_oneof![
        8 => Just(PinState::Held(pin("1.0.0"))),
        1 => Just(PinState::Missing),
        1 => Just(PinState::Changed { held: pin("1.0.0"), found: pin("2.0.0") }),
    ];
    let effect = prop_oneof![9 => any::effect().prop_map(Some), 1 => Just(None)];
    (any::common_id(), pins, effect).prop_map(|(id, pin, effect)| ToolFacts { id, pin, effect })
}

fn any_skill() -> impl Strategy<Value = Option<SkillTools>> {
    let pinned = any::common_id().prop_map(|id| {
        SkillTool::Uri(format!("matrix://tool/mcp/{}/{}@1.0.0", id.server, id.tool).parse().unwrap())
    });
    let entry = prop_oneof![any::common_pattern().prop_map(SkillTool::Pattern), pinned];
    prop::option::of(prop::collection::vec(entry, 0..5).prop_map(SkillTools::from_iter))
}

fn any_world() -> impl Strategy<Value = World> {
    let known = prop_oneof![
        10 => any_facts().prop_map(Ok),
        1 => Just(Err(Stranger::Unknown)),
        1 => Just(Err(Stranger::Native)),
    ];
    let effects = prop::collection::vec(any::effect(), 2..9).prop_map(EffectSet::from_iter);
    let open = Just(layer(&["mcp:*:*"], &[]));
    let layers = prop::collection::vec(prop_oneof![2 => any::layer(), 1 => open], 1..4);
    let rules = prop::collection::vec(approvals::rule(), 0..5);
    let called_pin =
        prop_oneof![4 => Just(None), 2 => Just(Some(pin("1.0.0"))), 1 => Just(Some(pin("3.0.0")))];
    let calls = (approvals::args(), any_check(), called_pin);
    (known, effects, any_skill(), layers, calls, rules).prop_map(
        |(known, effects, skill, layers, (args, check, called_pin), rules)| World {
            known,
            called_pin,
            effects,
            skill,
            layers,
            args,
            check,
            policy: ApprovalPolicy::new(approvals::named(rules), Fallback::default()).unwrap(),
        },
    )
}

/// From mild to strict.
fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow { .. } => 0,
        Verdict::Ask { .. } => 1,
        Verdict::Deny(_) => 2,
    }
}

/// Every way to take one right away from a world.
fn reduced(world: &World, denial: &ApprovalRule) -> Vec<World> {
    let mut reduced = Vec::new();
    let mut add = |change: &dyn Fn(&mut World)| {
        let mut less = world.clone();
        change(&mut less);
        reduced.push(less);
    };
    for effect in world.effects.iter() {
        add(&|less| less.effects = less.effects.without(effect));
    }
    for (index, layer) in world.layers.iter().enumerate() {
        for gone in 0..layer.grants().len() {
            let mut grants = layer.grants().to_vec();
            grants.remove(gone);
            let fewer = CapabilityLayer::granting(grants).unwrap().denying(layer.denials().to_vec()).unwrap();
            add(&|less| less.layers[index] = fewer.clone());
        }
        let more = layer.clone().denying([pattern("mcp:*:*_file")]).unwrap();
        add(&|less| less.layers[index] = more.clone());
    }
    let entries = world.skill.as_ref().map(|tools| tools.entries().to_vec()).unwrap_or_default();
    for gone in 0..entries.len() {
        let kept = entries.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, entry)| entry.clone());
        let fewer: SkillTools = kept.collect();
        add(&|less| less.skill = Some(fewer.clone()));
    }
    add(&|less| less.skill = less.skill.clone().or(Some(SkillTools::NONE)));
    add(&|less| less.check = ArgsCheck::NotChecked);
    add(&|less| {
        let mut rules = less.policy.rules().to_vec();
        rules.push(ApprovalRule { ruling: Ruling::Deny, ..denial.clone() });
        less.policy = ApprovalPolicy::new(approvals::named(rules), Fallback::default()).unwrap();
    });
    reduced
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn taking_a_right_away_never_opens_the_gate(world in any_world(), denial in approvals::rule()) {
        let before = strictness(&world.verdict());
        for less in reduced(&world, &denial) {
            prop_assert!(strictness(&less.verdict()) >= before, "{:?}", less);
        }
    }

    #[test]
    fn a_child_never_gets_through_where_its_parent_does_not(world in any_world(), request in any::layer()) {
        let child = world.capabilities().child(request).unwrap();
        prop_assert!(strictness(&world.verdict_with(&child)) >= strictness(&world.verdict()));
    }

    #[test]
    fn the_first_failing_check_is_reported_whatever_else_fails(
        world in any_world(),
        spoilt in prop::collection::vec(any::<bool>(), 7),
    ) {
        let mut spoilt_world = world.clone();
        let mut first = match world.verdict() {
            Verdict::Deny(denial) => Some(denial.step()),
            Verdict::Allow { .. } | Verdict::Ask { .. } => None,
        };
        for ((step, spoil), _) in SPOILS.iter().zip(spoilt).filter(|(_, spoilt)| *spoilt) {
            // A catch-all denial can be overruled by a rule that knows more; the other spoils always fail.
            let sure = *step != GateStep::Approval;
            if sure && spoilt_world.known.is_ok() {
                spoil(&mut spoilt_world);
                first = Some(first.map_or(*step, |first| first.min(*step)));
            }
        }
        let reported = match spoilt_world.verdict() {
            Verdict::Deny(denial) => Some(denial.step()),
            Verdict::Allow { .. } | Verdict::Ask { .. } => None,
        };
        prop_assert_eq!(reported, first);
    }

    #[test]
    fn what_is_unknown_or_unchecked_never_passes(world in any_world()) {
        let unknown: [Change; 5] = [
            |world| world.known = Err(Stranger::Unknown),
            |world| world.known = Err(Stranger::Native),
            |world| { let _ = world.known.as_mut().map(|facts| facts.pin = PinState::Missing); },
            |world| { let _ = world.known.as_mut().map(|facts| facts.effect = None); },
            |world| world.check = ArgsCheck::NotChecked,
        ];
        for forget in unknown {
            let mut world = world.clone();
            forget(&mut world);
            prop_assert!(matches!(world.verdict(), Verdict::Deny(_)));
        }
    }

    #[test]
    fn only_what_every_check_allows_is_allowed(world in any_world()) {
        let allowed = !matches!(world.verdict(), Verdict::Deny(_));
        if let (true, Ok(facts)) = (allowed, &world.known) {
            let tool = facts.pinned().unwrap();
            prop_assert!(world.effects.contains(facts.effect.unwrap()));
            prop_assert!(world.capabilities().is_granted(&facts.id).is_ok());
            prop_assert!(world.called_pin.as_ref().is_none_or(|pin| *pin == tool.pin));
            prop_assert_eq!(&world.check, &ArgsCheck::Valid);
            if let Some(tools) = &world.skill {
                prop_assert_eq!(tools.lists(&tool), mxd_core::tool::Listed::Yes);
            }
        } else {
            prop_assert!(!allowed);
        }
    }
}
