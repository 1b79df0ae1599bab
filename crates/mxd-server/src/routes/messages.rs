//! Messages to tasks: posted once however often they are sent, taken back, written anew.

use axum::extract::State;
use base64::Engine as _;
use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Op, Post, Refusal, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{BlobId, Image};
use mxd_core::id::{MessageId, TaskId};
use mxd_core::message::Message;
use mxd_engine::project::{Project, WishError};
use mxd_store::Pin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::control::{Acted, located};
use super::{Given, Taken};
use crate::api::{Api, Route};
use crate::app::{App, find};
use crate::fault::{Answer, Fault};
use crate::take::{Input, LargeInput, Path};
use crate::{clock, history, limits};

pub(super) fn routes(api: Api) -> Api {
    api.add(
        Route::post("/projects/{project}/tasks/{task}/message", "Writes to a task, and starts it if needed")
            .takes::<NewMessage>()
            .gives::<Posted>()
            .status(202),
        post,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/continue", "Takes up a task that rests or has ended")
            .takes::<Continue>()
            .gives::<Posted>()
            .status(202),
        go_on,
    )
    .add(
        Route::post(
            "/projects/{project}/tasks/{task}/rewind",
            "Takes the conversation back to before a message",
        )
        .takes::<Rewind>()
        .gives::<Acted>(),
        rewind,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/edit", "Takes a message back and writes it anew")
            .takes::<Edit>()
            .gives::<Posted>()
            .status(202),
        edit,
    )
    .add(
        Route::post("/projects/{project}/tasks/{task}/fork", "Lets a task go on from another's conversation")
            .takes::<Fork>()
            .gives::<Acted>(),
        fork,
    )
}

/// A message to a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewMessage {
    /// The sender's id for it, a ULID: sent twice with the same one, it is delivered once.
    #[serde(default)]
    id: Option<String>,
    /// What it says.
    #[serde(default)]
    content: Option<String>,
    /// Another name of `content`.
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    images: Vec<Picture>,
    /// A subject line, which is put before the text.
    #[serde(default)]
    title: Option<String>,
}

/// A picture.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Picture {
    base64: String,
    media_type: MediaType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
enum MediaType {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/webp")]
    Webp,
}

/// What became of a message: it is durable.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Posted {
    /// Its commit.
    seq: u64,
    cursor: String,
    task_id: String,
    message_id: String,
}

/// How a task is taken up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Continue {
    #[serde(default)]
    message: Option<String>,
}

/// Before which message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rewind {
    message_id: String,
}

/// A message, written anew.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    message_id: String,
    content: String,
    #[serde(default)]
    images: Vec<Picture>,
}

/// Whose conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fork {
    source_task_id: String,
}

type At = Path<(String, String)>;

async fn post(
    State(app): State<App>,
    at: At,
    LargeInput(new): LargeInput<NewMessage>,
) -> Answer<Taken<Posted>> {
    let (project, to) = located(&app, &at).await?;
    let id = match &new.id {
        Some(id) => id.parse().map_err(|error| Fault::unfit(format!("id: {error}")))?,
        None => clock::fresh_id()?,
    };
    let content = match (new.content, new.message) {
        (Some(content), None) | (None, Some(content)) => content,
        (None, None) => return Err(Fault::unfit("a message needs `content`")),
        (Some(_), Some(_)) => {
            return Err(Fault::unfit("`content` and `message` are the same: give one of them"));
        }
    };
    let content = match new.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
        Some(title) => format!("{title}\n\n{content}"),
        None => content,
    };
    deliver(&app, &project, (to, id), (content, new.images)).await
}

/// Puts a message into an inbox. One that is there already was acknowledged before, and is again.
async fn deliver(
    app: &App,
    project: &Project,
    (to, id): (TaskId, MessageId),
    (content, pictures): (String, Vec<Picture>),
) -> Answer<Taken<Posted>> {
    // Held until the commit that names them is durable.
    let (images, _pins) = keep(project, pictures).await?;
    let post = Post { content: content.clone(), images, ..Post::default() };
    let seq = match project.wish(Actor::User, Op::SendMessage { id, to, post }).await {
        Ok(receipt) => receipt.seq.map(|seq| seq.0),
        Err(WishError::Refused(Refusal::DuplicateMessage { .. })) => {
            posted_at(project, to, id, content).await?
        }
        Err(error) => return Err(error.into()),
    };
    let seq = seq.ok_or_else(|| Fault::internal("a message was posted and has no commit"))?;
    Ok(Taken(Posted { seq, cursor: app.cursor(seq), task_id: to.to_string(), message_id: id.to_string() }))
}

/// The commit by which a message was posted. Another text under the same id was never posted, and must not seem so.
async fn posted_at(project: &Project, task: TaskId, id: MessageId, content: String) -> Answer<Option<u64>> {
    let same = move |body: &EventBody| match body {
        EventBody::Message(posted) if posted.id == id => {
            matches!(&posted.body, Message::User(user) if user.content == content)
        }
        _ => false,
    };
    let found = seek(project, task, same).await?;
    found.map(Some).ok_or_else(|| {
        Fault::conflict("duplicate_message", format!("another message has the id {id}"))
            .hint("A new message needs a new id; the same one is for sending the same message again.")
    })
}

