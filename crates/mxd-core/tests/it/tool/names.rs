//! The three spellings of a tool, pins and classes: what is read, what is refused, what comes back.

use std::collections::BTreeSet;

use mxd_core::tool::{
    EffectSet, NameError, Namespace, Pin, PinError, PinnedTool, ServerName, SideEffect, ToolId, ToolName,
    ToolUri, ToolUriError, UriFault, WireName, WireNames,
};
use proptest::prelude::*;

use super::any;

fn reason(uri: &str) -> UriFault {
    match uri.parse::<ToolUri>() {
        Err(ToolUriError::InvalidUri { reason, .. }) => reason,
        other => panic!("{uri}: {other:?}"),
    }
}

#[test]
fn a_tool_reads_and_prints_in_its_three_spellings() {
    let tool: PinnedTool = "matrix://tool/mcp/fs/read_text_file@2026.1.14".parse().unwrap();
    assert_eq!(tool.to_string(), "matrix://tool/mcp/fs/read_text_file@2026.1.14");
    assert_eq!(tool.id.to_string(), "mcp:fs:read_text_file");
    assert_eq!(WireName::of(&tool.id).as_str(), "mcp__fs__read_text_file");
    assert_eq!(any::id("mcp:fs:read_text_file"), tool.id);
    assert_eq!("mcp__fs__read_text_file".parse::<WireName>().unwrap().literal().unwrap(), tool.id);
    assert_eq!(serde_json::to_string(&tool).unwrap(), format!("\"{tool}\""));
    assert_eq!(serde_json::to_string(&tool.id).unwrap(), "\"mcp:fs:read_text_file\"");
}

#[test]
fn the_first_double_underscore_ends_the_server() {
    let read = |name: &str| name.parse::<WireName>().unwrap().literal().unwrap().to_string();
    assert_eq!(read("mcp__a__b__c"), "mcp:a:b__c");
    assert_eq!(read("mcp__a_b__c_d"), "mcp:a_b:c_d");
    assert_eq!(read("mcp__a___b"), "mcp:a:_b");
    for bad in ["mcp__a", "mcp_a__b", "MCP__a__b", "mcp____b", "mcp__a__", "a__b", "mcp__a__b.c", "mcp__A__b"]
    {
        assert!(bad.parse::<WireName>().is_err(), "{bad}");
    }
}

#[test]
fn names_that_would_be_read_another_way_are_refused() {
    let server = |name: &str| name.parse::<ServerName>().unwrap_err();
    assert_eq!(server(""), NameError::Empty { what: "server" });
    for underscores in ["a__b", "a_", "_"] {
        assert!(matches!(server(underscores), NameError::Underscores { .. }), "{underscores}");
    }
    for character in ["Fs", "a.b", "a b", "a:b", "ä", "a/b"] {
        assert!(matches!(server(character), NameError::Character { .. }), "{character}");
    }
    let long = "a".repeat(33);
    assert_eq!(server(&long), NameError::TooLong { what: "server", given: 33, limit: 32 });
    let tool = |name: &str| name.parse::<ToolName>().unwrap_err();
    assert!(matches!(tool("a/b"), NameError::Slash { .. }));
    for character in ["a b", "a:b", "a@b", "é", "a\u{200b}"] {
        assert!(matches!(tool(character), NameError::Character { .. }), "{character}");
    }
    assert!("a".repeat(128).parse::<ToolName>().is_ok());
    assert!(matches!(tool(&"a".repeat(129)), NameError::TooLong { given: 129, .. }));
    assert!(!tool("a\u{1b}[2J").to_string().contains('\u{1b}'), "what came from outside is escaped");
}

#[test]
fn a_missing_pin_is_found_before_the_path_is_looked_at() {
    for unpinned in
        ["matrix://tool/mcp/fs/read", "matrix://tool/mcp/fs/read@", "matrix://tool/no/such/path/at/all"]
    {
        assert!(matches!(unpinned.parse::<ToolUri>(), Err(ToolUriError::UnpinnedTool { .. })), "{unpinned}");
    }
    for other in ["Matrix://tool/mcp/fs/read@1.0.0", "matrix://TOOL/mcp/fs/read@1.0.0", "mcp:fs:read", ""] {
        assert_eq!(reason(other), UriFault::Scheme, "{other}");
    }
}

