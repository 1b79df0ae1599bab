//! The approval policy: the most specific rule decides, in doubt the stricter one.

use mxd_core::tool::{
    ApprovalPolicy, ApprovalRule, CallArgs, Fallback, RuleRef, Ruled, Ruling, SideEffect, Subject,
};
use proptest::prelude::*;

use super::any::{self, id};

fn policy(text: &str) -> ApprovalPolicy {
    serde_json::from_str(text).expect(text)
}

struct Asked<'a> {
    tool: &'a str,
    effect: SideEffect,
    args: &'a str,
}

fn on(policy: &ApprovalPolicy, asked: &Asked<'_>) -> (Ruling, String) {
    let args = CallArgs::parse(asked.args).expect(asked.args);
    let Ruled { ruling, rule } =
        policy.rule_on(&Subject { id: &id(asked.tool), effect: asked.effect, args: &args });
    (ruling, rule.to_string())
}

fn bash(policy: &ApprovalPolicy, command: &str) -> (Ruling, String) {
    let args = serde_json::json!({ "command": command }).to_string();
    on(policy, &Asked { tool: "mcp:mxd:bash", effect: SideEffect::Shell, args: &args })
}

#[test]
fn without_rules_the_class_decides() {
    let policy = ApprovalPolicy::default();
    let ruled = |effect| on(&policy, &Asked { tool: "mcp:a:b", effect, args: "{}" });
    for effect in [SideEffect::Read, SideEffect::Write, SideEffect::Shell] {
        assert_eq!(ruled(effect), (Ruling::Allow, format!("approval:fallback:{effect}")));
    }
    for effect in [SideEffect::Network, SideEffect::Chain] {
        assert_eq!(ruled(effect), (Ruling::Ask, format!("approval:fallback:{effect}")));
    }
    let written = self::policy(r#"{"fallback":{"network":"deny"}}"#);
    let ruled = |effect| on(&written, &Asked { tool: "mcp:a:b", effect, args: "{}" }).0;
    assert_eq!((ruled(SideEffect::Network), ruled(SideEffect::Read)), (Ruling::Deny, Ruling::Allow));
    assert_eq!(serde_json::from_str::<ApprovalPolicy>("{}").unwrap(), policy);
}

#[test]
fn the_most_specific_rule_decides() {
    // From the least specific to the most; each is about the same call and undoes the one before.
    let rules = [
        r#"{"name":"all","ruling":"deny"}"#,
        r#"{"name":"all-any","tool":"mcp:*:*","args":[{"at":"/n","equals":1}],"ruling":"allow"}"#,
        r#"{"name":"class","effect":"write","ruling":"deny"}"#,
        r#"{"name":"servers","tool":"mcp:*:write_*","ruling":"allow"}"#,
        r#"{"name":"server","tool":"mcp:fs:*","ruling":"deny"}"#,
        r#"{"name":"tools","tool":"mcp:fs:write_*","ruling":"allow"}"#,
        r#"{"name":"tool","tool":"mcp:fs:write_file","ruling":"deny"}"#,
        r#"{"name":"tool-class","tool":"mcp:fs:write_file","effect":"write","ruling":"allow"}"#,
        r#"{"name":"arg","tool":"mcp:fs:write_file","args":[{"at":"/path","path":"src/**"}],"ruling":"deny"}"#,
        r#"{"name":"args","tool":"mcp:fs:write_file","args":[{"at":"/path","path":"src/**"},{"at":"/n","equals":1}],"ruling":"allow"}"#,
    ];
    let asked =
        Asked { tool: "mcp:fs:write_file", effect: SideEffect::Write, args: r#"{"path":"src/a","n":1}"# };
    for count in 1..=rules.len() {
        let mut some = rules[..count].to_vec();
        some.reverse();
        let last: ApprovalRule = serde_json::from_str(rules[count - 1]).unwrap();
        let forward = policy(&format!(r#"{{"rules":[{}]}}"#, rules[..count].join(",")));
        let backward = policy(&format!(r#"{{"rules":[{}]}}"#, some.join(",")));
        let expected = (last.ruling, format!("approval:{}", last.name));
        assert_eq!(on(&forward, &asked), expected);
        assert_eq!(on(&backward, &asked), expected, "the order makes no difference");
    }
}

#[test]
fn among_equally_specific_rules_the_stricter_one_decides() {
    let rule = |name: &str, ruling: &str| {
        format!(r#"{{"name":"{name}","tool":"mcp:mxd:bash","ruling":"{ruling}"}}"#)
    };
    let of = |rules: &[String]| policy(&format!(r#"{{"rules":[{}]}}"#, rules.join(",")));
    let (allow, ask, deny) = (rule("x", "allow"), rule("y", "ask"), rule("z", "deny"));
    assert_eq!(bash(&of(&[allow.clone(), ask.clone()]), "ls").0, Ruling::Ask);
    assert_eq!(bash(&of(&[ask, deny.clone(), allow]), "ls"), (Ruling::Deny, "approval:z".to_owned()));
    assert_eq!(bash(&of(&[deny, rule("a", "deny")]), "ls").1, "approval:z", "the same one is always named");
}

#[test]
fn an_allowed_command_does_not_open_the_shell() {
    let policy = policy(
        r#"{"rules":[
            {"name":"push","tool":"mcp:mxd:bash","args":[{"at":"/command","glob":"git push*"}],"ruling":"allow"},
            {"name":"secrets","tool":"mcp:mxd:bash","args":[{"at":"/command","glob":"*.env*"}],"ruling":"deny"}
        ],"fallback":{"shell":"ask"}}"#,
    );
    assert_eq!(bash(&policy, "git push origin").0, Ruling::Allow);
    assert_eq!(bash(&policy, "git push; rm -rf ."), (Ruling::Ask, "approval:fallback:shell".to_owned()));
    assert_eq!(bash(&policy, "git push origin .env").0, Ruling::Deny);
    assert_eq!(bash(&policy, "true; cat .env | sh").0, Ruling::Deny, "a denial reaches past everything");
}

#[test]
fn what_matches_only_in_doubt_pushes_no_denial_aside() {
    let policy = policy(
        r#"{"rules":[
            {"name":"shell","tool":"mcp:mxd:bash","ruling":"deny"},
            {"name":"push","tool":"mcp:mxd:bash","args":[{"at":"/command","glob":"git push*"}],"ruling":"ask"}
        ]}"#,
    );
    assert_eq!(bash(&policy, "git push"), (Ruling::Ask, "approval:push".to_owned()));
    assert_eq!(bash(&policy, "git push; rm -rf ."), (Ruling::Deny, "approval:shell".to_owned()));
}

#[test]
fn among_doubtful_matches_the_strictest_counts_and_none_overrules_a_closer_rule() {
    let ask =
        r#"{"name":"ask","tool":"mcp:mxd:bash","args":[{"at":"/command","glob":"git*"}],"ruling":"ask"}"#;
    let deny =
        r#"{"name":"deny","tool":"mcp:mxd:*","args":[{"at":"/command","glob":"*push*"}],"ruling":"deny"}"#;
    let allow = r#"{"name":"allow","tool":"mcp:mxd:bash","ruling":"allow"}"#;
    let of = |rules: &[&str]| policy(&format!(r#"{{"rules":[{}]}}"#, rules.join(",")));
    let fooled = "git status; git push";
    assert_eq!(bash(&of(&[ask, deny]), fooled), (Ruling::Deny, "approval:deny".to_owned()));
    assert_eq!(bash(&of(&[ask, deny]), "git push"), (Ruling::Ask, "approval:ask".to_owned()));
    assert_eq!(bash(&of(&[allow, deny]), fooled), (Ruling::Allow, "approval:allow".to_owned()));
    assert_eq!(bash(&of(&[allow, ask]), fooled), (Ruling::Ask, "approval:ask".to_owned()));
}

#[test]
fn a_policy_that_is_none_is_refused() {
    let rules = |count: usize| {
        let rule = |n: usize| format!(r#"{{"name":"r{n}","ruling":"ask"}}"#);
        format!(r#"{{"rules":[{}]}}"#, (0..count).map(rule).collect::<Vec<_>>().join(","))
    };
    assert_eq!(policy(&rules(256)).rules().len(), 256);
    let args = [r#"{"at":"/a","glob":"*"}"#; 9].join(",");
    for bad in [
        rules(257),
        r#"{"rules":[{"name":"a","ruling":"ask"},{"name":"a","ruling":"deny"}]}"#.to_owned(),
        r#"{"rules":[{"name":"a b","ruling":"ask"}]}"#.to_owned(),
        r#"{"rules":[{"name":"","ruling":"ask"}]}"#.to_owned(),
        r#"{"rules":[{"name":"a","ruling":"maybe"}]}"#.to_owned(),
        r#"{"rules":[{"name":"a"}]}"#.to_owned(),
        r#"{"rules":[{"name":"a","ruling":"ask","tools":"mcp:*:*"}]}"#.to_owned(),
        r#"{"rules":[{"name":"a","ruling":"ask","effect":"fly"}]}"#.to_owned(),
        format!(r#"{{"rules":[{{"name":"a","ruling":"ask","args":[{args}]}}]}}"#),
        r#"{"fallback":{"fly":"ask"}}"#.to_owned(),
        r#"{"default":"allow"}"#.to_owned(),
    ] {
        assert!(serde_json::from_str::<ApprovalPolicy>(&bad).is_err(), "{bad}");
    }
}

fn ruling() -> impl Strategy<Value = Ruling> {
    prop::sample::select(vec![Ruling::Allow, Ruling::Ask, Ruling::Deny])
}

/// Any rule but for its name.
pub(super) fn rule() -> impl Strategy<Value = ApprovalRule> {
    let arg = prop::sample::select(vec![
        r#"{"at":"/command","glob":"git *"}"#,
        r#"{"at":"/command","glob":"*;*"}"#,
        r#"{"at":"/command","prefix":"git"}"#,
        r#"{"at":"/command","path":"**/git*"}"#,
        r#"{"at":"/command","equals":"git push"}"#,
        r#"{"at":"/missing","glob":"*"}"#,
    ]);
    let arg = arg.prop_map(|text| serde_json::from_str(text).unwrap());
    let tool = prop::option::of(any::common_pattern());
    (tool, prop::option::of(any::effect()), prop::collection::vec(arg, 0..3), ruling()).prop_map(
        |(tool, effect, args, ruling)| ApprovalRule {
            name: "x".parse().unwrap(),
            tool,
            effect,
            args,
            ruling,
        },
    )
}

pub(super) fn named(rules: Vec<ApprovalRule>) -> Vec<ApprovalRule> {
    let name = |(n, rule)| ApprovalRule { name: format!("r{n}").parse().unwrap(), ..rule };
    rules.into_iter().enumerate().map(name).collect()
}

pub(super) fn args() -> impl Strategy<Value = CallArgs> {
    prop::sample::select(vec![
        "{}",
        r#"{"command":"git push"}"#,
        r#"{"command":"git push; rm"}"#,
        r#"{"command":"ls"}"#,
    ])
    .prop_map(|text| CallArgs::parse(text).unwrap())
}

proptest! {
    #[test]
    fn the_order_of_rules_makes_no_difference(
        rules in prop::collection::vec(rule(), 0..8),
        by in 0usize..8,
        tool in any::common_id(),
        effect in any::effect(),
        args in args(),
    ) {
        let rules = named(rules);
        let mut turned = rules.clone();
        turned.rotate_left(by.min(rules.len()));
        let subject = Subject { id: &tool, effect, args: &args };
        let ruled = |rules| ApprovalPolicy::new(rules, Fallback::default()).unwrap().rule_on(&subject);
        prop_assert_eq!(ruled(rules), ruled(turned));
    }

    #[test]
    fn one_more_denial_never_makes_the_ruling_milder(
        rules in prop::collection::vec(rule(), 0..6),
        denial in rule(),
        tool in any::common_id(),
        effect in any::effect(),
        args in args(),
    ) {
        let subject = Subject { id: &tool, effect, args: &args };
        let ruled = |rules| {
            let policy = ApprovalPolicy::new(named(rules), Fallback::default()).unwrap();
            policy.rule_on(&subject).ruling
        };
        let before = ruled(rules.clone());
        let mut more = rules;
        more.push(ApprovalRule { ruling: Ruling::Deny, ..denial });
        prop_assert!(ruled(more) >= before);
    }

    #[test]
    fn only_a_rule_that_allows_allows(
        rules in prop::collection::vec(rule(), 0..6),
        tool in any::common_id(),
        effect in any::effect(),
        args in args(),
    ) {
        let rules = named(rules);
        let policy = ApprovalPolicy::new(rules.clone(), Fallback::always(Ruling::Ask)).unwrap();
        let Ruled { ruling, rule } = policy.rule_on(&Subject { id: &tool, effect, args: &args });
        match rule {
            RuleRef::Fallback(_) => prop_assert_eq!(ruling, Ruling::Ask),
            RuleRef::Rule(name) => {
                let cited = rules.iter().find(|rule| rule.name == name).unwrap();
                prop_assert_eq!(cited.ruling, ruling);
            }
        }
    }
}
