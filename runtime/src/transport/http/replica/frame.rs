//! The frames of a request between replicas: a line of JSON, and the bytes of a body behind it.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use mcp_wire::{Json, Map};

use super::super::{PeerAddress, Principal, TokenClaims};
use mcp_revisions_sansio::errors::{self, Refusal};
use mcp_revisions_sansio::server::Owner;

/// The first byte of a frame; other messages of a backplane begin with another.
const MARK: u8 = b'R';

/// The version of the frames that this build writes. Those of the build before this number have none, and are read as well.
pub(super) const VERSION: u32 = 1;

/// A frame between replicas about a request that one has passed to the other.
pub(super) struct ReplicaFrame {
    /// The address of the sender.
    pub(super) from: String,
    /// The number of the request at the replica that has its client.
    pub(super) number: u64,
    /// The version of its sender; 0 for one that has none.
    pub(super) version: u32,
    pub(super) what: FrameContent,
}

/// A frame that cannot be read: another build has sent it.
pub(super) struct UnreadableFrame {
    pub(super) from: String,
    pub(super) number: u64,
    pub(super) version: u32,
    pub(super) kind: String,
}

pub(super) enum FrameContent {
    /// The request, and the first piece of its body.
    Request(Box<Parts>, BodyPiece),
    /// The next piece of the body of a request.
    Body(BodyPiece),
    /// Bytes of the response that have been read.
    Read(ReadBytes),
    /// So many bytes of bodies have arrived, of whichever request or response.
    Arrived(usize),
    /// The client has hung up.
    HungUp,
    Response(ResponsePart),
    /// The requests whose responses the sender waits for, each with the bytes of its response that have been read.
    Waits(Vec<(u64, u64)>),
    /// The sender works on what was asked about.
    Works,
    /// The session whose record the sender does not find: the replica that runs it saves it again.
    Wanted(String),
}

/// Bytes of a response that have been read.
pub(super) enum ReadBytes {
    /// So many more.
    More(u64),
    /// So many in all.
    All(u64),
}

/// A piece of the body of a request.
pub(super) struct BodyPiece {
    pub(super) bytes: Bytes,
    pub(super) is_last: bool,
}

/// A part of the response to a request that was passed on.
pub(in crate::transport::http) enum ResponsePart {
    NotHere,
    Head {
        status: StatusCode,
        headers: HeaderMap,
        /// All of the body; without it, the body follows.
        body: Option<Bytes>,
        /// The bytes of a body that follows and is not a stream.
        length: Option<u64>,
    },
    Data(Bytes),
    End,
    /// Some of the response is lost, and none follows: the replicas could not reach each other for a while.
    Broken,
    /// None follows, for this reason.
    Lost(Box<Refusal>),
}

impl ResponsePart {
    /// Returns the reason why a response ends with this part, in the place of its own end.
    pub(in crate::transport::http) fn failure(self) -> Box<Refusal> {
        match self {
            Self::Broken => errors::replica_unreachable(),
            Self::Lost(why) => why,
            _ => errors::replica_gone(),
        }
    }
}

/// The headers of one connection, which are not passed on.
const OF_CONNECTION: [HeaderName; 4] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Returns a request as it is passed on, of this owner, with the first piece of its body.
pub(super) fn request(
    from: &str,
    number: u64,
    head: &Parts,
    who: &Owner,
    (body, is_last): (&[u8], bool),
) -> Vec<u8> {
    let mut members = members("request", from, number);
    members.insert("isLast", Json::of(&is_last));
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
    if let Some(claims) = head.extensions.get::<TokenClaims>() {
        members.insert("claims", claims.claims().as_json().clone());
    }
    written(&members, body)
}

/// Returns the next piece of the body of a request.
pub(super) fn body(from: &str, number: u64, (body, is_last): (&[u8], bool)) -> Vec<u8> {
    let mut members = members("body", from, number);
    members.insert("isLast", Json::of(&is_last));
    written(&members, body)
}

/// So many bytes of bodies have arrived.
pub(super) fn arrived(from: &str, bytes: usize) -> Vec<u8> {
    let mut members = members("arrived", from, 0);
    members.insert("bytes", Json::of(bytes.to_string().as_str()));
    written(&members, &[])
}

