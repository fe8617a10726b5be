//! A server with events, one each second, over HTTP: `cargo run -p mcp-revisions --example events [-- PORT]`. With `-- URL` it is a
//! client, which goes on when the server is started again. With `-- PORT HOST` it delivers to webhooks at that host, too.

use std::time::Duration;

use ::http::Request;
use mcp_revisions::args::Id;
use mcp_revisions::core::extensions::events as ext;
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::events::EventUpdate;
use mcp_revisions::service::router::events::{
    EventSignal, Events, WebhookAddresses, Webhooks, now_ms, timestamp,
};
use mcp_revisions::{Client, Error, Router, http};
use serde_json::json;
use tower::ServiceExt as _;

/// Number of seconds that can be gone back.
const KEPT: u64 = 300;
/// Maximum number of events of one answer.
const MOST: u64 = 100;

/// Each second is an event, and its position: nothing has to be kept.
async fn ticks(params: ext::PollEventsRequestParams) -> Result<ext::PollEventsResult, Error> {
    let now = u64::try_from(now_ms()).unwrap_or_default() / 1000;
    let asked = params.cursor.flatten();
    let invalid = |_| Error::InvalidParams("the cursor is not one of this server".to_owned());
    let asked = asked.map_or(Ok(now), |cursor| cursor.parse().map_err(invalid))?;
    let begin = asked.max(now.saturating_sub(KEPT));
    let end = now.min(
        begin
            + params
                .max_events
                .and_then(|it| it.as_u64())
                .unwrap_or(MOST)
                .min(MOST),
    );
    let events = (begin..end).map(|second| {
        let second = second + 1;
        let data = JsonObject::try_from(Json::from(json!({ "second": second })));
        let id = format!("tick-{second}");
        let time = timestamp(i64::try_from(second * 1000).unwrap_or_default());
        let event = ext::EventOccurrence::new("tick", data.unwrap_or_default(), Id(id), time);
        event.with_cursor(Some(second.to_string()))
    });
    Ok(ext::PollEventsResult::new(events.collect())
        .with_cursor(Some(end.to_string()))
        .with_has_more(end < now)
        .with_truncated(begin > asked))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument.starts_with("http") {
        let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
        let client = client.url(&argument)?;
        let mut events = client
            .events(ext::StreamEventsRequestParams::new("tick"))
            .await?;
        while let Some(update) = events.next().await {
            match update {
                EventUpdate::Event(event) => println!("{} at {}", event.event_id, event.timestamp),
                other => println!("{other:?}"),
            }
        }
        return Err(events
            .error()
            .map_or("closed".to_owned(), ToString::to_string)
            .into());
    }
    let schema = JsonObject::try_from(Json::from(json!({ "type": "object" })))?;
    let event = ext::EventType::new("tick", vec![], schema.clone())
        .with_description("A second has passed.")
        .with_payload_schema(schema);
    let events = Events::new().event(event, &EventSignal::new(), ticks);
    let mut events = events.with_interval(Duration::from_secs(1));
    if let Some(host) = std::env::args().nth(2) {
        // Private addresses are for trying it out.
        events = events.with_webhooks(Webhooks::over_http([host], WebhookAddresses::Private)?);
    }
    let server = Router::new().events(events);
    let service = server
        .build("clock", "1.0.0")?
        .into_http_service(http::Options::new());
    let listener = http::bind(("127.0.0.1", argument.parse().unwrap_or(8080))).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    // A server that is not an example verifies the token, by `http::ResourceGuard`.
    let named = service.clone().map_request(|mut request: Request<_>| {
        let token = request.headers().get("authorization");
        if let Some(token) = token.and_then(|it| Some(it.to_str().ok()?.to_owned())) {
            request.extensions_mut().insert(http::Principal(token));
        }
        request
    });
    let stop = mcp_revisions::stop_signal()?;
    http::serve_layered(listener, named, &service, stop, Duration::ZERO).await;
    Ok(())
}
