//! An import from nothing: every revision of this workspace is removed and imported again.
//!
//! The schemas are those in `../../shared/upstream` where that folder is there. Elsewhere the canonical ones stand in
//! for them: an import of one gives the same facts, but for the digest of the file.

use mcp_schema::sorted::SortedMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use mcp_schema::Models;
use mcp_schema::Revision;
use mcp_schema::open::{Open, Undocumented};
use mcp_schema::shims::rules::{Action, PairRules};
use mcp_schema::shims::{Pair, Way};
use mcp_schema::spec::{Removed, Spec, sha256};

use super::*;
use crate::specs;

/// What is said of a revision, before, without and with it once more.
struct Anew {
    before: Directory,
    /// What it said before.
    spec: Spec,
    without: Directory,
    removed: Removed,
    imported: Imported,
    after: Directory,
}

/// Returns what becomes of a revision, which is worked out once for all tests.
fn anew(id: &str) -> &'static Anew {
    static ALL: LazyLock<SortedMap<String, OnceLock<Anew>>> = LazyLock::new(|| {
        let each = later().into_iter().map(|id| (id, OnceLock::new()));
        each.collect()
    });
    ALL[id].get_or_init(|| imported_anew(id))
}

/// Remove a revision, and import it again with the options that its row stands for.
fn imported_anew(id: &str) -> Anew {
    // In which revision handlers are written is a decision, and no import takes it.
    let mut files = specs::directory().files().clone();
    let list = files.get_mut("revisions.toml").unwrap();
    *list = list.replace("\nhandlers = true", "");
    // A revision that an extension names stays: the draft takes its place.
    let mut succeeded = Vec::new();
    for (name, text) in files.iter_mut() {
        let Some(folder) = name.strip_suffix("/extension.toml") else {
            continue;
        };
        let named = format!("revision = \"{id}\"");
        // What it was in the core of the revision is a fact of both, and is not there without the revision.
        if let Some((rest, core)) = text.split_once("\n# The feature as it was in the core")
            && core.contains(&named)
        {
            let after = core.split_once("\n\n").map_or("", |(_, after)| after);
            *text = format!("{rest}\n{after}");
            let extension = folder.trim_start_matches("extensions/");
            succeeded.push(format!("shims/{id}..{extension}.toml"));
        }
        *text = text.replace(&named, "revision = \"draft\"");
    }
    // The rules between the two go with it.
    for name in succeeded {
        assert!(files.remove(&name).is_some(), "{name}");
    }
    let before = Directory::from_files(files);
    let spec = before.spec().unwrap();
    let at = spec
        .revisions
        .iter()
        .position(|revision| revision.id == id)
        .unwrap();
    let row = &spec.revisions[at];
    let mut without = before.clone();
    let removed = without.remove(id).unwrap();
    let mut after = without.clone();
    let options = ImportOptions {
        revision: id.to_owned(),
        wire: Some(row.wire.clone()),
        lifecycle: Some(row.lifecycle),
        status: Some(row.status),
        from: None,
        after: at
            .checked_sub(1)
            .map(|before| spec.revisions[before].id.clone()),
        source: Some(row.source.clone()),
        reference: Some(row.reference.clone()),
    };
    let imported = after.import(&schema_of(id, &spec), &options).unwrap();
    Anew {
        before,
        spec,
        without,
        removed,
        imported,
        after,
    }
}

fn upstream_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/upstream")
}

/// The file that was imported as a revision, where it lies beside this checkout; the draft of upstream moves on.
fn imported_file(row: &Revision) -> Option<Upstream> {
    let path = upstream_dir().join(&row.id).join("schema.json");
    let imported = path.is_file()
        && (row.status != Status::Draft || sha256(&std::fs::read(&path).unwrap()) == row.sha256);
    imported.then(|| Upstream::read(&path).unwrap())
}

fn schema_of(id: &str, spec: &Spec) -> Upstream {
    let row = spec.revision(id).unwrap();
    if let Some(imported) = imported_file(row) {
        return imported;
    }
    eprintln!(
        "no upstream schema of {id} beside this checkout: the canonical one stands in for it"
    );
    upstream(&row.raw.to_string())
}

/// Every revision but the oldest, which has none before it to take anything from.
fn later() -> Vec<String> {
    let spec = specs::spec();
    let ids = spec.revisions.iter().map(|revision| revision.id.clone());
    ids.skip(1).collect()
}

