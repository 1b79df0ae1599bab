//! Credentials in plain text are found; ordinary values are let through.

use mxd_core::manifest::{AgentManifest, Fault, Placeholders, Problem};
use serde_json::{Value, json};

use super::fixtures::{DIGEST, good};

/// What is said about a value, when it is taken for a credential.
pub(super) fn finding(manifest: &Value) -> Option<(String, String)> {
    let text = manifest.to_string();
    match AgentManifest::parse(text.as_bytes(), Placeholders::Refuse) {
        Ok(_) => None,
        Err(problems) => match &problems.problems[..] {
            [Problem { fault: Fault::LiteralCredential(finding), .. }] => {
                Some((finding.what().to_owned(), finding.hint()))
            }
            _ => panic!("{problems}"),
        },
    }
}

pub(super) fn in_env(item: &str) -> Option<(String, String)> {
    let mut manifest = good();
    manifest["servers"][0]["env"] = json!([item]);
    finding(&manifest)
}

pub(super) fn in_header(name: &str, value: &str) -> Option<(String, String)> {
    let mut manifest = good();
    manifest["servers"][1]["headers"] = json!({name: value});
    finding(&manifest)
}

pub(super) fn in_args(args: &[&str]) -> Option<(String, String)> {
    let mut manifest = good();
    manifest["servers"][0]["args"] = json!(args);
    finding(&manifest)
}

/// A prefix is joined to its rest here, so that no file holds anything that looks like a key to a scanner.
const KEYS: &[(&str, &str, &str)] = &[
    ("sk-", "proj-a8B3c9D2e7F1g6H5j4K0", "an OpenAI key"),
    ("sk-", "ant-api03-a8B3c9D2e7F1g6H5", "an Anthropic key"),
    ("ghp", "_16C7e42F292c6912E7710c838347Ae178B4a", "a GitHub token"),
    ("gho", "_16C7e42F292c6912E7710c838347Ae178B4a", "a GitHub token"),
    ("ghs", "_16C7e42F292c6912E7710c838347Ae178B4a", "a GitHub token"),
    ("github", "_pat_11ABCDEFG0a8B3c9D2e7F1g6", "a GitHub token"),
    ("glpat", "-a8B3c9D2e7F1g6H5j4K0", "a GitLab token"),
    ("xoxb", "-123456789012-abcdefGHIJ", "a Slack token"),
    ("xoxp", "-123456789012-abcdefGHIJ", "a Slack token"),
    ("xoxa", "-2-123456789012-abcdefGHIJ", "a Slack token"),
    ("AKIA", "IOSFODNN7EXAMPLE", "an AWS key"),
    ("ASIA", "IOSFODNN7EXAMPLE", "an AWS key"),
    ("AIza", "SyA8b3C9d2E7f1G6h5J4k0L3m2N1o9P8q7R", "a Google key"),
    ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "a JSON web token"),
    ("npm", "_a8B3c9D2e7F1g6H5j4K0l3M2n1O9p8Q7r6S5", "an npm token"),
    ("pypi", "-AgEIcHlwaS5vcmcCJGE4YjNjOWQyZTdmMWc2", "a PyPI token"),
    ("hf", "_a8B3c9D2e7F1g6H5j4K0l3M2n1O9", "a Hugging Face token"),
    ("-----BEGIN ", "RSA PRIVATE KEY-----\nMIIE", "a private key"),
    ("-----BEGIN ", "OPENSSH PRIVATE KEY-----", "a private key"),
    ("postgres://app:", "hunter2@db.example.com/x", "a password in a URL"),
    ("Bearer ", "a8b3c9d2e7f1g6h5j4k0", "a token"),
    ("token ", "a8b3c9d2e7f1g6h5j4k0", "a token"),
];

#[test]
fn known_shapes_are_found_anywhere() {
    for (prefix, rest, what) in KEYS {
        let key = format!("{prefix}{rest}");
        let told = |found: Option<(String, String)>| found.map(|(what, _)| what);
        assert_eq!(told(in_env(&format!("SETTING={key}"))).as_deref(), Some(*what), "{key}");
        assert_eq!(told(in_env(&format!("SETTING=before {key}"))).as_deref(), Some(*what), "{key}");
        assert_eq!(told(in_args(&["--setting", &key])).as_deref(), Some(*what), "{key}");
        assert_eq!(told(in_args(&[&format!("--setting={key}")])).as_deref(), Some(*what), "{key}");
        if !key.contains('\n') {
            assert_eq!(told(in_header("X-Setting", &key)).as_deref(), Some(*what), "{key}");
        }
    }
}

