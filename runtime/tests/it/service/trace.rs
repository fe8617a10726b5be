//! What handlers log by `tracing` reaches whoever called, and nobody else.

use std::sync::{Arc, Mutex};

use mcp_revisions::args::Version;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::trace::ToClient;
use mcp_revisions::service::{Client, Router, Server};
use tokio::io::{duplex, split};
use tracing::Instrument;
use tracing_subscriber::layer::SubscriberExt;

use crate::service::peer::revisions;

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
        let (near, far) = duplex(1 << 16);
        tokio::spawn(async move {
            let (input, output) = split(far);
            running.lines(input, output).await.unwrap();
        });
        let (input, output) = split(near);
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
