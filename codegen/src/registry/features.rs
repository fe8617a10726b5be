//! Features by revision: each brings the revision and all between it and the one that handlers are written in, which is
//! always there. An extension has a feature, too, which brings the revision that it rests on.
//!
//! They add up, as cargo wants it: nothing that is there without a feature is gone with it.

use mcp_revisions_schema::names;
use mcp_revisions_schema::spec::{ExtensionSpec, RevisionStage};

/// A feature that brings a revision or an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its name: `v2025-06-18`, or `ext-tasks`.
    pub name: String,
    /// The package that comes with the feature; `None` for the revision of handlers, which is there anyway.
    pub package: Option<String>,
    /// Whether it brings an extension.
    pub extension: bool,
    /// The features that come with it: the revision next to this one on the way to that of handlers, or the one that an
    /// extension rests on, where that is not always there, and the state before.
    pub implies: Vec<String>,
    /// Set if it stands in `default`: those of the first and the last revision, which imply the rest, and those of extensions in
    /// a state that is released, or that handlers are written in.
    pub outermost: bool,
}

/// Returns the condition under which all of these revisions and [extensions](names::extension) are there; `None` if they
/// always are.
pub fn gate(features: &[Feature], ids: &[&str]) -> Option<String> {
    let brings = |feature: &&Feature| {
        let package = feature.package.as_ref();
        package.is_some_and(|package| ids.iter().any(|id| names::package(id) == *package))
    };
    let conditions = (features.iter().filter(brings))
        .map(|feature| format!("feature = \"{}\"", feature.name))
        .collect::<Vec<_>>();
    match &conditions[..] {
        [] => None,
        [one] => Some(one.clone()),
        all => Some(format!("all({})", all.join(", "))),
    }
}

/// Returns the features of a chain of revisions, oldest first, each with whether handlers are written in it, and of the states of
/// the extensions that rest on them.
pub fn features(chain: &[(&str, bool)], extensions: &[&ExtensionSpec]) -> Vec<Feature> {
    let handlers = chain
        .iter()
        .rposition(|(_, handlers)| *handlers)
        .unwrap_or_default();
    let name = |at: usize| chain.get(at).map(|(id, _)| names::feature(id));
    let each: Vec<Feature> = chain
        .iter()
        .enumerate()
        .map(|(at, (id, _))| Feature {
            name: names::feature(id),
            package: (at != handlers).then(|| names::package(id)),
            extension: false,
            implies: match at.cmp(&handlers) {
                std::cmp::Ordering::Less => name(at + 1),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => name(at - 1),
            }
            .into_iter()
            .collect(),
            outermost: at == 0 || at + 1 == chain.len(),
        })
        .collect();
    let brings = |id: &str| {
        let name = names::feature(id);
        let mut others = each.iter().filter(|feature| feature.package.is_some());
        others.any(|feature| feature.name == name).then_some(name)
    };
    let added: Vec<Feature> = extensions
        .iter()
        .enumerate()
        .map(|(at, of)| {
            let before = at
                .checked_sub(1)
                .and_then(|at| extensions.get(at))
                .filter(|before| before.folder == of.folder)
                .map(|before| names::extension(&before.name));
            Feature {
                name: names::extension(&of.name),
                package: Some(names::extension_package(&of.name)),
                extension: true,
                implies: brings(&of.revision).into_iter().chain(before).collect(),
                // A draft promises nothing: it is there for those who ask.
                outermost: of.name == of.folder || of.status() == RevisionStage::Released,
            }
        })
        .collect();
    each.into_iter().chain(added).collect()
}

/// Returns the rows of a manifest: `default`, each feature with what `brings` says that it brings besides, and `extensions` for
/// all states of extensions.
pub fn rows(features: &[Feature], brings: impl Fn(&Feature) -> Vec<String>) -> String {
    let quoted = |words: Vec<String>| {
        let quoted = words.iter().map(|word| format!("\"{word}\""));
        quoted.collect::<Vec<_>>().join(", ")
    };
    let outermost = features.iter().filter(|feature| feature.outermost);
    let all = outermost.map(|feature| feature.name.clone()).collect();
    let mut text = format!("default = [{}]\n", quoted(all));
    for feature in features {
        let implied = feature.implies.iter().cloned();
        let words = implied.chain(brings(feature)).collect();
        text.push_str(&format!("{} = [{}]\n", feature.name, quoted(words)));
    }
    let extensions = features.iter().filter(|feature| feature.extension);
    let all: Vec<String> = extensions.map(|feature| feature.name.clone()).collect();
    if !all.is_empty() {
        text.push_str(&format!("extensions = [{}]\n", quoted(all)));
    }
    text
}