/// The last commit of a task with an event that is wanted.
async fn seek(
    project: &Project,
    task: TaskId,
    wanted: impl Fn(&EventBody) -> bool + Send + 'static,
) -> Answer<Option<u64>> {
    let project = project.clone();
    let found = tokio::task::spawn_blocking(move || {
        let mut found = None;
        history::events_of(project.log(), task, |(seq, _), event| {
            if wanted(&event.body) {
                found = Some(seq);
            }
        })
        .map(|()| found)
    });
    Ok(found.await??)
}

async fn keep(project: &Project, pictures: Vec<Picture>) -> Answer<(Vec<Image>, Vec<Pin>)> {
    if pictures.is_empty() {
        return Ok(Default::default());
    }
    let project = project.clone();
    let kept = tokio::task::spawn_blocking(move || {
        let (mut images, mut pins) = (Vec::new(), Vec::new());
        for picture in pictures {
            let (media_type, bytes) = decoded(&picture)?;
            let pin = project.log().blobs().put(&bytes).map_err(|error| {
                Fault::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "disk", error.to_string())
                    .hint("Free some space and try again.")
            })?;
            images.push(Image { media_type: media_type.to_owned(), blob: BlobId(pin.id().to_string()) });
            pins.push(pin);
        }
        Ok((images, pins))
    });
    kept.await?
}

/// The bytes of a picture, which have to be what they are said to be.
fn decoded(picture: &Picture) -> Answer<(&'static str, Vec<u8>)> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(&picture.base64);
    let bytes = bytes.map_err(|error| Fault::unfit(format!("images: no base64: {error}")))?;
    if bytes.len() > limits::PICTURE_BYTES {
        return Err(Fault::too_large(limits::PICTURE_BYTES));
    }
    let (name, is_one) = match picture.media_type {
        MediaType::Png => ("image/png", bytes.starts_with(b"\x89PNG\r\n\x1a\n")),
        MediaType::Jpeg => ("image/jpeg", bytes.starts_with(b"\xff\xd8\xff")),
        MediaType::Gif => ("image/gif", bytes.starts_with(b"GIF8")),
        MediaType::Webp => {
            ("image/webp", bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP".as_slice()))
        }
    };
    if is_one { Ok((name, bytes)) } else { Err(Fault::unfit(format!("images: this is no {name}"))) }
}

async fn go_on(State(app): State<App>, at: At, Input(wish): Input<Continue>) -> Answer<Taken<Posted>> {
    let (project, to) = located(&app, &at).await?;
    let words = wish.message.filter(|message| !message.trim().is_empty());
    let words = words.unwrap_or_else(|| "Go on.".to_owned());
    deliver(&app, &project, (to, clock::fresh_id()?), (words, Vec::new())).await
}

/// The last commit before an agent read a message.
async fn before(project: &Project, task: TaskId, message: &str) -> Answer<Seq> {
    let id: MessageId = message.parse().map_err(|error| Fault::unfit(format!("messageId: {error}")))?;
    let read = move |body: &EventBody| matches!(body, EventBody::MessagesConsumed(consumed) if consumed.message_ids.contains(&id));
    let seq = seek(project, task, read).await?;
    let seq = seq.ok_or_else(|| {
        Fault::conflict("not_read", format!("the task has not read a message {id}"))
            .hint("Name a message that is part of its conversation.")
    })?;
    Ok(Seq(seq.saturating_sub(1)))
}

async fn rewind(State(app): State<App>, at: At, Input(wish): Input<Rewind>) -> Answer<Given<Acted>> {
    let (project, task) = located(&app, &at).await?;
    let to = before(&project, task, &wish.message_id).await?;
    let op = Op::Session { task, op: SessionOp::Rewind { to } };
    Acted::of(&app, project.wish(Actor::User, op).await).map(Given)
}

async fn edit(State(app): State<App>, at: At, LargeInput(wish): LargeInput<Edit>) -> Answer<Taken<Posted>> {
    let (project, task) = located(&app, &at).await?;
    if wish.content.trim().is_empty() {
        return Err(Refusal::Empty { field: "the message" }.into());
    }
    let to = before(&project, task, &wish.message_id).await?;
    project.wish(Actor::User, Op::Session { task, op: SessionOp::Rewind { to } }).await?;
    deliver(&app, &project, (task, clock::fresh_id()?), (wish.content, wish.images)).await
}

async fn fork(State(app): State<App>, at: At, Input(wish): Input<Fork>) -> Answer<Given<Acted>> {
    let (project, task) = located(&app, &at).await?;
    let source = find(&project, &wish.source_task_id)?;
    let head = project.head();
    let op = Op::Session { task, op: SessionOp::Fork { source, head } };
    Acted::of(&app, project.wish(Actor::User, op).await).map(Given)
}
