//! The plane: lookup, arguments, gate, time and secrets, from outside.

use std::fs;

use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, ApprovalPolicy, ApprovalRule, CapabilityLayer, CapabilitySet, EffectSet, Fallback, PinState,
    Ruling, SideEffect, SkillScope, ToolDef, ToolFacts, ToolOffer,
};
use mxd_tools::builtin::BuiltIn;
use mxd_tools::outcome::Outcome;
use mxd_tools::plane::schema::Schema;
use mxd_tools::plane::{
    Authority, Call, Executor, MAX_TEXT_BYTES, Plane, Registry, RegistryError, Settlement, presentable,
};
use mxd_tools::sandbox::Mode;
use mxd_tools::shell::{CallId, Watcher};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::scene::{Scene, text};

/// What a task may do in these tests.
struct Rules {
    effects: EffectSet,
    capabilities: CapabilitySet,
    approvals: ApprovalPolicy,
}

impl Rules {
    fn open() -> Self {
        Self {
            effects: SideEffect::ALL.into_iter().collect(),
            capabilities: CapabilitySet::root(
                CapabilityLayer::granting(["mcp:*:*".parse().unwrap()]).unwrap(),
            ),
            approvals: ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow)).unwrap(),
        }
    }

    fn ruled(rules: Value) -> Self {
        let rules: Vec<ApprovalRule> = serde_json::from_value(rules).unwrap();
        let approvals = ApprovalPolicy::new(rules, Fallback::always(Ruling::Allow)).unwrap();
        Self { approvals, ..Self::open() }
    }

    fn authority(&self) -> Authority<'_> {
        Authority {
            manifest_effects: self.effects,
            skill: SkillScope::NoSkill,
            capabilities: &self.capabilities,
            approvals: &self.approvals,
            approved: None,
        }
    }
}

fn plane() -> Plane {
    Plane::new(Registry::built_in().unwrap())
}

/// `bash` under another name and with another deadline.
fn hasty_bash(timeout_ms: u64) -> ToolDef {
    ToolDef::from_offer(ToolOffer {
        facts: ToolFacts {
            id: "mcp:test:hasty".parse().unwrap(),
            pin: PinState::Held("1.0.0".parse().unwrap()),
            effect: Some(SideEffect::Shell),
        },
        title: "",
        description: "",
        input_schema: &RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        output_schema: None,
        timeout_ms,
        annotations: Annotations::default(),
    })
    .unwrap()
}

fn a_call<'a>(tool: &'a str, args: &'a str) -> Call<'a> {
    Call { id: CallId::new("c"), tool, args, watcher: Watcher::default() }
}

async fn settle(scene: &Scene, tool: &str, args: &str, rules: &Rules) -> Settlement {
    plane().call(a_call(tool, args), &rules.authority(), &scene.scope, &CancellationToken::new()).await
}

fn denied(settlement: &Settlement) -> (&'static str, String) {
    let Settlement::Denied { denial, told } = settlement else { panic!("{settlement:?}") };
    assert!(told.is_error);
    (denial.code(), text(told))
}

