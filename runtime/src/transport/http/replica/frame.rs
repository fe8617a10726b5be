//! What replicas send each other of a request: a line of JSON, and the bytes of a body behind it.

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, header};
use mcp_wire::{Json, Map};

use super::super::{PeerAddress, Principal};
use crate::protocol::server::Owner;

/// The first byte of a frame; other messages of a backplane begin with another.
const MARK: u8 = b'R';

/// A part of a request, or of its response: `from` is the address of its sender, `number` the number that the replica gave
/// the request which has its client.
pub(super) enum Frame {
    /// A request, from the replica at this address.
    Request {
        from: String,
        number: u64,
        head: Box<Parts>,
        body: Vec<u8>,
    },
    /// So many bytes of the response have been read.
    Read {
        from: String,
        number: u64,
        bytes: usize,
    },
    /// The client has hung up.
    HungUp { from: String, number: u64 },
    /// The session of the request is not run here.
    NotHere { number: u64 },
    /// The head of the response; all of its body follows, or has come with it.
    Head {
        from: String,
        number: u64,
        status: u16,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    },
    /// A part of the body.
    Data {
        from: String,
        number: u64,
        bytes: Vec<u8>,
    },
    /// The end of the body.
    End { number: u64 },
    /// The rest of the response does not come.
    Lost { number: u64 },
}

/// What is a matter of one connection, and is not passed on.
const OF_CONNECTION: [HeaderName; 4] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// A request as it is passed on, of this owner.
pub(super) fn request(from: &str, number: u64, head: &Parts, who: &Owner, body: &[u8]) -> Vec<u8> {
    let mut members = members("request", number);
    members.insert("from", Json::of(from));
    members.insert("method", Json::of(head.method.as_str()));
    members.insert("uri", Json::of(head.uri.to_string().as_str()));
    members.insert("headers", headers_out(&head.headers));
    match who {
        Owner::Principal(name) => drop(members.insert("principal", Json::of(&**name))),
        Owner::Address(address) => {
            members.insert("address", Json::of(address.to_string().as_str()));
        }
        Owner::Unknown => {}
    }
    written(&members, body)
}

fn members(kind: &str, number: u64) -> Map<Json> {
    let number = number.to_string();
    Map::from_iter([
        ("kind", Json::of(kind)),
        ("number", Json::of(number.as_str())),
    ])
}

fn written(members: &Map<Json>, body: &[u8]) -> Vec<u8> {
    let head = Json::of(members);
    let head = head.text().as_bytes();
    let mut bytes = Vec::with_capacity(head.len() + body.len() + 2);
    bytes.push(MARK);
    bytes.extend_from_slice(head);
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    bytes
}

fn headers_out(headers: &HeaderMap) -> Json {
    let passed = headers
        .iter()
        .filter(|(name, _)| !OF_CONNECTION.contains(name));
    let texts = passed.filter_map(|(name, value)| Some([name.as_str(), value.to_str().ok()?]));
    Json::of(&texts.flatten().collect::<Vec<_>>())
}

fn headers_in(json: &Json) -> Option<HeaderMap> {
    let texts: Vec<String> = json.read().ok()?;
    let mut headers = HeaderMap::new();
    for pair in texts.chunks_exact(2) {
        if let [name, value] = pair {
            let name: HeaderName = name.parse().ok()?;
            headers.append(name, HeaderValue::from_str(value).ok()?);
        }
    }
    Some(headers)
}

