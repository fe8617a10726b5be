//! What handlers log by `tracing` reaches whoever called, and nobody else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::args::Version;
use mcp_revisions::http::Options;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::trace::{ToClient, on_span};
use mcp_revisions::service::{Client, McpServer, RequestContext, Router, Server};
use mcp_revisions::{Latest, Revision};
use serde_json::json;
use tokio::io::split;
use tracing::Instrument;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::http::replicas::{in_session, request};
use crate::http::{Post, message, open};
use crate::service::peer::{Peer, revisions};
use crate::support::served;

#[tokio::test]
async fn events_in_the_span_of_a_call_go_to_its_client() {
    let subscriber = tracing_subscriber::registry().with(ToClient);
    let _guard = tracing::subscriber::set_default(subscriber);
    for revision in revisions() {
        let measure = || async {
            tracing::debug!("not wanted");
            tracing::warn!(room = 7, "too hot");
            let work = async { tracing::error!(target: "oven", "on fire") };
            work.instrument(tracing::info_span!("inside")).await;
            "measured"
        };
        let server = Server::new(&mcp::Implementation::new("example", Version("1")))
            .with_revisions([revision].into_iter().collect());
        let router = Router::new().tool("measure", "Measures.", measure);
        let running = router.build_with(server).unwrap();
        let (input, output) = split(served(running));
        let info = mcp::Implementation::new("client", Version("1"));
        let client = Client::builder(&info).lines(input, output);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&heard);
        let client = client
            .with_log_level(LogLevel::Info)
            .on_log(move |log| hear.lock().unwrap().push(log));
        let params = mcp::CallToolRequestParams::new("measure");
        client.call_tool(params).await.unwrap();
        tracing::error!("outside of any call");
        let heard: Vec<_> = (heard.lock().unwrap().iter())
            .map(|log| {
                let data: serde_json::Value = log.data.parse().unwrap();
                (log.level, log.logger.clone().unwrap(), data)
            })
            .collect();
        let hot = serde_json::json!({"message": "too hot", "room": 7});
        let expected = [
            (LogLevel::Warning, module_path!().to_owned(), hot),
            (LogLevel::Error, "oven".to_owned(), "on fire".into()),
        ];
        assert_eq!(heard, expected, "{revision}");
    }
}

/// Set in the process of [`a_hook_and_a_layer_that_log_hold_up_no_call`].
const ALONE: &str = "MCP_TEST_ALONE";

/// Runs again in a process of its own, for the subscriber of a whole process: only with that are events within events heard.
#[tokio::test]
async fn a_hook_and_a_layer_that_log_hold_up_no_call() {
    if std::env::var_os(ALONE).is_none() {
        let name = "service::trace::a_hook_and_a_layer_that_log_hold_up_no_call";
        let mut alone = tokio::process::Command::new(std::env::current_exe().unwrap());
        let alone = alone.args(["--exact", name]).env(ALONE, "1");
        let output = alone.kill_on_drop(true).output();
        let output = tokio::time::timeout(Duration::from_secs(20), output).await;
        let output = output.expect("the call is held up").unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let is_passed = output.status.success() && text.contains("1 passed");
        assert!(is_passed, "{output:?}");
        return;
    }
    let subscriber = tracing_subscriber::registry().with(ToClient);
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let plain = |running: McpServer<Latest>| running;
    assert_eq!(logs_of_a_call(plain).await, ["begins"]);
    let layered = |running: McpServer<Latest>| {
        running.with_layer(|message| {
            tracing::info!("passes");
            let waits = async move {
                tokio::task::yield_now().await;
                tracing::info!("has waited");
                message.forward().await
            };
            waits.instrument(tracing::info_span!("layer"))
        })
    };
    // The layer logs on the way of the progress, and not on the ways of these messages.
    let logs = logs_of_a_call(layered).await;
    assert_eq!(logs, ["begins", "has waited", "passes"]);
}

/// Returns what a client is sent of the events of a call, in alphabetical order, by a server whose hook logs, too.
async fn logs_of_a_call(change: impl Fn(McpServer<Latest>) -> McpServer<Latest>) -> Vec<String> {
    let measure = |cx: RequestContext<Latest>| async move {
        tracing::info!("begins");
        // 2024-11-05 has no message of progress: the hook is called within the call.
        cx.progress_with(1, None, "measures").await;
        // What waits in a layer is sent before the call is over.
        tokio::task::yield_now().await;
        "measured"
    };
    let router = Router::new().tool("measure", "Measures.", measure);
    let (lose, mut losses) = tokio::sync::mpsc::unbounded_channel();
    let running = router.build("example", "1").unwrap().on_loss(move |lost| {
        tracing::warn!(method = lost.method, "lost");
        let _ = lose.send(lost.method.to_owned());
    });
    let running = change(running);
    let mut peer = Peer::connect(Revision::V2024_11_05, served(running)).await;
    let params = json!({"name": "measure", "_meta": {"progressToken": 1}});
    peer.result("tools/call", params).await;
    assert_eq!(losses.recv().await.unwrap(), "notifications/progress");
    peer.result("tools/list", json!({})).await;
    let logs = (peer.told.iter()).filter(|it| it["method"] == "notifications/message");
    let mut logs: Vec<_> = logs
        .map(|it| it["params"]["data"].as_str().unwrap().to_owned())
        .collect();
    logs.sort();
    logs
}

