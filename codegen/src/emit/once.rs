//! Types that stand once: those for which everything that is generated is the same in several published revisions.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use mcp_revisions_schema::names::module;
use mcp_revisions_schema::naming::taken::WIRE;

use super::{Piece, Pieces};

/// The types that several revisions share, by the revisions that do.
#[derive(Debug, Default)]
pub struct Once {
    /// The ids of all revisions that take part, oldest first.
    ids: Vec<String>,
    /// The Rust names of the types, by the places of their revisions in the list.
    shared: SortedMap<Vec<usize>, SortedSet<String>>,
}

impl Once {
    /// Finds the types that two or more revisions have the same, down to all types that they hold.
    ///
    /// `revisions` are in order, each with its id, the string that messages call it, and its types.
    pub fn find(revisions: &[(&str, &str, &Pieces)]) -> Self {
        Self::find_by(revisions, |_| false)
    }

    /// Finds the same of an extension and what it rests on: a definition that is a type of mcp-wire is that type, whether both
    /// have the definition or not. In a crate that revisions share, such a type would be another one's.
    pub fn find_for_extension(states: &[(&str, &str, &Pieces)]) -> Self {
        Self::find_by(states, Piece::is_of_wire)
    }

    fn find_by(revisions: &[(&str, &str, &Pieces)], is_of_wire: impl Fn(&Piece) -> bool) -> Self {
        // Texts of two revisions are equal only if each word names a type in both or in neither: a word without a type is a
        // variant or a function. A type of mcp-wire counts as a type everywhere, so that it is not taken for one of a revision.
        let mut names: SortedMap<(&str, &str), SortedSet<&str>> = SortedMap::new();
        for (name, piece) in revisions.iter().flat_map(|(.., pieces)| *pieces) {
            let parts = || piece.names.iter().map(String::as_str);
            let same = names
                .entry((name, &piece.text))
                .or_insert_with(|| parts().collect());
            same.retain(|part| piece.names.contains(*part) || WIRE.contains(part));
            same.extend(parts().filter(|part| WIRE.contains(part)));
        }
        let mut classes: SortedMap<(usize, &str), usize> = SortedMap::new();
        // The text alone decides at first; then types fall apart whose parts have, until none does any more.
        let mut known = 0;
        loop {
            let mut signatures = SortedMap::new();
            let mut next = SortedMap::new();
            for (at, (_, wire, pieces)) in revisions.iter().enumerate() {
                for (name, piece) in *pieces {
                    let parts = names.get(&(name.as_str(), piece.text.as_str()));
                    let is_alike = |part: &str| {
                        WIRE.contains(&part) && pieces.get(part).is_some_and(&is_of_wire)
                    };
                    let parts: Vec<Option<usize>> = (parts.into_iter().flatten())
                        .map(|part| {
                            classes
                                .get(&(at, *part))
                                .copied()
                                .filter(|_| !is_alike(part))
                        })
                        .collect();
                    let wire = piece.text.contains("PROTOCOL_VERSION").then_some(*wire);
                    let signature = (name.as_str(), piece.text.as_str(), wire, parts);
                    let count = signatures.len();
                    let class = *signatures.entry(signature).or_insert(count);
                    next.insert((at, name.as_str()), class);
                }
            }
            classes = next;
            if signatures.len() == known {
                break;
            }
            known = signatures.len();
        }
        let mut members: SortedMap<usize, (&str, Vec<usize>)> = SortedMap::new();
        for ((at, name), class) in classes {
            members
                .entry(class)
                .or_insert((name, Vec::new()))
                .1
                .push(at);
        }
        let mut shared: SortedMap<Vec<usize>, SortedSet<String>> = SortedMap::new();
        for (name, places) in members.into_values() {
            if places.len() > 1 {
                shared.entry(places).or_default().insert(name.to_owned());
            }
        }
        Self {
            ids: revisions.iter().map(|(id, ..)| (*id).to_owned()).collect(),
            shared,
        }
    }

    /// Returns the sets of revisions that share types, each with the module of `mcp-shared` that holds them.
    pub fn sets(&self) -> impl Iterator<Item = Set<'_>> {
        self.shared.iter().map(|(places, types)| Set {
            module: self.module(places),
            revisions: places.iter().map(|at| self.ids[*at].as_str()).collect(),
            types,
        })
    }

    /// Returns the ids of all revisions that take part, oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Returns the types that a revision shares with others, each with the module that holds it.
    pub fn of(&self, id: &str) -> SortedMap<&str, String> {
        let sets = self.sets().filter(|set| set.revisions.contains(&id));
        let types = sets.flat_map(|set| {
            let module = set.module;
            (set.types.iter()).map(move |name| (name.as_str(), module.clone()))
        });
        types.collect()
    }

    /// Returns the name of a set: its runs of adjacent revisions, each by its ends. A run up to the last revision has no end:
    /// types that the next one has alike stay where they are.
    fn module(&self, places: &[usize]) -> String {
        let mut runs: Vec<[usize; 2]> = Vec::new();
        for at in places {
            match runs.last_mut() {
                Some([_, last]) if *last + 1 == *at => *last = *at,
                _ => runs.push([*at, *at]),
            }
        }
        let name = |at: usize| module(&self.ids[at]);
        let names = runs.into_iter().map(|[first, last]| {
            if last + 1 == self.ids.len() {
                format!("{}_on", name(first))
            } else if first == last {
                name(first)
            } else {
                format!("{}_to_{}", name(first), name(last))
            }
        });
        names.collect::<Vec<_>>().join("_and_")
    }
}

/// Revisions that share types.
#[derive(Debug)]
pub struct Set<'o> {
    /// The module of `mcp-shared`.
    pub module: String,
    /// Their ids, oldest first.
    pub revisions: Vec<&'o str>,
    /// The Rust names of the types.
    pub types: &'o SortedSet<String>,
}