/// Checks every revision, all at once.
fn each(check: impl Fn(&str, &Anew) + Sync) {
    std::thread::scope(|scope| {
        for id in later() {
            let check = &check;
            scope.spawn(move || check(&id, anew(&id)));
        }
    });
}

#[test]
fn an_import_gives_back_the_facts_that_were_removed() {
    each(|id, anew| {
        leaves_no_trace(id, &anew.without);
        gives_its_facts_back(id, anew);
        is_confirmed_as_removed(id, anew);
    });
}

fn leaves_no_trace(id: &str, without: &Directory) {
    let of_revision = format!("{id}/");
    for (name, text) in without.files() {
        assert!(!name.starts_with(&of_revision), "{name}");
        // Rules of conversions may speak of its wire string, which the draft can share.
        if name.starts_with("shims/") {
            continue;
        }
        let list = name == "revisions.toml";
        for entry in text.lines().filter(|line| !line.starts_with('#')) {
            let named =
                entry.contains(&format!("\"{id}\"")) || entry.contains(&format!("since.{id}"));
            // Another revision may go by its wire string.
            assert!(
                !named || list && entry.starts_with("wire"),
                "{id} in {name}: {entry}"
            );
        }
    }
    without.spec().unwrap();
}

fn gives_its_facts_back(id: &str, anew: &Anew) {
    let Anew {
        before,
        spec,
        imported,
        after,
        ..
    } = anew;
    assert!(
        imported.added && imported.stale.is_none(),
        "{id}: {:?}",
        imported.stale
    );
    for name in ["revisions.toml".to_owned(), format!("{id}/schema.json")] {
        // Without the upstream file the import writes no digest.
        let row = spec.revision(id).unwrap();
        if name == "revisions.toml" && imported_file(row).is_none() {
            continue;
        }
        // What is to be confirmed is said by the row.
        let found = after.files()[&name].replace("confirmed = []\n", "");
        assert_eq!(found, before.files()[&name], "{id}: {name}");
    }
    // Nothing is said that was not said before, unless it is on the list of what is to be confirmed.
    let open: BTreeSet<&str> = imported.held.iter().map(Fact::as_str).collect();
    for fact in facts(after, id).difference(&facts(before, id)) {
        assert!(open.contains(fact.as_str()), "{id}: {fact}");
    }
}

/// Each fact that was removed is to be confirmed, or is not said any more.
fn is_confirmed_as_removed(id: &str, anew: &Anew) {
    let Anew {
        removed,
        imported,
        after,
        ..
    } = anew;
    let open: BTreeSet<&str> = imported.held.iter().map(Fact::as_str).collect();
    let stands = facts(after, id);
    for fact in &removed.facts {
        assert!(
            open.contains(fact.as_str()) || !stands.contains(fact.as_str()),
            "{id}: {fact}"
        );
    }
}

/// What is said of a revision.
fn facts(directory: &Directory, id: &str) -> BTreeSet<String> {
    let facts = directory.facts(id).unwrap();
    facts.into_iter().map(|fact| fact.to_string()).collect()
}

#[test]
fn a_release_that_the_draft_equals_comes_back_byte_for_byte() {
    let spec = specs::spec();
    let draft = spec.revisions.last().unwrap();
    let twin = (spec.revisions.iter())
        .rfind(|other| other.status == Status::Released)
        .filter(|latest| latest.raw == draft.raw);
    let Some(twin) = twin.filter(|_| upstream_dir().is_dir()) else {
        eprintln!(
            "skipped: the draft is no release, or there are no upstream schemas beside this checkout"
        );
        return;
    };
    let Anew {
        before,
        imported,
        after,
        ..
    } = anew(&twin.id);
    let mut after = after.clone();
    assert!(!imported.held.is_empty());
    after.confirm(&twin.id, &[], true).unwrap();
    for (name, text) in before.files() {
        assert_eq!(after.files().get(name), Some(text), "{name}");
    }
    assert_eq!(after.files().len(), before.files().len());
}

/// What people say of a revision is theirs; all else is written again as it was, and nothing lies about besides.
#[test]
fn every_release_comes_back_byte_for_byte_once_its_decisions_are_restored() {
    let spec = specs::spec();
    each(|id, anew| {
        let Anew {
            before,
            imported,
            after,
            ..
        } = anew;
        let row = spec.revision(id).unwrap();
        if row.status != Status::Released {
            return;
        }
        let whole = imported_file(row).is_some();
        let mut after = after.clone();
        after.confirm(id, &[], true).unwrap();
        let mut restored = after.files().clone();
        // The import asks for these to be renamed or deleted.
        restored.retain(|name, _| !imported.displaced.contains(name));
        for (name, text) in before.files() {
            let written = name.ends_with("/schema.json") || name == "revisions.toml";
            // Without the upstream file the import writes no digest.
            if !written || (name == "revisions.toml" && !whole) {
                restored.insert(name.clone(), text.clone());
            }
        }
        for (name, text) in &restored {
            assert_eq!(before.files().get(name), Some(text), "{id}: {name}");
        }
        assert_eq!(restored.len(), before.files().len(), "{id}");
    });
}

