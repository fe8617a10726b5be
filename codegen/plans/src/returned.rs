//! The rows that are proposed about a feature which the newer revision of a pair has in its core again: peers of the older one
//! have it as an extension.

use mcp_convert::Adapter;

use super::open::free_id;
use mcp_revisions_schema::decision::{Decision, QuestionKind, Scope, Settle};
use mcp_revisions_schema::model::{
    Member, MethodKind, Model, ObjectShape, Presence, Shape, Ty, TypeDef,
};
use mcp_revisions_schema::pair::RevisionPair;
use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use mcp_revisions_schema::spec::ExtensionSpec;
use mcp_revisions_schema::spec::toml_text::quoted;

/// The member of capabilities that has the settings of each extension, by its identifier.
const DECLARED_IN: &str = "extensions";

/// A feature that the newer revision of a pair took back from an extension.
#[derive(Debug)]
pub(crate) struct ReturnedFeature<'m> {
    /// The state of the extension that the core took back.
    pub(crate) extension: &'m ExtensionSpec,
    /// The methods of it that the newer core has.
    pub(crate) methods: &'m [String],
    /// The adapter that takes its results in place of those of a request, by the rules of the revision that lost the feature.
    pub(crate) adapter: Option<Adapter>,
}

/// A part of a feature: one row answers all that is open about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FeaturePart {
    Capability,
    Notification,
    Request,
    Result(Adapter),
}

