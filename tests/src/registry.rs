//! Every generated crate by the id of its revision.

use mcp_wire::{MethodInfo, TypeInfo};

/// What a generated crate says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Generated {
    /// The id of the revision, `REVISION` of the crate.
    pub revision: &'static str,
    /// `PROTOCOL_VERSION` of the crate.
    pub wire: &'static str,
    /// The table of its types.
    pub types: &'static [TypeInfo],
    /// The table of its methods.
    pub methods: &'static [MethodInfo],
}

impl Generated {
    /// The row of a type, by its Rust name.
    #[must_use]
    pub fn type_named(&self, rust_name: &str) -> Option<&'static TypeInfo> {
        self.types.iter().find(|row| row.rust_name == rust_name)
    }
}

macro_rules! generated {
    ($($name:ident)*) => {
        /// All of them, in the order of `spec/revisions.toml`.
        pub static ALL: &[Generated] = &[$(Generated {
            revision: $name::REVISION,
            wire: $name::PROTOCOL_VERSION,
            types: $name::TYPES,
            methods: $name::METHODS,
        }),*];
    };
}

generated! {
    mcp_2024_11_05
    mcp_2025_03_26
    mcp_2025_06_18
    mcp_2025_11_25
    mcp_2026_07_28_rc
    mcp_2026_07_28
    mcp_draft
}

/// The crate of a revision.
#[must_use]
pub fn get(revision: &str) -> Option<&'static Generated> {
    ALL.iter().find(|one| one.revision == revision)
}
