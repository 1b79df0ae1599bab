//! Capability sets: what is granted, by which rule, and that it only shrinks on the way down.

use mxd_core::tool::{CapabilityLayer, CapabilitySet, CapabilitySetError, ToolPattern, Ungranted, limits};
use proptest::prelude::*;

use super::any::{self, id, pattern};

fn layer(grants: &[&str], denials: &[&str]) -> CapabilityLayer {
    let read = |texts: &[&str]| texts.iter().map(|text| pattern(text)).collect::<Vec<_>>();
    CapabilityLayer::granting(read(grants)).unwrap().denying(read(denials)).unwrap()
}

#[test]
fn wildcards_stay_within_their_part() {
    let matches = |text: &str, tool: &str| pattern(text).matches(&id(tool));
    for (text, tool) in [
        ("mcp:*:*", "mcp:fs:read"),
        ("mcp:fs:*", "mcp:fs:read"),
        ("mcp:fs:read_*", "mcp:fs:read_file"),
        ("mcp:fs:read_*", "mcp:fs:read_"),
        ("mcp:*:*_status", "mcp:git:git_status"),
        ("mcp:f*s:r*d*e", "mcp:f-xs:read.file"),
        ("mcp:fs:read", "mcp:fs:read"),
    ] {
        assert!(matches(text, tool), "{text} {tool}");
    }
    for (text, tool) in [
        ("mcp:fs:*", "mcp:fs2:read"),
        ("mcp:fs:read_*", "mcp:fs:read"),
        ("mcp:fs:Read", "mcp:fs:read"),
        ("mcp:fs:read", "mcp:fs:read2"),
        ("mcp:*s:*", "mcp:git:status"),
        ("mcp:fs:aXb*", "mcp:fs:ab"),
        ("mcp:fs:ab*bc", "mcp:fs:abc"),
    ] {
        assert!(!matches(text, tool), "{text} {tool}");
    }
}

#[test]
fn what_is_no_pattern_is_refused() {
    let long = format!("mcp:fs:{}", "a".repeat(1025));
    for bad in [
        "",
        "*",
        "mcp",
        "mcp:*",
        "mcp:fs",
        "*:*:*",
        "mcp:fs:*:x",
        "mcp::read",
        "mcp:fs:",
        "mcp:fs:**",
        "MCP:fs:*",
        "mcp:Fs:*",
        "mcp:fs:a b",
        "mcp:fs:a/b",
        "mcp:fs:a?",
        "mcp:fs.x:*",
        " mcp:fs:*",
        &long,
        "mcp:fs:*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a",
    ] {
        assert!(bad.parse::<ToolPattern>().is_err(), "{bad}");
    }
}

#[test]
fn a_denial_wins_and_is_named() {
    let set = CapabilitySet::root(layer(&["mcp:fs:*", "mcp:fs:write_file"], &["mcp:*:write_*"]));
    assert_eq!(set.is_granted(&id("mcp:fs:read")).unwrap().rule, pattern("mcp:fs:*"));
    let denied = set.is_granted(&id("mcp:fs:write_file")).unwrap_err();
    assert_eq!(denied, Ungranted::Denial { rule: pattern("mcp:*:write_*"), layer: 0 });
    assert_eq!(set.is_granted(&id("mcp:git:log")), Err(Ungranted::NoGrant { layer: 0 }));
    let child = set.child(layer(&["mcp:*:*"], &["mcp:fs:read"])).unwrap();
    let denied = child.is_granted(&id("mcp:fs:read")).unwrap_err();
    assert_eq!(denied, Ungranted::Denial { rule: pattern("mcp:fs:read"), layer: 1 });
    let narrow = set.child(layer(&["mcp:fs:read"], &[])).unwrap();
    assert_eq!(narrow.is_granted(&id("mcp:fs:list")), Err(Ungranted::NoGrant { layer: 1 }));
    assert_eq!(narrow.is_granted(&id("mcp:fs:read")).unwrap().rule, pattern("mcp:fs:read"));
}

#[test]
fn a_set_without_grants_grants_nothing() {
    for set in [CapabilitySet::none(), CapabilitySet::root(layer(&[], &["mcp:fs:*"]))] {
        assert!(set.is_granted(&id("mcp:git:log")).is_err());
        assert!(set.child(layer(&["mcp:*:*"], &[])).unwrap().is_granted(&id("mcp:git:log")).is_err());
    }
}

