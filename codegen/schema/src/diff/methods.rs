//! Messages that came, went, or changed their channel.

use serde_json::{Value, json};

use super::extension::Feature;
use super::graph::{Graph, NodeId};
use super::judge::valid;
use super::kind::Kind;
use super::messages::{Message, channel};
use super::path::{Part, WirePath};
use super::row::Row;
use super::sample::minimal;
use super::show::View;
use super::side::Side;
use super::site::Place;
use super::verdict::End;
use super::witness::Witness;
use crate::model::MethodKind;

/// The messages of two sides, by index.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) both: Vec<(usize, usize)>,
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
            Some(other) => pairs.both.push((index, other)),
            None => pairs.removed.push(index),
        }
    }
    pairs.added = open_new;
    pairs
}

impl Feature {
    /// Returns the feature that sides are about, where some of them are an extension and others are not.
    pub(super) fn among<'s>(sides: &[&'s Side]) -> Option<&'s Self> {
        let mut all = sides.iter().map(|side| side.feature.as_ref());
        let is_mixed = all.clone().any(|feature| feature.is_none());
        all.find_map(|feature| feature).filter(|_| is_mixed)
    }

    /// Leaves only messages of the feature, where one side is an extension and the other is not: what else a core has
    /// is not gone with an extension, which stands beside it.
    pub(super) fn retain(pairs: &mut Pairs, old: &Side, new: &Side) {
        let Some(feature) = Self::among(&[old, new]) else {
            return;
        };
        let has = |side: &Side, at: usize| {
            let names = match side.feature {
                Some(_) => &feature.own,
                None => &feature.core,
            };
            names.contains(&side.messages[at].name)
        };
        let both = |(o, n): &(usize, usize)| has(old, *o) && has(new, *n);
        pairs.both.retain(both);
        pairs.removed.retain(|at| has(old, *at));
        pairs.added.retain(|at| has(new, *at));
    }
}

/// A row for each message that came, went or changed its channel.
pub(crate) fn rows(old: &Side, new: &Side, pairs: &Pairs) -> Vec<Row> {
    let row = |kind: Kind, [o, n]: [Option<&Message>; 2]| {
        let witnesses = [
            o.and_then(|o| refused(old, new, o, End::Old)),
            n.and_then(|n| refused(old, new, n, End::New)),
        ];
        let mut row = Row::new(kind).with_witnesses(witnesses.into_iter().flatten().collect());
        let view = |side: &Side, message: &Message| match kind {
            Kind::MethodRechanneled => View::words(channel(message.kind)),
            _ => View::of(side, message.node, None),
        };
        let name = |side: &Side, message: &Message| side.name_of(message.node);
        row.before = o.map(|o| view(old, o));
        row.after = n.map(|n| view(new, n));
        row.places = vec![Place {
            old: o.map(|o| name(old, o)).unwrap_or_default(),
            new: n.map(|n| name(new, n)).unwrap_or_default(),
        }];
        if let Some(message) = o.or(n) {
            let path = WirePath::whole(message.direction, &message.name, Part::Message);
            row.paths = vec![path];
            row.subject = Some(channel(message.kind).to_owned());
        }
        row
    };
    let removed =
        (pairs.removed.iter()).map(|at| row(Kind::MethodRemoved, [Some(&old.messages[*at]), None]));
    let added =
        (pairs.added.iter()).map(|at| row(Kind::MethodAdded, [None, Some(&new.messages[*at])]));
    let rechanneled = pairs.both.iter().filter_map(|(o, n)| {
        let [o, n] = [&old.messages[*o], &new.messages[*n]];
        (o.kind != n.kind).then(|| row(Kind::MethodRechanneled, [Some(o), Some(n)]))
    });
    removed.chain(added).chain(rechanneled).collect()
}

/// A message that one side lists on a channel and the other does not admit there.
fn refused(old: &Side, new: &Side, message: &Message, end: End) -> Option<Witness> {
    let (sender, receiver) = (end.of(old, new), end.other().of(old, new));
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
    Some(Witness {
        valid_in: end,
        part: Part::Message,
        json,
        old: pointers(old),
        new: pointers(new),
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
