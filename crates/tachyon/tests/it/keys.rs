//! Keys that the program makes and takes in.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::json;

use crate::node::Node;
use crate::program::Home;

const PASSWORD: &str = "a long enough password";
const KEY: &str = "4f3edf983ac636a65a842ce7c78d9aa706d3b113bce9c46f30d7d21715b23b1d";
const ADDRESS: &str = "0x90F8bf6A479f320ead074411a4B0e7944Ea8c9C1";

fn home() -> Home {
    Home::new().variable("PASSWORD", PASSWORD).variable("KEY", KEY).variable("SHORT", "short")
}

fn key(home: &Home, arguments: &[&str]) -> Output {
    home.command().arg("key").args(arguments).output().unwrap()
}

fn told(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_new_key_is_encrypted_and_nobody_elses_business() {
    let home = home();
    assert_eq!(told(&key(&home, &["list"])), "");
    let line = told(&key(&home, &["new", "payer", "--password", "$env:PASSWORD"]));
    let path = home.data().join("keys/payer.json");
    assert!(line.starts_with("payer 0x") && line.trim_end().ends_with(path.to_str().unwrap()), "{line}");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left lying about");
    let text = std::fs::read(&path).unwrap();
    assert!(!key(&home, &["new", "payer", "--password", "$env:PASSWORD"]).status.success());
    assert_eq!(std::fs::read(&path).unwrap(), text, "a key is never overwritten");
    let other = told(&key(&home, &["new", "other", "--password", "$env:PASSWORD"]));
    assert_eq!(told(&key(&home, &["list"])), format!("{other}{line}"));
}

#[test]
fn what_is_no_key_or_no_password_is_refused_without_being_repeated() {
    let home = home();
    for (arguments, secret) in [
        (["new", "a", "--password", "$env:SHORT"], "short\""),
        (["new", "a", "--password", "my-secret-itself"], "my-secret-itself"),
        (["new", "../a", "--password", "$env:PASSWORD"], PASSWORD),
        (["import", "a", "--key", "$env:PASSWORD"], PASSWORD),
        (["import", "a", "--key", KEY], KEY),
        (["new", "a", "--password", "$env:NOT_SET"], PASSWORD),
    ] {
        let output = key(&home, &arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!words.contains(secret) && !words.is_empty(), "{words}");
    }
    assert_eq!(told(&key(&home, &["list"])), "");
}

#[test]
fn a_key_that_was_taken_in_signs_with_its_password_only() {
    let node = Node::start();
    let home =
        crate::money::home(&node).variable("PASSWORD", PASSWORD).variable("KEY", KEY).variable("WRONG", "x");
    let line = told(&key(&home, &["import", "payer", "--key", "$env:KEY", "--password", "$env:PASSWORD"]));
    assert!(line.starts_with(&format!("payer {ADDRESS} ")), "{line}");
    let keystore = home.data().join("keys/payer.json");
    assert!(!std::fs::read_to_string(&keystore).unwrap().contains(KEY));
    let configure = |password: &str| {
        let mut config = crate::money::config(&node);
        config["accounts"] =
            json!([{ "name": "payer", "key": { "keystore": keystore, "password": password } }]);
        home.configure(config);
    };
    configure("$env:WRONG");
    home.refused("deploy", crate::money::deploy("k"), "WALLET_NOT_CONFIGURED");
    configure("$env:PASSWORD");
    home.done("deploy", crate::money::deploy("k"));
    let ledger = node.ledger.lock().unwrap();
    assert_eq!((ledger.mined.len(), ledger.mined[0].1), (1, ADDRESS.parse().unwrap()));
}
