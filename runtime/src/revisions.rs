//! What the generated crates say of each revision, by its name, and the markers that name one as a type.

use mcp_shims::{Era, Revision};
use mcp_wire::MethodInfo;

/// A revision that an application speaks, as a type: `Server<V2025_11_25>` is one whose handlers speak 2025-11-25.
pub trait Spoken: Send + Sync + 'static {
    /// The revision.
    const REVISION: Revision;
}

macro_rules! spoken {
    ($($name:ident)*) => {$(
        #[doc = concat!("The application speaks [`Revision::", stringify!($name), "`].")]
        #[allow(non_camel_case_types, reason = "named as the revision is")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {}

        impl Spoken for $name {
            const REVISION: Revision = Revision::$name;
        }
    )*};
}

spoken! { V2024_11_05 V2025_03_26 V2025_06_18 V2025_11_25 V2026_07_28 Draft }

/// The table of the methods of a revision.
#[must_use]
pub fn methods(revision: Revision) -> &'static [MethodInfo] {
    match revision {
        Revision::V2024_11_05 => mcp_2024_11_05::METHODS,
        Revision::V2025_03_26 => mcp_2025_03_26::METHODS,
        Revision::V2025_06_18 => mcp_2025_06_18::METHODS,
        Revision::V2025_11_25 => mcp_2025_11_25::METHODS,
        Revision::V2026_07_28 => mcp_2026_07_28::METHODS,
        Revision::Draft => mcp_draft::METHODS,
    }
}

/// Whether two revisions are one on the wire, so that nothing has to be converted between them.
#[must_use]
pub(crate) fn same(one: Revision, other: Revision) -> bool {
    one == other || one.wire() == other.wire()
}

/// Whether the revision is one of the handshake era.
#[must_use]
pub(crate) fn is_legacy(revision: Revision) -> bool {
    revision.era() == Era::Handshake
}
