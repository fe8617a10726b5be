//! Bodies of requests, read within what one message, one client and all clients together may take up.

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::Body as _;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::serve::{Full, Permit, SUSPENDED_BYTES, Share};

/// Number of bytes beyond the received ones that there is room for at first.
const FIRST: usize = 16 << 10;

/// Bytes are counted in these: a body that comes byte by byte is not counted byte by byte.
const UNIT: usize = 1 << 10;

/// Number of bytes of a head that are not counted.
const USUAL_HEAD: usize = SUSPENDED_BYTES;

/// Why a body was not read.
pub(super) enum UnreadBody {
    TooLarge,
    BrokenOff,
    NoRoom(Full),
}

/// The body of a request, of whichever type it came as.
pub type Received = UnsyncBoxBody<Bytes, std::io::Error>;

/// Returns a body as one of the type that is read here.
pub fn received<B>(body: B) -> Received
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
    body.map_frame(move |frame| frame.map_data(bytes))
        .map_err(std::io::Error::other)
        .boxed_unsync()
}

/// Reads a body of at most so many bytes, and reserves them in the share of the sender, with those of a head that is longer
/// than usual.
pub(super) async fn read(
    headers: &HeaderMap,
    mut body: Received,
    limit: usize,
    share: &Share,
) -> Result<(Vec<u8>, Permit), UnreadBody> {
    let lengths = (headers.iter()).map(|(name, value)| name.as_str().len() + value.len());
    let head = lengths.sum::<usize>().saturating_sub(USUAL_HEAD);
    let mut bytes = Vec::<u8>::new();
    let mut permit = share.take(head).map_err(UnreadBody::NoRoom)?;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            return Err(UnreadBody::BrokenOff);
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > limit {
            return Err(UnreadBody::TooLarge);
        }
        // Room for no more than comes, as far as that is known: what is paid for is what is taken up.
        if bytes.capacity() - bytes.len() < data.len() {
            let rest = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
            let most = bytes.len().max(FIRST);
            bytes.reserve_exact(data.len() + rest.min(most));
        }
        let taken = head + bytes.capacity().next_multiple_of(UNIT);
        let more = taken.saturating_sub(permit.amount());
        permit.grow(more).map_err(UnreadBody::NoRoom)?;
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, permit))
}
