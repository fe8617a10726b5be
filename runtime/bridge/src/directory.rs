//! Several servers on one listener, each at a path of its own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use mcp_revisions::core::discovery::CARD_PATH;
use mcp_revisions::http::{self as transport, Body, Drain, Received, Responding};
use mcp_revisions::sansio::server::{IncomingRequest, Server};
use mcp_revisions::serve::Peer;
use mcp_revisions::service::{Boxed, boxed, lock, until};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::ending::LAST_ANSWERS;
use crate::gateway::distinct;
use crate::servers::ServerPool;
use crate::{Bridge, Error, Service};

/// Several servers as a tower service, each at `/NAME/mcp`; clones are the same directory.
///
/// `GET /` returns the servers as `mcpServers`, as hosts have them in their configuration.
#[derive(Clone)]
pub struct ServerDirectory(Arc<SharedDirectory>);

struct SharedDirectory {
    options: transport::Options,
    /// Answers whether requests are accepted.
    front: transport::Service,
    entries: Mutex<Vec<DirectoryEntry>>,
    /// The places of the servers of all entries.
    pool: Arc<ServerPool>,
}

/// A server with its path.
#[derive(Clone)]
struct DirectoryEntry {
    name: String,
    /// The name in letters, digits, `-` and `_`.
    segment: String,
    service: Service,
}

impl std::fmt::Debug for ServerDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.entries().into_iter().map(|entry| entry.name).collect();
        f.debug_tuple("ServerDirectory").field(&names).finish()
    }
}

impl ServerDirectory {
    /// Creates a directory without servers. The options are those of all servers, but for the path. A guard in them is one
    /// protected resource for all servers and for their list: its URL is a parent of theirs, such as `https://mcp.example.com/`, and so
    /// is that of a [server card](transport::Options::with_server_card), which each server has then.
    #[must_use]
    pub fn new(options: transport::Options) -> Self {
        let shared = options.with_shared_budgets();
        let refuse = |_: IncomingRequest, _: Peer| async {
            Err(mcp_revisions::sansio::errors::internal("no server is at this path").error)
        };
        Self(Arc::new(SharedDirectory {
            front: transport::Service::with_options(Server::late(), refuse, shared.clone()),
            options: shared,
            entries: Mutex::default(),
            pool: Arc::default(),
        }))
    }

    /// Adds a server under a name. Its path is `/NAME/mcp`, with the name in letters, digits, `-` and `_`, at most 32 of them.
    ///
    /// # Errors
    /// Returns an error if nothing of the name can be used, or another server has the same path.
    pub fn insert(&self, name: &str, bridge: Bridge) -> Result<(), Error> {
        let mut entries = lock(&self.0.entries);
        let taken = entries
            .iter()
            .map(|it| (it.name.as_str(), it.segment.as_str()));
        let segment = distinct(name, taken)?;
        let path = format!("/{segment}/mcp");
        let shared = self.0.options.clone();
        let options = shared.with_server_card_below(&path).with_path(path);
        entries.push(DirectoryEntry {
            name: name.to_owned(),
            service: (bridge.within(&self.0.pool).with_http_options(options)).into_service(),
            segment,
        });
        Ok(())
    }

    /// Removes a server: its path has status 404 from now on. The future is ready once the calls that were open have ended, for
    /// which they have `grace`, and the connections to the server after them.
    pub fn remove(&self, name: &str, grace: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut entries = lock(&self.0.entries);
        let at = entries.iter().position(|entry| entry.name == name);
        let removed = at.map(|at| entries.remove(at));
        async move {
            if let Some(removed) = removed {
                removed.service.retire(grace).await;
            }
        }
    }

    /// Serves HTTP/1.1 on a listener until `stop` is ready. Then the servers are lame ducks for the time of the
    /// [options](mcp_revisions::http::Options::with_lame_duck). After that new calls get status 503, what is open has `grace` to
    /// finish, and gets an error after that. Then the connections to the servers end.
    /// Dropping the future closes all connections at once.
    pub async fn serve(
        &self,
        listener: impl Into<transport::Listener>,
        stop: impl Future<Output = ()>,
        grace: Duration,
    ) {
        let bound = listener.into();
        until(stop, |stopped| self.serve_until(bound, stopped, grace)).await;
    }

