//! Reading and writing: JSON beside another reader, and the types of every revision.

use mcp_revisions_core::Revision;
use mcp_tests::text;
use mcp_wire::Json;

use super::messages::all;
use super::{Signature, Target, digest, kind_of};

pub(super) const JSON: Target = Target {
    name: "json",
    corpus: || {
        all()
            .iter()
            .step_by(3)
            .map(|sample| sample.text.clone().into_bytes())
            .collect()
    },
    run: run_json,
};

pub(super) const TYPES: Target = Target {
    name: "types",
    corpus: type_corpus,
    run: run_types,
};

fn run_json(input: &[u8]) -> Result<Signature, String> {
    let ours = mcp_wire::from_slice::<Json>(input);
    let theirs = serde_json::from_slice::<serde_json::Value>(input);
    match (ours, theirs) {
        (Ok(json), theirs) => {
            if let Err(error) = theirs {
                let error = error.to_string();
                // What the other reader does not hold: depth, numbers beyond a double, half of a surrogate pair.
                let beyond = ["recursion limit", "out of range", "surrogate", "hex escape"];
                if !beyond.iter().any(|word| error.contains(word)) {
                    return Err(format!("took what is not JSON: {error}"));
                }
            }
            let again = mcp_wire::to_string(&json);
            let given = std::str::from_utf8(input)
                .unwrap_or_default()
                .trim_matches([' ', '\t', '\n', '\r']);
            if again != given {
                return Err(format!("{given} is written as {again}"));
            }
            Ok(u64::from(
                again.as_bytes().first().copied().unwrap_or_default(),
            ))
        }
        (Err(error), Ok(_)) => {
            let error = error.to_string();
            // A depth beyond ours is refused.
            if error.contains("nested") || error.contains("levels") {
                Ok(2)
            } else {
                Err(format!("refused JSON: {error}"))
            }
        }
        (Err(error), Err(_)) => Ok(kind_of(&error.to_string())),
    }
}

/// The name of a revision and of a type in the first line, a value in the rest.
fn type_corpus() -> Vec<Vec<u8>> {
    let of_sample = |sample: &super::messages::Sample| {
        let envelope: serde_json::Value = serde_json::from_str(&sample.text).unwrap_or_default();
        let row = sample
            .revision
            .methods()
            .iter()
            .find(|row| row.name == sample.method && row.direction == sample.sender)?;
        let (part, member) = match sample.kind {
            super::messages::SampleKind::Response => (row.result?, "result"),
            _ => (row.params?, "params"),
        };
        let value = envelope.get(member)?;
        Some(format!("{} {part}\n{value}", sample.revision).into_bytes())
    };
    all().iter().filter_map(of_sample).collect()
}

fn run_types(input: &[u8]) -> Result<Signature, String> {
    let input = String::from_utf8_lossy(input);
    let (head, value) = input.split_once('\n').unwrap_or((&input, ""));
    let (revision, name) = head.split_once(' ').unwrap_or((head, ""));
    let Some(ty) = revision
        .parse::<Revision>()
        .ok()
        .and_then(|revision| revision.type_named(name))
    else {
        return Ok(0);
    };
    match ty.round_trip(value) {
        Ok(written) => {
            super::expect_json(value, "a sender whose text was read")?;
            super::expect_json(&written, name)?;
            // Half of a surrogate pair is no text of the other reader: both sides have it then.
            let (before, after) = (text::parse(value).ok(), text::parse(&written).ok());
            let again = ty
                .round_trip(&written)
                .map_err(|error| format!("{name} refuses what it wrote: {error}"))?;
            if again != written {
                return Err(format!("{name} writes {written} as {again}"));
            }
            Ok(digest(
                format!("{revision}{name}{}", before == after).as_bytes(),
            ))
        }
        Err(error) => Ok(digest(
            format!("{revision}{name}{:?}{}", error.kind(), error.pointer()).as_bytes(),
        )),
    }
}
