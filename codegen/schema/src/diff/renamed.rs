//! Definitions that go by another name and stand at the same places.

use crate::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;

use super::compare::Comparer;
use super::graph::{NodeId, Shape};
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
pub(crate) fn rows(pairs: &Pairs<'_>, comparer: &Comparer<'_>) -> Vec<Row> {
    let (old, new) = (pairs.old, pairs.new);
    let (olds, news) = (&old.graph.definitions, &new.graph.definitions);
    if olds.keys().all(|name| news.contains_key(name))
        || news.keys().all(|name| olds.contains_key(name))
    {
        return Vec::new();
    }
    let mut met: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let mut back: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let places = comparer.sites.iter().flat_map(|site| &site.places);
    let places = places.map(|place| (place.old.as_str(), place.new.as_str()));
    for (was, is) in places.chain(names_met(pairs, comparer)) {
        met.entry(was).or_default().insert(is);
        back.entry(is).or_default().insert(was);
    }
    let renamed = met.into_iter().filter_map(|(was, all)| {
        let only = |is: &&&str| all.len() == 1 && back[**is].len() == 1;
        let is = *all.first().filter(only)?;
        let (from, to) = (olds.get(was)?, news.get(is)?);
        if news.contains_key(was) || olds.contains_key(is) {
            return None;
        }
        let mut row = Row::new(Kind::DefinitionRenamed);
        row.before = Some(View::of(old, *from, None));
        row.after = Some(View::of(new, *to, None));
        row.subject = Some(format!("{was} -> {is}"));
        row.places = vec![Place::of(was, is)];
        Some(row)
    });
    renamed.collect()
}

/// The names of the definitions that stand at the same place of the messages that both sides have.
fn names_met<'s>(pairs: &Pairs<'s>, comparer: &Comparer<'_>) -> Vec<(&'s str, &'s str)> {
    let (old, new) = (pairs.old, pairs.new);
    let mut met = Vec::new();
    let mut ahead: Vec<(NodeId, NodeId)> = Vec::new();
    for (o, n) in &pairs.both {
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
        let (was, is) = (&old.graph.node(o).shape, &new.graph.node(n).shape);
        if let (Some((olds, o)), Some((news, n))) = (was.object(), is.object()) {
            let both = olds
                .iter()
                .map(|(name, o)| Some((o.node, news.get(name)?.node)));
            ahead.extend(both.flatten());
            ahead.extend(o.each().zip(n.each()));
        }
        match (was, is) {
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
