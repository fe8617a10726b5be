//! A stream of `events/stream`, made of the function of its event type.

use std::time::Duration;

use mcp_revisions_core::errors::{FORBIDDEN, NOT_FOUND, UNSUPPORTED};
use mcp_revisions_core::extensions::events as ext;
use mcp_revisions_core::{Latest, latest as mcp};
use mcp_wire::service::Caller;
use mcp_wire::{Encode, ErrorObject, Json, Notification, meta};
use tokio::sync::watch;
use tokio::time::Instant;

use super::EventSource;
use crate::service::{Error, RequestContext};
use crate::transport::spawn::later;

/// Maximum time between two notifications of a stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The first pause after a function has failed; each that follows is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest of these pauses.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
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
    let mut woken = source.signal.0.subscribe();
    let mut poll = ext::PollEventsRequestParams::new(params.name);
    poll.arguments = params.arguments;
    poll.cursor = params.cursor;
    poll.max_age_ms = params.max_age_ms;
    poll.meta = params.meta;
    let (mut batch, mut cursor) = source.check(poll.clone(), &cx).await?;
    poll.max_age_ms = None;
    let begin = poll.cursor.take().flatten();
    let mut client = StreamClient {
        position: begin.unwrap_or_else(|| cursor.clone()),
        last_sent: Instant::now(),
        cx,
    };
    let mut is_open = false;
    loop {
        let moves = !batch.events.is_empty() || cursor != client.position;
        if !is_open || batch.truncated == Some(true) {
            client.open(&batch, &cursor).await?;
            is_open = true;
        }
        client.send(batch.events, cursor).await?;
        // A function that says it has more, and has nothing, is asked again later.
        if batch.has_more != Some(true) || !moves {
            client.wait(source.interval, Some(&mut woken)).await?;
        }
        let mut pause = FIRST_PAUSE;
        (batch, cursor) = loop {
            poll.cursor = Some(Some(client.position.clone()));
            let error = match source.check(poll.clone(), &client.cx).await {
                Ok(next) => break next,
                Err(error) => error.into_object(client.cx.revision()),
            };
            if is_final(&error) {
                let ended = ext::EventsTerminatedNotificationParams::new(of_params(&error)?);
                let method = ext::EventsTerminatedNotification::METHOD;
                client.tell(method, &ended).await?;
                let id = mcp::RequestId::from(OF_REQUEST);
                let meta = mcp::SubscriptionsListenResultMetaObject::new(id);
                return Ok(ext::StreamEventsResult::new(meta));
            }
            let failed = ext::EventsErrorNotificationParams::new(of_params(&error)?);
            let method = ext::EventsErrorNotification::METHOD;
            client.tell(method, &failed).await?;
            client.wait(pause, None).await?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
    }
}

/// The client of a stream, and how far it has got.
struct StreamClient {
    cx: RequestContext<Latest>,
    /// The position behind the last event that was sent.
    position: String,
    last_sent: Instant,
}

impl StreamClient {
    /// Confirms the stream, or tells of a gap; the events of the batch come behind it.
    async fn open(&mut self, batch: &ext::PollEventsResult, cursor: &str) -> Result<(), Error> {
        if batch.events.is_empty() {
            cursor.clone_into(&mut self.position);
        }
        let active = ext::EventsActiveNotificationParams::new()
            .with_cursor(Some(self.position.clone()))
            .with_truncated(batch.truncated.unwrap_or(false));
        let method = ext::EventsActiveNotification::METHOD;
        self.tell(method, &active).await
    }

    /// Sends events, and moves on to the position behind them.
    async fn send(&mut self, events: Vec<ext::EventOccurrence>, end: String) -> Result<(), Error> {
        let last = events.len().saturating_sub(1);
        for (index, mut event) in events.into_iter().enumerate() {
            if index == last {
                self.position.clone_from(&end);
            } else if let Some(own) = event.cursor.take().flatten() {
                self.position = own;
            }
            event.cursor = Some(Some(self.position.clone()));
            self.tell(ext::EventNotification::METHOD, &event).await?;
        }
        self.position = end;
        Ok(())
    }

    /// Waits so long, or until it is woken, and sends heartbeats meanwhile.
    async fn wait(
        &mut self,
        time: Duration,
        mut woken: Option<&mut watch::Receiver<()>>,
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
                .with_cursor(Some(self.position.clone()));
            let method = ext::EventsHeartbeatNotification::METHOD;
            self.tell(method, &alive).await?;
        }
    }

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
fn of_params(error: &ErrorObject) -> Result<mcp::ErrorObject, Error> {
    Ok(Json::of(error).read()?)
}

/// Returns whether the client may not have the events any more.
fn is_final(error: &ErrorObject) -> bool {
    let codes = [
        FORBIDDEN,
        NOT_FOUND,
        UNSUPPORTED,
        ErrorObject::INVALID_PARAMS,
    ];
    codes.iter().any(|code| error.code.as_i64() == Some(*code))
}