    fn serve_until(
        &self,
        listener: transport::Listener,
        stopped: Boxed<'static, ()>,
        grace: Duration,
    ) -> Boxed<'static, ()> {
        let directory = self.clone();
        boxed(async move {
            let mut ending = JoinSet::new();
            let time = directory.0.options.lame_duck().saturating_add(grace);
            let stop = async {
                stopped.await;
                for entry in directory.entries() {
                    ending.spawn(async move { entry.service.give_up_after(time).await });
                }
            };
            let linger = grace.saturating_add(LAST_ANSWERS);
            transport::serve_layered(listener, directory.clone(), &directory, stop, linger).await;
            drop(ending);
            let mut shutdowns = JoinSet::new();
            for entry in directory.entries() {
                shutdowns.spawn(async move { entry.service.shutdown().await });
            }
            while shutdowns.join_next().await.is_some() {}
        })
    }

    fn entries(&self) -> Vec<DirectoryEntry> {
        lock(&self.0.entries).clone()
    }

    /// Responds to a request whose body is of one type.
    fn respond(&self, request: Request<Received>) -> Responding {
        let path = request.uri().path();
        // Without cards, that path is none of a server.
        let is_card = |path: &&str| self.0.options.publishes_card() && path.ends_with("/mcp");
        let card = path.strip_suffix(CARD_PATH).filter(is_card);
        let segment = card
            .unwrap_or(path)
            .strip_prefix('/')
            .and_then(|path| path.strip_suffix("/mcp"));
        let found = segment.and_then(|segment| {
            let mut entries = self.entries().into_iter();
            entries.find(|entry| entry.segment == segment)
        });
        if let Some(entry) = found {
            return entry.service.respond(request);
        }
        let head = head(&request);
        let levels = || {
            let mut all = transport::Counters::default();
            for entry in self.entries() {
                all.add(&entry.service.counters());
            }
            all
        };
        if let Some(metrics) = self.0.options.metrics(&head, levels) {
            return boxed(std::future::ready(Ok(metrics)));
        }
        let options = &self.0.options;
        let servers = self.entries().into_iter().map(|entry| {
            let path = format!("/{}/mcp", entry.segment);
            (entry.segment, path)
        });
        if let Some(catalog) = options.server_catalog(&head, servers) {
            return boxed(std::future::ready(Ok(catalog)));
        }
        if options.is_look(request.uri()) || options.serves_guard_document(request.uri().path()) {
            return self.0.front.respond(request);
        }
        let directory = self.clone();
        boxed(async move {
            let mut checked = head;
            // The names of the servers are for clients with a token only.
            if let Err(refused) = directory.0.options.authorize(&mut checked).await {
                return Ok(*refused);
            }
            Ok(directory.index(&checked))
        })
    }

    /// Returns the servers and their URLs; status 404 for any other path.
    fn index(&self, head: &Parts) -> Response<Body> {
        if let Err(why) = self.0.options.admits(head) {
            return transport::refused(StatusCode::FORBIDDEN, &why);
        }
        if head.uri.path() != "/" {
            let paths: Vec<String> = self
                .entries()
                .into_iter()
                .map(|it| format!("/{}/mcp", it.segment))
                .collect();
            let why = format!("no such path: the servers are at {}", paths.join(", "));
            return transport::refused(StatusCode::NOT_FOUND, &why);
        }
        if !matches!(head.method, Method::GET | Method::HEAD) {
            let why = "this is the list of servers";
            let mut refused = transport::refused(StatusCode::METHOD_NOT_ALLOWED, why);
            refused
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        let host = head
            .headers
            .get(HOST)
            .and_then(|host| host.to_str().ok())
            .unwrap_or("localhost");
        let servers: Map<String, Value> = self
            .entries()
            .into_iter()
            .map(|entry| {
                let url = format!("http://{host}/{}/mcp", entry.segment);
                (entry.name, json!({ "type": "http", "url": url }))
            })
            .collect();
        let text = format!("{:#}\n", json!({ "mcpServers": servers }));
        let mut listed = Response::new(Body::from(text));
        let json = HeaderValue::from_static("application/json");
        listed.headers_mut().insert(CONTENT_TYPE, json);
        listed
    }
}

impl Drain for ServerDirectory {
    fn options(&self) -> &transport::Options {
        &self.0.options
    }

    fn lame_duck(&self) {
        self.0.front.lame_duck();
        for entry in self.entries() {
            entry.service.lame_duck();
        }
    }

    fn close(&self) {
        self.0.front.close();
        for entry in self.entries() {
            entry.service.close();
        }
    }

    fn drained(&self) -> Boxed<'_, ()> {
        boxed(async {
            for entry in self.entries() {
                entry.service.drained().await;
            }
        })
    }

    fn leave(&self) -> Boxed<'_, ()> {
        boxed(async {
            for entry in self.entries() {
                entry.service.leave().await;
            }
        })
    }
}

/// Returns the head of a request, for what does not read its body.
fn head(request: &Request<Received>) -> Parts {
    let mut head = Request::new(()).into_parts().0;
    head.method = request.method().clone();
    head.uri = request.uri().clone();
    head.headers = request.headers().clone();
    head
}

mcp_revisions::tower_service!(ServerDirectory);
