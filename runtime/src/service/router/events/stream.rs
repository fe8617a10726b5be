//! A stream of `events/stream`, made of the function of its event type.

use std::time::Duration;

use mcp_revisions_core::extensions::events as ext;
use mcp_revisions_core::{Latest, latest as mcp};
use mcp_wire::service::Caller;
use mcp_wire::{Encode, ErrorObject, Json, Notification, meta};
use tokio::sync::watch;
use tokio::time::Instant;

use super::EventSource;
use super::follow::{FollowedSubscription, Subscriber};
use crate::service::{Error, RequestContext};
use crate::transport::spawn::later;

/// Maximum time between two notifications of a stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The id of a stream, as its handler names it: the endpoint writes that of the request in its place.
const OF_REQUEST: i64 = 0;

/// Sends what happens to the client, until it ends the stream or may not have it any more.
///
/// # Errors
/// Returns the error of the function as long as nothing was sent.
pub(super) async fn run(
    source: &EventSource,
    params: ext::StreamEventsRequestParams,
    cx: RequestContext<Latest>,
) -> Result<ext::StreamEventsResult, Error> {
    let mut poll = ext::PollEventsRequestParams::new(params.name);
    poll.arguments = params.arguments;
    poll.cursor = params.cursor;
    poll.max_age_ms = params.max_age_ms;
    poll.meta = params.meta;
    let subscription = FollowedSubscription::begin(source, poll, &cx).await?;
    let mut client = StreamClient {
        last_sent: Instant::now(),
        cx,
    };
    let is_gap = subscription.batch.truncated == Some(true);
    client.open(&subscription.position, is_gap).await?;
    subscription.follow(source, &mut client).await?;
    let id = mcp::RequestId::from(OF_REQUEST);
    let meta = mcp::SubscriptionsListenResultMetaObject::new(id);
    Ok(ext::StreamEventsResult::new(meta))
}

/// The client of a stream.
struct StreamClient {
    cx: RequestContext<Latest>,
    last_sent: Instant,
}

impl Subscriber for StreamClient {
    fn context(&self) -> RequestContext<Latest> {
        self.cx.clone()
    }

    async fn open(&mut self, position: &str, is_gap: bool) -> Result<(), Error> {
        let active = ext::EventsActiveNotificationParams::new()
            .with_cursor(Some(position.to_owned()))
            .with_truncated(is_gap);
        let method = ext::EventsActiveNotification::METHOD;
        self.tell(method, &active).await
    }

    async fn send(&mut self, event: ext::EventOccurrence, _: &str) -> Result<(), Error> {
        self.tell(ext::EventNotification::METHOD, &event).await
    }

    /// Sends heartbeats meanwhile.
    async fn wait(
        &mut self,
        time: Duration,
        mut woken: Option<&mut watch::Receiver<()>>,
        position: &str,
    ) -> Result<(), Error> {
        let until = later(Instant::now(), time);
        loop {
            let is_woken = async {
                match &mut woken {
                    // The source holds a sender, so that this does not fail.
                    Some(woken) => drop(woken.changed().await),
                    None => std::future::pending().await,
                }
            };
            let beat = self.last_sent + HEARTBEAT;
            tokio::select! {
                () = is_woken => return Ok(()),
                () = tokio::time::sleep_until(until.min(beat)) => {}
            }
            if Instant::now() >= until {
                return Ok(());
            }
            let alive = ext::EventsHeartbeatNotificationParams::new()
                .with_cursor(Some(position.to_owned()));
            let method = ext::EventsHeartbeatNotification::METHOD;
            self.tell(method, &alive).await?;
        }
    }

    async fn fail(&mut self, error: ErrorObject) -> Result<(), Error> {
        let failed = ext::EventsErrorNotificationParams::new(of_params(&error)?);
        let method = ext::EventsErrorNotification::METHOD;
        self.tell(method, &failed).await
    }

    async fn end(&mut self, error: ErrorObject) -> Result<(), Error> {
        let ended = ext::EventsTerminatedNotificationParams::new(of_params(&error)?);
        let method = ext::EventsTerminatedNotification::METHOD;
        self.tell(method, &ended).await
    }
}

impl StreamClient {
    /// Sends a notification of the stream, once there is room for it.
    async fn tell(&mut self, method: &'static str, params: &impl Encode) -> Result<(), Error> {
        let id = Json::from(OF_REQUEST);
        let params = meta::with(&Json::of(params), meta::SUBSCRIPTION_ID, &id);
        self.cx.notification(method, Some(params)).await?;
        self.last_sent = Instant::now();
        Ok(())
    }
}

/// Returns an error as the params of a notification have it.
pub(super) fn of_params(error: &ErrorObject) -> Result<mcp::ErrorObject, Error> {
    Ok(Json::of(error).read()?)
}
