//! MIME types of the files of skills, by the ends of their names, and names in URIs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The MIME type of a text of no other type.
const TEXT: &str = "text/plain";
/// The MIME type of bytes that are not text.
const BYTES: &str = "application/octet-stream";

/// The ends of names, each with its MIME type.
const KINDS: &[(&str, &str)] = &[
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("txt", TEXT),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The characters of a segment that are written as they are: those of a registered name in RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// Returns the MIME type that the end of a name says.
fn by_name(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    let is_it = |(known, _): &&(&str, &str)| end.eq_ignore_ascii_case(known);
    KINDS.iter().find(is_it).map(|(_, kind)| *kind)
}

/// Returns the MIME type of a file.
pub(super) fn mime_type(name: &str, content: &[u8]) -> &'static str {
    let by_content = || match std::str::from_utf8(content) {
        Ok(_) => TEXT,
        Err(_) => BYTES,
    };
    by_name(name).unwrap_or_else(by_content)
}

/// Returns a name as the segment of a URI.
pub(super) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// Returns the name that a segment of a URI stands for.
pub(super) fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}