#[test]
fn random_values_under_secret_names_are_found() {
    for name in
        ["API_KEY", "GITHUB_TOKEN", "clientSecret", "DB_PASS", "AUTH", "SESSION_COOKIE", "MY_CREDENTIALS"]
    {
        for value in
            ["9f8b7c6d5e4f3a2b1c0d9e8f", "a8B3c9D2e7F1g6H5j4K0", "550e8400-e29b-41d4-a716-446655440000"]
        {
            let found = in_env(&format!("{name}={value}"));
            assert_eq!(found.unwrap_or_else(|| panic!("{name}={value}")).0, "a credential");
        }
    }
    assert!(in_header("X-Auth-Key", "a8B3c9D2e7F1g6H5j4K0").is_some());
    assert!(in_args(&["--api-key", "a8B3c9D2e7F1g6H5j4K0"]).is_some());
}

#[test]
fn ordinary_values_are_let_through() {
    let uuid = "550e8400-e29b-41d4-a716-446655440000";
    let items = [
        "NODE_ENV=production".to_owned(),
        "PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
        "BASE_URL=https://api.example.com/v1/models?limit=20".to_owned(),
        "DATABASE_URL=postgres://app@db.example.com:5432/app".to_owned(),
        "DATABASE_URL=postgres://app:$env:DB_PASSWORD@db.example.com/app".to_owned(),
        format!("IMAGE={DIGEST}"),
        "COMMIT=8f434346648f6b96df89dda901c5176b10a6d839".to_owned(),
        format!("WORKSPACE={uuid}"),
        format!("TENANT_ID={uuid}"),
        format!("ACCESS_TOKEN_ID={uuid}"),
        "SIGNING_KEY_FINGERPRINT=8f434346648f6b96df89dda901c5176b10a6d839".to_owned(),
        "VERSION=2026.1.14-rc.1+build.77".to_owned(),
        "PRIVATE_KEY_FILE=/etc/keys/server-2026-01-14.pem".to_owned(),
        "SSH_KEY_PATH=~/.ssh/id_ed25519_deploy_2026".to_owned(),
        "AUTH_METHOD=client_credentials_post_2".to_owned(),
        "TOKEN_URL=https://login.example.com/oauth2/v2.0/token".to_owned(),
        "TOKEN_TTL=86400".to_owned(),
        "PUBLIC_KEY=a8B3c9D2e7F1g6H5j4K0".to_owned(),
        "KEYBOARD=us-international-2026-layout".to_owned(),
        "MODE=sk-learn-utilities-version-2".to_owned(),
        "PACKAGE=pypi-server-for-our-company-mirror-2".to_owned(),
        "SORT_KEY=created_at".to_owned(),
        "API_KEY=$env:API_KEY".to_owned(),
        "GREETING=The bearer of this letter is known to us".to_owned(),
        "PASSWORD=$env:PASSWORD".to_owned(),
        "CERT=-----BEGIN CERTIFICATE-----".to_owned(),
        "PUB=-----BEGIN PUBLIC KEY-----".to_owned(),
    ];
    for item in items {
        assert_eq!(in_env(&item), None, "{item}");
    }
    let args: &[&[&str]] = &[
        &["-y", "@modelcontextprotocol/server-filesystem@2026.1.14", "/home/me/projects/2026-roadmap"],
        &["--repository", "/srv/git/8f434346648f6b96df89dda901c5176b10a6d839"],
        &["--key-file", "/etc/keys/id_ed25519_2026"],
        &["--integrity=sha512-a8B3c9D2e7F1g6H5j4K0l3M2n1O9p8Q7r6S5t4U3v2W1"],
    ];
    for args in args {
        assert_eq!(in_args(args), None, "{args:?}");
    }
    assert_eq!(in_header("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) matrix/0.1.0"), None);
    assert_eq!(in_header("Authorization", "Bearer $env:TOKEN"), None);
    assert_eq!(in_header("Cookie", "session=$env:SESSION"), None);
}

#[test]
fn the_fix_is_told_and_the_credential_is_not() {
    let key = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let (what, hint) = in_env(&format!("GITHUB_TOKEN={key}")).unwrap();
    assert!(hint.contains("GITHUB_TOKEN=$env:GITHUB_TOKEN"), "{hint}");
    assert!(!what.contains(&key) && !hint.contains(&key));
    let (_, hint) = in_header("X-Api-Key", &key).unwrap();
    assert!(hint.contains("$env:X_API_KEY"), "{hint}");
    let (_, hint) = in_args(&["--token", &key]).unwrap();
    assert!(hint.contains("env or headers"), "{hint}");
}

#[test]
fn a_credential_in_the_wrong_form_is_not_quoted() {
    let key = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let random = "a8B3c9D2/e7F1g6H5j4+K0";
    for item in [key.clone(), format!("{key}=="), random.to_owned(), format!("{random}==")] {
        let mut manifest = good();
        manifest["servers"][0]["env"] = json!([item]);
        let problems =
            AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Refuse).unwrap_err();
        let told = format!("{problems} {problems:?} {}", problems.problems[0].fault.hint());
        assert!(!told.contains(&key) && !told.contains(random), "{told}");
    }
    let mut manifest = good();
    manifest["servers"][0]["command"] = json!(key);
    assert_eq!(finding(&manifest).unwrap().0, "a GitHub token");
}