#[test]
fn a_uri_that_is_none_says_why() {
    assert_eq!(reason("matrix://tool/a/b/c/d@1.0.0"), UriFault::Parts { given: 4 });
    assert_eq!(reason("matrix://tool/x@1.0.0"), UriFault::Parts { given: 1 });
    assert!(matches!(reason("matrix://tool/MCP/fs/read@1.0.0"), UriFault::Provider { .. }));
    assert!(matches!(reason("matrix://tool/banana/read@1.0.0"), UriFault::Namespace { .. }));
    assert!(matches!(reason("matrix://tool/mcp//read@1.0.0"), UriFault::Name(NameError::Empty { .. })));
    assert!(matches!(reason("matrix://tool/mcp/fs/@1.0.0"), UriFault::Name(NameError::Empty { .. })));
    assert!(matches!(reason("matrix://tool/mcp/fs/a@b@1.0.0"), UriFault::Name(NameError::Character { .. })));
    assert!(matches!(reason("matrix://tool/mcp/fs/read@latest"), UriFault::Pin(PinError::Moving { .. })));
    assert!(matches!(reason(&format!("matrix://tool/{}@1.0.0", "a".repeat(600))), UriFault::TooLong { .. }));
}

#[test]
fn native_tools_are_read_and_are_no_tools_of_servers() {
    assert_eq!(Namespace::ALL.len(), 8);
    for namespace in Namespace::ALL {
        let uri = format!("matrix://tool/{}/verify@1.0.0", namespace.name());
        let read: ToolUri = uri.parse().unwrap();
        assert!(matches!(&read, ToolUri::Native(tool) if tool.namespace == *namespace), "{uri}");
        assert_eq!(read.to_string(), uri);
        let refused = uri.parse::<PinnedTool>().unwrap_err();
        assert!(matches!(refused, ToolUriError::InvalidUri { reason: UriFault::Native, .. }));
    }
}

#[test]
fn pins_are_whole_versions_or_digests() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let good =
        ["0.0.0", "2026.1.14", "0.1.0-phase2", "1.2.3-a.b-c.0+build.007", "1.0.0+x-y", "1.0.0--", &digest];
    for pin in good {
        assert_eq!(pin.parse::<Pin>().unwrap().to_string(), pin);
    }
    let why = |pin: &str| pin.parse::<Pin>().unwrap_err();
    assert_eq!(why(""), PinError::Empty);
    for moving in ["latest", "v1.2.3", "^1.2.3", "*", "main", "SHA256:00"] {
        assert!(matches!(why(moving), PinError::Moving { .. }), "{moving}");
    }
    for numbers in ["1", "1.2", "1.2.3.4", "1.2.x", "1..2", "1.2.", "1.2.3 "] {
        assert!(matches!(why(numbers), PinError::Numbers { .. }), "{numbers}");
    }
    for zero in ["01.2.3", "1.02.3", "2026.01.14", "1.2.3-01"] {
        assert!(matches!(why(zero), PinError::LeadingZero { .. }), "{zero}");
    }
    for suffix in ["1.2.3-", "1.2.3+", "1.2.3-a..b", "1.2.3-ä", "1.2.3+a+b", "1.2.3-a_b"] {
        assert!(matches!(why(suffix), PinError::Suffix { .. }), "{suffix}");
    }
    let digests = ["sha256:", "sha256:zz", &digest.to_uppercase().replace("SHA", "sha"), &digest[..70]];
    for digest in digests {
        assert!(matches!(why(digest), PinError::Digest { .. }), "{digest}");
    }
    assert!(matches!(why(&format!("1.0.0-{}", "a".repeat(200))), PinError::TooLong { .. }));
}

