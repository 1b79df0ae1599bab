//! What strangers upload: no way out, no end of time, no word of configuration.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::program::Home;

fn compile(home: &Home, sources: Value) -> Value {
    home.run("compile", json!({ "sources": sources }))
}

#[test]
fn paths_that_lead_out_are_refused_before_any_compiler_is_looked_for() {
    let home = Home::new();
    for path in ["../A.sol", "/etc/A.sol", "a/../../A.sol", "a\\A.sol", "", "a//b.sol", "C:/A.sol"] {
        let told = compile(&home, json!({ path: "contract A {}" }));
        assert_eq!(told["error"]["code"], "INVALID_REQUEST", "{path}: {told}");
    }
    for import in
        ["/etc/passwd", "../../../etc/passwd.sol", "/etc/x.sol", "file:///etc/x.sol", "lib/../../x.sol"]
    {
        let source = format!("import \"{import}\"; contract A {{}}");
        let told = compile(&home, json!({ "src/A.sol": source }));
        assert_eq!(told["error"]["code"], "INVALID_REQUEST", "{import}: {told}");
    }
    let source = "contract A {}";
    for extra in [
        json!({ "evm_version": "cancun\"\nffi = true" }),
        json!({ "remappings": ["@x/=../../"] }),
        json!({ "remappings": ["@x/=/etc/"] }),
        json!({ "project_id": "../x" }),
        json!({ "project_root": "/etc" }),
        json!({ "ffi": true }),
    ] {
        let mut request = json!({ "sources": { "A.sol": source } });
        request.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        home.refused("compile", request.clone(), "INVALID_REQUEST");
        request.as_object_mut().unwrap().remove("project_id");
    }
    home.refused("compile", json!({ "project_root": "/etc" }), "INVALID_REQUEST");
    home.refused("test", json!({ "project_root": "/" }), "INVALID_REQUEST");
}

#[test]
fn links_and_foreign_files_of_a_project_are_not_followed() {
    let home = Home::new();
    let secret = home.path("secret.sol");
    std::fs::File::create(&secret).unwrap().write_all(b"contract Secret {}").unwrap();
    let project = home.path("project");
    std::fs::create_dir_all(project.join("lib/x")).unwrap();
    std::fs::File::create(project.join("A.sol"))
        .unwrap()
        .write_all(b"import \"x/S.sol\"; contract A {}")
        .unwrap();
    std::os::unix::fs::symlink(&secret, project.join("lib/x/S.sol")).unwrap();
    home.configure(json!({ "project_roots": [project] }));
    let told = home.refused("compile", json!({ "project_root": project }), "COMPILER_FORGE_FAILED");
    assert!(told["message"].as_str().unwrap().contains("x/S.sol"), "{told}");
}

#[test]
fn too_much_is_refused() {
    let home = Home::new();
    let many: serde_json::Map<String, Value> = (0..2_001).map(|n| (format!("{n}.sol"), "".into())).collect();
    assert_eq!(compile(&home, many.into())["error"]["code"], "INVALID_REQUEST");
    let large = "x".repeat(5 << 20);
    assert_eq!(compile(&home, json!({ "A.sol": large }))["error"]["code"], "INVALID_REQUEST");
    assert_eq!(compile(&home, json!({ "foundry.toml": "ffi = true" }))["error"]["code"], "INVALID_REQUEST");
}

/// A compiler that records what it was given, and answers as told.
fn compiler(home: &Home, script: &str) {
    let path = home.path("solc");
    let mut file = std::fs::File::create(&path).unwrap();
    let version = "if [ \"$1\" = --version ]; then echo 'Version: 0.8.30+commit.0'; exit; fi";
    file.write_all(format!("#!/bin/sh\n{version}\n{script}\n").as_bytes()).unwrap();
    drop(file);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    home.configure(json!({ "solc": path }));
}

#[test]
fn compilers_that_are_bombed_are_ended() {
    let home = Home::new();
    for (bomb, words) in [
        ("while :; do :; done", "stopped after 2 seconds"),
        ("cat > /dev/null; exec yes", "printed more than 67108864 bytes"),
        ("exec python3 -c 'bytearray(5 << 30)'", "MemoryError"),
        ("exec python3 -c 'open(\"big\", \"wb\").write(bytes(2 << 20))'", "ended with"),
    ] {
        compiler(&home, bomb);
        if words.contains("seconds") {
            home.configure(json!({ "solc": home.path("solc"), "compile_seconds": 2 }));
        }
        let told = compile(&home, json!({ "A.sol": "contract A {}" }));
        assert_eq!(told["error"]["code"], "COMPILER_FORGE_FAILED", "{bomb}: {told}");
        assert!(told["error"]["message"].as_str().unwrap().contains(words), "{bomb}: {told}");
    }
}

