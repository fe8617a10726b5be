//! Where wire paths begin: params and results of the messages that both sides have, the envelope, errors.

use super::compare::Comparer;
use super::path::{Part, Trail, WirePath};
use super::side::Side;
use super::site::Places;
use super::walk::Root;
use super::witness::Whole;
use super::{facts, methods, variants};
use crate::model::Direction;

/// Where wire paths begin: params and results of the messages that both sides have, the envelope, errors.
pub(super) fn roots(
    old: &Side,
    new: &Side,
    pairs: &methods::Pairs,
    comparer: &mut Comparer<'_>,
) -> (Vec<Root>, Vec<Whole>) {
    let mut roots = Vec::new();
    let mut wholes: Vec<Whole> = Vec::new();
    let mut add = |path: WirePath, site, hides_first, whole: Whole| {
        roots.push(Root {
            path,
            site,
            index: wholes.len(),
            hides_first,
            moved: None,
        });
        wholes.push(whole);
    };
    for (o, n) in &pairs.both {
        let (o, n) = (&old.messages[*o], &new.messages[*n]);
        let places = Places {
            old: old.name_of(o.node),
            new: new.name_of(n.node),
        };
        let site = comparer.root(places, "params", [o.params, n.params]);
        let whole = whole(Part::Message, old, new, o.node, n.node);
        add(
            WirePath::whole(o.direction, &o.name, Part::Params),
            site,
            true,
            whole,
        );
        if let (Some(o_result), Some(n_result)) = (o.result, n.result) {
            let places = Places {
                old: old.name_of(o_result),
                new: new.name_of(n_result),
            };
            let site = comparer.whole(places, o_result, n_result);
            let whole = self::whole(Part::Result, old, new, o_result, n_result);
            let direction = o.direction.back();
            add(
                WirePath::whole(direction, &o.name, Part::Result),
                site,
                false,
                whole,
            );
        }
    }
    let definition = |name: &str| {
        Some((
            *old.graph.definitions.get(name)?,
            *new.graph.definitions.get(name)?,
        ))
    };
    if let Some((o, n)) = definition("JSONRPCMessage") {
        let name = || "JSONRPCMessage".to_owned();
        let places = Places {
            old: name(),
            new: name(),
        };
        let site = comparer.whole(places, o, n);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let whole = whole(Part::Message, old, new, o, n);
            add(
                WirePath::whole(direction, "*", Part::Message),
                site,
                false,
                whole,
            );
        }
    }
    for error in facts::carried(old) {
        let Some(twin) = facts::carried(new)
            .into_iter()
            .find(|other| other.name == error.name)
        else {
            continue;
        };
        let places = Places {
            old: error.definition.clone(),
            new: twin.definition.clone(),
        };
        let site = match (error.error, twin.error) {
            (Some(o), Some(n)) => comparer.root(places, "error", [Some(o), Some(n)]),
            _ => comparer.whole(places, error.node, twin.node),
        };
        let hides_first = error.error.is_some() && twin.error.is_some();
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let at = WirePath::new(direction, "*", Part::Error, Trail::error(&error.name));
            add(
                at,
                site,
                hides_first,
                whole(Part::Error, old, new, error.node, twin.node),
            );
        }
    }
    (roots, wholes)
}

pub(super) fn whole(part: Part, old: &Side, new: &Side, o: usize, n: usize) -> Whole {
    Whole {
        part,
        old: o,
        new: n,
        old_at: pointers(old, o),
        new_at: pointers(new, n),
    }
}

/// Where a schema says what a node is; several places for a union that was made by hand.
pub(crate) fn pointers(side: &Side, id: usize) -> Vec<String> {
    let pointer = &side.graph.node(id).pointer;
    match pointer.is_empty() {
        false => vec![pointer.clone()],
        true => variants::choices(&side.graph, id)
            .into_iter()
            .map(|choice| side.graph.node(choice).pointer.clone())
            .collect(),
    }
}