/// Errata, names, methods and facts restored, and the decisions left out: what becomes of changes of the schema and of
/// the prose, and the doc lines.
fn without_decisions(anew: &Anew) -> SortedMap<String, String> {
    let mut files = anew.before.files().clone();
    files.retain(|name, _| !removed_rules(anew).contains(&name.as_str()));
    for name in ["docs.toml", "changes.toml"] {
        files.insert(name.to_owned(), anew.after.files()[name].clone());
    }
    files
}

/// The files of conversions that went with a revision, and that its import does not bring back.
fn removed_rules(anew: &Anew) -> Vec<&str> {
    let files = anew.removed.files.iter().map(String::as_str);
    let after = anew.after.files();
    files
        .filter(|name| name.starts_with("shims/") && !after.contains_key(*name))
        .collect()
}

#[test]
fn without_its_decisions_what_is_open_is_what_was_removed() {
    each(|id, anew| {
        let bare = Directory::from_files(without_decisions(anew));
        let open = Open::of(&bare.spec().unwrap());
        assert!(open.problems.is_empty(), "{id}: {:?}", open.problems);
        // What a draft of the day has left open is open either way.
        let ever = Open::of(&anew.spec);
        changes_are_open_as_removed(id, anew, [&ever, &open]);
        lines_are_open_as_removed(id, anew, [&ever, &open]);
    });
}

/// Each place that is open is one that a removed rule speaks of, or lies in what one took as a whole on some way; and each place
/// that a removed rule answers is open.
fn changes_are_open_as_removed(id: &str, anew: &Anew, [ever, open]: [&Open; 2]) {
    let spec = &anew.spec;
    let models = Models::build(spec).unwrap();
    let mut converted: BTreeSet<(String, String)> = BTreeSet::new();
    let mut spoken: BTreeSet<(String, String)> = BTreeSet::new();
    let mut answered: BTreeSet<(String, String)> = BTreeSet::new();
    for name in removed_rules(anew) {
        let (old, new) = pair_of(name).split_once("..").unwrap();
        let pair = Pair::new(old, new);
        let rules = PairRules::of(&pair, spec).unwrap();
        let plan = models.plan_pair(&pair, spec.rules.get(name)).unwrap();
        let [up, down] = Way::BOTH.map(|way| -> BTreeSet<String> {
            let ends = plan.way(way).iter().flat_map(|one| [&one.from, &one.to]);
            ends.map(|end| end.name().to_owned()).collect()
        });
        let pair = pair.to_string();
        let both = up.intersection(&down);
        converted.extend(both.map(|name| (pair.clone(), name.clone())));
        let mut says = |place: &str, answers: bool| {
            let row = (pair.clone(), place.to_owned());
            if answers {
                answered.insert(row.clone());
            }
            spoken.insert(row);
        };
        for rule in rules.rules() {
            let actions = Way::BOTH.into_iter().filter_map(|way| rule.action(way));
            // A function may do more than a difference of types asks for.
            let asked = |action: &Action| !action.is_hook() && !matches!(action, Action::Custom(_));
            let answers = actions.clone().any(asked);
            for at in rule.at.all() {
                says(at, answers);
                for covered in &rule.covers {
                    says(&format!("{at}.{covered}"), true);
                }
            }
        }
        let file: toml::Table = anew.before.files()[name].parse().unwrap();
        let renames = file.get("rename").and_then(toml::Value::as_array);
        for rename in renames.into_iter().flatten() {
            // What holds both types has a variant for each, unless they are one.
            for name in [&rename["old"], &rename["new"]] {
                let name = name.as_str().unwrap();
                let variant = name.strip_suffix("Reference").unwrap_or(name);
                says(name, false);
                says(&format!("*|{variant}"), false);
            }
        }
        for rule in rules.methods() {
            for name in rule.name.all() {
                says(name, rule.action.is_some());
            }
        }
        for rule in rules.errors() {
            let single = rule.code.from == rule.code.to && rule.method.is_none();
            says(&format!("error {}", rule.code.from), single);
        }
    }
    let ever = places(ever);
    let places = |open: &Open| &places(open) - &ever;
    let mut found = places(open);
    assert_eq!(found.is_empty(), spoken.is_empty(), "{id}");
    // What lies in a type that became another one is asked for once it is said that the two are one.
    loop {
        let next = places(&Open::of(&answered_so_far(anew, &found)));
        let before = found.len();
        found.extend(next);
        if found.len() == before {
            break;
        }
    }
    for (pair, place) in &found {
        let mut of = spoken.iter().filter(|(of, _)| pair.contains(of.as_str()));
        let owner = place.split(['.', '|']).next().unwrap();
        assert!(
            of.any(|(_, at)| speaks_of(place, at))
                || !converted
                    .iter()
                    .any(|(of, name)| pair.contains(of.as_str()) && name == owner),
            "{id}: nothing that was removed answered {place} of {pair}"
        );
    }
    for (pair, at) in &answered {
        let mut of = found.iter().filter(|(of, _)| of.contains(pair.as_str()));
        assert!(
            of.any(|(_, place)| speaks_of(place, at)),
            "{id}: {at} of {pair} was removed, and is not open"
        );
    }
}