#[test]
fn passing_on_what_one_has_adds_nothing_and_narrowing_has_a_limit() {
    let root = CapabilitySet::root(layer(&["mcp:*:*"], &[]));
    let narrow = root.child(layer(&["mcp:fs:*"], &[])).unwrap();
    assert_eq!(narrow.child(layer(&["mcp:fs:*"], &[])).unwrap(), narrow);
    assert_eq!(narrow.child(layer(&["mcp:git:*", "mcp:*:*"], &[])).unwrap(), narrow);
    let mut set = root;
    for n in 1..limits::CAPABILITY_LAYERS {
        set = set.child(layer(&["mcp:*:*"], &[&format!("mcp:fs:t{n}")])).unwrap();
    }
    let refused = set.child(layer(&["mcp:fs:*"], &[])).unwrap_err();
    assert_eq!(refused, CapabilitySetError::TooDeep { given: 33, limit: 32 });
}

#[test]
fn what_is_stored_is_checked_when_it_is_read() {
    let set = CapabilitySet::root(layer(&["mcp:fs:*", "mcp:a:b"], &["mcp:fs:rm"]));
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"{"layers":[{"grants":["mcp:a:b","mcp:fs:*"],"denials":["mcp:fs:rm"]}]}"#);
    assert_eq!(serde_json::from_str::<CapabilitySet>(&text).unwrap(), set);
    let many: Vec<String> = (0..600).map(|n| format!("\"mcp:fs:t{n}\"")).collect();
    let layers = [r#"{"grants":[]}"#; 33].join(",");
    for bad in [
        r#"{"layers":[]}"#.to_owned(),
        "{}".to_owned(),
        r#"{"layers":[{"grants":["fs"]}]}"#.to_owned(),
        r#"{"layers":[{"grants":[],"denies":["mcp:fs:*"]}]}"#.to_owned(),
        format!(r#"{{"layers":[{{"grants":[{}]}}]}}"#, many.join(",")),
        format!(r#"{{"layers":[{layers}]}}"#),
    ] {
        assert!(serde_json::from_str::<CapabilitySet>(&bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn a_child_never_has_more_than_its_parent(
        set in any::capabilities(),
        request in any::layer(),
        tool in any::common_id(),
        any in any::tool_id(),
    ) {
        let child = set.child(request).unwrap();
        for tool in [&tool, &any] {
            prop_assert!(child.is_granted(tool).is_err() || set.is_granted(tool).is_ok(), "{tool}");
        }
    }

    #[test]
    fn a_child_has_what_its_parent_has_and_it_asks_for(
        set in any::capabilities(),
        request in any::layer(),
        tool in any::common_id(),
    ) {
        let asked = CapabilitySet::root(request.clone());
        let both = set.is_granted(&tool).is_ok() && asked.is_granted(&tool).is_ok();
        prop_assert_eq!(set.child(request).unwrap().is_granted(&tool).is_ok(), both);
    }

    #[test]
    fn less_granted_or_more_denied_never_allows_more(
        below in prop::collection::vec(any::layer(), 1..4), which in any::<prop::sample::Index>(),
        grant in any::<prop::sample::Index>(), denial in any::common_pattern(), tool in any::common_id(),
    ) {
        let set = |layers: &[CapabilityLayer]| {
            let root = CapabilitySet::root(layers[0].clone());
            layers[1..].iter().fold(root, |set, layer| set.child(layer.clone()).unwrap())
        };
        let before = set(&below).is_granted(&tool).is_ok();
        let changed = &below[which.index(below.len())];
        let mut grants = changed.grants().to_vec();
        if !grants.is_empty() {
            grants.remove(grant.index(grants.len()));
        }
        let fewer = CapabilityLayer::granting(grants).unwrap().denying(changed.denials().to_vec()).unwrap();
        let more = changed.clone().denying([denial]).unwrap();
        for layer in [fewer, more] {
            let mut layers = below.clone();
            layers[which.index(below.len())] = layer;
            prop_assert!(before || set(&layers).is_granted(&tool).is_err());
        }
    }

    #[test]
    fn a_stored_set_comes_back(set in any::capabilities()) {
        let text = serde_json::to_string(&set).unwrap();
        prop_assert_eq!(serde_json::from_str::<CapabilitySet>(&text).unwrap(), set);
    }
}
