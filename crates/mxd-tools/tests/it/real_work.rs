//! What developers do all day works inside as it does outside.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use mxd_core::time::Millis;
use mxd_tools::proxy::{self, Answers, HostRules, Listen, Options, Proxy, Resolver, Verdict};
use mxd_tools::sandbox::Mode;
use mxd_tools::scope::{Access, Root};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::farm::Farm;
use crate::python;

/// A workspace of a library and a program that uses it, with a test that passes and one that fails.
const RUST: &str = "set -e
    mkdir -p lib/src app/src
    printf '[workspace]\nmembers = [\"lib\", \"app\"]\nresolver = \"3\"\n' > Cargo.toml
    printf '[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2024\"\n' > lib/Cargo.toml
    printf '[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nlib = { path = \"../lib\" }\n' > app/Cargo.toml
    printf 'pub fn twice(x: u32) -> u32 { x * 2 }\n#[test] fn right() { assert_eq!(twice(2), 4); }\n#[test] fn wrong() { assert_eq!(twice(2), 5); }\n' > lib/src/lib.rs
    printf 'fn main() { println!(\"{}\", lib::twice(21)); }\n' > app/src/main.rs
    cargo build --quiet --offline 2>&1
    ./target/debug/app
    ! cargo test --quiet --offline -p lib 2>/dev/null | grep -E '^test result' ";

#[tokio::test]
async fn cargo_builds_and_tests() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        let inside = hut.run(RUST).await;
        let text = "42\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in ";
        assert!(inside.text.starts_with(text), "level {}: {inside:?}", farm.level());
    }
}

/// A package that somebody published: its files, packed as npm wants them.
const PACK: &str = "set -e
    mkdir -p published && cd published
    printf '{\"name\":\"greeting\",\"version\":\"1.0.0\",\"main\":\"index.js\"}' > package.json
    printf 'module.exports = \"hello from a package\";' > index.js
    npm pack --silent >/dev/null
    node -e 'const pack = require(\"fs\").readFileSync(\"greeting-1.0.0.tgz\");
        process.stdout.write(\"sha512-\" + require(\"crypto\").createHash(\"sha512\").update(pack).digest(\"base64\"))'";

/// A host that serves one file, whatever it is asked for.
async fn registry(file: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", file.len());
            client.write_all(answer.as_bytes()).await.unwrap();
            client.write_all(&file).await.unwrap();
        }
    });
    port
}

async fn proxy(farm: &Farm, port: u16) -> Proxy {
    let rules = HostRules::default().allow_private(&format!("packages.test:{port}")).unwrap();
    Proxy::start(Options {
        policy: Arc::new(rules),
        listen: Listen::for_level(farm.level(), farm.at("data/proxy/proxy.sock")),
        limits: proxy::Limits::default(),
        resolver: Resolver::Fixed(Answers::default().then("packages.test", &[Ipv4Addr::LOCALHOST.into()])),
        clock: || Millis(0),
        reports: None,
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn npm_installs_from_an_allowed_host_and_no_other() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let integrity = farm.hut(&farm.agent("two")).run(PACK).await.ok();
        let port =
            registry(std::fs::read(farm.at("data/trees/two/published/greeting-1.0.0.tgz")).unwrap()).await;
        let proxy = proxy(&farm, port).await;
        let mut agent = farm.agent("one");
        agent.network = proxy.network();
        let mut hut = farm.hut(&agent);
        hut.env.extend(proxy.env());
        for (host, works) in [("packages.test", true), ("elsewhere.test", false)] {
            let lock = format!(
                r#"{{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{{"":{{"name":"app","version":"1.0.0","dependencies":{{"greeting":"1.0.0"}}}},"node_modules/greeting":{{"version":"1.0.0","resolved":"http://{host}:{port}/greeting/-/greeting-1.0.0.tgz","integrity":"{integrity}"}}}}}}"#
            );
            farm.write("data/trees/one/package-lock.json", &lock);
            farm.write(
                "data/trees/one/package.json",
                r#"{"name":"app","version":"1.0.0","dependencies":{"greeting":"1.0.0"}}"#,
            );
            let install = "npm ci --silent --no-audit --no-fund --fetch-retries=0 --cache \"$TMPDIR/cache-$RANDOM\" 2>&1 && node -p 'require(\"greeting\")'";
            let done = hut.run(install).await;
            assert_eq!(
                done.text.contains("hello from a package"),
                works,
                "level {}, {host}: {done:?}",
                farm.level()
            );
        }
        // Npm asks around on its own, too.
        for visit in proxy.visits() {
            let allowed = visit.to.as_ref().is_some_and(|to| to.host.to_string() == "packages.test");
            assert_eq!(visit.verdict == Verdict::Allowed, allowed, "{visit:?}");
        }
    }
}

const PYTHON: &str = "def twice(x): return x * 2
def test_right(): assert twice(2) == 4
def test_wrong(): assert twice(2) == 5
def test_files(tmp_path): (tmp_path / 'a').write_text('b')
";

#[tokio::test]
async fn pytest_runs() {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pytest.txt");
    let python = python::python("pytest-venv", &requirements);
    let environment = python.parent().and_then(Path::parent).unwrap().to_owned();
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        farm.write("data/trees/one/test_it.py", PYTHON);
        let mut agent = farm.agent("one");
        agent.extra.push(Root { path: environment.clone(), access: Access::Read });
        let hut = farm.hut(&agent);
        let run = format!(
            "{} -m pytest -q --no-header -p no:cacheprovider 2>&1 | sed 's/ in .*//'",
            python.display()
        );
        let (inside, outside) = (hut.run(&run).await.ok(), hut.run_outside(&run).ok());
        assert!(inside.contains("1 failed, 2 passed"), "{inside}");
        assert_eq!(inside, outside, "level {}", farm.level());
    }
}

