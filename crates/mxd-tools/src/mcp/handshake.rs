//! The first words: which of the two kinds of protocol a server speaks.
//!
//! Newer servers keep no state and answer a question that older ones do not know; those are greeted. Whatever an
//! older server makes of the question, be it silence, is taken as a sign that it is one.

use mxd_core::tool::{CleanText, Quoted};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::Clerk;
use super::connection::{Era, Introduction};
use super::error::{CallError, Cause, ConnectError};
use super::talk::{Ask, Reply, Talk};

/// The version without state that we speak.
pub(super) const STATELESS: &str = "2026-07-28";
/// The versions with a greeting that we speak; the first is the one we ask for.
const GREETING: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The server does not speak the version that it was asked in, and says which ones it does.
const UNSUPPORTED_VERSION: i64 = -32_022;

/// Bytes of what a server says about how it wants to be used.
const INSTRUCTIONS_BYTES: usize = 16 << 10;

/// Whether a server may be one of the newer kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It may.
    Any,
    /// It cannot: the way it is reached is older.
    Older,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Said {
    protocol_version: Option<String>,
    supported_versions: Vec<String>,
    capabilities: Map<String, Value>,
    instructions: Option<String>,
    server_info: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

/// What a server made of the question that only newer ones know.
enum Probed {
    /// It is a newer one.
    Newer(Introduction),
    /// It is an older one.
    Older,
    /// It is a newer one that speaks only these versions.
    Versions(Vec<String>),
}

/// Two who are about to talk.
pub(super) struct Greeting<'a> {
    pub(super) talk: &'a Talk,
    pub(super) clerk: &'a Clerk,
    /// Is told what was agreed upon, before anything else is said.
    pub(super) agreed: &'a (dyn Fn(&Era) + Sync),
}

impl Greeting<'_> {
    /// Finds out how a server wants to be talked to.
    pub(super) async fn introduce(&self, kind: Kind) -> Result<Introduction, ConnectError> {
        if kind == Kind::Older {
            return self.greet().await;
        }
        let probing = self.probe();
        tokio::pin!(probing);
        let probed = tokio::select! {
            biased;
            probed = &mut probing => probed?,
            () = tokio::time::sleep(self.talk.traffic.limits.probe) => {
                // It is an older one, or a newer one that is slow to start and will answer what it was asked first.
                let greeting = self.greet();
                tokio::pin!(greeting);
                tokio::select! {
                    biased;
                    probed = &mut probing => match probed? {
                        Probed::Newer(introduction) => return Ok(introduction),
                        Probed::Older | Probed::Versions(_) => return greeting.await,
                    },
                    greeted = &mut greeting => match greeted {
                        Err(ConnectError::Protocol { .. }) => probing.await?,
                        greeted => return greeted,
                    },
                }
            }
        };
        match probed {
            Probed::Newer(introduction) => Ok(introduction),
            Probed::Older => self.greet().await,
            Probed::Versions(supported) => self.versions(supported).await,
        }
    }

    /// Asks what only newer servers know.
    async fn probe(&self) -> Result<Probed, ConnectError> {
        let Self { talk, clerk, agreed } = self;
        let meta = meta(clerk);
        // A program that is just starting has all the time there is for connecting.
        let ask = Ask::new("server/discover", json!({ "_meta": meta }), talk.traffic.limits.connect);
        match talk.ask_for_reply(ask).await {
            Ok(Reply::Result(text)) => Ok(match serde_json::from_str::<Said>(&text) {
                Ok(said) if said.supported_versions.iter().any(|version| version == STATELESS) => {
                    talk.always_send(meta);
                    clerk.close();
                    let era = Era::Stateless(STATELESS.to_owned());
                    agreed(&era);
                    Probed::Newer(introduction(talk, era, said))
                }
                Ok(said) if !said.supported_versions.is_empty() => Probed::Versions(said.supported_versions),
                Ok(_) | Err(_) => Probed::Older,
            }),
            Ok(Reply::Refused(refused)) if refused.code == UNSUPPORTED_VERSION => {
                let supported = refused.data.as_ref().and_then(|data| data.get("supported")).cloned();
                let supported = supported.and_then(|versions| serde_json::from_value(versions).ok());
                Ok(Probed::Versions(supported.unwrap_or_default()))
            }
            // A status of HTTP is an answer, too: older servers have no better way to say that they do not understand.
            Err(CallError::Lost { loss, .. }) if is_end(&loss.cause) => {
                Err(ConnectError::Lost { server: talk.server.clone(), loss })
            }
            Ok(Reply::Refused(_)) | Err(_) => Ok(Probed::Older),
        }
    }

    /// A newer server that does not speak our version of the newer kind, but perhaps one of the older.
    async fn versions(&self, supported: Vec<String>) -> Result<Introduction, ConnectError> {
        // A server that names our version meant something else by its refusal, and is asked once more.
        if supported.iter().any(|version| version == STATELESS)
            && let Probed::Newer(introduction) = self.probe().await?
        {
            return Ok(introduction);
        }
        if supported.iter().any(|version| GREETING.contains(&version.as_str())) {
            return self.greet().await;
        }
        let theirs = Quoted::of(&supported.join(", "));
        let why =
            format!("it speaks the versions {theirs}, and we speak {STATELESS} and {}", GREETING.join(", "));
        Err(ConnectError::Protocol { server: self.talk.server.clone(), why })
    }

    async fn greet(&self) -> Result<Introduction, ConnectError> {
        let Self { talk, clerk, agreed } = self;
        let params = json!({
            "protocolVersion": GREETING[0],
            "capabilities": clerk.capabilities(),
            "clientInfo": client_info(),
        });
        let reply = talk.ask(Ask::new("initialize", params, talk.traffic.limits.connect)).await;
        let text = reply.map_err(|error| failed(talk, "answer the greeting", error))?;
        let server = || talk.server.clone();
        let said: Said = serde_json::from_str(&text).map_err(|error| ConnectError::Protocol {
            server: server(),
            why: format!("its greeting: {error}"),
        })?;
        let version = said.protocol_version.clone().unwrap_or_default();
        if !GREETING.contains(&version.as_str()) {
            let theirs = Quoted::of(&version);
            let why = format!("it greets in version `{theirs}`, and we speak {}", GREETING.join(", "));
            return Err(ConnectError::Protocol { server: server(), why });
        }
        let era = Era::Greeting(version);
        agreed(&era);
        talk.tell_initialized().await.map_err(|error| failed(talk, "take the greeting", error))?;
        Ok(introduction(talk, era, said))
    }
}