/// The fields of the spans of calls, as a log would have them.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Fields>>>);

#[derive(Default)]
pub(crate) struct Fields(pub(crate) BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

/// The values of a field, of the lines for an operator whose message begins so.
#[derive(Clone)]
pub(crate) struct Lines {
    begin: &'static str,
    field: &'static str,
    pub(crate) values: Arc<Mutex<Vec<String>>>,
}

impl Lines {
    pub(crate) fn new(begin: &'static str, field: &'static str) -> Self {
        let values = Arc::default();
        Self {
            begin,
            field,
            values,
        }
    }
}

impl<S: tracing::Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let said = fields.0.get("message").map(String::as_str);
        if said.is_some_and(|said| said.starts_with(self.begin)) {
            (self.values.lock().unwrap()).extend(fields.0.remove(self.field));
        }
    }
}

impl<S: tracing::Subscriber> Layer<S> for Calls {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "call" {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            self.0.lock().unwrap().push(fields);
        }
    }
}

#[tokio::test]
async fn the_span_of_a_call_has_its_method_revision_losses_and_the_beginning_of_its_session() {
    let calls = Calls::default();
    let subscriber = tracing_subscriber::registry().with(calls.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    let router = Router::new().tool("measure", "Measures.", || async { "measured" });
    let server = router.build("example", "1").unwrap();
    let server = server.custom_method("acme/echo", |params, _| async { Ok(params) });
    let service = server.into_http_service(Options::new());
    let session = open(&service, "2025-11-25").await;
    // A server without tasks has no use for the wish for one.
    let params = json!({"name": "measure", "task": {"ttl": 1}});
    let call = in_session(&session, &request(1, "tools/call", params));
    message(call.to(&service).await).await;
    let call = Post::per_request("tools/list", json!({}));
    message(call.to(&service).await).await;
    let call = in_session(&session, &request(2, "acme/echo", json!({})));
    message(call.to(&service).await).await;
    let calls = calls.0.lock().unwrap();
    let field = |call: usize, name: &str| calls[call].0.get(name).map(String::as_str);
    let said = |call| {
        [
            "mcp.method.name",
            "mcp.protocol.version",
            "losses",
            "mcp.session.id",
        ]
        .map(|name| field(call, name))
    };
    let of_session = [
        Some("tools/call"),
        Some("2025-11-25"),
        Some("1"),
        Some(&session[..8]),
    ];
    assert_eq!(said(0), of_session);
    let per_request = [Some("tools/list"), Some("2026-07-28"), Some("0"), None];
    assert_eq!(said(1), per_request);
    assert_eq!(field(2, "mcp.method.name"), Some("acme/echo"));
    assert_eq!(field(0, "otel.name"), Some("tools/call measure"));
    assert_eq!(field(0, "gen_ai.tool.name"), Some("measure"));
    assert_eq!(field(0, "jsonrpc.request.id"), Some("1"));
}

#[tokio::test]
async fn the_span_of_a_call_gets_the_parent_that_its_client_names() {
    let contexts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&contexts);
    assert!(on_span(move |_, context| seen
        .lock()
        .unwrap()
        .push(context.clone())));
    let subscriber = tracing_subscriber::registry().with(ToClient);
    let _guard = tracing::subscriber::set_default(subscriber);
    let router = Router::new().tool("measure", "Measures.", || async { "measured" });
    let service = router.build("example", "1").unwrap();
    let service = service.into_http_service(Options::new());
    let session = open(&service, "2025-06-18").await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({ "traceparent": parent, "tracestate": "a=1", "baggage": "user=ada" });
    let params = json!({ "name": "measure", "_meta": meta });
    let call = in_session(&session, &request(1, "tools/call", params));
    message(call.to(&service).await).await;
    let contexts = contexts.lock().unwrap();
    let found = contexts
        .iter()
        .find(|it| it.traceparent.as_deref() == Some(parent))
        .unwrap();
    assert_eq!(found.get("tracestate"), Some("a=1"));
    assert_eq!(found.get("baggage"), Some("user=ada"));
}
