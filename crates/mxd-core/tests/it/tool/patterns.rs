//! Patterns over arguments: commands, paths and hosts, read narrowly where a match opens something.

use mxd_core::tool::{
    ArgMatch, ArgPattern, ArgPointer, CallArgs, Glob, HostPattern, PathGlob,
    Reading::{self, Narrow, Wide},
};
use proptest::prelude::*;

fn glob(pattern: &str, text: &str, reading: Reading) -> bool {
    pattern.parse::<Glob>().expect(pattern).matches(text, reading)
}

fn path(pattern: &str, text: &str, reading: Reading) -> bool {
    pattern.parse::<PathGlob>().expect(pattern).matches(text, reading)
}

fn host(pattern: &str, url: &str, reading: Reading) -> bool {
    pattern.parse::<HostPattern>().expect(pattern).matches(url, reading)
}

fn arg(pattern: &str, args: &str, reading: Reading) -> bool {
    let pattern: ArgPattern = serde_json::from_str(pattern).expect(pattern);
    pattern.matches(&CallArgs::parse(args).expect(args), reading)
}

#[test]
fn an_allowed_command_cannot_bring_another_one_along() {
    assert!(glob("git push*", "git push", Narrow));
    assert!(glob("git push*", "git push origin main --tags", Narrow));
    for fooled in [
        "git push; rm -rf .",
        "git push && rm -rf .",
        "git push | sh",
        "git push & rm x",
        "git push $(rm x)",
        "git push `rm x`",
        "git push > x",
        "git push < x",
        "git push\nrm x",
        "git push\rrm x",
        "git push (x)",
        "git push ${IFS}x",
        "git push \u{0}",
    ] {
        assert!(!glob("git push*", fooled, Narrow), "{fooled}");
        assert!(glob("git push*", fooled, Wide), "{fooled}");
        let prefix =
            ArgPattern { at: "/command".parse().unwrap(), matches: ArgMatch::Prefix("git push".to_owned()) };
        let args = CallArgs::parse(&serde_json::json!({ "command": fooled }).to_string()).unwrap();
        assert!(!prefix.matches(&args, Narrow) && prefix.matches(&args, Wide), "{fooled}");
    }
}

#[test]
fn each_character_that_a_shell_acts_upon_ends_a_wildcard() {
    for c in ";|&$`<>()\n\r\t\u{0}\u{1b}\u{7f}\u{85}".chars() {
        assert!(!glob("git push*", &format!("git push {c}"), Narrow), "{c:?}");
        assert!(glob("git push*", &format!("git push {c}"), Wide), "{c:?}");
    }
}

#[test]
fn what_a_pattern_spells_out_it_may_contain() {
    assert!(glob("git log * | head -*", "git log --oneline | head -5", Narrow));
    assert!(!glob("git log * | head -*", "git log | sh; git log | head -5", Narrow));
    assert!(glob("cd web && npm run *", "cd web && npm run test", Narrow));
    assert!(!glob("cd web && npm run *", "cd web && npm run test && rm x", Narrow));
    assert!(glob("*", "", Narrow) && glob("a*b*c", "a-b-b-c", Narrow) && glob("ls", "ls", Narrow));
    assert!(!glob("ls", "ls -l", Wide) && !glob("a*ab", "ab", Wide) && !glob("a*", "b", Wide));
}

#[test]
fn paths_are_covered_part_by_part() {
    for (pattern, text) in [
        ("src/*.rs", "src/lib.rs"),
        ("src/**", "src/a/b/c.rs"),
        ("src/**", "src"),
        ("src/**/*.rs", "src/lib.rs"),
        ("src/**/*.rs", "./src//a/./b.rs"),
        ("**/*.md", "README.md"),
        ("/etc/hosts", "/etc/hosts"),
        ("/tmp/**", "/tmp/x/y"),
        ("a$(b)/*", "a$(b)/c;d"),
        ("~/notes/*", "~/notes/x"),
    ] {
        assert!(path(pattern, text, Narrow), "{pattern} {text}");
        assert!(path(pattern, text, Wide), "{pattern} {text}");
    }
    for (pattern, text) in [
        ("src/*.rs", "src/a/b.rs"),
        ("src/*", "src"),
        ("src/**", "srcs/a"),
        ("/etc/*", "etc/hosts"),
        ("src/**/x/*.rs", "src/a/b.rs"),
    ] {
        assert!(!path(pattern, text, Narrow), "{pattern} {text}");
        assert!(!path(pattern, text, Wide), "{pattern} {text}");
    }
}

