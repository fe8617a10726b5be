//! Messages that came, went, or changed their channel.

use serde_json::{Value, json};

use super::channel;
use super::facts::both_ways;
use super::graph::{Graph, NodeId};
use super::judge::valid;
use super::kind::Kind;
use super::messages::Message;
use super::path::{Part, WirePath};
use super::row::{Place, Row};
use super::sample::minimal;
use super::show::View;
use super::side::Side;
use super::verdict::Verdict;
use super::witness::{End, Witness};
use crate::model::MethodKind;

/// The messages of two sides, by index.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) both: Vec<(usize, usize)>,
    pub(crate) rechanneled: Vec<(usize, usize)>,
    pub(crate) removed: Vec<usize>,
    pub(crate) added: Vec<usize>,
}

/// Pairs messages by direction, name and kind, then by direction and name alone.
pub(crate) fn pair(old: &[Message], new: &[Message]) -> Pairs {
    let mut pairs = Pairs::default();
    let mut open_new: Vec<usize> = (0..new.len()).collect();
    let mut open_old = Vec::new();
    let mut take = |message: &Message, same_kind: bool| {
        let found = open_new.iter().position(|other| {
            let other = &new[*other];
            other.direction == message.direction
                && other.name == message.name
                && (!same_kind || other.kind == message.kind)
        })?;
        Some(open_new.remove(found))
    };
    for (index, message) in old.iter().enumerate() {
        match take(message, true) {
            Some(other) => pairs.both.push((index, other)),
            None => open_old.push(index),
        }
    }
    for index in open_old {
        match take(&old[index], false) {
            Some(other) => {
                pairs.both.push((index, other));
                pairs.rechanneled.push((index, other));
            }
            None => pairs.removed.push(index),
        }
    }
    pairs.added = open_new;
    pairs
}

/// A row for each message that came, went or changed its channel.
pub(crate) fn rows(old: &Side, new: &Side, pairs: &Pairs) -> Vec<Row> {
    let mut rows = Vec::new();
    for index in &pairs.removed {
        let message = &old.messages[*index];
        let mut row = Row::new(
            Kind::MethodRemoved,
            both_ways(Verdict::DROPPED, Verdict::FINE),
        )
        .with_witnesses(refused(old, new, message, End::Old).into_iter().collect());
        row.before = Some(View::of(old, message.node, None));
        row.places = vec![Place {
            old: old.name_of(message.node),
            new: String::new(),
        }];
        rows.push(at(row, message));
    }
    for index in &pairs.added {
        let message = &new.messages[*index];
        let mut row = Row::new(
            Kind::MethodAdded,
            both_ways(Verdict::FINE, Verdict::DROPPED),
        )
        .with_witnesses(refused(new, old, message, End::New).into_iter().collect());
        row.after = Some(View::of(new, message.node, None));
        row.places = vec![Place {
            old: String::new(),
            new: new.name_of(message.node),
        }];
        rows.push(at(row, message));
    }
    for (o, n) in &pairs.rechanneled {
        let (o, n) = (&old.messages[*o], &new.messages[*n]);
        let witnesses = [
            refused(old, new, o, End::Old),
            refused(new, old, n, End::New),
        ];
        let verdicts = both_ways(Verdict::CHANGED, Verdict::CHANGED);
        let mut row = Row::new(Kind::MethodRechanneled, verdicts)
            .with_witnesses(witnesses.into_iter().flatten().collect());
        row.before = Some(View::words(channel(o.kind)));
        row.after = Some(View::words(channel(n.kind)));
        row.places = vec![Place {
            old: old.name_of(o.node),
            new: new.name_of(n.node),
        }];
        rows.push(at(row, o));
    }
    rows
}

fn at(mut row: Row, message: &Message) -> Row {
    let path = WirePath::whole(message.direction, &message.name, Part::Message);
    row.paths = vec![path];
    row.subject = Some(channel(message.kind).to_owned());
    row
}

/// A message that one side lists on a channel and the other does not admit there.
fn refused(sender: &Side, receiver: &Side, message: &Message, end: End) -> Option<Witness> {
    let admits = |graph: &Graph, text: &Value| {
        graph
            .definitions
            .get(message.union)
            .is_some_and(|listed| valid(graph, *listed, text))
    };
    let bare = minimal(&sender.graph, message.node);
    let texts = match message.kind {
        MethodKind::Input => [bare, None],
        kind => [enveloped(&sender.graph, message.node, kind), bare],
    };
    let json = texts
        .into_iter()
        .flatten()
        .find(|text| admits(&sender.graph, text) && !admits(&receiver.graph, text))?;
    let pointers = |side: &Side| match side.graph.definitions.contains_key(message.union) {
        true => vec![format!("/$defs/{}", message.union)],
        false => Vec::new(),
    };
    let (old, new) = match end {
        End::Old => (pointers(sender), pointers(receiver)),
        End::New => (pointers(receiver), pointers(sender)),
    };
    Some(Witness {
        valid_in: end,
        part: Part::Message,
        json,
        old,
        new,
    })
}

/// The smallest message, with the envelope that older schemas leave out.
fn enveloped(graph: &Graph, message: NodeId, kind: MethodKind) -> Option<Value> {
    let mut text = minimal(graph, message)?;
    let object = text.as_object_mut()?;
    object.entry("jsonrpc").or_insert_with(|| json!("2.0"));
    if kind == MethodKind::Request {
        object.entry("id").or_insert_with(|| json!(1));
    }
    Some(text)
}
