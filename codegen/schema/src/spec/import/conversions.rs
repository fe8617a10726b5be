//! Rules that the new schema of a revision has no use for: those of its conversions, and those that it shared with none.

use super::super::diagnostics::placed;
use super::super::facts::Fact;
use super::super::remove::{Named, converts, entries_of, needless, pair, taken_out};
use super::super::{Files, Spec, sheet};
use super::Left;
use crate::Error;
use crate::Models;
use crate::shims::Pair;
use crate::shims::rules::PairRules;

/// How often rules are looked at again: the end of one can leave another one without use.
const ROUNDS: usize = 4;

/// Take out the rules of conversions to and from a revision that match nothing, or not what they are for.
///
/// A file that does not hold by itself is left alone: it would be refused before the import, too.
pub(super) fn without_use(root: &str, files: &mut Files, id: &str) -> Result<Vec<Left>, Error> {
    let mut left = Vec::new();
    let names: Vec<String> = files
        .keys()
        .filter(|name| converts(name, id))
        .cloned()
        .collect();
    for name in names {
        for _ in 0..ROUNDS {
            let diagnostics = placed(faults(root, files, &name));
            let gone = entries_of(root, files, &diagnostics)?;
            if gone.is_empty() {
                break;
            }
            left.extend(left_out(root, files, gone)?);
        }
        // A draft that is a release once more has no conversions of its own.
        let path = format!("{root}/{name}");
        let text = files.get(&name).map_or("", String::as_str);
        if sheet::entries(&path, text)?.is_empty() {
            files.remove(&name);
        }
    }
    Ok(left)
}

/// Take out names, shapes, unions and doc lines that only the schema before had use for.
pub(super) fn without_need(root: &str, files: &mut Files) -> Result<Vec<Left>, Error> {
    let gone = needless(root, files)?;
    left_out(root, files, gone)
}

fn left_out(root: &str, files: &mut Files, gone: Vec<Named>) -> Result<Vec<Left>, Error> {
    let left = gone.iter().map(|one| Left {
        fact: Fact(one.name.clone()),
        why: one.why.clone(),
    });
    let left = left.collect();
    taken_out(root, files, gone)?;
    Ok(left)
}

/// What stands against the rules of a pair; nothing where the pair cannot be planned at all.
fn faults(root: &str, files: &Files, name: &str) -> Vec<Error> {
    let planned = || {
        let spec = Spec::load(root, files).ok()?;
        let file = spec.rules.get(name);
        PairRules::read(file.clone()).ok()?;
        let (old, new) = pair(name)?;
        let models = Models::open(&spec).ok()?;
        models.plan_pair(&Pair::new(old, new), file).err()
    };
    planned().into_iter().collect()
}
