//! Messages that came, went, or changed their channel.

use serde_json::{Value, json};

use super::extension::ExtractedFeature;
use super::graph::{Graph, NodeId};
use super::judge::valid;
use super::kind::ChangeKind;
use super::messages::{Message, channel};
use super::path::{ExchangePart, WirePath};
use super::row::{DiffRow, Witness};
use super::sample::minimal;
use super::show::{View, opened};
use super::side::ComparedSide;
use super::site::DiffLocation;
use super::verdict::ComparedEnd;
use mcp_revisions_schema::model::MethodKind;
use mcp_revisions_schema::spec::roles;

/// Two sides, and their messages: those that are one, and those of one side alone.
#[derive(Debug)]
pub(crate) struct Pairs<'s> {
    pub(crate) old: &'s ComparedSide,
    pub(crate) new: &'s ComparedSide,
    pub(crate) both: Vec<(&'s Message, &'s Message)>,
    pub(crate) removed: Vec<&'s Message>,
    pub(crate) added: Vec<&'s Message>,
}

/// Pairs messages by direction, name and kind, then by direction and name alone.
pub(crate) fn pair<'s>(old: &'s ComparedSide, new: &'s ComparedSide) -> Pairs<'s> {
    let mut both = Vec::new();
    let mut removed: Vec<&Message> = old.messages.iter().collect();
    let mut added: Vec<&Message> = new.messages.iter().collect();
    for same_kind in [true, false] {
        removed.retain(|message| {
            let found = added.iter().position(|other| {
                other.direction == message.direction
                    && other.name == message.name
                    && (!same_kind || other.kind == message.kind)
            });
            both.extend(found.map(|found| (*message, added.remove(found))));
            found.is_none()
        });
    }
    // The rest of a core is not gone with an extension, which stands beside it.
    if let Some(feature) = ExtractedFeature::among(&[old, new]) {
        let has = |side: &ComparedSide, message: &Message| {
            let names = match side.feature {
                Some(_) => &feature.own,
                None => &feature.core,
            };
            names.contains(&message.name)
        };
        both.retain(|(o, n)| has(old, o) && has(new, n));
        removed.retain(|message| has(old, message));
        added.retain(|message| has(new, message));
    }
    Pairs {
        old,
        new,
        both,
        removed,
        added,
    }
}

impl ExtractedFeature {
    /// Returns the feature that sides are about, where some of them are an extension and others are not.
    pub(super) fn among<'s>(sides: &[&'s ComparedSide]) -> Option<&'s Self> {
        let mut all = sides.iter().map(|side| side.feature.as_ref());
        let is_mixed = all.clone().any(|feature| feature.is_none());
        all.find_map(|feature| feature).filter(|_| is_mixed)
    }
}

