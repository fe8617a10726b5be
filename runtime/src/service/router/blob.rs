//! Bytes of images and of audio, which messages carry in base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mcp_revisions_core::latest as mcp;
use mcp_wire::args::MimeType;

use crate::service::Error;

/// Content with bytes.
///
/// ```
/// # use mcp_revisions::latest as mcp;
/// # use mcp_revisions::service::Blob;
/// let image = mcp::ImageContent::from_bytes(b"\x89PNG", "image/png");
/// assert_eq!(image.data, "iVBORw==");
/// assert_eq!(image.bytes().ok().as_deref(), Some(&b"\x89PNG"[..]));
/// ```
pub trait Blob: Sized {
    /// Creates it of bytes of a MIME type.
    fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self;

    /// Returns the base64 of its bytes.
    fn encoded(&self) -> &str;

    /// Returns its bytes.
    ///
    /// # Errors
    /// Returns an error if a peer has sent what is not base64.
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let decoded = BASE64_STANDARD.decode(self.encoded());
        decoded.map_err(|error| Error::internal(format_args!("the bytes of the content: {error}")))
    }
}

/// Types of content whose `data` is the base64 of bytes.
macro_rules! blobs {
    ($($content:ident),*) => {$(
        impl Blob for mcp::$content {
            fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
                Self::new(BASE64_STANDARD.encode(bytes), MimeType(mime_type))
            }

            fn encoded(&self) -> &str {
                &self.data
            }
        }
    )*};
}

blobs!(ImageContent, AudioContent);
