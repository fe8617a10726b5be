//! Where wire paths begin: params and results of the messages that both sides have, results of an extension, the envelope, errors.

use super::compare::Comparer;
use super::graph::NodeId;
use super::path::{Part, Trail, WirePath};
use super::side::Side;
use super::site::Place;
use super::walk::Root;
use super::{facts, methods};
use crate::model::Direction;

/// Where wire paths begin: params and results of the messages that both sides have, the envelope, errors.
pub(super) fn roots(
    old: &Side,
    new: &Side,
    pairs: &methods::Pairs,
    comparer: &mut Comparer<'_>,
) -> Vec<Root> {
    let mut roots = Vec::new();
    let mut add = |path: WirePath, site, nodes: [NodeId; 2]| {
        // Params are sent in the message around them.
        let part = match path.part {
            Part::Params => Part::Message,
            part => part,
        };
        roots.push(Root {
            part,
            whole: nodes,
            path,
            site,
            moved: None,
        });
    };
    let named = |[o, n]: [NodeId; 2]| Place {
        old: old.name_of(o),
        new: new.name_of(n),
    };
    for (o, n) in &pairs.both {
        let (o, n) = (&old.messages[*o], &new.messages[*n]);
        let nodes = [o.node, n.node];
        let site = comparer.root(named(nodes), "params", [o.params, n.params]);
        let trail = Trail::root().hiding_next(true);
        let path = WirePath::new(o.direction, &o.name, Part::Params, trail);
        add(path, site, nodes);
        if let (Some(o_result), Some(n_result)) = (o.result, n.result) {
            let nodes = [o_result, n_result];
            let site = comparer.whole(named(nodes), o_result, n_result);
            let path = WirePath::whole(o.direction.back(), &o.name, Part::Result);
            add(path, site, nodes);
        }
    }
    let defined = |side: &Side, name: &str| side.graph.definitions.get(name).copied();
    let results = |side: &Side| {
        side.feature
            .iter()
            .flat_map(|it| it.results.clone())
            .collect()
    };
    let [of_old, of_new]: [Vec<_>; 2] = [results(old), results(new)];
    for (sender, method, result) in of_old.iter().filter(|row| of_new.contains(row)) {
        if let (Some(o), Some(n)) = (defined(old, result), defined(new, result)) {
            let site = comparer.whole(named([o, n]), o, n);
            let path = WirePath::whole(sender.back(), method, Part::Result);
            add(path, site, [o, n]);
        }
    }
    let [o, n] = [old, new].map(|side| defined(side, "JSONRPCMessage"));
    if let (Some(o), Some(n)) = (o, n) {
        let site = comparer.whole(named([o, n]), o, n);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let path = WirePath::whole(direction, "*", Part::Message);
            add(path, site, [o, n]);
        }
    }
    let twins = facts::carried(new);
    for error in facts::carried(old) {
        let Some(twin) = twins.iter().find(|other| other.name == error.name) else {
            continue;
        };
        let places = Place {
            old: error.definition.clone(),
            new: twin.definition.clone(),
        };
        let nodes = [error.node, twin.node];
        let site = match (error.error, twin.error) {
            (Some(o), Some(n)) => comparer.root(places, "error", [Some(o), Some(n)]),
            _ => comparer.whole(places, error.node, twin.node),
        };
        let hides_first = error.error.is_some() && twin.error.is_some();
        let trail = Trail::error(&error.name).hiding_next(hides_first);
        for direction in [Direction::ClientToServer, Direction::ServerToClient] {
            let at = WirePath::new(direction, "*", Part::Error, trail.clone());
            add(at, site, nodes);
        }
    }
    roots
}
