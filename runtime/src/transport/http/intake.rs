//! Bodies of requests, read within what one message and what all of them together may take up.

use std::sync::Arc;

use bytes::Buf;
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is left of the bytes that all bodies together may take up.
#[derive(Debug)]
pub(super) struct Room(Arc<Semaphore>);

/// What a body takes up of the room for all of them.
pub(super) type Taken = Vec<OwnedSemaphorePermit>;

/// How many bytes more than have come there is room for at first.
const FIRST: usize = 16 << 10;

/// Bodies are counted in these: a semaphore does not count as far as a budget goes.
const UNIT: usize = 1 << 10;

/// Why a body was not read.
pub(super) enum Unread {
    TooLarge,
    BrokenOff,
    NoRoom,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / UNIT)))
    }

    /// Reads a body of at most so many bytes.
    pub(super) async fn read<B>(&self, body: B, limit: usize) -> Result<(Vec<u8>, Taken), Unread>
    where
        B: http_body::Body + Send,
        B::Data: Send,
    {
        let mut body = std::pin::pin!(body);
        let (mut bytes, mut taken) = (Vec::<u8>::new(), Vec::new());
        let mut paid = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(Unread::BrokenOff);
            };
            let Ok(mut data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.remaining() > limit {
                return Err(Unread::TooLarge);
            }
            // Room for no more than comes, as far as that is known: what is paid for is what is taken up.
            if bytes.capacity() - bytes.len() < data.remaining() {
                let rest = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
                let most = bytes.len().max(FIRST);
                bytes.reserve_exact(data.remaining() + rest.min(most));
            }
            let units = bytes.capacity().div_ceil(UNIT);
            if units > paid {
                let more = u32::try_from(units - paid).map_err(|_| Unread::TooLarge)?;
                let permit = Arc::clone(&self.0).try_acquire_many_owned(more);
                taken.push(permit.map_err(|_| Unread::NoRoom)?);
                paid = units;
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                bytes.extend_from_slice(chunk);
                let read = chunk.len();
                data.advance(read);
            }
        }
        Ok((bytes, taken))
    }
}