/// Returns a row for each message that came, went, changed its channel, or is deprecated as a whole.
pub(crate) fn rows(pairs: &Pairs<'_>) -> Vec<DiffRow> {
    let (old, new) = (pairs.old, pairs.new);
    let row = |kind: ChangeKind, [o, n]: [Option<&Message>; 2]| {
        let witnesses = [
            o.and_then(|o| refused(old, new, o, ComparedEnd::Old)),
            n.and_then(|n| refused(old, new, n, ComparedEnd::New)),
        ];
        let mut row = DiffRow::new(kind).with_witnesses(witnesses.into_iter().flatten().collect());
        let view = |side: &ComparedSide, message: &Message| match kind {
            ChangeKind::MethodRechanneled => View::words(channel(message.kind)),
            _ => View::of(side, message.node, None),
        };
        let name = |side: &ComparedSide, message: &Message| side.name_of(message.node);
        row.before = o.map(|o| view(old, o));
        row.after = n.map(|n| view(new, n));
        if matches!(kind, ChangeKind::MethodAdded | ChangeKind::MethodRemoved) {
            for (view, side, message) in [(&mut row.before, old, o), (&mut row.after, new, n)] {
                if let (Some(view), Some(message)) = (view, message) {
                    view.text = shape(side, message);
                }
            }
        }
        let names = [o.map(|o| name(old, o)), n.map(|n| name(new, n))];
        let [was, is] = names.map(Option::unwrap_or_default);
        row.places = vec![DiffLocation::of(was, is)];
        if let Some(message) = o.or(n) {
            let path = WirePath::whole(message.direction, &message.name, ExchangePart::Message);
            row.paths = vec![path];
            row.subject = Some(channel(message.kind).to_owned());
            // The other side has it on another channel, and still has it there.
            let other = if o.is_some() { new } else { old };
            let mut others = other.messages.iter();
            let known = others.find(|other| {
                (other.direction, &other.name) == (message.direction, &message.name)
                    && other.kind != message.kind
            });
            if let (Some(known), ChangeKind::MethodAdded | ChangeKind::MethodRemoved) =
                (known, kind)
            {
                let one = View::words(channel(known.kind));
                let two = format!("{} and {}", channel(known.kind), channel(message.kind));
                let ends = [Some(one), Some(View::words(two))];
                [row.before, row.after] = ends;
                if kind == ChangeKind::MethodRemoved {
                    std::mem::swap(&mut row.before, &mut row.after);
                }
            }
        }
        row
    };
    let removed = pairs
        .removed
        .iter()
        .map(|o| row(ChangeKind::MethodRemoved, [Some(o), None]));
    let added = pairs
        .added
        .iter()
        .map(|n| row(ChangeKind::MethodAdded, [None, Some(n)]));
    let rechanneled = pairs.both.iter().filter(|(o, n)| o.kind != n.kind);
    let rechanneled =
        rechanneled.map(|(o, n)| row(ChangeKind::MethodRechanneled, [Some(o), Some(n)]));
    let requests = pairs
        .both
        .iter()
        .filter(|(_, n)| n.kind != MethodKind::Notification);
    let knows_both = old.facts.is_some() && new.facts.is_some();
    let answered = requests.filter_map(|(o, n)| {
        // A statement of `spec/` about a file counts for both files, or for none.
        let is_stated = |message: &Message| !message.is_ruled || knows_both;
        let kind = match (o.result, n.result) {
            (Some(_), None) if is_stated(o) => ChangeKind::ResultRemoved,
            (None, Some(_)) if is_stated(n) => ChangeKind::ResultAdded,
            _ => return None,
        };
        let mut row = DiffRow::new(kind);
        row.before = o.result.map(|result| View::of(old, result, None));
        row.after = n.result.map(|result| View::of(new, result, None));
        let name =
            |side: &ComparedSide, result: Option<NodeId>| result.map(|node| side.name_of(node));
        let names = [name(old, o.result), name(new, n.result)].map(Option::unwrap_or_default);
        row.subject = names.iter().find(|name| !name.is_empty()).cloned();
        let [was, is] = names;
        row.places = vec![DiffLocation::of(was, is)];
        row.paths = vec![WirePath::whole(
            n.direction.back(),
            &n.name,
            ExchangePart::Result,
        )];
        Some(row)
    });
    let both = pairs.both.iter();
    let deprecated = both.flat_map(|(o, n)| deprecated([old, new], [o, n]));
    removed
        .chain(added)
        .chain(rechanneled)
        .chain(answered)
        .chain(deprecated)
        .collect()
}

/// Returns the shape of a message, in one line: `params { uri, size? } -> result { name }`.
fn shape(side: &ComparedSide, message: &Message) -> String {
    let params = message
        .params
        .map(|params| {
            let optional = if params.required { "" } else { "?" };
            format!("params{optional} {}", opened(&side.graph, params.node))
        })
        .unwrap_or_else(|| "no params".to_owned());
    match message.result {
        Some(result) => format!("{params} -> result {}", opened(&side.graph, result)),
        None => params,
    }
}

