//! Whole messages between every two revisions: what comes out is a message that the receiver's revision takes.

use mcp_revisions_core::translate::read_part;
use mcp_revisions_core::values::method_name;
use mcp_revisions_core::{
    Context, ConversionError, MessageContext, Part, Revision, Subject, UnknownFields,
    convert_message, peek,
};
use mcp_wire::Direction;

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
    all().iter().enumerate().map(of_sample).collect()
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
    let context = MessageContext::new(Context::new(policy))
        .answering(Some(method).filter(|method| *method != "-"))
        .sent_by(match sender {
            "server" => Direction::ServerToClient,
            _ => Direction::ClientToServer,
        });
    let (value, losses) = match convert_message(text, from, to, &context) {
        Ok(converted) => converted,
        Err(ConversionError::Invalid(diagnostic)) => {
            return Ok(digest(
                format!("{from}{to}{method}{}", diagnostic.pointer).as_bytes(),
            ));
        }
        Err(other) => {
            return Ok(match other.rule() {
                Some(rule) => digest(rule.as_bytes()),
                None => super::kind_of(&other.to_string()),
            });
        }
    };
    expect_json(value.text(), "a conversion")?;
    if from.same_types(to) {
        let is_untouched = value.text() == text.trim();
        return is_untouched
            .then_some(0)
            .ok_or_else(|| format!("equal revisions change a message: {value}"));
    }
    // What arrives is read by the receiver's revision.
    let message = peek(value.text().as_bytes()).map_err(|why| why.to_string())?;
    let asker = match sender {
        "server" => Direction::ServerToClient,
        _ => Direction::ClientToServer,
    };
    let name = match &message.method {
        Some(name) => name.to_string(),
        None => method_name(method, asker, from, to).to_owned(),
    };
    let (part, text) = match message.result {
        Some(result) => (Part::Result, result.text()),
        None => (
            Part::Params,
            message.params.map_or("{}", |params| params.text()),
        ),
    };
    let subject = Subject::Method(&name, part, Some(asker));
    if message.error.is_none()
        && let Err(ConversionError::Invalid(diagnostic)) = read_part(subject, to, text)
    {
        return Err(format!(
            "{to} does not take what came of it: {diagnostic}\n{}",
            value.text()
        ));
    }
    let rules: Vec<&str> = losses.iter().map(|loss| loss.rule()).collect();
    Ok(digest(
        format!("{from}{to}{method}{}", rules.join(",")).as_bytes(),
    ))
}
