//! Whole messages between every two revisions: what comes out is a message that the receiver's revision takes.

use mcp_revisions_core::{
    Context, MessageContext, MessageError, Outcome, Revision, UnknownFields, convert_message,
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
    let outcome = match convert_message(text, from, to, &context) {
        Ok(outcome) => outcome,
        Err(MessageError::Invalid(diagnostic)) => {
            return Ok(digest(
                format!("{from}{to}{method}{}", diagnostic.pointer).as_bytes(),
            ));
        }
        Err(other) => return Ok(super::kind_of(&other.to_string())),
    };
    let (value, losses) = match &outcome {
        Outcome::Exact(value) => (value, &[][..]),
        Outcome::Reversible(value, losses) | Outcome::Lossy(value, losses) => {
            (value, losses.as_slice())
        }
        Outcome::RequiresState(state) => return Ok(digest(state.rule.as_bytes())),
        Outcome::Rejected(rejected) => return Ok(digest(rejected.rule.as_bytes())),
        Outcome::Dropped(dropped) => return Ok(digest(dropped.rule.as_bytes())),
    };
    expect_json(value.text(), "a conversion")?;
    // What arrives is read by the receiver's revision: a conversion to itself reads all of it.
    match convert_message(value.text(), to, to, &context) {
        Err(MessageError::Invalid(diagnostic)) => {
            return Err(format!(
                "{to} does not take what came of it: {diagnostic}\n{}",
                value.text()
            ));
        }
        Ok(_) | Err(_) => {}
    }
    let rules: Vec<&str> = losses.iter().map(|loss| loss.rule()).collect();
    Ok(digest(
        format!("{from}{to}{method}{}", rules.join(",")).as_bytes(),
    ))
}