/// Returns the messages that could not be compared: results that nothing pairs with their requests.
pub(crate) fn uncompared(pairs: &Pairs<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (o, n) in &pairs.both {
        for (side, message) in [(pairs.old, o), (pairs.new, n)] {
            if message.kind != MethodKind::Notification && message.result.is_none() {
                let request = side.name_of(message.node);
                let stem = roles::stem(&request);
                // The rows of `spec/` are of revisions and states of extensions.
                let is_a_file = side.revision.is_none() && side.lines.is_some();
                let other = if is_a_file {
                    format!("`{}` with it", roles::response(stem))
                } else {
                    "a [[result]] of it in spec/methods.toml".to_owned()
                };
                lines.push(format!(
                    "the result of `{}`: nothing in {} says what answers it (expected `{}`, or {other})",
                    message.name,
                    side.label,
                    roles::result(stem),
                ));
            }
        }
    }
    lines
}

/// Returns the rows of a message and of its response that are deprecated now, or were.
fn deprecated(sides: [&ComparedSide; 2], [o, n]: [&Message; 2]) -> Vec<DiffRow> {
    let [old, new] = sides;
    let whole = WirePath::whole(n.direction, &n.name, ExchangePart::Message);
    let answer = WirePath::whole(n.direction.back(), &n.name, ExchangePart::Result);
    // Messages within results are compared with the results.
    let is_own = (o.kind, n.kind) != (MethodKind::Input, MethodKind::Input);
    let message = is_own.then_some((o.node, n.node, whole, channel(n.kind)));
    let response = o
        .response
        .zip(n.response)
        .map(|(o, n)| (o, n, answer, "response"));
    let row = |(o, n, path, subject): (NodeId, NodeId, WirePath, &str)| {
        let kind = match (old.graph.node(o).deprecated, new.graph.node(n).deprecated) {
            (false, true) => ChangeKind::Deprecated,
            (true, false) => ChangeKind::Undeprecated,
            _ => return None,
        };
        let mut row = DiffRow::new(kind);
        row.before = Some(View::of(old, o, None));
        row.after = Some(View::of(new, n, None));
        row.places = vec![DiffLocation::of(old.name_of(o), new.name_of(n))];
        row.paths = vec![path];
        row.subject = Some(subject.to_owned());
        Some(row)
    };
    (message.into_iter().chain(response))
        .filter_map(row)
        .collect()
}

/// Returns a message that one side lists on a channel and the other does not admit there.
fn refused(
    old: &ComparedSide,
    new: &ComparedSide,
    message: &Message,
    end: ComparedEnd,
) -> Option<Witness> {
    let (sender, receiver) = (end.of(old, new), end.other().of(old, new));
    let admits = |graph: &Graph, text: &Value| {
        let listed = graph.definitions.get(message.union);
        listed.is_some_and(|listed| valid(graph, *listed, text))
    };
    let bare = minimal(&sender.graph, message.node);
    let mut texts = match message.kind {
        MethodKind::Input => [bare, None],
        kind => [enveloped(&sender.graph, message.node, kind), bare],
    }
    .into_iter()
    .flatten();
    let json = texts.find(|text| admits(&sender.graph, text) && !admits(&receiver.graph, text))?;
    let pointers = |side: &ComparedSide| {
        if side.graph.definitions.contains_key(message.union) {
            vec![format!("/$defs/{}", message.union)]
        } else {
            Vec::new()
        }
    };
    Some(Witness {
        valid_in: end,
        part: ExchangePart::Message,
        method: message.name.clone(),
        json,
        old: pointers(old),
        new: pointers(new),
    })
}

/// Returns the smallest message, with the envelope that older schemas leave out.
fn enveloped(graph: &Graph, message: NodeId, kind: MethodKind) -> Option<Value> {
    let mut text = minimal(graph, message)?;
    let object = text.as_object_mut()?;
    object.entry("jsonrpc").or_insert_with(|| json!("2.0"));
    if kind == MethodKind::Request {
        object.entry("id").or_insert_with(|| json!(1));
    }
    Some(text)
}
