//! Rules of the conversions of a revision that its new schema has no use for.

use super::SpecDirectory;
use super::diagnostics::placed;
use super::facts::Left;
use super::prune::{NamedEntry, entries_of, prune};
use mcp_revisions_plans::rules::PairRules;
use mcp_revisions_plans::{idle_rules, plan_pair};
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::{Error, Models};

/// Take out the rules of conversions to and from a revision that match nothing, or not what they are for.
///
/// Of a file that does not hold by itself, such as one with stubs, only the rules that match nothing are taken.
pub(super) fn without_use(directory: &mut SpecDirectory, id: &str) -> Result<Vec<Left>, Error> {
    let names: Vec<String> = directory
        .files
        .keys()
        .filter(|name| converts(name, id))
        .cloned()
        .collect();
    let left = prune(directory, |directory| faults(directory, &names))?;
    // A draft that is a release once more has no conversions of its own.
    for name in &names {
        let is_of_it = |left: &Left| left.fact.starts_with(&format!("{name}: "));
        if left.iter().any(is_of_it) && directory.entries(name)?.is_empty() {
            directory.files.remove(name);
        }
    }
    Ok(left)
}

/// Returns the rules of these files that stand in the way of a plan; an empty list if a pair cannot be planned at all.
fn faults(directory: &SpecDirectory, names: &[String]) -> Result<Vec<NamedEntry>, Error> {
    let Ok(spec) = directory.spec() else {
        return Ok(Vec::new());
    };
    let Ok(models) = Models::open(&spec) else {
        return Ok(Vec::new());
    };
    let planned = |name: &String| {
        let file = spec.rules.get(name);
        let (old, new) = pair(name)?;
        let pair = RevisionPair::new(old, new);
        match PairRules::read(file.clone()) {
            Ok(_) => plan_pair(&models, &pair, file).err(),
            Err(_) => Error::check(idle_rules(&models, &pair, file).ok()?).err(),
        }
    };
    entries_of(
        directory,
        &placed(names.iter().filter_map(planned).collect()),
    )
}

/// Returns whether a file has the rules of a pair with that revision.
pub(super) fn converts(name: &str, id: &str) -> bool {
    pair(name).is_some_and(|(old, new)| old == id || new == id)
}

/// Returns the two adjacent revisions of a file of rules.
pub(super) fn pair(name: &str) -> Option<(&str, &str)> {
    let pair = name.strip_prefix("shims/")?.strip_suffix(".toml")?;
    pair.split_once("..")
}