/// The pairs and the places that are open.
fn places(open: &Open) -> BTreeSet<(String, String)> {
    let decisions = open.decisions.iter();
    decisions
        .map(|open| (open.scope.to_string(), open.place.clone()))
        .collect()
}

/// The pair of a file of conversions.
fn pair_of(file: &str) -> &str {
    let name = file.strip_prefix("shims/").unwrap();
    name.strip_suffix(".toml").unwrap()
}

/// Whether a rule about a place, or about `*` and the rest of one, is about this one.
fn speaks_of(place: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(rest) => place.ends_with(rest),
        None => place == pattern,
    }
}

/// Without decisions, but for those that speak of what was found open, of which types are one, and of what adapters convert.
fn answered_so_far(anew: &Anew, found: &BTreeSet<(String, String)>) -> Spec {
    let mut files = without_decisions(anew);
    for name in removed_rules(anew) {
        let mut file: toml::Table = anew.before.files()[name].parse().unwrap();
        for (kind, rows) in &mut file {
            let Some(rows) = rows.as_array_mut() else {
                continue;
            };
            let spoken = |row: &toml::Value| {
                let at = ["at", "name", "code"].iter().find_map(|key| row.get(key));
                let at = at.map(|at| at.as_array().cloned().unwrap_or_else(|| vec![at.clone()]));
                at.into_iter().flatten().any(|at| {
                    let at = at
                        .as_str()
                        .map_or_else(|| format!("error {at}"), str::to_owned);
                    let mut found = found
                        .iter()
                        .filter(|(pair, _)| pair.contains(pair_of(name)));
                    found.any(|(_, place)| speaks_of(place, &at))
                })
            };
            rows.retain(|row| kind == "rename" || kind == "also" || spoken(row));
            // What a rule relies on may not be there yet.
            let rules = rows.iter_mut().filter(|_| kind == "rule");
            for row in rules.filter_map(toml::Value::as_table_mut) {
                row.remove("with");
            }
        }
        files.insert(name.to_owned(), file.to_string());
    }
    Directory::from_files(files).spec().unwrap()
}

/// Each name without a doc line is one whose line was removed, and the other way round.
fn lines_are_open_as_removed(id: &str, anew: &Anew, [ever, open]: [&Open; 2]) {
    let lines = |directory: &Directory| -> BTreeSet<String> {
        let sections: toml::Table = directory.files()["docs.toml"].parse().unwrap();
        let mut lines = BTreeSet::new();
        for (name, section) in &sections {
            let like = section.get("like").and_then(toml::Value::as_str);
            for of in [Some(name.as_str()), like].into_iter().flatten() {
                let members = sections.get(of).and_then(|of| of.get("members"));
                let members = members
                    .and_then(toml::Value::as_table)
                    .into_iter()
                    .flatten();
                lines.extend(members.map(|(member, _)| format!("{name}.{member}")));
            }
            lines.extend(section.get("doc").map(|_| name.clone()));
        }
        lines
    };
    let (before, after) = (lines(&anew.before), lines(&anew.after));
    let removed: BTreeSet<&String> = before.difference(&after).collect();
    let names = |open: &'_ Open| -> BTreeSet<String> {
        let names = open.undocumented.iter();
        names.flat_map(Undocumented::names).collect()
    };
    let found = &names(open) - &names(ever);
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), removed, "{id}");
}