impl Frame {
    /// The frame as a message. A request is written by [`request`], which copies nothing before.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let text = |text: &str| Json::of(text);
        match self {
            Self::Request { .. } => Vec::new(),
            Self::Read {
                from,
                number,
                bytes,
            } => {
                let mut members = members("read", *number);
                members.insert("from", text(from));
                members.insert("bytes", text(&bytes.to_string()));
                written(&members, &[])
            }
            Self::HungUp { from, number } => {
                let mut members = members("hungUp", *number);
                members.insert("from", text(from));
                written(&members, &[])
            }
            Self::NotHere { number } => written(&members("notHere", *number), &[]),
            Self::Head {
                from,
                number,
                status,
                headers,
                body,
            } => {
                let mut members = members("head", *number);
                members.insert("from", text(from));
                members.insert("status", text(&status.to_string()));
                members.insert("headers", headers_out(headers));
                members.insert("isWhole", Json::of(&body.is_some()));
                written(&members, body.as_deref().unwrap_or_default())
            }
            Self::Data {
                from,
                number,
                bytes,
            } => {
                let mut members = members("data", *number);
                members.insert("from", text(from));
                written(&members, bytes)
            }
            Self::End { number } => written(&members("end", *number), &[]),
            Self::Lost { number } => written(&members("lost", *number), &[]),
        }
    }

    /// Reads a message; `None` if it is not a frame.
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let (&MARK, message) = message.split_first()? else {
            return None;
        };
        let end = message.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = message.split_at_checked(end)?;
        let body = body.get(1..)?;
        let members: Map<Json> = (Json::from_text(str::from_utf8(head).ok()?).ok()?)
            .read()
            .ok()?;
        let text = |name: &str| Some(members.get(name)?.as_str()?.into_owned());
        let number = text("number")?.parse().ok()?;
        Some(match &*text("kind")? {
            "request" => Self::Request {
                from: text("from")?,
                number,
                head: Box::new(head_of(&members)?),
                body: body.to_vec(),
            },
            "read" => Self::Read {
                from: text("from")?,
                number,
                bytes: text("bytes")?.parse().ok()?,
            },
            "hungUp" => Self::HungUp {
                from: text("from")?,
                number,
            },
            "notHere" => Self::NotHere { number },
            "head" => Self::Head {
                from: text("from")?,
                number,
                status: text("status")?.parse().ok()?,
                headers: headers_in(members.get("headers")?)?,
                body: (members.get("isWhole")?.text() == "true").then(|| body.to_vec()),
            },
            "data" => Self::Data {
                from: text("from")?,
                number,
                bytes: body.to_vec(),
            },
            "end" => Self::End { number },
            "lost" => Self::Lost { number },
            _ => return None,
        })
    }
}

/// The head of a request that was passed on.
fn head_of(members: &Map<Json>) -> Option<Parts> {
    let text = |name: &str| Some(members.get(name)?.as_str()?.into_owned());
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = Method::from_bytes(text("method")?.as_bytes()).ok()?;
    head.uri = text("uri")?.parse::<Uri>().ok()?;
    head.headers = headers_in(members.get("headers")?)?;
    if let Some(principal) = text("principal") {
        head.extensions.insert(Principal(principal));
    }
    if let Some(address) = text("address").and_then(|address| address.parse().ok()) {
        head.extensions.insert(PeerAddress(address));
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test says what it found and stops"
    )]

    use super::*;

    #[test]
    fn a_request_arrives_as_it_was_sent_with_its_owner_and_without_what_is_of_one_connection() {
        let request = Request::post("/mcp?a=b")
            .header("accept", "a/b")
            .header("accept", "c/d")
            .header("connection", "close")
            .header("content-length", "7");
        let (head, ()) = request.body(()).unwrap().into_parts();
        let who = Owner::Principal("a\"da".into());
        let bytes = super::request("0a0b0c0d", u64::MAX, &head, &who, b"\n{}\n\xff");
        let Some(Frame::Request {
            from,
            number,
            head,
            body,
        }) = Frame::read(&bytes)
        else {
            panic!("no request")
        };
        assert_eq!((&*from, number), ("0a0b0c0d", u64::MAX));
        assert_eq!(
            (head.method, &*head.uri.to_string()),
            (Method::POST, "/mcp?a=b")
        );
        assert_eq!(body, b"\n{}\n\xff");
        let accepted: Vec<_> = head.headers.get_all("accept").iter().collect();
        assert_eq!((accepted.len(), head.headers.len()), (2, 2));
        assert_eq!(head.extensions.get(), Some(&Principal("a\"da".to_owned())));
    }

    #[test]
    fn what_is_no_frame_is_none_and_nothing_panics() {
        let end = Frame::End { number: 1 }.to_bytes();
        for cut in 0..end.len() {
            assert!(Frame::read(&end[..cut]).is_none());
        }
        for wrong in [
            &b"R{}\n"[..],
            b"C{}\n",
            b"R\n",
            b"R[]\nx",
            b"R{\"kind\":1,\"number\":\"1\"}\n",
        ] {
            assert!(Frame::read(wrong).is_none());
        }
    }
}