/// Returns the frame that says how many bytes of the response to a request have been read: since the last such frame, which is
/// all that replicas without a version look at, and in all.
pub(super) fn read(from: &str, number: u64, bytes: usize, all: u64) -> Vec<u8> {
    let mut members = members("read", from, number);
    members.insert("bytes", Json::of(bytes.to_string().as_str()));
    members.insert("all", Json::of(all.to_string().as_str()));
    written(&members, &[])
}

/// Returns the frame that names the requests whose responses are waited for, each with the bytes of it that have been read.
pub(super) fn waits(from: &str, requests: &[(u64, u64)]) -> Vec<u8> {
    let mut members = members("waits", from, 0);
    let texts = (requests.iter()).flat_map(|(number, read)| [number.to_string(), read.to_string()]);
    members.insert("requests", Json::of(&texts.collect::<Vec<_>>()));
    written(&members, &[])
}

/// Returns the answer to [`waits`], behind one for each request that is not worked on.
pub(super) fn works(from: &str) -> Vec<u8> {
    written(&members("works", from, 0), &[])
}

/// Returns the frame that asks for the record of a session.
pub(super) fn wanted(from: &str, session: &str) -> Vec<u8> {
    let mut members = members("wanted", from, 0);
    members.insert("session", Json::of(session));
    written(&members, &[])
}

/// Returns the frame that says that the client of a request has hung up.
pub(super) fn hung_up(from: &str, number: u64) -> Vec<u8> {
    written(&members("hungUp", from, number), &[])
}

/// Returns a part of the response to a request.
pub(super) fn response(from: &str, number: u64, part: &ResponsePart) -> Vec<u8> {
    let kind = match part {
        ResponsePart::NotHere => "notHere",
        ResponsePart::Head { .. } => "head",
        ResponsePart::Data(_) => "data",
        ResponsePart::End => "end",
        ResponsePart::Broken | ResponsePart::Lost(_) => "lost",
    };
    let mut members = members(kind, from, number);
    match part {
        ResponsePart::Head {
            status,
            headers,
            body,
            length,
        } => {
            if let Some(length) = length {
                members.insert("length", Json::of(length.to_string().as_str()));
            }
            members.insert("status", Json::of(status.as_str()));
            members.insert("headers", headers_out(headers));
            members.insert("isWhole", Json::of(&body.is_some()));
            written(&members, body.as_deref().unwrap_or_default())
        }
        ResponsePart::Data(bytes) => written(&members, bytes),
        ResponsePart::NotHere
        | ResponsePart::End
        | ResponsePart::Broken
        | ResponsePart::Lost(_) => written(&members, &[]),
    }
}

fn members(kind: &str, from: &str, number: u64) -> Map<Json> {
    let (digits, version) = (number.to_string(), VERSION.to_string());
    let members = [
        ("kind", kind),
        ("from", from),
        ("number", &digits),
        ("version", &version),
    ];
    Map::from_iter(members.map(|(name, text)| (name, Json::of(text))))
}

fn written(members: &Map<Json>, body: &[u8]) -> Vec<u8> {
    let json = Json::of(members);
    let head = json.text().as_bytes();
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
            let header: HeaderName = name.parse().ok()?;
            headers.append(header, HeaderValue::from_str(value).ok()?);
        }
    }
    Some(headers)
}

impl ReplicaFrame {
    /// Reads a message; `None` if it is not a frame. Fails for a frame of another build that cannot be read.
    pub(super) fn read(message: &[u8]) -> Option<Result<Self, UnreadableFrame>> {
        let (&MARK, message) = message.split_first()? else {
            return None;
        };
        let end = message.iter().position(|byte| *byte == b'\n')?;
        let (head, body) = message.split_at_checked(end)?;
        let rest = body.get(1..)?;
        let members: Map<Json> = (Json::from_text(str::from_utf8(head).ok()?).ok()?)
            .read()
            .ok()?;
        let text = |name: &str| Some(members.get(name)?.as_str()?.into_owned());
        let (from, number, kind) = (text("from")?, text("number")?.parse().ok()?, text("kind")?);
        let version = text("version").map_or(Some(0), |version| version.parse().ok())?;
        // Builds read what the next one writes, and no more.
        let what = (version <= VERSION + 1).then(|| content(&kind, &members, rest));
        Some(match what.flatten() {
            Some(what) => Ok(Self {
                from,
                number,
                version,
                what,
            }),
            None => Err(UnreadableFrame {
                from,
                number,
                version,
                kind,
            }),
        })
    }
}

