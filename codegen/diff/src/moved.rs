//! Values and definitions under another name: values that moved, such as `initialize`'s
//! capabilities, which went into `_meta`, and definitions that go by another name and stand at the same places.
//!
//! A value that is gone and one that came are the same value if they go by the same name, are sent
//! the same way, hold the same, and no other candidate does. The rows of both become one.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;

use super::compare::Comparer;
use super::graph::{NodeId, NodeShape};
use super::kind::ChangeKind;
use super::messages::Message;
use super::methods::Pairs;
use super::path::{ExchangePart, PathSegment, Trail, WirePath, bare};
use super::row::DiffRow;
use super::show::View;
use super::side::ComparedSide;
use super::site::DiffLocation;
use super::variants::Choices;
use super::verdict::ComparedEnd;
use super::walk::Root;
use mcp_revisions_schema::naming::capitalized;

/// Members that every object may have: they tell nothing.
const COMMON: &[&str] = &[
    "_meta",
    "name",
    "title",
    "description",
    "type",
    "icons",
    "id",
    "nextCursor",
    "cursor",
];

/// Maximum number of pairs of places to visit before renames are given up.
const MAX_VISITS: usize = 400_000;

/// A value that is gone, or one that came.
struct MovedValue {
    name: String,
    node: NodeId,
    paths: Vec<WirePath>,
    place: String,
    /// The row that has it; `None` for a part of a message that came or went as a whole.
    row: Option<usize>,
}

/// A value that is carried elsewhere now.
pub(crate) struct Move {
    gone: MovedValue,
    came: MovedValue,
}

/// Returns the values that moved, by the rows of a comparison.
pub(crate) fn find(rows: &[DiffRow], pairs: &Pairs<'_>, comparer: &Comparer<'_>) -> Vec<Move> {
    let (old, new) = (pairs.old, pairs.new);
    let mut gone = of_messages(old, &pairs.removed);
    let mut came = of_messages(new, &pairs.added);
    for (index, row) in rows.iter().enumerate() {
        let place = row.places.first().cloned().unwrap_or_default();
        let (all, view, place) = match row.kind {
            ChangeKind::MemberRemoved => (&mut gone, &row.before, place.old),
            ChangeKind::MemberAddedOptional | ChangeKind::MemberAddedRequired => {
                (&mut came, &row.after, place.new)
            }
            _ => continue,
        };
        if let Some(name) = &row.subject
            && let Some(node) = view.as_ref().and_then(|view| view.node)
        {
            all.push(MovedValue {
                name: name.clone(),
                node,
                paths: row.paths.clone(),
                place,
                row: Some(index),
            });
        }
    }
    let fits = |g: &MovedValue, c: &MovedValue| {
        let name = old.graph.name(g.node);
        let is_named_alike = name.is_some() && name == new.graph.name(c.node);
        let holds_the_same = is_named_alike || comparer.same(g.node, c.node);
        // Between two rows of the same exchange the place must differ in more than the schema's name.
        let of_rows = g.row.is_some() && c.row.is_some();
        let near = g.paths.iter().any(|g| {
            c.paths.iter().any(|c| {
                (g.direction, g.part) == (c.direction, c.part) && (!of_rows || g.method == c.method)
            })
        });
        !COMMON.contains(&g.name.as_str())
            && !COMMON.contains(&c.name.as_str())
            && same_name(&g.name, &c.name)
            && holds_the_same
            && near
    };
    let fitting: Vec<Vec<usize>> = (gone.iter())
        .map(|g| (0..came.len()).filter(|c| fits(g, &came[*c])).collect())
        .collect();
    let mut arrivals: Vec<Option<MovedValue>> = came.into_iter().map(Some).collect();
    let mut moves = Vec::new();
    for (gone, fitting_here) in gone.into_iter().zip(&fitting) {
        // More than one that fits, on either side, makes it anybody's guess.
        if let &[c] = fitting_here.as_slice()
            && fitting.iter().filter(|all| all.contains(&c)).count() == 1
            && let Some(came) = arrivals[c].take()
        {
            moves.push(Move { gone, came });
        }
    }
    moves
}

/// Returns the roots of the wire paths inside of moved values, at both ends.
pub(crate) fn roots(moves: &[Move], comparer: &mut Comparer<'_>) -> Vec<Root> {
    let mut roots = Vec::new();
    for Move { gone, came } in moves {
        if comparer.same(gone.node, came.node) {
            continue;
        }
        let places = DiffLocation::of(&gone.place, &came.place);
        let site = comparer.whole(places, gone.node, came.node);
        let part = came
            .paths
            .first()
            .map_or(ExchangePart::Params, |path| path.part);
        for (end, value) in [(ComparedEnd::Old, gone), (ComparedEnd::New, came)] {
            roots.extend(value.paths.iter().map(|path| Root {
                path: path.clone(),
                hides_first: false,
                site,
                part,
                whole: [gone.node, came.node],
                moved: Some(end),
            }));
        }
    }
    roots
}

/// Replaces the rows of what is gone and what came by one that says `moved`.
pub(crate) fn merge(
    rows: &mut Vec<DiffRow>,
    moves: &[Move],
    pairs: &Pairs<'_>,
    comparer: &Comparer<'_>,
) {
    let moved: Vec<DiffRow> = moves
        .iter()
        .map(|Move { gone, came }| {
            let mut row = row(rows, pairs, gone, came);
            row.changed_within = !comparer.same(gone.node, came.node);
            row
        })
        .collect();
    let replaced: SortedSet<usize> = moves
        .iter()
        .flat_map(|one| [one.gone.row, one.came.row])
        .flatten()
        .collect();
    for index in replaced.into_iter().rev() {
        rows.remove(index);
    }
    rows.extend(moved);
}

