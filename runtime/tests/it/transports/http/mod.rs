//! Servers over streamable HTTP, as they are and as they fail.

mod calls;
mod repeats;
mod streams;
#[cfg(unix)]
mod unix;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp_revisions::latest::{self as mcp};
use mcp_revisions::service::Server;
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, RevisionSet, http};

use crate::transports::router;

/// What stands between the client and the server.
type Fault = Arc<dyn Fn(usize, &Request) -> Option<Response> + Send + Sync>;

/// A server on a port of its own; `fault` may answer in its place, told how many requests there were before.
async fn serve(only: impl IntoIterator<Item = Revision>, fault: Fault) -> String {
    let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1.0.0"));
    let server = Server::new(&info).with_revisions(only.into_iter().collect());
    let service = router()
        .build_with(server)
        .unwrap()
        .into_http_service(http::Options::default());
    let seen = Arc::new(AtomicUsize::new(0));
    let app = axum::Router::new()
        .route_service("/mcp", service)
        .layer(from_fn(move |request: Request, next: Next| {
            let answer = fault(seen.fetch_add(1, Ordering::SeqCst), &request);
            async move {
                match answer {
                    Some(answer) => answer,
                    None => next.run(request).await,
                }
            }
        }));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    url
}

fn none() -> Fault {
    Arc::new(|_, _| None)
}

fn status(status: u16, headers: &[(&'static str, String)]) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(Body::empty()).unwrap()
}

fn quick(url: &str) -> Http {
    Http::new(url).unwrap().with_pause(Duration::from_millis(5))
}

fn spoken_over_http() -> impl Iterator<Item = Revision> {
    RevisionSet::all().iter()
}
