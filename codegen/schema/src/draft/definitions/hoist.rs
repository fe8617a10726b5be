//! Inline schemas that need a name: which one they get, and how it is taken back.

use super::super::names::{rust_name, unsupported};
use super::super::open::{file_of, renamed, since};
use super::DraftBuilder;
use crate::decision::Settle;
use crate::model::{Shape, Ty};
use crate::naming::pascal_case;
use crate::schema::{SchemaNode, Unsupported};
use crate::spec::toml_text::quoted;

/// Maximum number of definitions that are read ahead, one for the sake of the other.
const MAX_AHEAD: usize = 4;

/// An inline schema that has a name.
pub(super) struct Hoisted {
    name: String,
    place: String,
    /// Set if the type was made for it, and did not exist before.
    made: bool,
}

impl DraftBuilder<'_> {
    /// Gives an inline schema a name: of those that rules give the first one that no schema has which says something
    /// else, or the one of its place.
    pub(super) fn hoist(
        &mut self,
        node: &SchemaNode,
        place: &str,
        names: &[String],
    ) -> Result<Ty, Unsupported> {
        let own = hoisted_name(place);
        let (wanted, others) = names.split_first().unzip();
        if let Some(wanted) = wanted {
            self.rules.uses_inline(place, wanted);
        }
        let other_names: &[String] = others.unwrap_or_default();
        let doc_key = wanted.cloned().unwrap_or_else(|| own.clone());
        let name = rust_name(self.rules, &doc_key);
        // A definition of that name, not read yet, says what the name stands for.
        self.read_namesake(&name);
        let (hoisted, decided) = (self.open.hoisted.len(), self.open.decisions.len());
        let shape = match self.shape(node, &doc_key)? {
            // A schema that becomes no type of its own needs no name either.
            Shape::Alias(ty) => return Ok(ty),
            shape => shape,
        };
        let other =
            |at: String| format!("is the name of a schema that says something else, at {at}");
        let why = match self.types.get_mut(&name) {
            Some(old) if old.shape == shape => {
                old.places.push(place.to_owned());
                self.hoisted(place, &name, false);
                return Ok(Ty::Named(name));
            }
            Some(old) => Some(other(old.places.join(", "))),
            // It is the name of a definition that is under way.
            None => match self.names.namesake(&name) {
                Some(definition) => Some(other(definition.to_owned())),
                None => unsupported(&name).map(str::to_owned),
            },
        };
        let Some(why) = why else {
            self.insert(node, place, &name, doc_key, shape);
            return Ok(Ty::Named(name));
        };
        // Names given inside this one are forgotten, and given again after the place.
        self.forget(hoisted);
        self.open.decisions.truncate(decided);
        if !other_names.is_empty() {
            return self.hoist(node, place, other_names);
        }
        let given = self.names.free(&rust_name(self.rules, &own));
        let (at, since) = (quoted(place), since(self.scope));
        let stub = format!("[[inline]]\nat = {at}\nname = \"{given}\"\n{since}");
        let settle = Settle::of(file_of(self.scope, "names.toml"), stub);
        self.decide(renamed(
            self.scope,
            &node.pointer,
            &name,
            &why,
            &given,
            settle,
        ));
        let shape = match self.shape(node, &given)? {
            Shape::Alias(ty) => return Ok(ty),
            shape => shape,
        };
        self.insert(node, place, &given, given.clone(), shape);
        Ok(Ty::Named(given))
    }

    /// Makes the definition that goes by a Rust name, if there is one.
    fn read_namesake(&mut self, name: &str) {
        if self.ahead < MAX_AHEAD
            && let Some(definition) = self.names.namesake(name).map(str::to_owned)
        {
            self.ahead += 1;
            self.definition(&definition);
            self.ahead -= 1;
        }
    }

    fn insert(
        &mut self,
        node: &SchemaNode,
        place: &str,
        name: &str,
        doc_key: String,
        shape: Shape,
    ) {
        self.keep_prose(node, doc_key.clone());
        self.names.given.entry(name.to_owned()).or_default();
        self.hoisted(place, name, true);
        self.put(
            node,
            name.to_owned(),
            (None, place.to_owned()),
            doc_key,
            shape,
        );
    }

    fn hoisted(&mut self, place: &str, name: &str, made: bool) {
        self.open.hoisted.push(Hoisted {
            name: name.to_owned(),
            place: place.to_owned(),
            made,
        });
    }

    /// Takes back the names that were given to inline schemas since then.
    fn forget(&mut self, since: usize) {
        for Hoisted { name, place, made } in self.open.hoisted.split_off(since).into_iter().rev() {
            let Some(def) = self.types.get_mut(&name) else {
                continue;
            };
            def.places.retain(|other| *other != place);
            // A definition that was read ahead may have found its use for it.
            if made && def.places.is_empty() {
                self.types.remove(&name);
                self.names.given.remove(&name);
            }
        }
    }
}

/// `Tool.annotations` is called `ToolAnnotations`; a list or a map of a member adds nothing.
fn hoisted_name(place: &str) -> String {
    let bare = place.replace("[]", "").replace("{}", "");
    match bare.split_once('.') {
        Some((owner, member)) => format!("{owner}{}", pascal_case(member)),
        None if place.ends_with("[]") => format!("{bare}Item"),
        None => format!("{bare}Value"),
    }
}
