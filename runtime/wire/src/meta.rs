//! The keys of `_meta` that belong to the protocol, and objects with one of them put in or taken out.

use crate::json::{Entries, Extra, Json};
use crate::kind::Kind;
use crate::object::Members;
use crate::reader::Reader;

/// The revision that a request claims.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do, for one request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The least level of log notifications that a request asks for.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The token of progress notifications.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// Who the server is, in results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Those that a look at a request gathers, in the order of [`PeekedMeta`](crate::PeekedMeta).
pub(crate) const KEYS: [&str; 5] = [
    PROTOCOL_VERSION,
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    PROGRESS_TOKEN,
];

/// Where `_meta` stands in the text of an object.
struct MetaPlace {
    /// Behind the brace that opens the object.
    inside: usize,
    /// Whether the object has no members.
    empty: bool,
    /// The text of `_meta`, and where it starts.
    meta: Option<(usize, usize)>,
}

fn place(object: &str) -> Option<MetaPlace> {
    // Most objects have none, which shows without a walk through them; a name with escapes may be any.
    if let Some(rest) = object.strip_prefix('{')
        && !object.contains("_meta")
        && !object.contains('\\')
    {
        return Some(MetaPlace {
            inside: 1,
            empty: rest.trim_start().starts_with('}'),
            meta: None,
        });
    }
    static MEMBERS: Members = Members::ignoring("object", &["_meta"]);
    let mut reader = Reader::new(object);
    let mut members = reader.object(&MEMBERS).ok()?;
    let inside = members.offset() + 1;
    let mut meta = None;
    while members.next(&mut reader).ok()?.is_some() {
        let value = reader.text_of_value().ok()?;
        meta = Some((reader.offset() - value.len(), reader.offset()));
    }
    let rest = object.get(inside..)?.trim_start();
    Some(MetaPlace {
        inside,
        empty: rest.starts_with('}'),
        meta,
    })
}

/// Returns the object with `_meta[key]` set; everything else stays byte for byte where it was.
///
/// A value that is not an object, or whose `_meta` is none, comes back as it is.
#[must_use]
pub fn with(object: &Json, key: &str, value: &Json) -> Json {
    set(object, key, value, &mut |meta| {
        meta.insert(key, value.clone());
    })
}

/// Does the same as [`with`], unless the key is there already.
#[must_use]
pub fn with_default(object: &Json, key: &str, value: &Json) -> Json {
    set(object, key, value, &mut |meta| {
        if !meta.contains_key(key) {
            meta.insert(key, value.clone());
        }
    })
}

/// Returns the object with a key in its `_meta`: `edit` puts it into one that is there, and one that is not is written with it.
fn set(object: &Json, key: &str, value: &Json, edit: &mut dyn FnMut(&mut Extra)) -> Json {
    let text = object.text();
    let changed = place(text).and_then(|place| match place.meta {
        Some(at) => changed(text, at, edit),
        None => inserted(
            text,
            &place,
            key.len() + value.text().len() + 5,
            &mut |text| {
                text.push('{');
                crate::write_to(key, text);
                text.push(':');
                text.push_str(value.text());
                text.push('}');
            },
        ),
    });
    changed.map_or_else(|| object.clone(), Json::verbatim)
}

/// Returns the object without `_meta[key]`; `_meta` itself stays.
#[must_use]
pub fn without(object: &Json, key: &str) -> Json {
    match place(object.text()) {
        Some(MetaPlace { meta: Some(_), .. }) => edit(object, |meta| {
            meta.remove(key);
        }),
        _ => object.clone(),
    }
}

/// Returns the object with its `_meta` changed by `edit`, which sees an empty one if it has none; everything else stays byte
/// for byte where it was.
///
/// A value that is not an object, or whose `_meta` is none, comes back as it is.
#[must_use]
pub fn edit(object: &Json, edit: impl FnOnce(&mut Extra)) -> Json {
    let mut edit = Some(edit);
    edited(object, &mut |meta| {
        if let Some(edit) = edit.take() {
            edit(meta);
        }
    })
}

/// Does the same as [`edit()`], for any function: its code is there once.
fn edited(object: &Json, edit: &mut dyn FnMut(&mut Extra)) -> Json {
    let text = object.text();
    let changed = place(text).and_then(|place| match place.meta {
        Some(at) => changed(text, at, edit),
        None => inserted(text, &place, GROWTH, &mut |text| {
            let mut meta = Extra::new();
            edit(&mut meta);
            crate::write_to(&meta, text);
        }),
    });
    changed.map_or_else(|| object.clone(), Json::verbatim)
}

/// How much longer a text may become before it is moved: what the protocol puts in, and some.
const GROWTH: usize = 128;

/// Returns the object whose `_meta` stands there, with it changed by `edit`.
fn changed(
    object: &str,
    (start, end): (usize, usize),
    edit: &mut dyn FnMut(&mut Extra),
) -> Option<String> {
    let old = object.get(start..end)?;
    let mut meta: Extra = match Reader::new(old).kind() {
        Ok(Kind::Null) => Extra::new(),
        // A name that stands there twice is read as most readers have it: the last one counts.
        Ok(Kind::Object) => Entries::of(old)
            .map(|(name, value)| (name, Json::verbatim(value)))
            .collect(),
        _ => return None,
    };
    edit(&mut meta);
    let mut text = String::with_capacity(object.len() + GROWTH);
    text.push_str(object.get(..start)?);
    crate::write_to(&meta, &mut text);
    text.push_str(object.get(end..)?);
    Some(text)
}

/// Returns the object, which has no `_meta`, with the one of `bytes` that `write` writes as its first member.
fn inserted(
    object: &str,
    place: &MetaPlace,
    bytes: usize,
    write: &mut dyn FnMut(&mut String),
) -> Option<String> {
    const NAME: &str = "\"_meta\":";
    let comma = usize::from(!place.empty);
    let mut text = String::with_capacity(object.len() + NAME.len() + bytes + comma);
    text.push_str(object.get(..place.inside)?);
    text.push_str(NAME);
    write(&mut text);
    if !place.empty {
        text.push(',');
    }
    text.push_str(object.get(place.inside..)?);
    Some(text)
}
