//! The first look at a message, beside another reader of JSON; and headers, beside the message.

use std::sync::OnceLock;

use mcp_revisions_core::{Headers, Part, Revision, RevisionSet, headers, negotiate};
use mcp_revisions_schema::{Models, Spec};
use mcp_tests::random::seed;
use mcp_tests::sampler::{Recipe, Sampler};
use mcp_wire::{Direction, MessageKind, MethodKind, peek};
use serde_json::value::RawValue;

use super::{Signature, Target, digest, kind_of};

pub(super) const PEEK: Target = Target {
    name: "peek",
    corpus: || {
        all()
            .iter()
            .map(|sample| sample.text.clone().into_bytes())
            .collect()
    },
    run: run_peek,
};

pub(super) const HEADERS: Target = Target {
    name: "headers",
    corpus: header_corpus,
    run: run_headers,
};

/// A message of a revision, as its schema allows it.
pub(super) struct Sample {
    pub(super) revision: Revision,
    pub(super) method: &'static str,
    pub(super) sender: Direction,
    /// Whether it is a request, a notification or a response.
    pub(super) kind: SampleKind,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleKind {
    Request,
    Notification,
    Response,
}

/// Returns messages of every method of every revision: the least, the fullest and some random ones of each.
pub(super) fn all() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let spec = Spec::read(&mcp_tests::root().join("spec"))
            .expect("the spec of this checkout is readable");
        let models = Models::build(&spec).expect("the spec of this checkout has models");
        let of_revision = |revision: &Revision| {
            let model = models.get(revision.id());
            let model = &model.expect("each revision has a model").model;
            samples(*revision, &Sampler::new(model, revision.id()))
        };
        Revision::ALL.iter().flat_map(of_revision).collect()
    })
}

fn samples(revision: Revision, sampler: &Sampler<'_>) -> Vec<Sample> {
    let recipes = [Recipe::Least, Recipe::Most, Recipe::Random, Recipe::Random];
    let mut all = Vec::new();
    for row in revision.methods() {
        let parts: &[(Part, SampleKind)] = match row.kind {
            MethodKind::Request => &[
                (Part::Params, SampleKind::Request),
                (Part::Result, SampleKind::Response),
            ],
            MethodKind::Notification => &[(Part::Params, SampleKind::Notification)],
            _ => &[],
        };
        for (part, kind) in parts {
            let Some(ty) = part.of(row).and_then(|name| revision.type_named(name)) else {
                continue;
            };
            for (index, recipe) in recipes.iter().enumerate() {
                let seed = seed(&[revision.id(), row.name, &format!("{part:?}{index}")]);
                let value = sampler.instance(ty.rust_name, *recipe, seed).text;
                let name = row.name;
                let text = match kind {
                    SampleKind::Request => {
                        format!(
                            r#"{{"jsonrpc":"2.0","id":{},"method":"{name}","params":{value}}}"#,
                            index + 1
                        )
                    }
                    SampleKind::Notification => {
                        format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{value}}}"#)
                    }
                    SampleKind::Response => {
                        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{value}}}"#, index + 1)
                    }
                };
                // A line is a message.
                let text = mcp_wire::one_line(text).into_owned();
                all.push(Sample {
                    revision,
                    method: name,
                    sender: row.direction,
                    kind: *kind,
                    text,
                });
            }
        }
    }
    all
}

fn run_peek(input: &[u8]) -> Result<Signature, String> {
    let peeked = match peek(input) {
        Ok(peeked) => peeked,
        Err(refused) => return Ok(kind_of(&refused.to_string())),
    };
    let text =
        std::str::from_utf8(input).map_err(|_| "took bytes that are not UTF-8".to_owned())?;
    if let Err(error) = serde_json::from_str::<&RawValue>(text)
        && !is_beyond_serde(&error)
    {
        return Err(format!("took what is not JSON: {error}"));
    }
    let mut signature = format!("{:?}", peeked.kind);
    if peeked.kind == MessageKind::Batch {
        let count = peeked.elements().count();
        signature.push_str(&count.min(4).to_string());
    } else {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).unwrap_or_default();
        let method = members.get("method").and_then(|method| method.as_str());
        if let (Some(ours), Some(theirs)) = (peeked.method.as_deref(), method)
            && ours != theirs
        {
            return Err(format!("saw the method {ours:?}, which is {theirs:?}"));
        }
        signature.push_str(peeked.method.as_deref().unwrap_or_default());
        let negotiated = negotiate(&peeked, None, RevisionSet::all());
        signature.push_str(&match negotiated {
            Ok(negotiation) => format!(
                "{:?}",
                negotiation.within(Some(Revision::V2025_06_18)).is_ok()
            ),
            Err(refusal) => refusal.error.code.to_string(),
        });
    }
    Ok(digest(signature.as_bytes()))
}

/// Returns whether serde_json refuses what JSON allows: a depth, or half of a surrogate pair.
fn is_beyond_serde(error: &serde_json::Error) -> bool {
    let text = error.to_string();
    text.contains("recursion limit") || text.contains("surrogate") || text.contains("hex escape")
}

fn header_corpus() -> Vec<Vec<u8>> {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"día","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    [
        "mcp-protocol-version: 2026-07-28\nmcp-method: tools/call\nmcp-name: =?base64?ZMOtYQ==?=",
        "MCP-Protocol-Version: 2025-06-18\nMcp-Session-Id: 1868a90c",
        "mcp-protocol-version: 2026-07-28\nmcp-protocol-version: 2025-11-25\nmcp-name: a\tb",
    ]
    .iter()
    .map(|headers| format!("{headers}\n{call}").into_bytes())
    .collect()
}

/// Lines of headers, and the message in the last one.
fn run_headers(input: &[u8]) -> Result<Signature, String> {
    let text = String::from_utf8_lossy(input);
    let (headers, message) = text.rsplit_once('\n').unwrap_or(("", &text));
    let pairs: Vec<(&str, &str)> = headers
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    for (_, value) in &pairs {
        // What is written for a header is read as it was.
        let written = headers::encoded(value);
        if headers::decoded(&written).as_deref() != Some(*value) {
            return Err(format!(
                "{value:?} is written as {written:?}, and read as something else"
            ));
        }
        if !written
            .bytes()
            .all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
        {
            return Err(format!("{written:?} cannot stand in a header"));
        }
        let _ = headers::decoded(value);
    }
    let headers = Headers::from_pairs(pairs);
    let Ok(peeked) = peek(message.as_bytes()) else {
        return Ok(1);
    };
    let negotiated = negotiate(&peeked, Some(&headers), RevisionSet::all());
    let negotiated =
        negotiated.map_or_else(|refusal| refusal.error.message.clone(), |_| String::new());
    Ok(kind_of(&negotiated))
}
