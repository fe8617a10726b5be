//! Carries a break out on a copy of the value.

use serde_json::Value as Json;

use super::{Break, Harm};
use crate::text;
use crate::tree::{Member, Node, Standing, Value};

pub(super) fn apply(of: &Break, whole: &Node) -> Option<Node> {
    let mut broken = whole.clone();
    let place = broken.get_mut(&of.path)?;
    match &of.harm {
        Harm::Removed(name) => {
            let members = members(place)?;
            members.retain(|member| member.name != *name);
        }
        Harm::Repeated(name) => {
            let members = members(place)?;
            let member = members.iter().find(|member| member.name == *name)?.clone();
            members.push(member);
        }
        Harm::Replaced(json) | Harm::SchemaText(json) => {
            place.value = opaque(json)?.value;
        }
        Harm::Shouted => {
            let Value::String(text) = &mut place.value else {
                return None;
            };
            *text = text.to_uppercase();
        }
        Harm::Respelled => {
            let Value::Word(word) = &mut place.value else {
                return None;
            };
            if word.contains(['.', 'e', 'E']) {
                return None;
            }
            word.push_str(".0");
        }
        Harm::Limit(limit) => {
            let bound = place.facts.limits.get(limit)?.clone();
            exceed(place, limit, &bound)?;
        }
        Harm::Stray { member, value, .. } => {
            let node = opaque(value)?;
            members(place)?.push(Member {
                name: member.clone(),
                standing: Standing::Unknown,
                node,
            });
        }
    }
    (broken != *whole).then_some(broken)
}

fn members(node: &mut Node) -> Option<&mut Vec<Member>> {
    match &mut node.value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

fn opaque(json: &str) -> Option<Node> {
    text::parse(json).ok().map(|value| Node::opaque(&value))
}

/// Puts a value one step beyond a limit; none for what is no limit of this value.
fn exceed(place: &mut Node, limit: &str, bound: &Json) -> Option<()> {
    match (limit, &mut place.value) {
        ("minimum", Value::Word(word)) => *word = (bound.as_i64()? - 1).to_string(),
        ("maximum", Value::Word(word)) => *word = (bound.as_i64()? + 1).to_string(),
        ("maxItems", Value::List(items)) => {
            let most = usize::try_from(bound.as_u64()?).ok()?;
            let first = items.first()?.clone();
            items.resize(most + 1, first);
        }
        // Of the formats, these are the ones that a judge looks at.
        ("format", Value::String(text)) => match bound.as_str()? {
            "uri" => *text = "no scheme, and blanks".to_owned(),
            "uri-template" => *text = "{unended".to_owned(),
            _ => return None,
        },
        _ => return None,
    }
    Some(())
}
