//! Puts recorded losses back into a value that went there and back.

use mcp_convert::Rule;
use mcp_revisions_core::{Change, Loss};
use mcp_wire::pointer::unescaped;

use crate::text::{self, Value};

/// The text with the losses put back, in the order in which they were recorded.
///
/// # Errors
/// A loss whose place is not in the text.
pub fn put_back(text: &str, losses: &[&Loss]) -> Result<Value, String> {
    let mut value = text::parse(text).map_err(|at| format!("no JSON at {at}: {text}"))?;
    // What the way back undoes by itself is not put back; what a session says, it says of its own client.
    let goes = |loss: &&&Loss| loss.change.is_loss() || loss.change == Change::InSession;
    for loss in losses.iter().filter(goes) {
        put_one(&mut value, loss).map_err(|problem| format!("{loss}: {problem}"))?;
    }
    Ok(value)
}

fn put_one(whole: &mut Value, loss: &Loss) -> Result<(), String> {
    let pointer = loss.pointer();
    let change = match loss.change {
        Change::InSession => Change::Removed,
        change => change,
    };
    let lost = match loss.value() {
        Some(json) => Some(text::parse(json.text()).map_err(|at| format!("no JSON at {at}"))?),
        None => None,
    };
    let steps: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|step| unescaped(step).into_owned())
        .collect();
    let Some((last, path)) = steps.split_last() else {
        return match (change, lost) {
            (Change::Replaced, Some(lost)) => {
                *whole = lost;
                Ok(())
            }
            (change, _) => Err(format!("{change:?} at the root")),
        };
    };
    let mut place = whole;
    for step in path {
        place = child(place, step).ok_or_else(|| format!("nothing at `{step}`"))?;
    }
    match (place, change, lost) {
        (Value::Object(members), change, lost) => {
            let found = members.iter().position(|(name, _)| name == last);
            match (change, found, lost) {
                (Change::Added, Some(at), None) => drop(members.remove(at)),
                (Change::Removed, None, Some(lost)) => {
                    members.push((last.clone(), lost));
                    members.sort_by(|a, b| a.0.cmp(&b.0));
                }
                // Of members of one name the last one counts: those before it are the mistakes.
                (Change::Removed, Some(_), Some(lost)) if loss.rule() == Rule::INVALID.id() => {
                    let counts = members.iter().rposition(|(name, _)| name == last);
                    members.insert(counts.unwrap_or_default(), (last.clone(), lost));
                }
                // What was removed may have been filled in again: from the session, or by a default.
                (Change::Removed | Change::Replaced, Some(at), Some(lost)) => {
                    if let Some(member) = members.get_mut(at) {
                        member.1 = lost;
                    }
                }
                (change, found, _) => return Err(format!("{change:?}, and the member {found:?}")),
            }
        }
        (Value::Array(items), change, lost) => {
            let at: usize = last
                .parse()
                .map_err(|_| format!("`{last}` is not an index"))?;
            match (change, lost) {
                (Change::Added, None) if at < items.len() => drop(items.remove(at)),
                (Change::Removed, Some(lost)) if at <= items.len() => items.insert(at, lost),
                (Change::Replaced, Some(lost)) if at < items.len() => {
                    if let Some(item) = items.get_mut(at) {
                        *item = lost;
                    }
                }
                (change, _) => return Err(format!("{change:?} at {at} of {} items", items.len())),
            }
        }
        (other, ..) => return Err(format!("a scalar above it: {other:?}")),
    }
    Ok(())
}

/// The value below another one.
#[must_use]
pub fn child<'v>(value: &'v mut Value, step: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(members) => members
            .iter_mut()
            .find(|(name, _)| name == step)
            .map(|(_, value)| value),
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        Value::Word(_) | Value::String(_) => None,
    }
}
