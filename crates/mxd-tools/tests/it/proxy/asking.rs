//! Hosts that no rule speaks of: somebody is asked, and nothing happens before the answer.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mxd_tools::proxy::{
    Answers, Denial, Destination, HostDecision, HostPolicy, HostRules, Resolver, Verdict,
};
use tokio::sync::{mpsc, oneshot};

use super::{Fixture, Origin, SITE, body, get, ip, rules_for, status};

type Question = (String, oneshot::Sender<HostDecision>);

/// A policy whose rules can be changed, and whose questions a test answers.
#[derive(Debug)]
struct Asks {
    rules: Mutex<HostRules>,
    questions: mpsc::Sender<Question>,
}

impl HostPolicy for Asks {
    fn rules(&self) -> Arc<HostRules> {
        Arc::new(self.rules.lock().unwrap().clone())
    }

    fn decide(&self, to: &Destination) -> BoxFuture<'static, HostDecision> {
        let (answer, answered) = oneshot::channel();
        self.questions.try_send((to.as_rule(), answer)).unwrap();
        answered.map(|answer| answer.unwrap_or(HostDecision::Unanswered)).boxed()
    }
}

async fn asking(rules: HostRules) -> (Fixture, Arc<Asks>, mpsc::Receiver<Question>, Answers) {
    let (questions, asked) = mpsc::channel(16);
    let policy = Arc::new(Asks { rules: Mutex::new(rules), questions });
    let answers = Answers::default().then("new.test", &[ip("127.0.0.1")]).then(SITE, &[ip("127.0.0.1")]);
    let (given, resolver) = (Arc::clone(&policy), Resolver::Fixed(answers.clone()));
    let fixture = Fixture::with(HostRules::default(), |options| {
        options.policy = given;
        options.resolver = resolver;
    })
    .await;
    (fixture, policy, asked, answers)
}

#[tokio::test]
async fn new_host_is_looked_up_only_after_it_is_allowed() {
    let (mut fixture, _, mut asked, answers) = asking(HostRules::default()).await;
    let request = get("new.test");
    let answer = fixture.ask(&request);
    let decide = async {
        let (host, answer) = asked.recv().await.unwrap();
        assert_eq!((host.as_str(), answers.asked("new.test")), ("new.test", 0));
        answer.send(HostDecision::Allowed).unwrap();
    };
    let (answer, ()) = tokio::join!(answer, decide);
    assert_eq!(answers.asked("new.test"), 1);
    // The word of the user opens the public internet, not this machine.
    assert_eq!(status(&answer), 403, "{answer}");
    assert!(body(&answer).contains("its address 127.0.0.1 is private"), "{answer}");
    assert_eq!(fixture.visit().await.verdict, Verdict::Denied(Denial::Private(ip("127.0.0.1"))));
}

#[tokio::test]
async fn new_host_that_is_not_allowed_is_never_looked_up() {
    for (decision, denial, words) in [
        (HostDecision::Refused, Denial::Refused, "the user refused it"),
        (HostDecision::Unanswered, Denial::Unanswered, "has not answered"),
        (HostDecision::NotAsked, Denial::NoRule, "Ask the user to add `new.test:8443`"),
    ] {
        let (mut fixture, _, mut asked, answers) = asking(HostRules::default()).await;
        let request = "CONNECT new.test:8443 HTTP/1.1\r\nHost: new.test:8443\r\n\r\n";
        let decide = async {
            let (host, answer) = asked.recv().await.unwrap();
            assert_eq!(host, "new.test:8443");
            answer.send(decision).unwrap();
        };
        let (answer, ()) = tokio::join!(fixture.ask(request), decide);
        assert_eq!((status(&answer), answers.asked("new.test")), (403, 0), "{answer}");
        assert!(body(&answer).contains(words), "{answer}");
        assert_eq!(fixture.visit().await.verdict, Verdict::Denied(denial));
    }
}

#[tokio::test]
async fn nobody_is_asked_where_rules_speak_or_an_address_is_private() {
    let origin = Origin::hello().await;
    let rules = rules_for(&origin).deny("bad.test").unwrap();
    let (fixture, _, mut asked, _) = asking(rules).await;
    let site = format!("{SITE}:{}", origin.port);
    for (host, expected) in
        [(site.as_str(), 200), ("bad.test", 403), ("127.0.0.1", 403), ("192.168.0.1", 403), ("[::1]", 403)]
    {
        assert_eq!(status(&fixture.ask(&get(host)).await), expected, "{host}");
    }
    assert!(asked.try_recv().is_err(), "nobody was asked");
}

#[tokio::test]
async fn changed_rules_hold_for_the_next_request() {
    let origin = Origin::hello().await;
    let (fixture, policy, _asked, _) = asking(rules_for(&origin)).await;
    let site = format!("{SITE}:{}", origin.port);
    assert_eq!(status(&fixture.ask(&get(&site)).await), 200);
    *policy.rules.lock().unwrap() = rules_for(&origin).deny(SITE).unwrap();
    assert_eq!(status(&fixture.ask(&get(&site)).await), 403);
    assert_eq!(origin.visitors(), 1);
}