#[test]
fn a_compiler_that_complains_at_length_comes_to_its_end() {
    let home = Home::new();
    compiler(&home, "cat > /dev/null; head -c 1000000 /dev/zero >&2; echo '{}'");
    assert_eq!(compile(&home, json!({ "A.sol": "contract A {}" }))["ok"], true);
}

#[test]
fn a_compiler_that_is_gone_with_its_caller_leaves_nothing_behind() {
    let home = Home::new();
    let pipe = home.path("alive");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Whoever has the pipe open for writing is alive; its reader is told when the last one is gone.
    compiler(&home, &format!("exec 3> {}; echo begun >&3; while :; do :; done", pipe.display()));
    let mut mcp = home.mcp();
    let id = mcp.begin("tachyon_compile", &json!({ "sources": { "A.sol": "contract A {}" } }));
    let mut reader = std::io::BufReader::new(std::fs::File::open(&pipe).unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
    assert_eq!(line, "begun\n");
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    mcp.say(&cancel.to_string());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).unwrap();
    assert!(mcp.close().success());
}

#[test]
fn a_compiler_gets_the_settings_and_nothing_of_the_environment() {
    let home = Home::new().variable("SECRET_OF_THE_SERVER", "do-not-tell");
    let record = home.path("record");
    compiler(&home, &format!("(env; pwd; cat) > {}; echo '{{}}'", record.display()));
    let request = json!({
        "sources": { "A.sol": "pragma solidity ^0.8.0; contract A {}", "foundry.toml": "ffi = true", "remappings.txt": "@x/=/etc/" },
        "via_ir": true, "optimize": false, "optimizer_runs": 7, "evm_version": "paris",
    });
    home.done("compile", request);
    let told = std::fs::read_to_string(record).unwrap();
    assert!(!told.contains("do-not-tell"), "{told}");
    assert!(!told.contains("ffi"), "{told}");
    let input: Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
    assert_eq!(input["settings"]["viaIR"], true);
    assert_eq!(input["settings"]["evmVersion"], "paris");
    assert_eq!(input["settings"]["optimizer"], json!({ "enabled": false, "runs": 7 }));
    assert_eq!(input["sources"].as_object().unwrap().len(), 1);
}

#[test]
fn tests_run_by_the_rules_they_are_compiled_for() {
    let home = Home::new();
    // Its code begins with `PUSH0`, an instruction that Shanghai brought.
    let contract = json!({
        "abi": [{ "type": "function", "name": "test", "inputs": [], "outputs": [], "stateMutability": "nonpayable" }],
        "evm": { "bytecode": { "object": "625f5ff36000526003601df3" }, "deployedBytecode": { "object": "5f5ff3" } },
    });
    let output = json!({ "contracts": { "T.sol": { "T": contract } } });
    compiler(&home, &format!("cat > /dev/null; echo '{output}'"));
    for (rules, failed) in [("paris", 1), ("shanghai", 0), ("osaka", 0)] {
        let told = home.run("test", json!({ "sources": { "T.sol": "contract T {}" }, "evm_version": rules }));
        assert_eq!(told["data"]["failed"], failed, "{rules}: {told:#}");
        assert_eq!(told["data"]["passed"], 1 - failed, "{rules}: {told:#}");
    }
    let told = home.run("test", json!({ "sources": { "T.sol": "contract T {}" } }));
    assert_eq!(told["data"]["passed"], 1, "{told:#}");
}

#[test]
fn compilers_that_misbehave_are_errors() {
    let home = Home::new();
    for script in ["cat > /dev/null; echo nonsense", "exit 3", "cat > /dev/null; kill -9 $$"] {
        compiler(&home, script);
        let told = compile(&home, json!({ "A.sol": "contract A {}" }));
        assert_eq!(told["error"]["code"], "COMPILER_FORGE_FAILED", "{script}: {told}");
    }
    compiler(&home, "echo '{}'");
    let told = compile(&home, json!({ "A.sol": "pragma solidity ^0.7.0; contract A {}" }));
    let message = told["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("^0.7.0") && message.contains("0.8.30") && message.contains("solc install"),
        "{told}"
    );
    let errors = r#"{"errors":[{"severity":"error","message":"bad","errorCode":"1","sourceLocation":{"file":"A.sol","start":12,"end":13}}]}"#;
    compiler(&home, &format!("cat > /dev/null; echo '{errors}'"));
    let told = compile(&home, json!({ "A.sol": "contract A {\n  x\n}" }));
    assert_eq!(told["error"]["code"], "COMPILER_SOLC_FAILED");
    let one = &told["error"]["details"]["diagnostics"][0];
    assert_eq!((&one["file"], &one["line"], &one["column"]), (&json!("A.sol"), &json!(1), &json!(13)));
}
