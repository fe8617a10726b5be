//! Whole messages between every two revisions: what comes out is a message that the receiver's revision takes.

use mcp_revisions_core::{
    Context, ConversionError, MessageContext, Revision, UnknownFields, convert_message, method_name,
};
use mcp_wire::{Direction, peek};

use super::messages::{SampleKind, all};
use super::{Signature, Target, digest, expect_json};

pub(super) const CONVERT: Target = Target {
    name: "convert",
    corpus,
    run,
};

/// The two revisions, the sender, the method that a response answers and the policy in the first line; the message in the rest.
fn corpus() -> Vec<Vec<u8>> {
    let converted = Revision::CONVERTED;
    let of_sample = |(index, sample): (usize, &super::messages::Sample)| {
        let to = converted
            .get(index % converted.len())
            .copied()
            .unwrap_or(sample.revision);
        let sender = match sample.sender {
            Direction::ServerToClient => "server",
            _ => "client",
        };
        let method = match sample.kind {
            SampleKind::Response => sample.method,
            _ => "-",
        };
        let policy = if index % 2 == 0 { "drop" } else { "preserve" };
        format!(
            "{} {to} {sender} {method} {policy}\n{}",
            sample.revision, sample.text
        )
        .into_bytes()
    };
    let samples = all().iter().enumerate().map(of_sample);
    samples.chain(careless()).collect()
}

/// Lists of tools whose schemas say less than a receiver demands, or something else.
fn careless() -> Vec<Vec<u8>> {
    let schemas = [
        "{}",
        "[]",
        r#"{"type":"string"}"#,
        r#"{"type":["null","object"],"properties":[]}"#,
        r#"{"type":"object","properties":{"a":true,"b":5},"required":null}"#,
    ];
    let converted = Revision::CONVERTED;
    let ways = converted
        .windows(2)
        .flat_map(|pair| [[pair[0], pair[1]], [pair[1], pair[0]]]);
    let of_way = |[from, to]: [Revision; 2]| {
        schemas.map(|schema| {
            let tool = format!(r#"{{"name":"a","inputSchema":{schema},"outputSchema":{schema}}}"#);
            let result = format!(
                r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{tool}]}}"#
            );
            let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
            format!("{from} {to} client tools/list drop\n{message}").into_bytes()
        })
    };
    ways.flat_map(of_way).collect()
}

fn run(input: &[u8]) -> Result<Signature, String> {
    let input = String::from_utf8_lossy(input);
    let (head, text) = input.split_once('\n').unwrap_or((&input, ""));
    let words: Vec<&str> = head.split(' ').collect();
    let [from, to, sender, method, policy] = words[..] else {
        return Ok(0);
    };
    let (Ok(from), Ok(to)) = (from.parse::<Revision>(), to.parse::<Revision>()) else {
        return Ok(0);
    };
    let policy = match policy {
        "preserve" => UnknownFields::Preserve,
        _ => UnknownFields::Drop,
    };
    let sender = match sender {
        "server" => Direction::ServerToClient,
        _ => Direction::ClientToServer,
    };
    let context = MessageContext::new(Context::new(policy))
        .answering(Some(method).filter(|method| *method != "-"))
        .sent_by(sender);
    let (value, losses) = match convert_message(text, from, to, &context) {
        Ok(converted) => converted,
        Err(ConversionError::Invalid(diagnostic)) => {
            return Ok(digest(
                format!("{from}{to}{method}{}", diagnostic.pointer).as_bytes(),
            ));
        }
        Err(other) => return Ok(super::kind_of(&other.to_string())),
    };
    expect_json(value.text(), "a conversion")?;
    // Between equal revisions a message passes as it is.
    if !from.same_types(to) {
        let called = method_name(method, sender, from, to);
        is_taken(to, sender, called, value.text()).map_err(|why| {
            format!(
                "{to} does not take what came of it: {why}\n{}",
                value.text()
            )
        })?;
    }
    let rules: Vec<&str> = losses.iter().map(|loss| loss.rule()).collect();
    Ok(digest(
        format!("{from}{to}{method}{}", rules.join(",")).as_bytes(),
    ))
}

/// Checks that the receiver's revision takes a message, with what its schema says of values that are kept as text; `answered` is
/// the method that a response answers.
fn is_taken(to: Revision, sender: Direction, answered: &str, text: &str) -> Result<(), String> {
    let message = peek(text.as_bytes()).map_err(|error| error.to_string())?;
    let name = message.method.as_deref().unwrap_or(answered);
    let mut rows = to.methods().iter();
    let Some(row) = rows.find(|row| row.name == name && row.direction == sender) else {
        return Ok(());
    };
    for (ty, part) in [(row.params, message.params), (row.result, message.result)] {
        let (Some(ty), Some(part)) = (ty.and_then(|ty| to.type_named(ty)), part) else {
            continue;
        };
        ty.read_framed(part.text())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
