//! The bridge's end towards clients: standard streams for one, HTTP for many.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use mcp_registry::{Context, Outcome, Policy, Revision, Spoken, Subject};
use mcp_revisions::server::Server;
use mcp_revisions::{http, stdio};
use mcp_wire::{Json, JsonObject, peek};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Stdin};
use tokio::net::TcpListener;

use super::join::Join;
use super::upstream::Upstream;

/// How long what is open may take to finish once the bridge is told to end.
const GRACE: Duration = Duration::from_secs(5);

/// How much of what a client says may wait to be read.
const PIPE: usize = 1 << 16;

/// Where clients come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    /// One, over standard streams.
    Stdio,
    /// Any number, over HTTP.
    Http(SocketAddr),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "stdio" {
            return Ok(Self::Stdio);
        }
        let wrong = || format!("`{text}` is neither `stdio` nor `http://ADDRESS:PORT/mcp`");
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?;
        let address = rest.split('/').next().unwrap_or(rest);
        let address = address.replace("localhost", "127.0.0.1");
        address.parse().map(Self::Http).map_err(|_| wrong())
    }
}

/// What is known of the client before its server is: over stdio, its first message.
pub(super) struct Greeting {
    first: Vec<u8>,
    stdin: Option<BufReader<Stdin>>,
    spoken: Option<Client>,
}

/// Who a client is and what it can do, in its own words.
struct Client {
    revision: Revision,
    info: Option<Json>,
    capabilities: Json,
}

impl Listen {
    /// Waits for what the client says first; none if it says nothing.
    pub(super) async fn greeting(&self) -> anyhow::Result<Option<Greeting>> {
        match self {
            Self::Http(_) => Ok(Some(Greeting {
                first: Vec::new(),
                stdin: None,
                spoken: None,
            })),
            Self::Stdio => {
                let mut stdin = BufReader::new(tokio::io::stdin());
                let mut first = Vec::new();
                while first.trim_ascii().is_empty() {
                    first.clear();
                    let read = stdin.read_until(b'\n', &mut first).await;
                    if read.context("cannot read standard input")? == 0 {
                        return Ok(None);
                    }
                }
                let spoken = spoken(&first);
                Ok(Some(Greeting {
                    first,
                    stdin: Some(stdin),
                    spoken,
                }))
            }
        }
    }
}

/// What a first message says of its sender.
fn spoken(first: &[u8]) -> Option<Client> {
    let seen = peek(first).ok()?;
    let json = |raw: mcp_wire::Raw<'_>| Json::from_text(raw.text()).ok();
    if let Some(capabilities) = seen.meta.client_capabilities {
        let claim = seen.meta.protocol_version?.as_str()?;
        return Some(Client {
            revision: Revision::from_wire(&claim).unwrap_or(Revision::NEWEST),
            info: seen.meta.client_info.and_then(json),
            capabilities: json(capabilities)?,
        });
    }
    let params = JsonObject::from_text(seen.params?.text()).ok()?;
    let named = params.get("protocolVersion")?;
    let named = named.as_str()?;
    Some(Client {
        revision: Revision::from_wire(&named)?,
        info: params.get("clientInfo"),
        capabilities: params.get("capabilities")?,
    })
}

/// What a bridge says that has not heard of its clients' capabilities: it hands on whatever they can do.
const ANY: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

impl Greeting {
    /// Whether there is one client, which has said something already.
    pub(super) fn is_of_one(&self) -> bool {
        self.stdin.is_some()
    }

    /// `Implementation` and `ClientCapabilities` for a server of this revision.
    pub(super) fn profile(&self, revision: Revision) -> (Json, Json) {
        let said = |part: &str, json: &Json| {
            let from = self
                .spoken
                .as_ref()
                .map_or(revision, |spoken| spoken.revision);
            let cx = Context::new(Policy::Strict);
            let converted =
                mcp_registry::convert(Subject::Type(part), from, revision, json.text(), cx);
            converted.ok().and_then(Outcome::value)
        };
        let own = || {
            Json::from(
                serde_json::json!({ "name": "mcp-rev bridge", "version": env!("CARGO_PKG_VERSION") }),
            )
        };
        let spoken = self.spoken.as_ref();
        let info = spoken.and_then(|spoken| said("Implementation", spoken.info.as_ref()?));
        let all = Json::from_text(ANY).unwrap_or_default();
        let capabilities = match spoken {
            Some(spoken) => said("ClientCapabilities", &spoken.capabilities),
            None => said("ClientCapabilities", &all),
        };
        (info.unwrap_or_else(own), capabilities.unwrap_or_default())
    }
}

/// Serves clients until they, the server or the bridge are told to end.
pub(super) async fn serve<App: Spoken>(
    listen: &Listen,
    server: Server<App>,
    join: Join,
    greeting: Greeting,
    upstream: &Upstream,
) -> anyhow::Result<()> {
    match listen {
        Listen::Stdio => over_stdio(server, join, greeting, upstream).await,
        Listen::Http(address) => {
            let listener = TcpListener::bind(address).await;
            let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
            eprintln!(
                "mcp-rev: listening on http://{}/mcp",
                listener.local_addr()?
            );
            let service = http::Service::new(server, join);
            let stop = async {
                tokio::select! {
                    () = told_to_end() => {}
                    () = upstream.ended() => eprintln!("mcp-rev: the server has ended"),
                }
            };
            http::serve_until(listener, service, stop, GRACE).await;
            Ok(())
        }
    }
}

async fn over_stdio<App: Spoken>(
    server: Server<App>,
    join: Join,
    greeting: Greeting,
    upstream: &Upstream,
) -> anyhow::Result<()> {
    let Greeting { first, stdin, .. } = greeting;
    let mut stdin = stdin.context("nothing was read")?;
    let (mut to, input) = tokio::io::duplex(PIPE);
    let copied = async move {
        if to.write_all(&first).await.is_ok() {
            let _ = tokio::io::copy_buf(&mut stdin, &mut to).await;
        }
    };
    let ended = async {
        tokio::select! {
            () = copied => {}
            () = upstream.ended() => {}
            () = told_to_end() => {}
        }
        // The pipe ends here, and what was read is answered, if that does not take too long.
        tokio::time::sleep(GRACE).await;
    };
    let served = stdio::serve_on(server, join, input, tokio::io::stdout());
    tokio::select! {
        served = served => served.context("cannot speak with the client"),
        () = ended => Ok(()),
    }
}

/// Waits until somebody ends the bridge.
async fn told_to_end() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signal) => {
                    signal.recv().await;
                }
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupted => {}
            () = terminated => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupted.await;
}