#[test]
fn classes_are_five_words_and_no_other() {
    let names: Vec<_> = SideEffect::ALL.iter().map(|effect| effect.name()).collect();
    assert_eq!(names, ["read", "write", "network", "shell", "chain"]);
    let refused = "Read".parse::<SideEffect>().unwrap_err().to_string();
    assert!(names.iter().all(|name| refused.contains(name)), "{refused}");
    let set: EffectSet = serde_json::from_str(r#"["shell","read","read"]"#).unwrap();
    assert_eq!(serde_json::to_string(&set).unwrap(), r#"["read","shell"]"#);
    assert!(serde_json::from_str::<EffectSet>(r#"["reading"]"#).is_err());
    assert!(SideEffect::ALL.iter().all(|effect| !EffectSet::NONE.contains(*effect)));
}

#[test]
fn long_and_dotted_names_are_shortened_and_keep_their_server() {
    let dotted = any::id("mcp:fs:read.file");
    let plain = any::id("mcp:fs:read_file");
    assert_ne!(WireName::of(&dotted), WireName::of(&plain));
    assert_eq!(WireName::of(&plain).as_str(), "mcp__fs__read_file");
    let (one, other) = (any::id("mcp:fs:a.b.c"), any::id("mcp:fs:a_b.c"));
    assert_ne!(WireName::of(&one), WireName::of(&other), "what was replaced still tells them apart");
    let exactly = any::id(&format!("mcp:fs:{}", "a".repeat(64 - "mcp__fs__".len())));
    assert_eq!(WireName::of(&exactly).as_str(), format!("mcp__fs__{}", exactly.tool));
    let longer = any::id(&format!("{exactly}a"));
    assert_eq!(WireName::of(&longer).as_str().len(), 64);
    assert_eq!(WireName::of(&longer).literal().unwrap().server, longer.server);
}

#[test]
fn two_tools_with_one_wire_name_are_refused_whatever_their_order() {
    let dotted = any::id("mcp:fs:read.file");
    let wire = WireName::of(&dotted);
    let copy = wire.literal().unwrap();
    assert_eq!(WireName::of(&copy), wire, "a server can name a tool like the short form of another");
    let collision = WireNames::of([dotted.clone(), copy.clone()]).unwrap_err();
    assert_eq!(collision, WireNames::of([copy.clone(), dotted.clone()]).unwrap_err());
    assert_eq!(BTreeSet::from([&collision.first, &collision.second]), BTreeSet::from([&copy, &dotted]));
    assert!(WireNames::of([copy.clone(), copy]).is_ok(), "the same tool twice is one tool");
}

proptest! {
    #[test]
    fn every_spelling_comes_back(tool in any::pinned()) {
        prop_assert_eq!(&tool.to_string().parse::<PinnedTool>().unwrap(), &tool);
        prop_assert_eq!(&tool.to_string().parse::<ToolUri>().unwrap(), &ToolUri::Mcp(tool.clone()));
        prop_assert_eq!(&tool.id.to_string().parse::<ToolId>().unwrap(), &tool.id);
        let json = serde_json::to_string(&tool).unwrap();
        prop_assert_eq!(&serde_json::from_str::<PinnedTool>(&json).unwrap(), &tool);
        let name = WireName::of(&tool.id);
        let names = WireNames::of([tool.id.clone()]).unwrap();
        prop_assert_eq!(names.tool(name.as_str()), Some(&tool.id));
        prop_assert_eq!(names.name(&tool.id), Some(name.clone()));
        if name.as_str() == format!("mcp__{}__{}", tool.id.server, tool.id.tool) {
            prop_assert_eq!(name.literal().unwrap(), tool.id);
        }
    }

    #[test]
    fn wire_names_are_what_providers_take(id in any::tool_id()) {
        let name = WireName::of(&id);
        prop_assert!((1..=64).contains(&name.as_str().len()));
        prop_assert!(name.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
        prop_assert_eq!(name.as_str().parse::<WireName>().unwrap().literal().unwrap().server, id.server);
    }

    #[test]
    fn a_table_of_wire_names_does_not_depend_on_the_order(
        ids in prop::collection::vec(any::tool_id(), 0..20),
        by in 0usize..20,
    ) {
        let table = WireNames::of(ids.clone()).unwrap();
        let mut turned = ids.clone();
        turned.rotate_left(by.min(ids.len()));
        turned.reverse();
        prop_assert_eq!(&WireNames::of(turned).unwrap(), &table);
        for id in &ids {
            prop_assert_eq!(table.tool(table.name(id).unwrap().as_str()), Some(id));
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(
        text in "\\PC{0,40}",
        mcp in "matrix://tool/mcp/[^ ]{0,20}",
        name in "mcp__[a-z_.]{0,70}",
    ) {
        for text in [&text, &mcp, &name] {
            if let Ok(uri) = text.parse::<ToolUri>() {
                prop_assert_eq!(&uri.to_string(), text);
            }
            if let Ok(wire) = text.parse::<WireName>() {
                prop_assert!(wire.literal().is_ok());
            }
            if let Ok(pin) = text.parse::<Pin>() {
                prop_assert_eq!(&pin.to_string(), text);
            }
        }
    }
}
