//! A change as a card of the page: its shapes side by side, verdicts, witness and facts.

use mcp_revisions_schema::sorted::SortedSet;

use minijinja::{Value, context};

use super::super::themes::{ThemeChange, has_twin, listed_paths};
use super::super::{rules_met, verdict_word};
use super::matrix::asked_by;
use super::{PageLinks, source};
use crate::role::outcomes;
use crate::words::joined;
use crate::{
    ChangeKind, ComparedEnd, ComparedSubject, Diff, DiffRow, ExchangePart, View, WirePath,
    direction_id,
};

/// Returns the values of a card in the article `pair`.
pub(super) fn of(pair: &str, diff: &Diff, change: &ThemeChange<'_>, links: &PageLinks) -> Value {
    let row = change.lead();
    let main: Vec<&WirePath> = change.main().collect();
    let twins = main.iter().filter(|path| has_twin(path, &main)).count();
    let path_count = main.len() - twins / 2;
    let paths = || change.rows().iter().flat_map(|row| &row.paths);
    let directions = paths().map(|path| direction_id(path.direction));
    let id = |fingerprint: &str| format!("{pair}.{fingerprint}");
    let told = row.kind.explain();
    let mut places: Vec<String> = (change.rows().iter().flat_map(|row| &row.places))
        .map(|place| match (place.old.as_str(), place.new.as_str()) {
            (old, new) if old == new => old.to_owned(),
            ("", new) => new.to_owned(),
            (old, "") => old.to_owned(),
            (old, new) => format!("{old} → {new}"),
        })
        .filter(|place| !place.is_empty())
        .collect();
    places.dedup();
    // Each row has a link of its own; the card has that of the first.
    let rows = change.rows().iter().map(|row| {
        let paths: Value = listed_paths(row).into_iter().collect();
        let marks = joined(marks(diff, row), " ");
        context! { id => id(&row.fingerprint), fingerprint => &row.fingerprint, paths, marks }
    });
    let witnesses = row.witnesses.iter().map(|witness| {
        let sender = witness.valid_in.of("an old", "a new");
        let receiver = witness.valid_in.of("a new", "an old");
        let json = serde_json::to_string_pretty(&witness.json).unwrap_or_default();
        (sender, witness.part.as_str(), receiver, json)
    });
    context! {
        id => id(&row.fingerprint),
        rows => rows.collect::<Value>(),
        level => row.level.as_str(),
        kind => row.kind.id(),
        main => main.first().map(|path| context! {
            // What both sides send alike, in no method of its own, has neither.
            direction => (!has_twin(path, &main)).then(|| direction_id(path.direction)),
            method => &path.method,
            part => path.part.as_str(),
            path => path.path(),
        }),
        subject => row.subject.as_deref().unwrap_or_default(),
        more => path_count.saturating_sub(1),
        change => match change.from().next() {
            Some(from) => format!("from {from}"),
            None => change.line(),
        },
        directions => each_once(directions),
        about => about(row),
        from => change.from().map(ToString::to_string).collect::<Value>(),
        before => row.before.as_ref().map(shape),
        after => row.after.as_ref().map(shape),
        // Sender, receiver, and what that one makes of it.
        verdicts => [
            ("old", "new", verdict_word(row.verdicts.old_to_new)),
            ("new", "old", verdict_word(row.verdicts.new_to_old)),
        ],
        on_the_wire => row.kind.is_on_the_wire(),
        // Sender, part of the exchange, the receiver that refuses it, and the message.
        witnesses => witnesses.collect::<Value>(),
        // The rules of each step; the only step of an adjacent pair has no name.
        rules => rules_met(diff, change).into_iter().map(|(step, rules)| {
            let linked = rules.iter().map(|rule| links.rule(diff, &step, rule));
            let rules = linked.collect::<Value>();
            (step, rules)
        }).collect::<Value>(),
        source => source::of_row(diff, row),
        places => places.join(", "),
        page => row.page.as_deref(),
        level_reason => row.level_reason.as_deref(),
        crate_change => row.crate_change.as_str(),
        means => told.means,
        todo => told.todo,
    }
}

/// Returns a shape and its heading.
fn shape(view: &View) -> Value {
    let presence = view
        .required
        .map(|required| if required { "required" } else { "optional" });
    // A shape that has no name says nothing above that it does not say below.
    let named =
        view.text.chars().all(|letter| letter.is_alphanumeric()) && view.text != view.outline;
    let name = Some(view.text.as_str()).filter(|_| named && !view.pointer.is_empty());
    let caption = joined(presence.into_iter().chain(name), " ");
    context! { caption, outline => &view.outline }
}

/// Returns the names by which filters select a row: each exchange as the matrix counts it, `C2S:tools/call`, and each outcome
/// for a server of one side and clients of the other, `server-old:lost`.
fn marks(diff: &Diff, row: &DiffRow) -> SortedSet<String> {
    let exchanges = (row.paths.iter()).map(|path| format!("{}:{}", asked_by(path), path.method));
    let mut marks: SortedSet<String> = exchanges.collect();
    let is_of_protocol = diff.compared == ComparedSubject::Protocol;
    for server in [ComparedEnd::Old, ComparedEnd::New] {
        let role = server.of("server-old", "server-new");
        for outcome in outcomes(row, server).iter().filter(|_| is_of_protocol) {
            marks.insert(role.to_owned());
            marks.insert(format!("{role}:{outcome}"));
        }
    }
    marks
}

/// The subjects that changes are filtered by, with what each is about.
pub(super) const SUBJECTS: [(&str, &str); 7] = [
    ("types", "parts of messages"),
    ("headers", "HTTP headers"),
    ("errors", "error codes"),
    ("rules", "rules of the protocol that bind peers"),
    ("sign-in", "what the pages about authorization say"),
    ("pages", "what other pages say and no schema shows"),
    ("names", "names of definitions: nothing on the wire"),
];

/// Returns the subject of a row.
fn about(row: &DiffRow) -> &'static str {
    let is_sign_in = row.page.as_deref().is_some_and(source::is_about_sign_in);
    match row.paths.first().map(|path| path.part) {
        Some(_) if is_sign_in => "sign-in",
        Some(ExchangePart::Header) => "headers",
        Some(ExchangePart::Error) => "errors",
        Some(ExchangePart::Rule) => "rules",
        None if row.kind == ChangeKind::DefinitionRenamed => "names",
        _ => "types",
    }
}

fn each_once<'w>(words: impl Iterator<Item = &'w str>) -> String {
    joined(words.collect::<SortedSet<&str>>(), " ")
}
