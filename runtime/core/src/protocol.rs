//! A protocol: a revision, or an extension of one.

use std::fmt;
use std::str::FromStr;

use mcp_revisions_tables::{Extension, Revision, Tables, UnknownRevision, values::TABLES};
use mcp_wire::{MethodInfo, TypeInfo};

/// A revision, or an extension of one.
#[derive(Debug, Clone, Copy)]
pub enum Protocol {
    /// The messages of a revision.
    Revision(Revision),
    /// The messages that an extension adds to the revision that it rests on.
    Extension(&'static Extension),
}

impl Protocol {
    /// Returns the revision that it is, or rests on.
    #[doc(hidden)]
    #[must_use]
    pub fn revision(self) -> Revision {
        match self {
            Self::Revision(revision) => revision,
            Self::Extension(extension) => extension.revision,
        }
    }

    /// Returns its methods.
    #[doc(hidden)]
    #[must_use]
    pub fn methods(self) -> &'static [MethodInfo] {
        match self {
            Self::Revision(revision) => revision.methods(),
            Self::Extension(extension) => extension.methods,
        }
    }

    /// Returns the type of this name.
    #[doc(hidden)]
    #[must_use]
    pub fn type_named(self, name: &str) -> Option<&'static TypeInfo> {
        match self {
            Self::Revision(revision) => revision.type_named(name),
            Self::Extension(extension) => extension.type_named(name),
        }
    }

    /// Returns its types.
    #[doc(hidden)]
    #[must_use]
    pub fn types(self) -> &'static [TypeInfo] {
        match self {
            Self::Revision(revision) => revision.types(),
            Self::Extension(extension) => extension.types,
        }
    }

    /// Returns its name in errors: `revision 2025-06-18`, `extension tasks`.
    #[doc(hidden)]
    #[must_use]
    pub fn title(self) -> String {
        match self {
            Self::Revision(revision) => format!("revision {revision}"),
            Self::Extension(extension) => format!("extension {}", extension.name),
        }
    }

    /// Returns its place in some tables.
    #[inline]
    pub(crate) fn place(self, tables: &Tables) -> Option<usize> {
        let mut rows = tables.revisions.iter();
        match self {
            Self::Revision(revision) if std::ptr::eq(tables, &TABLES) => revision.place(),
            Self::Revision(revision) => rows.position(|row| {
                let other = row.id.parse::<Revision>();
                other.is_ok_and(|other| other.same_types(revision))
            }),
            Self::Extension(extension) => rows.position(|row| row.id == extension.name),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => revision.fmt(f),
            Self::Extension(extension) => f.pad(extension.name),
        }
    }
}

impl From<Revision> for Protocol {
    fn from(revision: Revision) -> Self {
        Self::Revision(revision)
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut extensions = Extension::ALL.iter();
        match extensions.find(|one| one.is_called(name)) {
            Some(extension) => Ok(Self::Extension(extension)),
            None => name
                .parse()
                .map(Self::Revision)
                .map_err(|error: UnknownRevision| {
                    let names: Vec<&str> = Extension::ALL.iter().map(|one| one.name).collect();
                    format!("{error}; extensions: {}", names.join(", "))
                }),
        }
    }
}