fn row(rows: &[DiffRow], pairs: &Pairs<'_>, gone: &MovedValue, came: &MovedValue) -> DiffRow {
    let ends = [gone.row, came.row].map(|index| index.map(|index| &rows[index]));
    let told = || ends.into_iter().flatten();
    let mut row = DiffRow::new(ChangeKind::Moved);
    let mut verdicts = row.verdicts;
    verdicts.old_to_new.valid = told().all(|row| row.verdicts.old_to_new.valid);
    verdicts.new_to_old.valid = told().all(|row| row.verdicts.new_to_old.valid);
    row.judged(verdicts);
    row.witnesses = told().flat_map(|one| one.witnesses.clone()).collect();
    row.witnesses.sort_by_key(|witness| witness.valid_in);
    row.witnesses.dedup_by_key(|witness| witness.valid_in);
    row.from.clone_from(&gone.paths);
    row.to.clone_from(&came.paths);
    row.paths = gone.paths.iter().chain(&came.paths).cloned().collect();
    row.paths.sort();
    row.paths.dedup();
    let main_place = DiffLocation::of(&gone.place, &came.place);
    let further = told()
        .flat_map(|one| one.places.iter().cloned())
        .filter(|place| *place != main_place);
    row.places = std::iter::once(main_place.clone()).chain(further).collect();
    let [before, after] = ends;
    let was_required = before.and_then(|row| row.before.as_ref()?.required);
    let is_required = after.and_then(|row| row.after.as_ref()?.required);
    row.before = Some(View::of(pairs.old, gone.node, was_required));
    row.after = Some(View::of(pairs.new, came.node, is_required));
    row.subject = Some(if gone.name == came.name {
        gone.name.clone()
    } else {
        format!("{} -> {}", gone.name, came.name)
    });
    row
}

/// Returns the members of params and results of messages that one side alone has.
fn of_messages(side: &ComparedSide, messages: &[&Message]) -> Vec<MovedValue> {
    let mut all = Vec::new();
    for message in messages {
        let (direction, params) = (message.direction, message.params.map(|it| it.node));
        let parts = [
            (params, ExchangePart::Params, direction),
            (message.result, ExchangePart::Result, direction.back()),
        ];
        for (node, part, direction) in parts {
            let Some(node) = node else { continue };
            let object = side.graph.node(node).shape.object();
            for (name, member) in object.into_iter().flat_map(|(members, _)| members) {
                let mut trail = Trail::root();
                trail.push(&PathSegment::Member(name.clone()));
                all.push(MovedValue {
                    name: name.clone(),
                    node: member.node,
                    paths: vec![WirePath::new(direction, &message.name, part, trail)],
                    place: format!("{}.{name}", side.graph.name(node).unwrap_or_default()),
                    row: None,
                });
            }
        }
    }
    all
}

/// `capabilities` and `io.modelcontextprotocol/clientCapabilities`.
fn same_name(left: &str, right: &str) -> bool {
    let [left, right] = [left, right].map(bare);
    let ends = |long: &str, short: &str| !short.is_empty() && long.ends_with(&capitalized(short));
    left == right || ends(left, right) || ends(right, left)
}

/// Returns a row for each definition that was renamed: of one side alone, and whose places all have one other name.
pub(crate) fn renamed(pairs: &Pairs<'_>, comparer: &Comparer<'_>) -> Vec<DiffRow> {
    let (old, new) = (pairs.old, pairs.new);
    let (olds, news) = (&old.graph.definitions, &new.graph.definitions);
    let mut met: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let mut back: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    let places = comparer
        .sites
        .iter()
        .flat_map(|site| &site.places)
        .map(|place| (place.old.as_str(), place.new.as_str()));
    for (was, is) in places.chain(names_met(pairs, comparer)) {
        met.entry(was).or_default().insert(is);
        back.entry(is).or_default().insert(was);
    }
    let renamed = met.into_iter().filter_map(|(was, all)| {
        let is_alone = |is: &str| back.get(is).is_some_and(|all| all.len() == 1);
        let only = |is: &&&str| all.len() == 1 && is_alone(is);
        let is = *all.first().filter(only)?;
        let (from, to) = (olds.get(was)?, news.get(is)?);
        if news.contains_key(was) || olds.contains_key(is) {
            return None;
        }
        let mut row = DiffRow::new(ChangeKind::DefinitionRenamed);
        row.before = Some(View::of(old, *from, None));
        row.after = Some(View::of(new, *to, None));
        row.subject = Some(format!("{was} -> {is}"));
        row.places = vec![DiffLocation::of(was, is)];
        Some(row)
    });
    renamed.collect()
}

/// Returns the names of the definitions that stand at the same place of the messages that both sides have.
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
    let message = |side: &ComparedSide| side.graph.definitions.get("JSONRPCMessage").copied();
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
            (NodeShape::Array(o), NodeShape::Array(n)) => ahead.extend(o.zip(*n)),
            (NodeShape::Union(_), _) | (_, NodeShape::Union(_)) => {
                let (olds, news) = (Choices::of(&old.graph, o), Choices::of(&new.graph, n));
                let pairs = comparer.paired(&olds, &news).into_iter();
                ahead.extend(pairs.filter_map(|[o, n]| Some((olds.ids[o?], news.ids[n?]))));
            }
            _ => {}
        }
    }
    met
}
