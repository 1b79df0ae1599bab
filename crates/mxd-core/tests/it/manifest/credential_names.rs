//! Under a name that means a credential only a reference may stand, however simple the value looks.

use serde_json::json;

use super::fixtures::good;
use super::literals::{finding, in_args, in_env, in_header};

/// Names of variables that mean a credential.
const NAMES: &[&str] = &[
    "API_KEY",
    "APIKEY",
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GITHUB_PAT",
    "GH_TOKEN_2",
    "TOKEN_GITHUB",
    "SLACK_BOT_TOKEN",
    "PGPASSWORD",
    "MYSQL_PWD",
    "REDIS_PASS",
    "DB_PASSWORD",
    "DB_PW",
    "DB_PASSWD",
    "KEY_PASSPHRASE",
    "CLIENT_SECRET",
    "clientSecret",
    "CLIENTSECRET",
    "JWT_SECRET",
    "JWT",
    "AUTHTOKEN",
    "NPM_AUTH",
    "BASIC_AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "PRIVATE_KEY",
    "ENCRYPTION_KEY",
    "SIGNING_KEY",
    "LICENSE_KEY",
    "MNEMONIC",
    "SEED_PHRASE",
    "WALLET_MNEMONIC",
    "CREDENTIALS",
    "DB_CREDS",
    "WIFI_PSK",
];

#[test]
fn any_text_under_the_name_of_a_credential_is_refused() {
    for name in NAMES {
        for value in ["hunter2", "changeme", "a", "12345678901", "test test test junk", "${SOMETHING}"] {
            let found = in_env(&format!("{name}={value}"));
            assert_eq!(found.map(|(what, _)| what).as_deref(), Some("a credential"), "{name}={value}");
        }
        assert_eq!(in_env(&format!("{name}=$env:{name}")), None, "{name}");
        let flag = format!("--{}", name.to_lowercase().replace('_', "-"));
        assert!(in_args(&[&flag, "hunter2"]).is_some(), "{flag} hunter2");
        assert!(in_args(&[&format!("{flag}=hunter2")]).is_some(), "{flag}=hunter2");
        assert!(in_args(&["run", "-e", &format!("{name}=hunter2"), "image"]).is_some(), "-e {name}");
        assert!(in_header(&format!("X-{}", flag.trim_matches('-')), "hunter2").is_some(), "X-{name}");
    }
}

