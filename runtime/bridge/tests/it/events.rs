//! Events through the bridge: clients of the lifecycle that has them get each once, under the ids of their own streams; others
//! are not offered any.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_bridge::{Bridge, ClientSettings, Upstream};
use mcp_revisions::args::{Id, Url};
use mcp_revisions::core::errors::FORBIDDEN;
use mcp_revisions::core::extensions::events::{self as ext, CallServer as _};
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::Http;
use mcp_revisions::service::client::events::EventUpdate;
use mcp_revisions::service::router::events::{EventSignal, Events};
use mcp_revisions::service::{Error, Router, Server};
use mcp_revisions::{Lifecycle, Revision, RevisionSet};
use serde_json::json;

use crate::client;

/// Positions count up; an argument names the stream in the ids of its events.
async fn tick(params: ext::PollEventsRequestParams) -> Result<ext::PollEventsResult, Error> {
    let stream = params.arguments.unwrap_or_default();
    let stream: String = stream.get("stream").unwrap_or_default().read()?;
    let Some(cursor) = params.cursor.flatten() else {
        return Ok(ext::PollEventsResult::new(vec![]).with_cursor(Some("0".into())));
    };
    let next = cursor.parse::<u32>().unwrap() + 1;
    if next > 50 {
        return Err(Error::application(FORBIDDEN, "no more"));
    }
    let (id, time) = (format!("{stream}-{next}"), "2026-11-29T12:00:00Z");
    let event = ext::EventOccurrence::new("tick", JsonObject::new(), Id(id), time);
    let batch = ext::PollEventsResult::new(vec![event]);
    Ok(batch
        .with_cursor(Some(next.to_string()))
        .with_has_more(true))
}

#[tokio::test]
async fn clients_that_can_have_events_get_each_once_and_others_are_not_offered_any() {
    let server = Upstream::streams("ticks", move || {
        let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        let event = ext::EventType::new("tick", vec![], JsonObject::new());
        let events = Events::new().event(event, &EventSignal::new(), tick);
        let server = Server::new(&mcp_revisions::program!());
        let server = server.with_revisions(RevisionSet::none().with(Revision::LATEST));
        let server = Router::new().events(events).build_with(server).unwrap();
        tokio::spawn(server.lines(ours.0, theirs.0));
        std::future::ready(Ok((theirs.1, ours.1)))
    });
    let lost: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&lost);
    let clients = ClientSettings::new().on_loss(move |report| {
        let rules = report.losses.iter().map(|loss| loss.rule().to_owned());
        told.lock().unwrap().extend(rules);
    });
    let service = Bridge::new(server).with_clients(clients).into_service();
    for revision in Revision::NEGOTIATED {
        let client = client(*revision).with_custom_methods();
        let client = client.http(Http::in_process(service.clone()));
        let listed = client.list_all_events().await;
        lost.lock()
            .unwrap()
            .retain(|rule| rule == "extension-of-other-lifecycle");
        if revision.lifecycle() == Lifecycle::Handshake {
            assert!(
                matches!(&listed, Err(Error::Rpc(error)) if error.code.as_i64() == Some(-32601)),
                "{revision}"
            );
            let params = Json::from(json!({ "name": "tick" }));
            assert!(client.request("events/poll", Some(params)).await.is_err());
            let told = std::mem::take(&mut *lost.lock().unwrap());
            assert_eq!(told.len(), 1, "{revision}");
        } else {
            // The server's own refusal comes through.
            let hook = ext::WebhookDelivery::new(Url("https://example.com/hook"), "");
            let hook = ext::SubscribeEventsRequestParams::new("tick", hook);
            let refused = client.subscribe_events(hook).await.unwrap_err();
            assert!(refused.to_string().contains("-32026"), "{refused}");
            let mut streams = Vec::new();
            // Their requests have other ids here than at the server.
            for name in ["one", "two", "three"] {
                let arguments =
                    JsonObject::try_from(Json::from(json!({ "stream": name }))).unwrap();
                let params = ext::StreamEventsRequestParams::new("tick").with_arguments(arguments);
                let params = params.with_cursor(Some("0".into()));
                streams.push((name, client.events(params).await.unwrap()));
            }
            for (name, stream) in &mut streams {
                for number in 1..=50 {
                    let next = tokio::time::timeout(Duration::from_secs(20), stream.next()).await;
                    match next.unwrap() {
                        Some(EventUpdate::Event(event)) => {
                            assert_eq!(event.event_id, format!("{name}-{number}"));
                        }
                        other => panic!("{revision}: {other:?}, {:?}", stream.error()),
                    }
                }
                assert_eq!(stream.next().await, None);
            }
            assert!(lost.lock().unwrap().is_empty(), "{revision}");
        }
        client.close().await.unwrap();
    }
    service.shutdown().await;
}
