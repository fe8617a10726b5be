//! Bodies of requests, read within what one message, one client and all clients together may take up.

use bytes::Buf;
use http_body_util::BodyExt;

use crate::serve::{Full, Permit, Share};

/// How many bytes more than have come there is room for at first.
const FIRST: usize = 16 << 10;

/// Bytes are counted in these: a body that comes byte by byte is not counted byte by byte.
const UNIT: usize = 1 << 10;

/// Why a body was not read.
pub(super) enum Unread {
    TooLarge,
    BrokenOff,
    NoRoom(Full),
}

/// Reads a body of at most so many bytes, and reserves them in the share of the sender.
pub(super) async fn read<B>(
    body: B,
    limit: usize,
    share: &Share,
) -> Result<(Vec<u8>, Permit), Unread>
where
    B: http_body::Body + Send,
    B::Data: Send,
{
    let mut body = std::pin::pin!(body);
    let mut bytes = Vec::<u8>::new();
    let mut permit = share.take(0).map_err(Unread::NoRoom)?;
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
        let taken = bytes.capacity().next_multiple_of(UNIT);
        let more = taken.saturating_sub(permit.amount());
        permit.grow(more).map_err(Unread::NoRoom)?;
        while data.has_remaining() {
            let chunk = data.chunk();
            bytes.extend_from_slice(chunk);
            let read = chunk.len();
            data.advance(read);
        }
    }
    Ok((bytes, permit))
}