impl ReturnedFeature<'_> {
    /// Proposes rows for what is open about the feature, one for each part of it; all else stays as it is.
    pub(crate) fn propose(
        &self,
        pair: &RevisionPair,
        models: [&Model; 2],
        open: &mut Vec<Decision>,
        mut taken: SortedSet<String>,
    ) {
        let mut parts: SortedMap<FeaturePart, Vec<Decision>> = SortedMap::new();
        for decision in std::mem::take(open) {
            // One decision may be of several places.
            let mut of = (decision.place.split(", ")).map(|place| self.part(place, models));
            let first = of.next().flatten();
            match first.filter(|_| of.all(|other| other == first)) {
                Some(part) => parts.entry(part).or_default().push(decision),
                None => open.push(decision),
            }
        }
        for (part, decisions) in parts {
            let id = free_id(format!("{}-{}", self.extension.folder, part.word()), &taken);
            taken.insert(id.clone());
            let places: Vec<&str> = (decisions.iter())
                .flat_map(|one| one.place.split(", "))
                .collect();
            let stub = self.row(part, &places, pair, models[1], &id);
            let told = |text: fn(&Decision) -> &String| {
                let lines: SortedSet<&String> = decisions.iter().map(text).collect();
                lines.into_iter().cloned().collect::<Vec<_>>().join("; ")
            };
            open.push(Decision {
                scope: Scope::Pair(pair.clone()),
                question: QuestionKind::Change,
                place: places.join(", "),
                open: told(|one| &one.open),
                answer: told(|one| &one.answer),
                settle: Settle::of(pair.file(), stub),
            });
        }
        open.sort();
    }

    /// Returns the part of the feature that is open at a place; `None` for a place of anything else.
    fn part(&self, place: &str, [older, newer]: [&Model; 2]) -> Option<FeaturePart> {
        if self.methods.iter().any(|method| method == place) {
            let mut methods = newer.methods.iter();
            let method = methods.find(|method| method.name == place)?;
            return Some(if method.kind == MethodKind::Notification {
                FeaturePart::Notification
            } else {
                FeaturePart::Request
            });
        }
        if let Some((key, wire)) = place.split_once('.') {
            let member = object(newer, key)?.member(wire)?;
            let declares = |model| object(model, key).is_some_and(declares_extensions);
            let is_it = self.is_settings(newer, member) && declares(older) && declares(newer);
            return is_it.then_some(FeaturePart::Capability);
        }
        let adapter = self.adapter?;
        self.answered(place, newer)
            .map(|_| FeaturePart::Result(adapter))
    }

    /// Returns whether an optional member holds the settings that peers of the extension declare.
    fn is_settings(&self, model: &Model, member: &Member) -> bool {
        let settings = self.extension.settings.as_ref();
        let own = settings.and_then(|name| model.definition(name));
        member.presence == Presence::Optional
            && own.is_some_and(|own| model.resolve(&member.ty).name() == Some(&own.name))
    }

    /// Returns the request whose result a variant holds in place of its own; the place is `Union|Variant`.
    fn answered(&self, place: &str, model: &Model) -> Option<&str> {
        let (key, name) = place.split_once('|')?;
        let Shape::Union(union) = &definition(model, key)?.shape else {
            return None;
        };
        let variant = union.variants.iter().find(|one| one.name == name)?;
        let held = model.get(model.resolve(&variant.ty).name()?)?;
        let mut results = self.extension.results.iter();
        let (method, _) = results.find(|(_, result)| held.definition.as_ref() == Some(result))?;
        Some(method)
    }

    /// Returns the row about a part; what nothing here knows is left empty, for a person to fill in.
    fn row(
        &self,
        part: FeaturePart,
        places: &[&str],
        pair: &RevisionPair,
        newer: &Model,
        id: &str,
    ) -> String {
        let (identifier, old, new) = (&self.extension.identifier, &pair.old, &pair.new);
        let at = listed(places);
        let reason = |text: String| format!("reason = {}\nsource = \"\"\n", quoted(&text));
        let again = format!(
            "the core of {new} has the feature again that peers of {old} have as the extension {identifier}"
        );
        let first = places.first().copied().unwrap_or_default();
        match part {
            FeaturePart::Request => {
                let message = quoted(&format!("{identifier} is not part of the core of {old}"));
                format!(
                    "[[method]]\nname = {at}\nid = \"{id}\"\naction = {{ reject = {{ code = -32601, message = {message} }} }}\n{}example = [\n  {{ params = {}, way = \"down\", input = '', output = 'rejected -32601' }},\n]\n",
                    reason(again),
                    quoted(first),
                )
            }
            FeaturePart::Notification => format!(
                "[[method]]\nname = {at}\nid = \"{id}\"\naction = \"drop\"\n{}example = [\n  {{ params = {}, way = \"down\", input = '', output = 'dropped' }},\n]\n",
                reason(again),
                quoted(first),
            ),
            FeaturePart::Result(adapter) => format!(
                "[[rule]]\nid = \"{id}\"\nat = {at}\ndown = {{ requires-state = \"{}\" }}\n{}example = [\n  {{ result = {}, input = '', output = 'needs {}' }},\n]\n",
                adapter.as_str(),
                reason(format!(
                    "peers of {old} know the result by the extension {identifier} only"
                )),
                quoted(self.answered(first, newer).unwrap_or_default()),
                adapter.as_str(),
            ),
            FeaturePart::Capability => {
                let entry = format!(
                    "{{ entry = {{ of = \"{DECLARED_IN}\", name = {} }} }}",
                    quoted(identifier)
                );
                let examples: String = (places.iter())
                    .map(|place| self.capability_examples(place, newer))
                    .collect();
                format!(
                    "[[rule]]\nid = \"{id}\"\nat = {at}\nup = {entry}\ndown = {entry}\nloss = \"semantic\"\n{}example = [\n{examples}]\n",
                    reason(format!(
                        "peers of {old} declare the feature as the extension {identifier}"
                    )),
                )
            }
        }
    }

    /// Returns an example for each way of a member that is an entry of the extensions before.
    fn capability_examples(&self, place: &str, newer: &Model) -> String {
        let (key, wire) = place.split_once('.').unwrap_or((place, ""));
        let named = self.extension.settings.as_ref();
        let settings = named.and_then(|name| newer.definition(name));
        let objects = [
            object(newer, key),
            settings.and_then(|of| of.shape.object()),
        ];
        let is_blank = |of: &Option<&ObjectShape>| of.is_some_and(takes_empty);
        let [entry, member] = if objects.iter().all(is_blank) {
            [
                serde_json::json!({ DECLARED_IN: { self.extension.identifier.as_str(): {} } })
                    .to_string(),
                serde_json::json!({ wire: {} }).to_string(),
            ]
        } else {
            [String::new(), String::new()]
        };
        let of = quoted(key);
        format!(
            "  {{ type = {of}, way = \"up\", input = '{entry}', output = '{member}' }},\n  {{ type = {of}, way = \"down\", input = '{member}', output = '{entry}' }},\n"
        )
    }
}

impl FeaturePart {
    /// Returns the end of the id of a row about the part.
    fn word(self) -> &'static str {
        match self {
            Self::Capability => "capability",
            Self::Notification => "notifications-of-extension",
            Self::Request => "of-extension",
            Self::Result(_) => "result",
        }
    }
}

/// Returns the type that rules call by this name.
fn definition<'m>(model: &'m Model, key: &str) -> Option<&'m TypeDef> {
    model.types.values().find(|def| def.doc_key == key)
}

fn object<'m>(model: &'m Model, key: &str) -> Option<&'m ObjectShape> {
    definition(model, key)?.shape.object()
}

/// Returns whether an object has the settings of extensions.
fn declares_extensions(object: &ObjectShape) -> bool {
    let declared = object.member(DECLARED_IN);
    declared.is_some_and(|member| {
        member.presence == Presence::Optional && matches!(member.ty, Ty::Map(_))
    })
}

/// Returns whether `{}` is a value of an object.
fn takes_empty(object: &ObjectShape) -> bool {
    (object.members.iter()).all(|member| member.presence == Presence::Optional)
}

/// Returns names in TOML: the name itself, or the list of several.
fn listed(names: &[&str]) -> String {
    let all: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    match all.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
