//! Who may be reached: names, ports, addresses.

use mxd_tools::proxy::{Answers, Denial, HostRules, Resolver, RuleError, Verdict};
use tokio::net::TcpListener;

use super::{Fixture, Origin, SITE, body, get, ip, rules_for, status};

fn connect(authority: &str) -> String {
    format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
}

#[tokio::test]
async fn a_host_without_a_rule_is_denied_in_words_that_help() {
    let mut fixture = Fixture::new(HostRules::default()).await;
    for (request, host, rule) in [
        (get("example.com"), "example.com", "`example.com`"),
        (connect("Example.com.:443"), "example.com", "`example.com`"),
        (connect("example.com:8443"), "example.com", "`example.com:8443`"),
        (connect("[2606:4700::1111]:443"), "[2606:4700::1111]", "`[2606:4700::1111]`"),
        (get("1.1.1.1:8080"), "1.1.1.1", "`1.1.1.1:8080`"),
    ] {
        let answer = fixture.ask(&request).await;
        assert_eq!(status(&answer), 403, "{request}");
        let words = format!("The host {host} is not allowed");
        let advice = format!("Ask the user to add {rule} to the allowed hosts.");
        assert!(body(&answer).contains(&words) && body(&answer).contains(&advice), "{answer}");
        assert!(answer.contains("content-type: text/plain; charset=utf-8"), "{answer}");
        let visit = fixture.visit().await;
        assert_eq!((visit.verdict, visit.status), (Verdict::Denied(Denial::NoRule), 403));
        assert_eq!((visit.bytes_up, visit.bytes_down), (0, 0));
    }
}

#[tokio::test]
async fn a_star_is_for_what_is_below_and_a_denial_wins() {
    let origin = Origin::hello().await;
    let port = origin.port;
    let rules = HostRules::default()
        .allow_private(&format!("*.{SITE}:{port}"))
        .unwrap()
        .deny(&format!("secret.{SITE}"))
        .unwrap();
    let names = ["a.site.test", "a.b.site.test", "secret.site.test", "asite.test", SITE];
    let answers = names.iter().fold(Answers::default(), |all, name| all.then(name, &[ip("127.0.0.1")]));
    let mut fixture = Fixture::with(rules, |options| options.resolver = Resolver::Fixed(answers)).await;
    for (name, expected) in names.iter().zip([200, 200, 403, 403, 403]) {
        let answer = fixture.ask(&get(&format!("{name}:{port}"))).await;
        assert_eq!(status(&answer), expected, "{name}");
        let visit = fixture.visit().await;
        match &visit.verdict {
            Verdict::Denied(Denial::Rule(rule)) => {
                assert_eq!((*name, rule.to_string().as_str()), ("secret.site.test", "secret.site.test"));
                assert!(answer.contains("the rule `secret.site.test` denies it"), "{answer}");
            }
            verdict => assert_eq!(*verdict == Verdict::Allowed, expected == 200, "{name}"),
        }
    }
    assert_eq!(origin.visitors(), 2);
}

#[tokio::test]
async fn a_rule_without_a_port_is_for_the_two_usual_ones() {
    let origin = Origin::hello().await;
    let rules = HostRules::default().allow_private(SITE).unwrap();
    let fixture = Fixture::new(rules).await;
    let answer = fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await;
    assert_eq!(status(&answer), 403, "{answer}");
    assert_eq!(origin.visitors(), 0);
    for port in [80, 443] {
        // Nothing need listen there: what matters is that the rules are not in the way.
        let answer = fixture.ask(&connect(&format!("{SITE}:{port}"))).await;
        assert_ne!(status(&answer), 403, "{port}");
    }
}

#[tokio::test]
async fn names_that_lead_to_private_addresses_lead_nowhere() {
    let origin = Origin::hello().await;
    let rules = || HostRules::default().allow(&format!("{SITE}:{}", origin.port)).unwrap();
    for address in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
    ] {
        // Also when it hides behind a public one.
        for addresses in [vec![ip(address)], vec![ip("1.1.1.1"), ip(address)]] {
            let resolver = Resolver::Fixed(Answers::default().then(SITE, &addresses));
            let mut fixture = Fixture::with(rules(), |options| options.resolver = resolver).await;
            let answer = fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await;
            assert_eq!(status(&answer), 403, "{address}: {answer}");
            assert!(body(&answer).contains(SITE) && body(&answer).contains("is private"), "{answer}");
            let verdict = fixture.visit().await.verdict;
            assert_eq!(verdict, Verdict::Denied(Denial::Private(ip(address).to_canonical())));
        }
    }
    assert_eq!(origin.visitors(), 0);
}

#[tokio::test]
async fn a_private_address_itself_needs_to_be_allowed_as_one() {
    let origin = Origin::hello().await;
    let literal = format!("127.0.0.1:{}", origin.port);
    for (rules, expected) in
        [(HostRules::default().allow(&literal), 403), (HostRules::default().allow_private(&literal), 200)]
    {
        let fixture = Fixture::new(rules.unwrap()).await;
        assert_eq!(status(&fixture.ask(&get(&literal)).await), expected);
        let mapped = format!("[::ffff:127.0.0.1]:{}", origin.port);
        assert_eq!(status(&fixture.ask(&get(&mapped)).await), expected);
    }
    // What one rule allows is not taken back by another that allows less.
    let both = HostRules::default().allow(&literal).unwrap().allow_private(&literal).unwrap();
    assert_eq!(status(&Fixture::new(both).await.ask(&get(&literal)).await), 200);
}

