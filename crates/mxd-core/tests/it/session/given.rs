//! What an agent is given by whoever created its task: a manifest, a skill, and not every tool about the tree.

use mxd_core::event::Event;
use mxd_core::event::body::OrchestrationStarted;

use super::script::{mxd, results};
use super::stage::Stage;

#[test]
fn what_is_withheld_is_not_done_and_the_rest_is() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let withheld = vec!["mcp__mxd__create_task".to_owned()];
    let (model, provider) = ("m".to_owned(), "p".to_owned());
    stage.append(vec![Event::new(task, OrchestrationStarted { resume: true, model, provider, withheld })]);
    let before = stage.tasks().count();
    let outcome = stage.calls(
        task,
        vec![mxd("c", "create_task", r#"{"title":"more","description":""}"#), mxd("f", "get_tree", "{}")],
    );
    let results = results(&outcome);
    assert!(results[0].1.contains("does not give you create_task"), "{results:?}");
    assert!(!results[1].1.contains("does not give you"), "{results:?}");
    assert_eq!(stage.tasks().count(), before);
    assert_eq!(stage.fold(), stage.state, "it is in the log");
}

#[test]
fn a_creator_names_a_manifest_and_a_skill() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let args = r#"{"title":"below","description":"","manifest":"agents/reader.json","skill":"look"}"#;
    stage.calls(
        task,
        vec![
            mxd("c", "create_task", args),
            mxd("d", "create_task", r#"{"title":"other","description":"","manifest":" ","skill":""}"#),
        ],
    );
    let below = |title: &str| {
        let node = stage.state.tree().nodes().values().find(|node| node.title == title).expect("a task");
        let fields = node.task().expect("a task");
        (fields.manifest.clone(), fields.skill.clone())
    };
    assert_eq!(below("below"), (Some("agents/reader.json".to_owned()), Some("look".to_owned())));
    assert_eq!(below("other"), (None, None), "what is empty names nothing");
}