#[tokio::test]
async fn an_allowed_call_runs() {
    let scene = Scene::new().await;
    let settlement = settle(&scene, "mcp__mxd__bash", r#"{"command":"echo hello"}"#, &Rules::open()).await;
    assert_eq!(settlement, Settlement::Done(Outcome::text("hello\n[exit code: 0]")));
}

#[tokio::test]
async fn an_unknown_tool_is_an_answer() {
    let scene = Scene::new().await;
    for name in ["mcp__mxd__no_such_tool", "bash", "", "mcp__", "../bash", "mcp__mxd__bash\u{0}"] {
        let settlement = settle(&scene, name, "{}", &Rules::open()).await;
        assert_eq!(denied(&settlement).0, "unknown_tool", "{name}");
    }
}

#[tokio::test]
async fn bad_arguments_are_told_with_their_paths_and_nothing_runs() {
    let scene = Scene::new().await;
    for (args, code, told) in [
        ("{}", "arguments_invalid", "`/command` is required"),
        (r#"{"command":7}"#, "arguments_invalid", "`/command` is a number, expected string"),
        (r#"{"command":"touch ran","cmd":1}"#, "arguments_invalid", "`/cmd` is no argument of this tool"),
        (r#"{"command":""}"#, "arguments_invalid", "`/command` is shorter than 1 characters"),
        (r#"{"command":"touch ran\u0000"}"#, "arguments_invalid", "`/command` does not match"),
        (
            r#"{"command":"touch ran","foreground_timeout":600001}"#,
            "arguments_invalid",
            "`/foreground_timeout` is more than 600000",
        ),
        (r#"{"command":"touch ran""#, "arguments_malformed", "no JSON object"),
        (r#"["touch ran"]"#, "arguments_malformed", "no JSON object"),
        (r#"{"command":"touch ran","command":"true"}"#, "arguments_malformed", "twice"),
    ] {
        let settlement = settle(&scene, "mcp__mxd__bash", args, &Rules::open()).await;
        let (found, words) = denied(&settlement);
        assert!(found == code && words.contains(told), "{args}: {found}: {words}");
    }
    assert!(!scene.path("ran").exists());
}

#[tokio::test]
async fn every_denial_keeps_the_tool_from_running() {
    let scene = Scene::new().await;
    let no_shell = Rules { effects: EffectSet::NONE.with(SideEffect::Read), ..Rules::open() };
    let no_grant = Rules { capabilities: CapabilitySet::none(), ..Rules::open() };
    let by_rule = Rules::ruled(json!([{ "name": "no-bash", "tool": "mcp:mxd:bash", "ruling": "deny" }]));
    for (rules, code) in
        [(no_shell, "effect_not_allowed"), (no_grant, "not_granted"), (by_rule, "not_approved")]
    {
        let settlement = settle(&scene, "mcp__mxd__bash", r#"{"command":"touch ran"}"#, &rules).await;
        assert_eq!(denied(&settlement).0, code);
    }
    assert!(!scene.path("ran").exists());
}

#[tokio::test]
async fn a_call_to_ask_about_runs_once_exactly_it_is_approved() {
    let scene = Scene::new().await;
    let rules = Rules::ruled(json!([{ "name": "ask", "ruling": "ask" }]));
    let args = r#"{"command":"touch ran"}"#;
    let settlement = settle(&scene, "mcp__mxd__bash", args, &rules).await;
    let Settlement::Ask { call_hash, .. } = settlement else { panic!("{settlement:?}") };
    assert_eq!(settlement.for_model(), None);
    let authority = Authority { approved: Some(call_hash), ..rules.authority() };
    let never = CancellationToken::new();
    let other = a_call("mcp__mxd__bash", r#"{"command":"touch other"}"#);
    let other = plane().call(other, &authority, &scene.scope, &never).await;
    assert!(matches!(other, Settlement::Ask { .. }), "{other:?}");
    assert!(!scene.path("ran").exists() && !scene.path("other").exists());
    let approved = plane().call(a_call("mcp__mxd__bash", args), &authority, &scene.scope, &never).await;
    assert!(matches!(approved, Settlement::Done(_)), "{approved:?}");
    assert!(scene.path("ran").exists() && !scene.path("other").exists());
}

#[tokio::test]
async fn a_cancelled_call_is_settled_as_such_with_what_it_had() {
    let scene = Scene::new().await;
    let (mut alive, cancel) = (scene.ear("alive"), CancellationToken::new());
    let (sender, mut live) = mpsc::channel(8);
    let args = json!({ "command": "exec 9>alive; echo begun >&9; echo begun; sleep 1000" }).to_string();
    let call = Call { watcher: Watcher::new(sender), ..a_call("mcp__mxd__bash", &args) };
    let (rules, plane) = (Rules::open(), plane());
    let authority = rules.authority();
    let stop = async {
        alive.line().await;
        live.recv().await.unwrap();
        cancel.cancel();
        alive.silence().await;
    };
    let (settlement, ()) = tokio::join!(plane.call(call, &authority, &scene.scope, &cancel), stop);
    let Settlement::Cancelled(outcome) = settlement else { panic!("{settlement:?}") };
    assert!(outcome.is_error);
    assert_eq!(
        text(&outcome),
        "begun\n[the command and everything it started were ended]\n[the call was cancelled]"
    );
}

#[tokio::test]
async fn a_call_over_its_time_is_stopped_with_everything_it_started() {
    let scene = Scene::new().await;
    let alive = scene.ear("alive");
    let mut registry = Registry::built_in().unwrap();
    registry.register(hasty_bash(500), Executor::BuiltIn(BuiltIn::Bash)).unwrap();
    let (plane, rules) = (Plane::new(registry), Rules::open());
    let args = r#"{"command":"exec 9>alive; echo begun >&9; (setsid sleep 1000 &); sleep 1000"}"#;
    let (authority, never) = (rules.authority(), CancellationToken::new());
    let call = plane.call(a_call("mcp__test__hasty", args), &authority, &scene.scope, &never);
    let settlement = call.await;
    alive.silence().await;
    let Settlement::TimedOut(outcome) = settlement else { panic!("{settlement:?}") };
    assert!(!text(&outcome).contains("did not stop"), "{}", text(&outcome));
    assert!(
        text(&outcome).ends_with("[the call took longer than 500 ms and was stopped]"),
        "{}",
        text(&outcome)
    );
}

#[tokio::test]
async fn no_secret_is_in_what_a_call_comes_to() {
    let scene = Scene::with(Mode::Off, &[("TOKEN", "hunter2-hunter2")]).await;
    // Escape sequences that cut the secret apart are gone when the model reads it.
    let split = r#"{"command":"printf 'x %s\\033[0m%s x\\n' ${TOKEN:0:5} ${TOKEN:5}; exit 1"}"#;
    let settlement = settle(&scene, "mcp__mxd__bash", split, &Rules::open()).await;
    assert_eq!(text(settlement.for_model().unwrap()), "x [redacted] x\n[exit code: 1]");
    let unknown = settle(&scene, "mcp__mxd__hunter2-hunter2", "{}", &Rules::open()).await;
    assert!(!denied(&unknown).1.contains("hunter2"), "{}", denied(&unknown).1);
    let status = r#"{"action":"status","id":"hunter2-hunter2"}"#;
    let listed = settle(&scene, "mcp__mxd__background", status, &Rules::open()).await;
    assert!(!text(listed.for_model().unwrap()).contains("hunter2"));
    let cut = presentable(
        Outcome::text("hunter2-hunter2 ".repeat(MAX_TEXT_BYTES)),
        &scene.scope.secrets,
        &scene.scope.kept,
    );
    assert!(!text(&cut).contains("hunter2"));
    for file in fs::read_dir(scene.scope.kept.path()).unwrap() {
        assert!(!fs::read_to_string(file.unwrap().path()).unwrap().contains("hunter2"));
    }
}

#[test]
fn names_are_taken_once_and_schemas_have_to_be_some() {
    let mut registry = Registry::built_in().unwrap();
    registry.register(hasty_bash(1), Executor::BuiltIn(BuiltIn::Bash)).unwrap();
    let again = registry.register(hasty_bash(1), Executor::BuiltIn(BuiltIn::Bash)).unwrap_err();
    assert!(matches!(again, RegistryError::Taken { .. }), "{again}");
    let names: Vec<String> = registry.specs().into_iter().map(|spec| spec.name).collect();
    let built_in = ["background", "bash", "edit_file", "list_files", "read_file", "search", "write_file"];
    let expected = built_in.map(|name| format!("mcp__mxd__{name}"));
    assert_eq!(names[..7], expected);
    assert_eq!(names[7..], ["mcp__test__hasty"]);
}

/// Arguments of any shape, with a liking for those of `bash`.
fn any_args() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::from("touch ran")),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    let value =
        leaf.prop_recursive(2, 16, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::from));
    let name = prop_oneof![
        3 => Just("command".to_owned()),
        2 => Just("foreground_timeout".to_owned()),
        2 => Just("run_in_background".to_owned()),
        1 => "\\PC{0,8}",
    ];
    prop::collection::vec((name, value), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

#[test]
fn arguments_that_do_not_fit_never_run_anything() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scene = runtime.block_on(Scene::new());
    let (plane, rules) = (plane(), Rules::open());
    let bash = mxd_tools::builtin::tools().into_iter().find(|tool| tool.name == "bash").unwrap();
    let schema = Schema::compile(&bash.input_schema).unwrap();
    proptest!(|(args in any_args())| {
        prop_assume!(!schema.problems(&args).is_empty());
        let (args, never) = (args.to_string(), CancellationToken::new());
        let authority = rules.authority();
        let call = plane.call(a_call("mcp__mxd__bash", &args), &authority, &scene.scope, &never);
        let settlement = runtime.block_on(call);
        prop_assert_eq!(denied(&settlement).0, "arguments_invalid");
        prop_assert!(!scene.path("ran").exists());
        prop_assert_eq!(fs::read_dir(scene.scope.kept.path()).unwrap().count(), 0);
    });
}
