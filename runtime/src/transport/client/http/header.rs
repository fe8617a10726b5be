//! Headers of requests by name and value: those that the transport sets itself, and those that it sends for an application.

use ::http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use ::http::{HeaderName, HeaderValue};

use mcp_revisions_core::headers;
use mcp_revisions_sansio::driver::params;

pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed: HeaderName =
        (name.parse()).map_err(|_| format!("{name:?} is not a valid header name"))?;
    let value = HeaderValue::from_str(value).map_err(|_| {
        format!(
            "the value of header `{parsed}` holds a line break or another character that no header can hold"
        )
    })?;
    Ok((parsed, value))
}

/// Checks a header that is to be sent with each request, besides those of the protocol.
pub(super) fn check_header(name: &str, value: &str) -> Result<(), String> {
    let (name, _) = header(name, value)?;
    let own = [
        ACCEPT.as_str(),
        ACCEPT_ENCODING.as_str(),
        CONTENT_LENGTH.as_str(),
        CONTENT_TYPE.as_str(),
        CONNECTION.as_str(),
        HOST.as_str(),
        TE.as_str(),
        TRAILER.as_str(),
        TRANSFER_ENCODING.as_str(),
        UPGRADE.as_str(),
        headers::LAST_EVENT_ID,
        headers::METHOD,
        headers::NAME,
        headers::PROTOCOL_VERSION,
        headers::SESSION_ID,
    ];
    let is_own = own
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name.as_str()))
        || name
            .as_str()
            .starts_with(&params::PREFIX.to_ascii_lowercase());
    if is_own {
        Err(format!(
            "the transport sets header `{name}` itself: leave it out"
        ))
    } else {
        Ok(())
    }
}
