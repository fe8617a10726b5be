//! The revisions that this binary knows, and their tables.

use anyhow::bail;
use mcp_wire::{MethodInfo, TypeInfo};

/// The tables of one revision.
pub(crate) struct Revision {
    pub(crate) id: &'static str,
    pub(crate) methods: &'static [MethodInfo],
    pub(crate) types: &'static [TypeInfo],
}

macro_rules! revisions {
    ($($library:ident),* $(,)?) => {
        &[$(Revision {
            id: $library::REVISION,
            methods: $library::METHODS,
            types: $library::TYPES,
        }),*]
    };
}

/// In order, oldest first.
pub(crate) static REVISIONS: &[Revision] = revisions!(
    mcp_2024_11_05,
    mcp_2025_03_26,
    mcp_2025_06_18,
    mcp_2025_11_25,
    mcp_2026_07_28_rc,
    mcp_2026_07_28,
    mcp_draft,
);

impl Revision {
    /// The revision with this id.
    pub(crate) fn find(id: &str) -> anyhow::Result<&'static Self> {
        match REVISIONS.iter().find(|revision| revision.id == id) {
            Some(revision) => Ok(revision),
            None => {
                let known: Vec<&str> = REVISIONS.iter().map(|revision| revision.id).collect();
                bail!("no revision `{id}`; known: {}", known.join(", "))
            }
        }
    }

    /// The type of this name: the definition's, or the Rust one.
    pub(crate) fn ty(&self, name: &str) -> Option<&'static TypeInfo> {
        let by_definition = self.types.iter().find(|ty| ty.name == name);
        by_definition.or_else(|| self.types.iter().find(|ty| ty.rust_name == name))
    }

    /// The rows of a method; `ping` of the handshake revisions has two.
    pub(crate) fn methods(&self, name: &str) -> impl Iterator<Item = &'static MethodInfo> {
        let name = name.to_owned();
        self.methods
            .iter()
            .filter(move |method| method.name == name)
    }

    /// The names that are nearest to a name that is not there, for an error.
    pub(crate) fn similar<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
        let wanted = name.to_lowercase();
        let mut near: Vec<&str> = all
            .filter(|other| {
                let other = other.to_lowercase();
                other.contains(&wanted) || wanted.contains(&other)
            })
            .collect();
        near.sort_unstable();
        near.dedup();
        if let Some(same) = near.iter().find(|other| other.eq_ignore_ascii_case(name)) {
            return format!("; did you mean {same}");
        }
        match near.is_empty() {
            true => String::new(),
            false => format!("; did you mean {}", near.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::REVISIONS;

    /// The one list of revisions is spec/revisions.toml; this one must follow it.
    #[test]
    fn every_revision_of_the_spec_can_be_checked() {
        let listed = include_str!("../../../spec/revisions.toml");
        let ids: Vec<&str> = listed
            .lines()
            .filter_map(|line| line.strip_prefix("id = \"")?.strip_suffix('"'))
            .collect();
        let known: Vec<&str> = REVISIONS.iter().map(|revision| revision.id).collect();
        assert_eq!(known, ids);
    }
}
