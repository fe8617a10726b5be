//! A subscription that is followed: its event type is asked again and again, and its subscriber gets what happened.

use std::time::Duration;

use mcp_revisions_core::Latest;
use mcp_revisions_core::errors::{FORBIDDEN, NOT_FOUND, UNSUPPORTED};
use mcp_revisions_core::extensions::events as ext;
use mcp_wire::ErrorObject;
use tokio::sync::watch;

use super::EventSource;
use crate::service::{Error, RequestContext};

/// The first pause after a function has failed; each that follows is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest of these pauses.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A subscriber, by a stream or a webhook. An error of its functions ends the subscription.
pub(super) trait Subscriber {
    /// Returns the context for the function of the event type.
    fn context(&self) -> RequestContext<Latest>;
    /// Tells the position at which the subscription begins, or goes on behind a gap.
    async fn open(&mut self, position: &str, is_gap: bool) -> Result<(), Error>;
    /// Delivers an event, whose cursor is the position behind it.
    async fn send(&mut self, event: ext::EventOccurrence, position: &str) -> Result<(), Error>;
    /// Waits so long, or until it is woken, at a position up to which nothing is left to tell.
    async fn wait(
        &mut self,
        time: Duration,
        woken: Option<&mut watch::Receiver<()>>,
        position: &str,
    ) -> Result<(), Error>;
    /// Tells that the function has failed, and is asked again.
    async fn fail(&mut self, error: ErrorObject) -> Result<(), Error>;
    /// Tells that the subscription has ended.
    async fn end(&mut self, error: ErrorObject) -> Result<(), Error>;
}

/// A subscription, with what happened since its position.
pub(super) struct FollowedSubscription {
    poll: ext::PollEventsRequestParams,
    pub(super) position: String,
    pub(super) batch: ext::PollEventsResult,
    /// The position behind the batch.
    cursor: String,
    /// Set if the batch has led on.
    moves: bool,
    woken: watch::Receiver<()>,
}

impl FollowedSubscription {
    /// Begins a subscription at the cursor of the params, or now.
    ///
    /// # Errors
    /// Returns the error of the function of the event type.
    pub(super) async fn begin(
        source: &EventSource,
        mut poll: ext::PollEventsRequestParams,
        cx: &RequestContext<Latest>,
    ) -> Result<Self, Error> {
        // What happens during the first look is not missed.
        let woken = source.signal.0.subscribe();
        let (batch, cursor) = source.check(poll.clone(), cx).await?;
        poll.max_age_ms = None;
        let begin = poll.cursor.take().flatten();
        let mut position = begin.unwrap_or_else(|| cursor.clone());
        let moves = !batch.events.is_empty() || cursor != position;
        if batch.events.is_empty() {
            position.clone_from(&cursor);
        }
        Ok(Self {
            poll,
            position,
            batch,
            cursor,
            moves,
            woken,
        })
    }

    /// Tells a subscriber what happens, until it ends the subscription or may not have the events any more.
    ///
    /// # Errors
    /// Returns the error of the subscriber.
    pub(super) async fn follow(
        self,
        source: &EventSource,
        subscriber: &mut impl Subscriber,
    ) -> Result<(), Error> {
        let Self {
            mut poll,
            mut position,
            mut batch,
            mut cursor,
            mut moves,
            mut woken,
        } = self;
        loop {
            let last = batch.events.len().saturating_sub(1);
            for (index, mut event) in batch.events.into_iter().enumerate() {
                if index == last {
                    position.clone_from(&cursor);
                } else if let Some(own) = event.cursor.take().flatten() {
                    position = own;
                }
                event.cursor = Some(Some(position.clone()));
                subscriber.send(event, &position).await?;
            }
            position = cursor;
            // A function that says it has more, and has nothing, is asked again later.
            if batch.has_more != Some(true) || !moves {
                let woken = Some(&mut woken);
                subscriber.wait(source.interval, woken, &position).await?;
            }
            let mut pause = FIRST_PAUSE;
            (batch, cursor) = loop {
                poll.cursor = Some(Some(position.clone()));
                let cx = subscriber.context();
                let error = match source.check(poll.clone(), &cx).await {
                    Ok(next) => break next,
                    Err(error) => error.into_object(cx.revision()),
                };
                if is_final(&error) {
                    return subscriber.end(error).await;
                }
                subscriber.fail(error).await?;
                subscriber.wait(pause, None, &position).await?;
                pause = (pause * 2).min(LONGEST_PAUSE);
            };
            moves = !batch.events.is_empty() || cursor != position;
            if batch.truncated == Some(true) {
                if batch.events.is_empty() {
                    position.clone_from(&cursor);
                }
                subscriber.open(&position, true).await?;
            }
        }
    }
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