fn is_end(cause: &Cause) -> bool {
    !matches!(cause, Cause::Status { status: 400..=499, .. } | Cause::BadStream(_))
}

fn introduction(talk: &Talk, era: Era, said: Said) -> Introduction {
    let secrets = &talk.traffic.secrets;
    let Said { capabilities, instructions, server_info, mut meta, .. } = said;
    let mut server_info = server_info.or_else(|| meta.remove("io.modelcontextprotocol/serverInfo"));
    server_info.iter_mut().for_each(|info| secrets.redact_value(info));
    let instructions =
        instructions.map(|words| CleanText::clean(&secrets.redact(&words), INSTRUCTIONS_BYTES));
    Introduction { era, server_info, capabilities, instructions }
}

/// What a failure while connecting is called.
pub(super) fn failed(talk: &Talk, what: &'static str, error: CallError) -> ConnectError {
    let server = talk.server.clone();
    match error {
        CallError::Lost { loss, .. } => ConnectError::Lost { server, loss },
        CallError::TimedOut { after: limit, loss, .. } => ConnectError::Slow { server, what, limit, loss },
        CallError::Refused { code, message, .. } => {
            ConnectError::Protocol { server, why: format!("it would not {what}: {message} (code {code})") }
        }
        other => ConnectError::Protocol { server, why: other.to_string() },
    }
}

fn client_info() -> Value {
    json!({ "name": "matrix", "version": env!("CARGO_PKG_VERSION") })
}

/// What every question to a server without state carries.
fn meta(clerk: &Clerk) -> JsonObject {
    let meta = [
        ("io.modelcontextprotocol/protocolVersion", STATELESS.into()),
        ("io.modelcontextprotocol/clientInfo", client_info()),
        ("io.modelcontextprotocol/clientCapabilities", clerk.capabilities()),
    ];
    meta.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
