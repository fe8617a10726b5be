//! A notes server with everything that a server has: `cargo run -p mcp-revisions --example notes [-- PORT]` serves standard
//! input and output, or HTTP on the port.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use mcp_revisions::http::{self, Options};
use mcp_revisions::latest::{self as mcp, CallClient};
use mcp_revisions::service::router::Changes;
use mcp_revisions::service::{Blob, LogLevel};
use mcp_revisions::{Error, Json, RequestContext, Router, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The notes by their names, and those who hear of them.
#[derive(Default)]
struct Shelf {
    notes: Mutex<BTreeMap<String, String>>,
    changes: Changes,
}

impl Shelf {
    fn get(&self, name: &str) -> Result<String, Error> {
        let notes = self.notes.lock().map_err(Error::internal)?;
        let note = notes.get(name).cloned();
        note.ok_or_else(|| Error::ResourceNotFound(format!("notes://{name}")))
    }

    /// Returns whether the note is a new one.
    fn set(&self, Note { name, text }: Note) -> Result<bool, Error> {
        let mut notes = self.notes.lock().map_err(Error::internal)?;
        Ok(notes.insert(name, text).is_none())
    }

    /// Returns the names that begin with a text.
    fn names(&self, start: &str) -> Result<Vec<String>, Error> {
        let notes = self.notes.lock().map_err(Error::internal)?;
        let names = notes.keys().filter(|name| name.starts_with(start));
        Ok(names.cloned().collect())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    name: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Name of the note.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Start {
    /// What the names begin with.
    #[serde(default)]
    start: String,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    names: Vec<String>,
}

async fn write(shelf: State<Shelf>, note: Note, cx: RequestContext) -> Result<String, Error> {
    let uri = format!("notes://{}", note.name);
    let said = format!("{} is written", note.name);
    if shelf.set(note)? {
        shelf.changes.resources();
    }
    shelf.changes.resource(uri);
    cx.log(LogLevel::Info, &*said).await;
    Ok(said)
}

async fn find(shelf: State<Shelf>, Start { start }: Start) -> Result<Json<Found>, Error> {
    let names = shelf.names(&start)?;
    Ok(Json(Found { names }))
}

/// Asks the user first.
async fn remove(
    shelf: State<Shelf>,
    Name { name }: Name,
    cx: RequestContext,
) -> Result<String, Error> {
    shelf.get(&name)?;
    if !cx.stateless().confirm(format!("Remove {name}?")).await? {
        return Ok(format!("{name} stays"));
    }
    shelf.notes.lock().map_err(Error::internal)?.remove(&name);
    shelf.changes.resources();
    Ok(format!("{name} is removed"))
}

/// Lets the client's model do it.
#[expect(
    deprecated,
    reason = "sampling is deprecated since 2026-07-28, and clients still have it"
)]
async fn summarize(
    shelf: State<Shelf>,
    Name { name }: Name,
    cx: RequestContext,
) -> Result<String, Error> {
    let text = mcp::TextContent::new(format!("Summarize: {}", shelf.get(&name)?));
    let message = mcp::SamplingMessage::new(mcp::Role::User, mcp::SamplingContent::Text(text));
    let answer = cx
        .create_message(mcp::CreateMessageRequestParams::new(vec![message], 200))
        .await?;
    match answer.content {
        mcp::SamplingContent::Text(summary) => Ok(summary.text),
        _ => Err(Error::internal("the model has answered with no text")),
    }
}

/// Draws a note of one pixel.
async fn draw(shelf: State<Shelf>, Name { name }: Name) -> Result<mcp::ImageContent, Error> {
    shelf.get(&name)?;
    let pixel = "P1 1 1 1";
    Ok(mcp::ImageContent::from_bytes(
        pixel,
        "image/x-portable-bitmap",
    ))
}

/// Takes a while: a client that has tasks fetches the result later.
async fn export(shelf: State<Shelf>, cx: RequestContext) -> Result<String, Error> {
    let names = shelf.names("")?;
    for (number, name) in names.iter().enumerate() {
        let total = i64::try_from(names.len()).unwrap_or(i64::MAX);
        let done = i64::try_from(number + 1).unwrap_or(i64::MAX);
        cx.progress_with(done, Some(total.into()), name).await;
    }
    Ok(names.join("\n"))
}

async fn read(shelf: State<Shelf>, Name { name }: Name) -> Result<String, Error> {
    shelf.get(&name)
}

async fn review(shelf: State<Shelf>, Name { name }: Name) -> Result<String, Error> {
    Ok(format!("Review this note: {}", shelf.get(&name)?))
}

async fn complete(shelf: State<Shelf>, typed: String) -> Result<Vec<String>, Error> {
    shelf.names(&typed)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shelf = Shelf::default();
    let changes = shelf.changes.clone();
    let server = Router::new()
        .with_state(shelf)
        .with_changes(&changes)
        .with_page_size(100)
        .tool("write", "Writes a note.", write)
        .tool("find", "Finds notes by the start of their name.", find)
        .described(|tool| {
            tool.with_annotations(mcp::ToolAnnotations::new().with_read_only_hint(true))
        })
        .tool("remove", "Removes a note, if the user agrees.", remove)
        .tool(
            "summarize",
            "Summarizes a note by the client's model.",
            summarize,
        )
        .tool("draw", "Draws a note.", draw)
        .tool("export", "Lists all notes.", export)
        .as_task()
        .resource_template("notes://{name}", "note", read)
        .prompt("review", "Reviews a note.", review)
        .completion("review", "name", complete)
        .completion("notes://{name}", "name", complete)
        .build("notes", "1.0.0")?;
    let stop = mcp_revisions::stop_signal()?;
    let Some(port) = std::env::args().nth(1) else {
        return Ok(server.stdio_until(stop, Duration::from_secs(10)).await?);
    };
    let listener = http::bind(("127.0.0.1", port.parse()?)).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    println!("listening on {url}");
    let service = server.into_http_service(Options::default().with_server_card(url)?);
    http::serve_until(listener, service, stop, Duration::from_secs(10)).await;
    Ok(())
}
