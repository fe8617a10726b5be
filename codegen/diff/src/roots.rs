//! The beginnings of wire paths: the messages, results and errors that both sides have.

use super::compare::{Comparer, Envelope};
use super::facts;
use super::graph::NodeId;
use super::methods::Pairs;
use super::path::{ExchangePart, Trail, WirePath};
use super::site::{DiffLocation, SiteId};
use super::walk::Root;
use mcp_revisions_schema::model::{Direction, MethodKind};

/// Makes the root of a part of an exchange.
fn root(path: WirePath, hides_first: bool, site: SiteId, whole: [NodeId; 2]) -> Root {
    // Params are sent in the message around them.
    let part = match path.part {
        ExchangePart::Params => ExchangePart::Message,
        part => part,
    };
    Root {
        part,
        whole,
        path,
        hides_first,
        site,
        moved: None,
    }
}

/// Returns the params and results of the messages that both sides have, and what they have beside their params.
pub(super) fn of_messages(pairs: &Pairs<'_>, comparer: &mut Comparer<'_>) -> Vec<Root> {
    let (old, new) = (pairs.old, pairs.new);
    let mut roots = Vec::new();
    let mut add = |path, hides_first, site, whole| roots.push(root(path, hides_first, site, whole));
    let named = |[o, n]: [NodeId; 2]| DiffLocation::of(old.name_of(o), new.name_of(n));
    for (o, n) in &pairs.both {
        let nodes = [o.node, n.node];
        let site = comparer.root(named(nodes), "params", [o.params, n.params]);
        let path = WirePath::whole(o.direction, &o.name, ExchangePart::Params);
        add(path, true, site, nodes);
        if o.kind == n.kind && o.kind != MethodKind::Input {
            let envelope = match o.kind {
                MethodKind::Notification => Envelope::NOTIFICATION,
                _ => Envelope::REQUEST,
            };
            let site = comparer.message(named(nodes), envelope, o.node, n.node);
            let path = WirePath::whole(o.direction, &o.name, ExchangePart::Message);
            add(path, false, site, nodes);
            if let (Some(o_response), Some(n_response)) = (o.response, n.response) {
                let nodes = [o_response, n_response];
                let site =
                    comparer.message(named(nodes), Envelope::RESPONSE, o_response, n_response);
                let path = WirePath::whole(o.direction.back(), &o.name, ExchangePart::Response);
                add(path, false, site, nodes);
            }
        }
        if let (Some(o_result), Some(n_result)) = (o.result, n.result) {
            let nodes = [o_result, n_result];
            let site = comparer.whole(named(nodes), o_result, n_result);
            let path = WirePath::whole(o.direction.back(), &o.name, ExchangePart::Result);
            add(path, false, site, nodes);
        }
    }
    roots
}

/// Returns the roots of wire paths: params and results of the messages that both sides have, results of an extension, the
/// envelope, errors.
pub(super) fn roots(pairs: &Pairs<'_>, comparer: &mut Comparer<'_>) -> Vec<Root> {
    let (old, new) = (pairs.old, pairs.new);
    let mut roots = of_messages(pairs, comparer);
    let mut add = |path, hides_first, site, whole| roots.push(root(path, hides_first, site, whole));
    let named = |[o, n]: [NodeId; 2]| DiffLocation::of(old.name_of(o), new.name_of(n));
    let defined = |name: &str| {
        let [o, n] = [old, new].map(|side| side.graph.definitions.get(name).copied());
        Some([o?, n?])
    };
    let [of_old, of_new] = [old, new].map(|side| side.feature.iter().flat_map(|it| &it.results));
    for row in of_old.filter(|row| of_new.clone().any(|other| other == *row)) {
        let (sender, method, result) = row;
        if let Some([o, n]) = defined(result) {
            let site = comparer.whole(named([o, n]), o, n);
            let path = WirePath::whole(sender.back(), method, ExchangePart::Result);
            add(path, false, site, [o, n]);
        }
    }
    if let Some([o, n]) = defined("JSONRPCMessage") {
        let site = comparer.whole(named([o, n]), o, n);
        for direction in Direction::ALL {
            let path = WirePath::whole(direction, "*", ExchangePart::Message);
            add(path, false, site, [o, n]);
        }
    }
    let twins = facts::carried(new);
    for error in facts::carried(old) {
        let Some(twin) = twins.iter().find(|other| other.name == error.name) else {
            continue;
        };
        let places = DiffLocation::of(error.definition, &twin.definition);
        let nodes = [error.node, twin.node];
        let (site, hides_first) = match [error.error, twin.error] {
            both @ [Some(_), Some(_)] => (comparer.root(places, "error", both), true),
            _ => (comparer.whole(places, error.node, twin.node), false),
        };
        for direction in Direction::ALL {
            let path = WirePath::new(
                direction,
                "*",
                ExchangePart::Error,
                Trail::error(&error.name),
            );
            add(path, hides_first, site, nodes);
        }
    }
    roots
}