#[tokio::test]
async fn an_ipv6_address_is_a_host() {
    // Bound and closed again: nothing listens at this port.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let rules = HostRules::default().allow_private(&format!("[::1]:{free}")).unwrap();
    let rules = rules.allow(&format!("[::2]:{free}")).unwrap();
    let mut fixture = Fixture::new(rules).await;
    for (host, expected) in [("[::1]", 502), ("[0:0::0:1]", 502), ("[::2]", 403), ("[::3]", 403)] {
        let answer = fixture.ask(&connect(&format!("{host}:{free}"))).await;
        assert_eq!(status(&answer), expected, "{host}: {answer}");
        assert!(body(&answer).contains("[::"), "{answer}");
        assert!(fixture.visit().await.to.unwrap().host.to_string().starts_with("[::"));
    }
}

#[tokio::test]
async fn a_name_is_resolved_once_for_check_and_connection() {
    let origin = Origin::hello().await;
    let answers = Answers::default().then(SITE, &[ip("127.0.0.1")]).then(SITE, &[ip("127.0.0.2")]);
    let resolver = Resolver::Fixed(answers.clone());
    let rules = rules_for(&origin).deny("127.0.0.2").unwrap();
    let mut fixture = Fixture::with(rules, |options| options.resolver = resolver).await;
    let request = get(&format!("{SITE}:{}", origin.port));
    assert_eq!(status(&fixture.ask(&request).await), 200);
    assert_eq!((answers.asked(SITE), origin.visitors()), (1, 1));
    fixture.visit().await;
    // The second answer is checked, too, and not remembered as good.
    assert_eq!(status(&fixture.ask(&request).await), 403);
    assert_eq!((answers.asked(SITE), origin.visitors()), (2, 1));
    let denied = Verdict::Denied(Denial::Rule("127.0.0.2".parse().unwrap()));
    assert_eq!(fixture.visit().await.verdict, denied);
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_followed_by_the_next() {
    let origin = Origin::hello().await;
    // On a loopback of one address the first is not there at all, which is as good.
    let resolver = Resolver::Fixed(Answers::default().then(SITE, &[ip("127.0.0.9"), ip("127.0.0.1")]));
    let fixture = Fixture::with(rules_for(&origin), |options| options.resolver = resolver).await;
    assert_eq!(status(&fixture.ask(&get(&format!("{SITE}:{}", origin.port))).await), 200);
}

#[tokio::test]
async fn hosts_that_cannot_be_found_or_reached_are_named() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let rules = HostRules::default().allow("nowhere.test").unwrap();
    let rules = rules.allow_private(&format!("{SITE}:{free}")).unwrap();
    let mut fixture = Fixture::new(rules).await;
    for (request, words) in [
        (get("nowhere.test"), "The host nowhere.test cannot be found".to_owned()),
        (connect("nowhere.test:443"), "The host nowhere.test cannot be found".to_owned()),
        (get(&format!("{SITE}:{free}")), format!("No connection to {SITE}:{free}")),
    ] {
        let answer = fixture.ask(&request).await;
        assert_eq!(status(&answer), 502, "{answer}");
        assert!(body(&answer).contains(&words), "{answer}");
        let visit = fixture.visit().await;
        assert_eq!((visit.verdict, visit.status), (Verdict::Allowed, 502));
    }
}

#[tokio::test]
async fn the_system_knows_this_machine() {
    let origin = Origin::hello().await;
    let site = format!("localhost:{}", origin.port);
    let rules = HostRules::default().allow_private(&site).unwrap();
    let fixture = Fixture::with(rules, |options| options.resolver = Resolver::System).await;
    assert_eq!(status(&fixture.ask(&get(&site)).await), 200);
}

#[test]
fn rules_that_cannot_be_read_say_why() {
    for (rule, why) in [
        ("", "is empty"),
        ("*", "a `*` stands only at the front"),
        ("*.", "is empty"),
        ("a.*.com", "a `*` stands only at the front"),
        ("*.*.com", "a `*` stands only at the front"),
        ("*example.com", "a `*` stands only at the front"),
        ("*.10.0.0.1", "a `*` stands only at the front"),
        ("https://example.com/path", "is a URL"),
        ("example.com/path", "ASCII letters"),
        ("bücher.example", "xn--"),
        ("example.com:", "from 1 to 65535"),
        ("example.com:http", "from 1 to 65535"),
        ("[::1", "IPv6 address"),
        ("10.0.0.0/8", "ASCII letters"),
    ] {
        let error = HostRules::default().allow(rule).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(&format!("`{rule}`")), "{rule}: {error}");
        assert!(HostRules::default().deny(rule).is_err());
    }
    let long = HostRules::default().allow(&"x".repeat(10_000)).unwrap_err().to_string();
    assert!(long.len() < 250, "{long}");
}

#[test]
fn rules_have_a_limit() {
    let add = |rules: HostRules, index: usize| rules.allow(&format!("host{index}.test"));
    let rules = (0..1024).try_fold(HostRules::default(), add).unwrap();
    assert_eq!(add(rules, 1024), Err(RuleError::TooMany));
}
