//! Features by revision: each brings the revision and all between it and the one that handlers are written in, which is
//! always there. An extension has a feature, too, which brings the revision that it rests on.
//!
//! They add up, as cargo wants it: nothing that is there without a feature is gone with it.

use mcp_schema::names;

/// A revision that is converted, as the list of features knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<'s> {
    /// Its id.
    pub id: &'s str,
    /// Whether handlers are written in it.
    pub handlers: bool,
}

/// A feature that brings a revision or an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its name: `v2025-06-18`, or `ext-tasks`.
    pub name: String,
    /// The package that comes with the feature; `None` for the revision of handlers, which is there anyway.
    pub package: Option<String>,
    /// Whether it brings an extension.
    pub extension: bool,
    /// The feature that comes with it: the revision next to this one on the way to that of handlers, or the one that an
    /// extension rests on, where that is not always there.
    pub implies: Option<String>,
    /// Whether it stands in `default`: nothing implies it.
    pub outermost: bool,
}

/// Returns the condition under which all of these revisions and [extensions](names::extension) are there; `None` if they
/// always are.
#[must_use]
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

/// Returns the features of a chain of revisions, oldest first, and of the extensions that rest on them: the id of the revision,
/// and the name.
#[must_use]
pub fn features(chain: &[Link<'_>], extensions: &[(&str, &str)]) -> Vec<Feature> {
    let handlers = chain
        .iter()
        .rposition(|link| link.handlers)
        .unwrap_or_default();
    let name = |at: usize| chain.get(at).map(|link| names::feature(link.id));
    let each = chain.iter().enumerate().map(|(at, link)| Feature {
        name: names::feature(link.id),
        package: (at != handlers).then(|| names::package(link.id)),
        extension: false,
        implies: match at.cmp(&handlers) {
            std::cmp::Ordering::Less => name(at + 1),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => name(at - 1),
        },
        outermost: at == 0 || at + 1 == chain.len(),
    });
    let each: Vec<Feature> = each.collect();
    let brings = |id: &str| {
        let name = names::feature(id);
        let mut others = each.iter().filter(|feature| feature.package.is_some());
        others.any(|feature| feature.name == name).then_some(name)
    };
    let added = extensions.iter().map(|(id, name)| Feature {
        name: names::extension(name),
        package: Some(names::extension_package(name)),
        extension: true,
        implies: brings(id),
        outermost: true,
    });
    let added: Vec<Feature> = added.collect();
    each.into_iter().chain(added).collect()
}

/// Returns the rows of a manifest: `default`, and each feature with what `brings` says that it brings besides.
#[must_use]
pub fn rows(features: &[Feature], brings: impl Fn(&Feature) -> Vec<String>) -> String {
    let quoted = |words: Vec<String>| {
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        words.join(", ")
    };
    let outermost = features.iter().filter(|feature| feature.outermost);
    let all = outermost.map(|feature| feature.name.clone()).collect();
    let mut text = format!("default = [{}]\n", quoted(all));
    for feature in features {
        let implied = feature.implies.iter().cloned();
        let words = implied.chain(brings(feature)).collect();
        text.push_str(&format!("{} = [{}]\n", feature.name, quoted(words)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Link, features, gate, rows};

    #[test]
    fn each_feature_implies_the_next_one_on_the_way_to_that_of_handlers() {
        let link = |id, handlers| Link { id, handlers };
        let chain = [
            link("2027-01-01", false),
            link("2027-02-02", false),
            link("2027-03-03", true),
            link("draft", false),
            link("later", false),
        ];
        let extensions = [("draft", "dice"), ("2027-03-03", "tasks")];
        let made = rows(&features(&chain, &extensions), |feature| {
            let package = feature.package.iter();
            package.map(|package| format!("dep:{package}")).collect()
        });
        assert_eq!(
            made,
            "default = [\"v2027-01-01\", \"later\", \"ext-dice\", \"ext-tasks\"]\n\
             v2027-01-01 = [\"v2027-02-02\", \"dep:mcp-2027-01-01\"]\n\
             v2027-02-02 = [\"v2027-03-03\", \"dep:mcp-2027-02-02\"]\n\
             v2027-03-03 = []\n\
             draft = [\"v2027-03-03\", \"dep:mcp-draft\"]\n\
             later = [\"draft\", \"dep:mcp-later\"]\n\
             ext-dice = [\"draft\", \"dep:mcp-ext-dice\"]\n\
             ext-tasks = [\"dep:mcp-ext-tasks\"]\n"
        );
        let one = rows(&features(&[link("2027-01-01", true)], &[]), |_| Vec::new());
        assert_eq!(one, "default = [\"v2027-01-01\"]\nv2027-01-01 = []\n");
    }

    #[test]
    fn what_needs_two_revisions_needs_the_features_of_both() {
        let link = |id, handlers| Link { id, handlers };
        let chain = [
            link("2027-01-01", false),
            link("2027-03-03", true),
            link("draft", false),
        ];
        let features = features(&chain, &[("2027-03-03", "tasks")]);
        let gate = |ids: &[&str]| gate(&features, ids);
        assert_eq!(gate(&["2027-03-03"]), None);
        let one = Some("feature = \"v2027-01-01\"".to_owned());
        assert_eq!(gate(&["2027-01-01", "2027-03-03"]), one);
        let both = "all(feature = \"v2027-01-01\", feature = \"draft\")";
        assert_eq!(gate(&["2027-01-01", "draft"]).as_deref(), Some(both));
        let both = "all(feature = \"v2027-01-01\", feature = \"ext-tasks\")";
        assert_eq!(gate(&["2027-01-01", "ext-tasks"]).as_deref(), Some(both));
    }
}
