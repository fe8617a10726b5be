//! Without the rules of its conversions, what is open of a revision is what those rules answer.
//!
//! On the spec of this workspace: for each revision, every file of rules for a pair that it is in is taken out.

use mcp_revisions_schema::sorted::SortedMap;
use std::collections::BTreeSet;

use mcp_codegen::import::SpecGaps;
use mcp_revisions_plans::rules::{Action, PairRules};
use mcp_revisions_schema::pair::{RevisionPair, StepDirection};
use mcp_revisions_schema::spec::Spec;

use super::*;
use crate::specs;

/// The spec of this workspace, and the files of rules that are taken out of it.
struct Removed {
    files: SortedMap<String, String>,
    rules: Vec<String>,
}

impl Removed {
    fn of(id: &str) -> Self {
        let files = specs::directory().files().clone();
        let is_of = |name: &&String| {
            let pair = name
                .strip_prefix("shims/")
                .and_then(|it| it.strip_suffix(".toml"));
            let ends = pair.and_then(|pair| pair.split_once(".."));
            // The new end of another pair is an extension.
            let is_revision = |id: &str| specs::spec().revision(id).is_ok();
            ends.is_some_and(|(old, new)| (old == id || new == id) && is_revision(new))
        };
        Self {
            rules: files.keys().filter(is_of).cloned().collect(),
            files,
        }
    }

    /// The files without those rules, and without the changes of the prose that ask for them.
    fn without_rules(&self) -> SortedMap<String, String> {
        let mut files = self.files.clone();
        files.retain(|name, _| !self.rules.contains(name));
        let mut changes: toml::Table = files["changes.toml"].parse().unwrap();
        let rows = changes.get_mut("change").unwrap().as_array_mut().unwrap();
        rows.retain(|row| {
            let between = row["between"].as_str().unwrap();
            !self.rules.iter().any(|name| pair_of(name) == between)
        });
        files.insert("changes.toml".to_owned(), changes.to_string());
        files
    }
}

/// The files of conversions that are taken out.
fn removed_rules(removed: &Removed) -> Vec<&str> {
    removed.rules.iter().map(String::as_str).collect()
}

#[test]
fn without_its_rules_what_is_open_is_what_they_answer() {
    // What a draft of the day has left open is open either way.
    let ever = places(&SpecGaps::of(specs::spec()));
    std::thread::scope(|scope| {
        for revision in &specs::spec().revisions {
            scope.spawn(|| {
                let id = &revision.id;
                let removed = Removed::of(id);
                if removed.rules.is_empty() {
                    return;
                }
                let bare = SpecDirectory::from_files(removed.without_rules());
                let open = SpecGaps::of(&bare.spec().unwrap());
                assert!(open.problems.is_empty(), "{id}: {:?}", open.problems);
                changes_are_open_as_removed(id, &removed, &ever, &open);
            });
        }
    });
}

/// Each place that is open is one that a removed rule speaks of, or lies in what one took as a whole on some way; and each place
/// that a removed rule answers is open.
fn changes_are_open_as_removed(
    id: &str,
    anew: &Removed,
    ever: &BTreeSet<(String, String)>,
    open: &SpecGaps,
) {
    let spec = specs::spec();
    let mut converted: BTreeSet<(String, String)> = BTreeSet::new();
    let mut spoken: BTreeSet<(String, String)> = BTreeSet::new();
    // One of the places of each has to be open.
    let mut answered: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
    for name in removed_rules(anew) {
        let (old, new) = pair_of(name).split_once("..").unwrap();
        let pair = RevisionPair::new(old, new);
        let rules = PairRules::of(&pair, spec).unwrap();
        let plan = specs::plans()
            .iter()
            .find(|plan| plan.pair == pair)
            .unwrap();
        let [up, down] = StepDirection::BOTH.map(|way| -> BTreeSet<String> {
            let ends = plan.way(way).iter().flat_map(|one| [&one.from, &one.to]);
            ends.map(|end| end.name().to_owned()).collect()
        });
        let pair = pair.to_string();
        let both = up.intersection(&down);
        converted.extend(both.map(|name| (pair.clone(), name.clone())));
        let mut listed = Vec::new();
        let mut says = |place: &str, answers: bool| {
            if answers {
                answered.insert((pair.clone(), vec![place.to_owned()]));
            }
            spoken.insert((pair.clone(), place.to_owned()));
        };
        for rule in rules.rules() {
            let actions = StepDirection::BOTH
                .into_iter()
                .filter_map(|way| rule.action(way));
            // A function may do more than a difference of types asks for.
            let asked = |action: &Action| !action.is_hook() && !matches!(action, Action::Custom(_));
            let answers = actions.clone().any(asked);
            for at in rule.at.all() {
                says(at, answers && rule.alternatives.is_empty());
                for covered in &rule.covers {
                    says(&format!("{at}.{covered}"), true);
                }
                // A list of alternatives answers for the members that its items hold, too. Where a member is like the list, one
                // question asks for both.
                let owner = at.split('.').next().unwrap();
                let held = (rule.alternatives.iter()).filter_map(|one| one.member.as_ref());
                let members: Vec<String> = held.map(|held| format!("{owner}.{held}")).collect();
                for member in &members {
                    says(member, true);
                }
                if answers && !rule.alternatives.is_empty() {
                    let either = members.into_iter().chain([at.to_owned()]);
                    listed.push((pair.clone(), either.collect()));
                }
            }
        }
        let file: toml::Table = anew.files[name].parse().unwrap();
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
        answered.extend(listed);
    }
    let places = |open: &SpecGaps| &places(open) - ever;
    let mut found = places(open);
    assert_eq!(found.is_empty(), spoken.is_empty(), "{id}");
    // What lies in a type that became another one is asked for once it is said that the two are one.
    loop {
        let next = places(&SpecGaps::of(&answered_so_far(anew, &found)));
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
    for (pair, places) in &answered {
        let mut of = found.iter().filter(|(of, _)| of.contains(pair.as_str()));
        assert!(
            of.any(|(_, place)| places.iter().any(|at| speaks_of(place, at))),
            "{id}: {places:?} of {pair} was removed, and is not open"
        );
    }
}

/// The pairs and the places that are open.
fn places(open: &SpecGaps) -> BTreeSet<(String, String)> {
    let decisions = open.decisions.iter();
    // One decision may be of several places.
    let of = decisions.map(|open| (open.scope.to_string(), open.place.split(", ")));
    of.flat_map(|(scope, places)| places.map(move |place| (scope.clone(), place.to_owned())))
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
fn answered_so_far(anew: &Removed, found: &BTreeSet<(String, String)>) -> Spec {
    let mut files = anew.without_rules();
    for name in removed_rules(anew) {
        let mut file: toml::Table = anew.files[name].parse().unwrap();
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
    SpecDirectory::from_files(files).spec().unwrap()
}