#[test]
fn an_allowed_path_does_not_lead_out_and_a_denied_one_is_found_behind_detours() {
    for (pattern, text) in [
        ("src/**", "src/../../etc/passwd"),
        ("src/**", "src/a/.."),
        ("**", "/etc/passwd"),
        ("**/*.rs", "/etc/x.rs"),
        ("**", "~/.ssh/id"),
        ("*/.ssh/id", "~/.ssh/id"),
        ("**", ""),
        ("**", "a\u{0}b"),
        ("**", "file:///etc/passwd"),
        ("**", "file:/etc/passwd"),
    ] {
        assert!(!path(pattern, text, Narrow), "{pattern} {text}");
    }
    assert!(path("**/.env", "a/../.env", Wide));
    assert!(path("**/.env", "/srv/app/.env", Wide));
    assert!(path(".env", "./a/b/../../.env", Wide));
    assert!(path("/etc/**", "/../../etc/passwd", Wide));
    assert!(path("../**", "a/../../x", Wide));
    assert!(path(".env", &"x/".repeat(3000), Wide), "too long to tell");
    assert!(!path("**", &"x/".repeat(3000), Narrow), "too long to tell");
    for bad in ["", "src/**.rs", "a/x**", "***"] {
        assert!(bad.parse::<PathGlob>().is_err(), "{bad}");
    }
}

#[test]
fn hosts_are_read_as_every_program_reads_them_or_not_at_all() {
    for (pattern, url) in [
        ("example.com", "https://example.com/x?y#z"),
        ("example.com", "HTTP://EXAMPLE.com:8080"),
        ("example.com", "https://example.com./"),
        ("*.example.com", "https://a.b.example.com"),
        ("*", "wss://anything.test"),
        ("127.0.0.1", "http://127.0.0.1:9"),
        ("[::1]", "http://[::1]:80/"),
    ] {
        assert!(host(pattern, url, Narrow) && host(pattern, url, Wide), "{pattern} {url}");
    }
    for (pattern, url) in [
        ("example.com", "https://example.com.evil.test/"),
        ("example.com", "https://evil.test/example.com"),
        ("example.com", "https://evil.test?https://example.com"),
        ("*.example.com", "https://example.com/"),
        ("*.example.com", "https://badexample.com/"),
        ("*.example.com", "https://.example.com.test/x"),
    ] {
        assert!(!host(pattern, url, Narrow), "{pattern} {url}");
    }
    for doubtful in [
        "https://example.com@evil.test/",
        "https://evil.test\\@example.com/",
        "https://example.com%2eevil.test/",
        "https://ex\tample.com/",
        "https://example.com\n.evil.test/",
        "https:/\t/evil.test/://example.com",
        "https://example.com／evil.test/",
        "https://exämple.com/",
        "https://example.com:80:90/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.0.0.01/",
        "http://127.1/",
        "example.com",
        "file:///etc/passwd",
        "//example.com/",
        "https:///example.com",
        "https://[::1/",
        " https://example.com",
        "",
    ] {
        for pattern in ["example.com", "*"] {
            assert!(!host(pattern, doubtful, Narrow), "{doubtful}");
            assert!(host(pattern, doubtful, Wide), "{doubtful}");
        }
    }
    for bad in
        ["", "*.", "Example.com", "a*.com", "https://a", "a.com/", "*.*.com", "a..b", "1.2.3", "a.com."]
    {
        assert!(bad.parse::<HostPattern>().is_err(), "{bad}");
    }
}

