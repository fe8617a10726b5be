//! Which conversions lead from one revision to another.

use super::tables::{Pair, TypeStep};

/// A step between adjacent revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RouteStep {
    /// The index of the pair.
    pub(crate) pair: usize,
    /// The index of the revision that it leads to.
    pub(crate) to: usize,
    /// Whether that is the newer one.
    pub(crate) up: bool,
}

/// Returns the steps from a revision to another, by their indexes.
pub(crate) fn steps(from: usize, to: usize) -> impl Iterator<Item = RouteStep> {
    let mut at = from;
    std::iter::from_fn(move || {
        let up = at < to;
        if at == to {
            return None;
        }
        let step = if up {
            RouteStep {
                pair: at,
                to: at + 1,
                up,
            }
        } else {
            RouteStep {
                pair: at - 1,
                to: at - 1,
                up,
            }
        };
        at = step.to;
        Some(step)
    })
}

/// Returns the conversion of a type: to the one that is wanted, else to the one of the same name, else to any.
pub(crate) fn type_step(
    all: &'static [TypeStep],
    from: &str,
    wanted: Option<&str>,
) -> Option<&'static TypeStep> {
    let mut of = all.iter().filter(|one| one.from == from);
    match wanted {
        Some(wanted) => of.find(|one| one.to == wanted),
        None => {
            let first = of.clone().next();
            of.find(|one| one.to == from).or(first)
        }
    }
}

/// Returns the conversions, each with the name of its step, that lead from one type to another; `None` if none do.
///
/// A type may become several of the adjacent revision's: those of the same name are tried first.
pub(crate) fn chain(
    pairs: &'static [Pair],
    from: (usize, &str),
    to: (usize, &str),
) -> Option<Vec<(&'static str, &'static TypeStep)>> {
    let ((at, name), (end, wanted)) = (from, to);
    let Some(step) = steps(at, end).next() else {
        return (name == wanted).then(Vec::new);
    };
    let pair = pairs.get(step.pair)?;
    let mut candidates: Vec<&'static TypeStep> = pair
        .types(step.up)
        .iter()
        .filter(|one| one.from == name)
        .collect();
    candidates.sort_by_key(|one| one.to != name);
    candidates.into_iter().find_map(|one| {
        let mut rest = chain(pairs, (step.to, one.to), to)?;
        rest.insert(0, (pair.step(step.up), one));
        Some(rest)
    })
}
