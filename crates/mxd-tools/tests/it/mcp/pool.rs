//! Servers that agents share, and those they do not.

use std::time::Duration;

use mxd_core::manifest::{Program, Sampling, Tools, Transport};
use mxd_core::tool::SideEffect;
use mxd_tools::mcp::{Answering, Pool, Refusal, Servers, View, Wanted};
use mxd_tools::sandbox::Mode;

use super::scene::{Ground, declared, echo, locked, odd, odd_server, program};

fn blind() -> Wanted {
    Wanted { view: View::Nothing, ..locked(odd("odd", "tells-its-number")) }
}

/// A pool, and two agents.
struct Company {
    pool: Pool,
    one: Ground,
    two: Ground,
}

impl Company {
    async fn new() -> Self {
        let (one, two) = (Ground::new(Mode::Off).await, Ground::new(Mode::Off).await);
        let mut two = two;
        two.around.agent.user = one.around.agent.user.clone();
        Self { pool: Pool::new(one.folder.path().join("pool"), Duration::from_millis(10)), one, two }
    }

    async fn both(&self, wanted: impl Fn() -> Wanted) -> (Servers, Servers) {
        let one = self.pool.connect(vec![wanted()], self.one.around()).await;
        (one, self.pool.connect(vec![wanted()], self.two.around()).await)
    }

    /// Whether two agents that want this have the same process.
    async fn share(&self, wanted: impl Fn() -> Wanted) -> bool {
        let (one, two) = self.both(wanted).await;
        let same = one.connection(&"odd".parse().unwrap()).unwrap();
        std::sync::Arc::ptr_eq(&same, &two.connection(&"odd".parse().unwrap()).unwrap())
    }
}

#[tokio::test]
async fn agents_share_what_cannot_tell_them_apart() {
    let company = Company::new().await;
    let (one, two) = company.both(blind).await;
    assert_eq!(company.pool.len(), 1);
    assert!(echo(&one, "odd", "").await.is_ok());
    one.close().await;
    drop(one);
    assert_eq!(echo(&two, "odd", "still").await.unwrap(), "still");
    drop(two);
    while !company.pool.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(company.share(blind).await);
}

#[tokio::test]
async fn agents_do_not_share_what_can() {
    let mut company = Company::new().await;
    let writes = || {
        let mut wanted = blind();
        wanted.spec.tools = Tools::Declared(vec![declared("echo", SideEffect::Write)]);
        wanted
    };
    let sees = || Wanted { view: View::Worktree, ..blind() };
    let worktree = company.one.around.agent.worktree.path.to_str().unwrap().to_owned();
    let names = || Wanted {
        view: View::Nothing,
        ..locked(program("odd", odd_server(), &["tells-its-number", &worktree]))
    };
    let here =
        || Wanted { view: View::Nothing, ..locked(program("odd", odd_server(), &["tells-its-number", "."])) };
    let samples = || {
        let mut wanted = blind();
        wanted.spec.sampling = Sampling::On;
        wanted
    };
    assert!(company.share(samples).await, "nobody writes for it");
    for ground in [&mut company.one, &mut company.two] {
        let nobody = |_| Box::pin(async { Err(Refusal("no".to_owned())) }) as Answering;
        ground.around.answers.sampling = Some(std::sync::Arc::new(nobody));
    }
    assert!(!company.share(samples).await, "each agent pays for itself");
    assert!(company.share(blind).await);
    assert!(!company.share(writes).await);
    assert!(!company.share(sees).await);
    assert!(!company.share(names).await);
    assert!(!company.share(here).await);
}

#[tokio::test]
async fn agents_with_other_credentials_do_not_share() {
    let mut company = Company::new().await;
    let granted = || {
        let mut wanted = blind();
        let Transport::Stdio(Program { env, .. }) = &mut wanted.spec.transport else { unreachable!() };
        env.push(("TOKEN".parse().unwrap(), "$env:TOKEN".parse().unwrap()));
        wanted.locked = Some(super::scene::accepted(&wanted.spec));
        wanted
    };
    company.one = company.one.knowing("TOKEN", "of-the-first-agent");
    company.two = company.two.knowing("TOKEN", "of-the-second-agent");
    assert!(!company.share(granted).await);
    company.two = company.two.knowing("TOKEN", "of-the-first-agent");
    assert!(company.share(granted).await);
}
