//! A schema as a model: its definitions named and shaped, its methods paired with what answers them.
//!
//! Nothing is decided yet: how a union is read, where a `Box` is needed and which file holds a type are worked out by
//! the pure functions of [`crate::analyze`], and filled in there.
//! An open question of a schema has a safe answer here, and a [`Decision`](crate::decision::Decision) that says so.

mod aliases;
mod choice;
mod cycles;
mod definitions;
mod finite;
pub mod flatten;
mod methods;
mod names;
mod object;
mod opaque;
mod open;
mod strays;

use crate::sorted::SortedMap;

use crate::decision::Scope;
use crate::model::BuiltModel;
use crate::rules::HeldRules;
use crate::schema::Schema;
use crate::spec::methods::MethodRules;
use crate::{Error, Markdown};

pub(crate) use cycles::cycles;
pub(crate) use finite::ranks;
pub(crate) use open::{missing_definition, opaque_rule, since, type_rule};

/// Names and shapes what a schema defines; `prose` is the schema's own, by JSON pointer. Fails for definitions that end in no
/// type, and rules that do not hold.
pub(crate) fn draft(
    schema: Schema,
    scope: &Scope,
    rules: &HeldRules<'_>,
    methods: &MethodRules,
    prose: &SortedMap<String, Markdown>,
) -> Result<BuiltModel, Error> {
    let file = schema.file.clone();
    let mut built = definitions::shaped(schema, scope, rules, prose)?;
    aliases::settle(&mut built, &file, scope)?;
    finite::open_endless(&mut built, scope);
    opaque::settle_namesakes(&mut built, scope);
    methods::pair(&mut built, scope, methods);
    Ok(built)
}
