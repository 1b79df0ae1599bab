//! Results in all their shapes, and what becomes of those that are too long.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::plane::result::{MAX_BLOCKS, MAX_IMAGES, outcome};
use mxd_tools::plane::{MAX_TEXT_BYTES, presentable};
use mxd_tools::secrets::Secrets;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scene::text;

#[test]
fn every_known_shape_is_read() {
    for (result, shown) in [
        (json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }), "a\nb"),
        (json!({ "text": "plain" }), "plain"),
        (json!({ "result": "plain" }), "plain"),
        (json!({ "result": { "n": 1 } }), "{\"n\":1}"),
        (json!("plain"), "plain"),
        (json!({ "content": "plain" }), "plain"),
        (json!([{ "type": "text", "text": "listed" }]), "listed"),
        (json!({ "type": "text", "text": "alone" }), "alone"),
        (json!({ "content": [{ "type": "text" }] }), "{\"type\":\"text\"}"),
        (json!({ "content": [{ "type": "odd", "x": [1] }] }), "{\"type\":\"odd\",\"x\":[1]}"),
        (json!({ "content": [7, "eight", null] }), "7\n\"eight\"\nnull"),
        (json!({ "x": 1 }), "{\"x\":1}"),
        (json!([1, 2]), "[1,2]"),
        (json!(42), "42"),
        (json!(null), ""),
        (
            json!({ "content": [{ "type": "resource", "resource": { "uri": "file:///a", "text": "inside" } }] }),
            "[resource file:///a]\ninside",
        ),
        (
            json!({ "content": [{ "type": "resource_link", "uri": "file:///a", "name": "a", "description": "d" }] }),
            "[link to file:///a: a: d]",
        ),
        (
            json!({ "content": [{ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }] }),
            "[audio of type \"audio/wav\", about 3 bytes, which cannot be shown]",
        ),
        (
            json!({ "content": [{ "type": "resource",
                "resource": { "uri": "x:y", "blob": "AAAAAAAA", "mimeType": "application/zip" } }] }),
            "[resource x:y of type \"application/zip\", about 6 bytes, which cannot be shown]",
        ),
        (
            json!({ "content": [{ "type": "image", "data": "no base64", "mimeType": "image/png" }] }),
            "[a picture of type \"image/png\", about 6 bytes, which cannot be shown]",
        ),
        (
            json!({ "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/tiff" }] }),
            "[a picture of type \"image/tiff\", about 3 bytes, which cannot be shown]",
        ),
    ] {
        let read = outcome(result.clone());
        assert_eq!(text(&read), shown, "{result}");
        assert!(!read.is_error);
    }
}

#[test]
fn errors_pictures_and_structure_are_kept() {
    let read = outcome(json!({
        "isError": true,
        "structuredContent": { "n": 1 },
        "content": [
            { "type": "text", "text": "before" },
            { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
            { "type": "resource", "resource": { "uri": "x:y", "blob": "R0lGODlh", "mimeType": "image/gif" } },
            { "type": "text", "text": "after" },
        ],
    }));
    let image =
        |media_type: &str, data: &str| Part::Image { media_type: media_type.into(), data: data.into() };
    let expected = Outcome {
        parts: vec![
            Part::Text("before".into()),
            image("image/png", "iVBORw0KGgo="),
            image("image/gif", "R0lGODlh"),
            Part::Text("after".into()),
        ],
        structured: Some(json!({ "n": 1 })),
        is_error: true,
        ..Outcome::default()
    };
    assert_eq!(read, expected);
    assert_eq!(text(&outcome(json!({ "content": [], "structuredContent": { "n": 1 } }))), "{\"n\":1}");
    assert_eq!(text(&outcome(json!({ "structuredContent": [1] }))), "[1]");
}

#[test]
fn floods_of_blocks_and_pictures_are_cut() {
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let read = outcome(json!({ "content": vec![image; MAX_IMAGES + 2] }));
    assert_eq!(read.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count(), MAX_IMAGES);
    let read = outcome(json!({ "content": vec![json!({ "type": "text", "text": "" }); MAX_BLOCKS + 5] }));
    assert!(text(&read).ends_with("[5 more pieces are left out]"));
}

#[test]
fn what_is_too_long_is_kept_once_and_privately() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path()).unwrap();
    let long: String = (0..40_000).map(|line| format!("line {line} secret-value\n")).collect();
    let secrets = Secrets::new(["secret-value"]).unwrap();
    let shown = [(); 2].map(|()| text(&presentable(Outcome::text(long.clone()), &secrets, &kept)));
    assert_eq!(shown[0], shown[1]);
    assert!(shown[0].len() < MAX_TEXT_BYTES / 2 && shown[0].starts_with("line 0 [redacted]\n"));
    assert!(shown[0].ends_with("line 39999 [redacted]\n"));
    let files: Vec<_> = fs::read_dir(kept.path()).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert!(
        shown[0].contains(&format!("all of it is in {}: read_file", file.display())),
        "{}",
        &shown[0][19_000..]
    );
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.len() == 68 && name.ends_with(".txt"), "{name}");
    assert_eq!(fs::read_to_string(file).unwrap(), long.replace("secret-value", "[redacted]"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_link_in_the_place_of_a_kept_file_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path()).unwrap();
    let text = "x".repeat(10);
    let path = kept.store(&text).unwrap();
    let victim = folder.path().join("victim");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    std::os::unix::fs::symlink(&victim, path.with_extension("txt.part")).unwrap();
    assert_eq!(kept.store(&text).unwrap(), path);
    assert!(!victim.exists() && !path.is_symlink());
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path()).unwrap();
    fs::remove_dir(kept.path()).unwrap();
    let shown = text(&presentable(Outcome::text("x".repeat(MAX_TEXT_BYTES + 1)), &Secrets::default(), &kept));
    assert!(
        shown.contains("the middle is lost, because it could not be kept: "),
        "{}",
        &shown[20_000..20_200]
    );
}

#[test]
fn secrets_leave_structure_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path()).unwrap();
    let secrets = Secrets::new(["secret-value"]).unwrap();
    let data = STANDARD.encode("a picture with secret-value in it");
    let given = Outcome {
        parts: vec![Part::Image { media_type: "image/png".into(), data }],
        structured: Some(json!({ "k": "secret-value" })),
        is_error: false,
        ..Outcome::default()
    };
    let clean = presentable(given, &secrets, &kept);
    assert_eq!(text(&clean), "[a picture of type image/png was left out: [redacted]]");
    assert_eq!(clean.structured, Some(json!({ "k": "[redacted]" })));
    assert_eq!(text(&presentable(Outcome::default(), &secrets, &kept)), "[the tool returned nothing]");
}

/// Any JSON, with a liking for the words that mean something.
fn any_result() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("type".to_owned()),
        Just("text".to_owned()),
        Just("content".to_owned()),
        Just("image".to_owned()),
        Just("resource".to_owned()),
        Just("data".to_owned()),
        Just("isError".to_owned()),
        "\\PC{0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_a_result(result in any_result()) {
        let read = outcome(result);
        let texts_are_joined = !read.parts.windows(2).any(|pair| matches!(pair, [Part::Text(_), Part::Text(_)]));
        prop_assert!(texts_are_joined);
    }
}
