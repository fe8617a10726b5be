//! Definitions that go by another name and stand at the same places.

use crate::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;

use super::compare::Comparer;
use super::graph::{NodeId, Rest, Shape};
use super::kind::Kind;
use super::methods::Pairs;
use super::row::Row;
use super::show::View;
use super::side::Side;
use super::site::Place;
use super::variants::Choices;

/// How many pairs of places are visited before renames are no longer looked for.
const MAX_VISITS: usize = 400_000;

/// A row for each definition that was renamed: of one side alone, and whose places all have one other name.
pub(crate) fn rows(old: &Side, new: &Side, pairs: &Pairs, comparer: &Comparer<'_>) -> Vec<Row> {
    let only = |side: &Side, other: &Side| {
        let names = side.graph.definitions.keys();
        names
            .filter(|name| !other.graph.definitions.contains_key(*name))
            .count()
    };
    if only(old, new) == 0 || only(new, old) == 0 {
        return Vec::new();
    }
    let mut met: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let mut back: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let places = comparer.sites.iter().flat_map(|site| &site.places);
    let places = places.map(|place| (place.old.as_str(), place.new.as_str()));
    for (was, is) in places.chain(names_met(old, new, pairs, comparer)) {
        met.entry(was).or_default().insert(is);
        back.entry(is).or_default().insert(was);
    }
    let renamed = met.into_iter().filter_map(|(was, all)| {
        let is = *all
            .first()
            .filter(|is| all.len() == 1 && back[*is].len() == 1)?;
        let (from, to) = (
            old.graph.definitions.get(was)?,
            new.graph.definitions.get(is)?,
        );
        let kept =
            new.graph.definitions.contains_key(was) || old.graph.definitions.contains_key(is);
        if kept {
            return None;
        }
        let mut row = Row::new(Kind::DefinitionRenamed);
        row.before = Some(View::of(old, *from, None));
        row.after = Some(View::of(new, *to, None));
        row.subject = Some(format!("{was} -> {is}"));
        row.places = vec![Place {
            old: was.to_owned(),
            new: is.to_owned(),
        }];
        Some(row)
    });
    renamed.collect()
}

/// The names of the definitions that stand at the same place of the messages that both sides have.
fn names_met<'s>(
    old: &'s Side,
    new: &'s Side,
    pairs: &Pairs,
    comparer: &Comparer<'_>,
) -> Vec<(&'s str, &'s str)> {
    let mut met = Vec::new();
    let mut ahead: Vec<(NodeId, NodeId)> = Vec::new();
    for (o, n) in &pairs.both {
        let (o, n) = (&old.messages[*o], &new.messages[*n]);
        met.extend(old.graph.name(o.node).zip(new.graph.name(n.node)));
        let params = o.params.zip(n.params);
        ahead.extend(params.map(|(o, n)| (o.node, n.node)));
        ahead.extend(o.result.zip(n.result));
    }
    let message = |side: &Side| side.graph.definitions.get("JSONRPCMessage").copied();
    ahead.extend(message(old).zip(message(new)));
    let mut seen = HashSet::new();
    while let Some((o, n)) = ahead.pop() {
        met.extend(old.graph.name(o).zip(new.graph.name(n)));
        if !seen.insert((old.graph.resolve(o), new.graph.resolve(n))) || seen.len() > MAX_VISITS {
            continue;
        }
        match (&old.graph.node(o).shape, &new.graph.node(n).shape) {
            (
                Shape::Object { members, rest },
                Shape::Object {
                    members: others,
                    rest: other,
                },
            ) => {
                let both = members
                    .iter()
                    .filter_map(|(name, o)| Some((o.node, others.get(name)?.node)));
                ahead.extend(both);
                if let (Rest::Each(o), Rest::Each(n)) = (rest, other) {
                    ahead.push((*o, *n));
                }
            }
            (Shape::Array(o), Shape::Array(n)) => ahead.extend(o.zip(*n)),
            (Shape::Union(_), _) | (_, Shape::Union(_)) => {
                let (olds, news) = (Choices::of(&old.graph, o), Choices::of(&new.graph, n));
                let pairs = comparer.paired(&olds, &news).into_iter();
                ahead.extend(pairs.filter_map(|[o, n]| Some((olds.ids[o?], news.ids[n?]))));
            }
            _ => {}
        }
    }
    met
}