#[test]
fn credentials_inside_of_a_text_are_refused() {
    for args in [
        &["--header", "Authorization: Bearer hunter2"][..],
        &["--header=Authorization: hunter2"],
        &["-H", "X-Api-Key:hunter2"],
        &["-c", "export API_KEY=hunter2; exec server"],
        &["-c", "API_KEY=hunter2 exec server"],
        &["--url", "https://api.example.com/v1?limit=3&api_key=hunter2"],
        &["https://api.example.com/v1?access_token=hunter2"],
        &["--config", r#"{"headers": {"Authorization": "hunter2"}}"#],
        &["--dsn", "host=db user=app password=hunter2"],
        &["--dsn=Server=db;User=app;Password=hunter2;"],
    ] {
        assert!(in_args(args).is_some(), "{args:?}");
    }
    for item in [
        r#"OPENAPI_MCP_HEADERS={"Authorization": "Bearer hunter2", "Notion-Version": "2022-06-28"}"#,
        r#"SETTINGS={\"token\": \"hunter2\"}"#,
        "TOKEN_URL=https://login.example.com/token?client_secret=hunter2",
        "CONNECTION=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=aGVsbG8=",
        "SETTING=legal winner thank year wave sausage worth useful legal winner thank yellow",
    ] {
        assert!(in_env(item).is_some(), "{item}");
    }
}

#[test]
fn credentials_in_the_query_of_an_endpoint_are_refused() {
    for query in [
        "api_key=hunter2",
        "a=b&apiKey=hunter2",
        "token=x",
        "key=x",
        "sig=x",
        "auth=x",
        "X-Amz-Security-Token=x",
    ] {
        let mut manifest = good();
        manifest["servers"][1]["endpoint"] = json!(format!("https://mcp.example.com/mcp?{query}"));
        assert!(finding(&manifest).is_some(), "{query}");
    }
    for query in
        ["profile=work", "sort_key=created", "token_type=user", "region=eu&limit=10", "max_tokens=4096"]
    {
        let mut manifest = good();
        manifest["servers"][1]["endpoint"] = json!(format!("https://mcp.example.com/mcp?{query}"));
        assert_eq!(finding(&manifest), None, "{query}");
    }
}

#[test]
fn credentials_in_descriptions_are_refused() {
    let key = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let mut manifest = good();
    manifest["description"] = json!(format!("Works with {key} only."));
    assert_eq!(finding(&manifest).unwrap().0, "a GitHub token");
    let mut manifest = good();
    manifest["servers"][0]["tools"][0]["description"] = json!(format!("Use {key}."));
    let (_, hint) = finding(&manifest).unwrap();
    assert!(hint.contains("Remove it") && !hint.contains(&key), "{hint}");
    let mut manifest = good();
    manifest["description"] = json!("Asks for the password: it is never stored. token=opaque text of a page");
    assert_eq!(finding(&manifest), None);
}

/// Values that are no credentials although their names or their look come near.
const HARMLESS: &[&str] = &[
    "MAX_TOKENS=4096",
    "TOKENS_PER_MINUTE=90000",
    "MAX_OUTPUT_TOKENS=8192",
    "TOKEN_LIMIT=100",
    "TOKEN_TTL=3600",
    "TOKENIZER=cl100k_base",
    "TOKEN_TYPE=bearer",
    "TOKEN_URL=https://login.example.com/token",
    "SECRET_NAME=projects/demo/secrets/database",
    "SECRET_MANAGER=aws",
    "SECRETS_DIR=/run/secrets",
    "SECRET_ARN=arn:aws:secretsmanager:eu-west-1:123456789012:secret:demo",
    "PASSWORD_FILE=/run/secrets/password",
    "PASSWORD_POLICY=strict",
    "PASSWORD_MIN=12",
    "KEY_FILE=/etc/keys/server.pem",
    "SSH_KEY=/home/me/.ssh/id_ed25519",
    "SSL_KEY=./certs/server.key",
    "GOOGLE_APPLICATION_CREDENTIALS=/home/me/service-account.json",
    "AWS_SHARED_CREDENTIALS_FILE=/home/me/.aws/credentials",
    "AWS_PROFILE=default",
    "AWS_REGION=eu-central-1",
    "PUBLIC_KEY=a8B3c9D2e7F1g6H5j4K0",
    "SORT_KEY=created_at",
    "PARTITION_KEY=tenant",
    "PRIMARY_KEY=id",
    "CACHE_KEY=v3",
    "PROJECT_KEY=DEMO",
    "SPACE_KEY=ENG",
    "KEYBOARD=us",
    "MONKEY=banana",
    "HOTKEYS=vim",
    "AUTH=none",
    "AUTH_MODE=oauth",
    "AUTH_PROVIDER=github",
    "AUTH_ENABLED=true",
    "REQUIRE_AUTH=false",
    "DISABLE_AUTH=1",
    "USE_TOKEN=true",
    "OAUTH_CLIENT_ID=my-client",
    "OAUTH_SCOPES=read write",
    "OAUTH_REDIRECT_URI=http://localhost:3000/callback",
    "SESSION=main",
    "SESSION_STORE=redis",
    "SESSION_TIMEOUT=30",
    "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
    "SSH_AUTH_SOCK=/tmp/agent.sock",
    "COOKIE_DOMAIN=example.com",
    "SEED=42",
    "RANDOM_SEED=20261118",
    "COMPASS=north",
    "BYPASS=localhost",
    "PASSES=3",
    "AUTHOR=Ada Lovelace",
    "AUTHORITY=https://login.example.com",
    "PATTERN=*.rs",
    "PATH=/usr/bin:/bin",
    "PWD_LENGTH=12",
    "LOG_LEVEL=debug",
    "PORT=8080",
    "DATABASE_URL=postgres://app@db.example.com:5432/app?sslmode=require",
    "REDIS_URL=redis://localhost:6379/0",
    "CONNECTION=host=db;user=app;port=5432",
    "PROMPT=Never tell anyone the password, even when they ask for it.",
    "GIT_COMMIT=8f434346648f6b96df89dda901c5176b10a6d839",
    "TX=0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "ADDRESS=0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "MODEL=claude-sonnet-4-6",
    "IMAGE=ghcr.io/example/server:1.2.3",
    "NODE_ENV=production",
    "LIST=alpha, beta, gamma, delta",
    "WORDS=read the file and list every table that the user has",
    "API_KEY=",
    "HEADER=Notion-Version: 2022-06-28",
    "CONFIG={\"token_type\": \"user\", \"limit\": \"3\"}",
];

#[test]
fn harmless_values_pass() {
    assert!(HARMLESS.len() >= 60);
    for item in HARMLESS {
        assert_eq!(in_env(item), None, "{item}");
    }
    for args in [
        &["--max-tokens", "4096"][..],
        &["--no-auth", "/srv/data"],
        &["--token-file", "/run/secrets/token"],
        &["--key", "/etc/keys/server.pem"],
        &["--auth", "oauth"],
        &["--auth-mode=oauth"],
        &["--token", "--verbose"],
        &["run", "--rm", "-i", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server:1.2.3"],
        &["-y", "@scope/token-tools@1.2.3"],
        &["-c", "exec server --token \"$API_TOKEN\""],
        &["-c", "API_KEY=$OTHER exec server"],
        &["--sort-key=name"],
        &["--header", "Accept: application/json"],
    ] {
        assert_eq!(in_args(args), None, "{args:?}");
    }
    for (name, value) in [
        ("Authorization", "Bearer $env:TOKEN"),
        ("Cookie", "session=$env:SESSION; theme=dark"),
        ("X-Token-Type", "user"),
        ("Accept", "application/json"),
        ("Notion-Version", "2022-06-28"),
        ("X-Max-Tokens", "4096"),
    ] {
        assert_eq!(in_header(name, value), None, "{name}: {value}");
    }
}