#[test]
fn a_missing_argument_never_matches() {
    for way in [r#""glob":"*""#, r#""prefix":"""#, r#""path":"**""#, r#""host":"*""#, r#""equals":"x""#] {
        let pattern = format!(r#"{{"at":"/command",{way}}}"#);
        for args in
            ["{}", r#"{"other":"x"}"#, r#"{"command":null}"#, r#"{"command":{"a":"x"}}"#, r#"{"command":[]}"#]
        {
            assert!(!arg(&pattern, args, Narrow) && !arg(&pattern, args, Wide), "{pattern} {args}");
        }
    }
}

#[test]
fn of_a_list_all_must_be_allowed_and_one_is_enough_to_deny() {
    let pattern = r#"{"at":"/paths","path":"src/**"}"#;
    assert!(arg(pattern, r#"{"paths":["src/a","src/b"]}"#, Narrow));
    assert!(!arg(pattern, r#"{"paths":["src/a","/etc/passwd"]}"#, Narrow));
    assert!(!arg(pattern, r#"{"paths":["src/a",1]}"#, Narrow));
    assert!(arg(pattern, r#"{"paths":["x","src/a"]}"#, Wide));
    assert!(arg(r#"{"at":"/a/1/b~1c","equals":7}"#, r#"{"a":[0,{"b/c":7}]}"#, Narrow));
    assert!(!arg(r#"{"at":"/force","equals":true}"#, r#"{"force":"true"}"#, Wide));
}

#[test]
fn a_condition_says_one_thing() {
    for bad in [
        r#"{"at":"/x"}"#,
        r#"{"at":"/x","glob":"a","prefix":"a"}"#,
        r#"{"at":"x","glob":"a"}"#,
        r#"{"at":"","glob":"a"}"#,
        r#"{"at":"/a~2","glob":"a"}"#,
        r#"{"at":"/x","glob":"a**"}"#,
        r#"{"at":"/x","regex":"a"}"#,
    ] {
        assert!(serde_json::from_str::<ArgPattern>(bad).is_err(), "{bad}");
    }
    let pattern = r#"{"at":"/command","glob":"ls*"}"#;
    let read: ArgPattern = serde_json::from_str(pattern).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), pattern);
    assert!("/command".parse::<ArgPointer>().is_ok());
}

/// The definition: a `*` covers any run, every way of choosing the runs is tried.
fn by_definition(pattern: &[char], text: &[char], reading: Reading) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => {
            let coverable = |c: &char| reading == Wide || !(c.is_control() || ";|&$`<>()".contains(*c));
            let covered = text.iter().take_while(|c| coverable(c)).count();
            (0..=covered).any(|length| by_definition(rest, &text[length..], reading))
        }
        [first, rest @ ..] => text.first() == Some(first) && by_definition(rest, &text[1..], reading),
    }
}

proptest! {
    #[test]
    fn one_pass_finds_what_the_definition_finds(pattern in "\\*|(\\*?[ab;]){1,5}\\*?", text in "[ab;]{0,9}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        for reading in [Narrow, Wide] {
            let expected = by_definition(&chars(&pattern), &chars(&text), reading);
            prop_assert_eq!(glob(&pattern, &text, reading), expected, "{:?}", reading);
        }
    }

    #[test]
    fn the_narrow_reading_finds_nothing_the_wide_one_does_not(
        text in "([a./~;]|\\.\\./|https://|a\\.b|@|:80){0,8}",
        path_pattern in "(/|~/)?([a.*]|\\*\\*|\\.\\.)(/([a.*]|\\*\\*)){0,3}",
        host_pattern in "\\*|(\\*\\.)?a\\.b|a",
    ) {
        if path_pattern.parse::<PathGlob>().is_ok() {
            prop_assert!(!path(&path_pattern, &text, Narrow) || path(&path_pattern, &text, Wide));
        }
        prop_assert!(!host(&host_pattern, &text, Narrow) || host(&host_pattern, &text, Wide));
    }

    #[test]
    fn no_allowed_path_has_a_part_that_leads_up(
        pattern in "([a*]|\\*\\*|\\.\\.)(/([a*]|\\*\\*|\\.\\.)){0,3}",
        text in "(a|\\.\\.|\\.)(/(a|\\.\\.|\\.)){0,5}",
    ) {
        let leads_up = text.split('/').any(|part| part == "..");
        prop_assert!(!leads_up || !path(&pattern, &text, Narrow));
    }
}
