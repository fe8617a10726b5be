//! The tables by which a reader finds the case of a union.

/// The member whose constant value tells the cases of a union apart.
#[derive(Debug)]
#[doc(hidden)]
pub struct Tag {
    pub(crate) type_name: &'static str,
    pub(crate) member: &'static str,
    pub(crate) values: &'static [&'static str],
    pub(crate) may_be_absent: bool,
}

impl Tag {
    /// Creates the tag of `type_name`: the `values` of `member` are its cases.
    pub const fn new(
        type_name: &'static str,
        member: &'static str,
        values: &'static [&'static str],
    ) -> Self {
        Self {
            type_name,
            member,
            values,
            may_be_absent: false,
        }
    }

    /// Creates the same tag where a case may leave the member out: `null` then counts as absent.
    pub const fn optional(
        type_name: &'static str,
        member: &'static str,
        values: &'static [&'static str],
    ) -> Self {
        Self {
            may_be_absent: true,
            ..Self::new(type_name, member, values)
        }
    }
}

/// The members whose presence tells the cases of a union apart, each with the path to it.
#[derive(Debug)]
#[doc(hidden)]
pub struct Paths {
    pub(crate) type_name: &'static str,
    pub(crate) paths: &'static [&'static [&'static str]],
}

impl Paths {
    /// Creates the set of the deciding `paths` of `type_name`; at most 128.
    pub const fn new(type_name: &'static str, paths: &'static [&'static [&'static str]]) -> Self {
        assert!(paths.len() <= 128, "a union has at most 128 deciding paths");
        Self { type_name, paths }
    }
}