/// Fails with what to install when a program of the machine is missing: a skipped proof is none.
fn require(program: &str, version: &str, debian_package: &str) {
    let mut command = Command::new(program);
    command.arg(version);
    python::run(&mut command, &format!("install {program} (on Debian: apt install {debian_package})"));
}

/// Runs a script at both levels and without a sandbox: it prints the same everywhere.
async fn same_everywhere(script: &str, expected: &str) {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let inside = farm.hut(&farm.agent("one")).run(script).await;
        let outside = farm.hut(&farm.agent("two")).run_outside(script);
        assert_eq!(outside.text, expected, "outside: {outside:?}");
        assert_eq!(inside.text, expected, "level {}: {inside:?}", farm.level());
    }
}

/// A program that uses threads, a server, a process and the list of network devices, and its test.
const GO: &str = r#"set -e
    printf 'module example.org/app\n\ngo 1.18\n' > go.mod
    cat > main.go <<'END'
package main

import ("fmt"; "net"; "os/exec")

func Twice(x int) int { return x * 2 }

func main() {
    listener, err := net.Listen("tcp", "127.0.0.1:0")
    fmt.Println(Twice(21), err)
    go func() { caller, _ := listener.Accept(); caller.Write([]byte("hello")); caller.Close() }()
    caller, err := net.Dial("tcp", listener.Addr().String())
    if err != nil { fmt.Println(err) } else { text := make([]byte, 5); caller.Read(text); fmt.Println(string(text)) }
    said, err := exec.Command("echo", "said").Output()
    fmt.Print(string(said))
}
END
    printf 'package main\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) { if Twice(2) != 4 { t.Fatal() } }\n' > main_test.go
    export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOCACHE="$TMPDIR/go-cache"
    go build -o app . 2>&1
    go test -count=1 . 2>&1 | cut -f 1,2"#;

#[tokio::test]
async fn go_builds_tests_and_its_programs_run() {
    require("go", "version", "golang-go");
    let built = "ok  \texample.org/app\n";
    same_everywhere(GO, built).await;
    // Without a network of its own a program may not listen: the level says so in its table.
    let farm = Farm::new(Mode::Full).await;
    let ran = farm.hut(&farm.agent("one")).run(&format!("{GO}\n./app")).await.ok();
    assert_eq!(ran, format!("{built}42 <nil>\nhello\nsaid\n"));
}

/// A program that uses threads, a process, and watches a folder; and a project of maven's that needs no plugin.
const JAVA: &str = r#"set -e
    cat > Main.java <<'END'
import java.nio.file.*;
import java.util.concurrent.*;
public class Main {
    public static void main(String[] none) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        System.out.println(pool.submit(() -> 42).get());
        pool.shutdown();
        Process process = new ProcessBuilder("echo", "said").start();
        System.out.print(new String(process.getInputStream().readAllBytes()));
        WatchService watch = FileSystems.getDefault().newWatchService();
        Path.of(".").register(watch, StandardWatchEventKinds.ENTRY_CREATE);
        Files.writeString(Path.of("made"), "text");
        System.out.println(watch.take().pollEvents().get(0).context());
    }
}
END
    javac Main.java
    java Main
    printf '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId><version>1</version><packaging>pom</packaging></project>' > pom.xml
    # Java takes the home folder from the list of users, where the one of this test is not.
    export MAVEN_OPTS="-Duser.home=$HOME"
    mvn --offline --batch-mode validate > log 2>&1 || cat log
    grep -o 'BUILD SUCCESS' log
    rm made"#;

#[tokio::test]
async fn java_and_maven_build_and_run() {
    require("javac", "-version", "default-jdk");
    require("mvn", "--version", "maven");
    same_everywhere(JAVA, "42\nsaid\nmade\nBUILD SUCCESS\n").await;
}

/// A program in C, built by make, stopped by a debugger at a line, and watched by a tracer.
const DEBUGGERS: &str = r#"set -e
    printf '#include <stdio.h>\nstatic int twice(int x) { return x * 2; }\nint main(void) { printf("%%d\\n", twice(21)); return 0; }\n' > main.c
    printf 'main: main.c\n\tgcc -g -O0 -o main main.c\n' > Makefile
    make --silent -j 2
    ./main
    gdb -nx -batch -ex 'break twice' -ex run -ex 'print x' -ex continue ./main 2>/dev/null | grep -E '^\$1 =|exited normally' | sed 's/(process [0-9]*)/(process)/'
    strace -f -e trace=write -o trace ./main
    grep -o 'write(1, "42' trace
    attached() { grep -q '^TracerPid:[[:space:]]*[1-9]' /proc/$1/status; }
    sleep 60 & strace -p $! -o attached 2>/dev/null & until attached $(jobs -p | head -1); do :; done; kill %1; wait || true
    grep -o 'killed by SIGTERM' attached"#;

#[tokio::test]
async fn make_gdb_and_strace_work_on_programs_of_the_same_command() {
    require("gcc", "--version", "gcc");
    require("make", "--version", "make");
    require("gdb", "--version", "gdb");
    require("strace", "--version", "strace");
    same_everywhere(
        DEBUGGERS,
        "42\n$1 = 21\n[Inferior 1 (process) exited normally]\n42\nwrite(1, \"42\nkilled by SIGTERM\n",
    )
    .await;
}
