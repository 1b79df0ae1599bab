//! The API, attacked from its own document by a program that we did not write.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::python;
use crate::rounds;
use crate::stage::Stage;

/// Routes that end the daemon or break the project that is attacked, that leave its folder, or that never end.
const LEFT_OUT: &str =
    "^/(restart-daemon|events|auth/logout|projects|projects/\\{project\\}(/restart)?|.*config.*)$";

#[tokio::test(flavor = "multi_thread")]
async fn no_request_that_fits_or_breaks_the_document_gets_an_answer_that_does_not() {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fuzz.txt");
    let python = tokio::task::spawn_blocking(move || python::python("schemathesis-venv", &requirements))
        .await
        .unwrap();
    let stage = Stage::set(json!([])).await;
    let task = stage.task("Attacked").await;
    // What is named in paths is there, so that what is behind the names is reached.
    let names = format!(
        "[parameters]\n\"path.project\" = {:?}\n\"path.task\" = {task:?}\n\"path.name\" = \"bg-1\"\n",
        stage.project
    );
    let settings = stage.ground.path().join("schemathesis.toml");
    crate::stage::write(settings.clone(), &names);
    let document = stage.ground.path().join("openapi.json");
    crate::stage::write(document.clone(), &mxd_server::openapi().to_string());
    let (phases, examples) =
        if rounds::size(0, 1) == 0 { ("fuzzing", "3") } else { ("coverage,fuzzing", "50") };
    let (url, token) = (stage.url(""), stage.running().contact().token.clone());
    let folder = stage.ground.path().to_owned();
    let attacked = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(python.with_file_name("schemathesis"));
        command.arg("--config-file").arg(settings).arg("run").arg(document).args(["--url", &url]);
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
        command.args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ]);
        command.args(["--phases", phases, "--max-examples", examples, "--seed", "7"]);
        command.args([
            "--exclude-path-regex",
            LEFT_OUT,
            "--no-color",
            "--request-timeout",
            "20",
            // Its own book-keeping is not made for several at once.
            "--workers",
            "1",
        ]);
        command.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap()
    });
    let output = attacked.await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}\n{error}");
    // How much was tried.
    println!("{}", &told[told.find(" SUMMARY ").unwrap_or_default()..]);
    assert_eq!(stage.get("/health").await.1["status"], "ok");
    stage.leave().await;
}
