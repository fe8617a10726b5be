//! What methods are called: one constant for each name that any revision has.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use minijinja::{Value, context};

use mcp_revisions_schema::Models;
use mcp_revisions_schema::naming::snake_case;

/// Returns a row a name, in order of the names.
pub(super) fn rows(models: &Models<'_>) -> Vec<Value> {
    let mut latest = None;
    let mut revisions = SortedMap::<&str, Vec<&str>>::new();
    for of in &models.revisions {
        for method in &of.model.methods {
            latest = Some(of.revision.id.as_str());
            let of_name = revisions.entry(method.name.as_str()).or_default();
            of_name.push(&of.revision.id);
        }
    }
    let mut taken = SortedSet::new();
    let row = |(name, of): (&str, Vec<&str>)| {
        context! {
            constant => constant(name, &mut taken),
            name,
            first => of.first().copied(),
            last => of.last().copied().filter(|last| Some(*last) != latest),
        }
    };
    revisions.into_iter().map(row).collect()
}

/// Returns the name of the constant of a method: `logging/setLevel` is `LOGGING_SET_LEVEL`, another one of that name `LOGGING_SET_LEVEL_2`.
fn constant(method: &str, taken: &mut SortedSet<String>) -> String {
    let plain = snake_case(method).to_uppercase();
    let numbered = (2..).map(|number| format!("{plain}_{number}"));
    let mut free = std::iter::once(plain.clone()).chain(numbered);
    let name = free.find(|name| taken.insert(name.clone()));
    name.unwrap_or(plain)
}