fn content(kind: &str, members: &Map<Json>, rest: &[u8]) -> Option<FrameContent> {
    let text = |name: &str| Some(members.get(name)?.as_str()?.into_owned());
    let piece = || {
        Some(BodyPiece {
            bytes: Bytes::copy_from_slice(rest),
            is_last: members.get("isLast")?.text() == "true",
        })
    };
    Some(match kind {
        "request" => FrameContent::Request(Box::new(head_of(members)?), piece()?),
        "body" => FrameContent::Body(piece()?),
        "arrived" => FrameContent::Arrived(text("bytes")?.parse().ok()?),
        "read" => FrameContent::Read(match text("all") {
            Some(all) => ReadBytes::All(all.parse().ok()?),
            None => ReadBytes::More(text("bytes")?.parse().ok()?),
        }),
        "hungUp" => FrameContent::HungUp,
        "waits" => {
            let texts: Vec<String> = members.get("requests")?.read().ok()?;
            let numbers: Result<Vec<u64>, _> = texts.iter().map(|text| text.parse()).collect();
            let (pairs, []) = numbers.as_deref().ok()?.as_chunks() else {
                return None;
            };
            FrameContent::Waits(
                pairs
                    .iter()
                    .map(|[number, read]| (*number, *read))
                    .collect(),
            )
        }
        "works" => FrameContent::Works,
        "wanted" => FrameContent::Wanted(text("session")?),
        "notHere" => FrameContent::Response(ResponsePart::NotHere),
        "head" => FrameContent::Response(ResponsePart::Head {
            status: text("status")?.parse().ok()?,
            headers: headers_in(members.get("headers")?)?,
            body: (members.get("isWhole")?.text() == "true").then(|| Bytes::copy_from_slice(rest)),
            length: text("length").and_then(|length| length.parse().ok()),
        }),
        "data" => FrameContent::Response(ResponsePart::Data(Bytes::copy_from_slice(rest))),
        "end" => FrameContent::Response(ResponsePart::End),
        "lost" => FrameContent::Response(ResponsePart::Broken),
        _ => return None,
    })
}

/// Returns the head of a request that was passed on.
fn head_of(members: &Map<Json>) -> Option<Parts> {
    let text = |name: &str| Some(members.get(name)?.as_str()?.into_owned());
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = Method::from_bytes(text("method")?.as_bytes()).ok()?;
    head.uri = text("uri")?.parse::<Uri>().ok()?;
    head.headers = headers_in(members.get("headers")?)?;
    if let Some(principal) = text("principal") {
        head.extensions.insert(Principal(principal));
    }
    if let Some(claims) = members.get("claims").and_then(|claims| claims.read().ok()) {
        head.extensions.insert(TokenClaims::new(claims));
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
        let body = (&b"\n{}\n\xff"[..], true);
        let bytes = super::request("0a0b0c0d", u64::MAX, &head, &who, body);
        let Some(Ok(ReplicaFrame {
            from,
            number,
            version: VERSION,
            what: FrameContent::Request(head, body),
        })) = ReplicaFrame::read(&bytes)
        else {
            panic!("no request")
        };
        assert_eq!((&*from, number), ("0a0b0c0d", u64::MAX));
        assert_eq!(
            (head.method, &*head.uri.to_string()),
            (Method::POST, "/mcp?a=b")
        );
        assert_eq!((&body.bytes[..], body.is_last), (&b"\n{}\n\xff"[..], true));
        let accepted: Vec<_> = head.headers.get_all("accept").iter().collect();
        assert_eq!((accepted.len(), head.headers.len()), (2, 2));
        assert_eq!(head.extensions.get(), Some(&Principal("a\"da".to_owned())));
    }

    #[test]
    fn what_is_no_frame_is_none_and_nothing_panics() {
        let end = response("0a0b0c0d", 1, &ResponsePart::End);
        for cut in 0..end.len() {
            assert!(ReplicaFrame::read(&end[..cut]).is_none());
        }
        for wrong in [
            &b"R{}\n"[..],
            b"C{}\n",
            b"R\n",
            b"R[]\nx",
            b"R{\"kind\":1,\"number\":\"1\"}\n",
        ] {
            assert!(ReplicaFrame::read(wrong).is_none());
        }
    }
}
