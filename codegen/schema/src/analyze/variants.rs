//! Names of union variants.
//!
//! Words that all variants share at the front or at the end are left out: `ListToolsRequest` beside
//! `CallToolRequest` is `ListTools`. Where they share nothing, the tag that tells them apart
//! names them: `ResourceLink` beside `TextContent` are `ResourceLink` and `Text`.

use crate::sorted::SortedSet;

use crate::model::{Ty, Union, UnionPlan};
use crate::naming::{is_identifier, numbered, pascal_case, plain};

/// Returns the names of variants, in order, each its own; `union` is the name of what they belong to.
///
/// With it come those that another variant has, or Rust: the position, and the name that was asked for.
/// An `open` union has a variant more than its types.
pub(super) fn names(
    union: &str,
    types: &[Ty],
    plan: &UnionPlan,
    open: bool,
) -> (Vec<String>, Vec<(usize, String)>) {
    let names = by_type(union, types);
    let mut names = by_tag(types, plan, &names).unwrap_or(names);
    let mut taken: SortedSet<String> = names.iter().cloned().collect();
    let unknown = open.then(|| Union::UNKNOWN.to_owned());
    let mut given: SortedSet<String> = unknown.into_iter().collect();
    let mut renamed = Vec::new();
    for (at, name) in names.iter_mut().enumerate() {
        if is_identifier(name) && given.insert(name.clone()) {
            continue;
        }
        let stem = match plain(name) {
            plain if plain.starts_with(|first: char| first.is_ascii_alphabetic()) => plain,
            _ => "Variant".to_owned(),
        };
        let free = numbered(&stem, |name| taken.contains(name));
        taken.insert(free.clone());
        given.insert(free.clone());
        renamed.push((at, std::mem::replace(name, free)));
    }
    (names, renamed)
}

/// Named after their types.
fn by_type(union: &str, types: &[Ty]) -> Vec<String> {
    let names: Vec<Vec<String>> = types.iter().filter_map(|ty| ty.name().map(humps)).collect();
    let (front, back) = match names.as_slice() {
        // One alone shares nothing, but `ClientNotification` says what its variant is.
        [only] if only.len() > 1 && only.last() == humps(union).last() => (0, 1),
        names => shared(names),
    };
    let lists = types.iter().filter(|ty| matches!(ty, Ty::Array(_))).count();
    types
        .iter()
        .map(|ty| match ty {
            Ty::Named(name) => {
                let humps = humps(name);
                humps[front..humps.len() - back].concat()
            }
            Ty::Array(item) if lists > 1 => format!("{}List", plain_name(item)),
            ty => plain_name(ty),
        })
        .collect()
}

/// Named after their tags, where their types share nothing and the tags differ.
fn by_tag(types: &[Ty], plan: &UnionPlan, names: &[String]) -> Option<Vec<String>> {
    let named: Vec<bool> = types
        .iter()
        .zip(names)
        .filter_map(|(ty, name)| Some(ty.name()? == name))
        .collect();
    if named.len() < 2 || named.contains(&false) {
        return None;
    }
    let mut tags: Vec<Option<String>> = vec![None; types.len()];
    collect(plan, &mut tags);
    let called = |((ty, name), tag): ((&Ty, &String), Option<String>)| match (tag, ty) {
        (Some(tag), _) => Some(pascal_case(&tag)),
        (None, Ty::Named(_)) => None,
        (None, _) => Some(name.clone()),
    };
    let tagged = types
        .iter()
        .zip(names)
        .zip(tags)
        .map(called)
        .collect::<Option<Vec<String>>>()?;
    let different: SortedSet<&String> = tagged.iter().collect();
    (different.len() == tagged.len()).then_some(tagged)
}

/// The tag values that lead straight to one variant.
fn collect(plan: &UnionPlan, tags: &mut [Option<String>]) {
    match plan {
        UnionPlan::Kind(cases) => cases.iter().for_each(|case| collect(&case.plan, tags)),
        UnionPlan::Tag { cases, .. } => {
            for case in cases {
                if let UnionPlan::Take(index) = case.plan
                    && let Some(tag) = tags.get_mut(index)
                {
                    *tag = Some(case.value.clone());
                }
            }
        }
        _ => {}
    }
}

fn plain_name(ty: &Ty) -> String {
    match ty {
        Ty::String => "String".to_owned(),
        Ty::Boolean => "Boolean".to_owned(),
        Ty::Integer => "Integer".to_owned(),
        Ty::Number => "Number".to_owned(),
        Ty::Json => "Json".to_owned(),
        Ty::JsonObject => "Object".to_owned(),
        Ty::Map(_) => "Map".to_owned(),
        Ty::JsonArray | Ty::Array(_) => "List".to_owned(),
        Ty::Nullable(inner) => plain_name(inner),
        Ty::Named(name) => name.clone(),
        Ty::Runtime(path, _) => path.rsplit("::").next().unwrap_or(path).to_owned(),
    }
}

/// Returns the numbers of words that all names share at the front and at the end, leaving each at least one.
fn shared(names: &[Vec<String>]) -> (usize, usize) {
    let Some((first, others)) = names.split_first() else {
        return (0, 0);
    };
    let shortest = names.iter().map(Vec::len).min().unwrap_or(0);
    if others.is_empty() || shortest == 0 {
        return (0, 0);
    }
    let same = |at: &dyn Fn(&Vec<String>) -> Option<String>| {
        let word = at(first);
        others.iter().all(|name| at(name) == word)
    };
    let back = (0..shortest - 1)
        .take_while(|back| same(&|name| name.iter().rev().nth(*back).cloned()))
        .count();
    let front = (0..shortest - 1 - back)
        .take_while(|front| same(&|name| name.get(*front).cloned()))
        .count();
    (front, back)
}

/// Returns the words of a type name.
fn humps(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_uppercase() => word.push(letter),
            _ => words.push(letter.to_string()),
        }
    }
    words
}
