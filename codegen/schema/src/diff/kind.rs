//! The kinds of changes, by stable id, and what each one means.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Defines the kinds with their ids, so that no kind can be left out of a list.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, mirror $mirror:ident;)+) => {
        /// What happened at a place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Kind {
            /// All kinds, in the order in which they are printed.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the stable id.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// Returns the kind of the opposite change.
            #[must_use]
            pub fn mirror(self) -> Self {
                match self { $(Self::$name => Self::$mirror,)+ }
            }
        }
    };
}

kinds! {
    /// A message that did not exist before.
    MethodAdded = "method-added", mirror MethodRemoved;
    /// A message that exists no more.
    MethodRemoved = "method-removed", mirror MethodAdded;
    /// The same message on another channel: a request that became an entry of `inputRequests`.
    MethodRechanneled = "method-rechanneled", mirror MethodRechanneled;
    /// A value that is carried elsewhere now.
    Moved = "moved", mirror Moved;
    /// A new member that may be absent.
    MemberAddedOptional = "member-added-optional", mirror MemberRemoved;
    /// A new member that must be there.
    MemberAddedRequired = "member-added-required", mirror MemberRemoved;
    /// A member that is known no more.
    MemberRemoved = "member-removed", mirror MemberAddedOptional;
    /// A member that could be absent and must be there now.
    BecameRequired = "became-required", mirror BecameOptional;
    /// A member that had to be there and can be absent now.
    BecameOptional = "became-optional", mirror BecameRequired;
    /// A value that may be more than before.
    TypeWidened = "type-widened", mirror TypeNarrowed;
    /// A value that may be less than before.
    TypeNarrowed = "type-narrowed", mirror TypeWidened;
    /// A value that is something else than before.
    TypeChanged = "type-changed", mirror TypeChanged;
    /// A further choice.
    UnionMemberAdded = "union-member-added", mirror UnionMemberRemoved;
    /// A choice less.
    UnionMemberRemoved = "union-member-removed", mirror UnionMemberAdded;
    /// A further value of an enumeration.
    EnumValueAdded = "enum-value-added", mirror EnumValueRemoved;
    /// A value of an enumeration less.
    EnumValueRemoved = "enum-value-removed", mirror EnumValueAdded;
    /// Another constant.
    ConstChanged = "const-changed", mirror ConstChanged;
    /// Other limits, such as `minimum` and `format`.
    ConstraintChanged = "constraint-changed", mirror ConstraintChanged;
    /// Whether members that are not named may be there.
    OpennessChanged = "openness-changed", mirror OpennessChanged;
    /// On its way out.
    Deprecated = "deprecated", mirror Undeprecated;
    /// No longer on its way out.
    Undeprecated = "undeprecated", mirror Deprecated;
    /// An error code that was not there before.
    ErrorCodeAdded = "error-code-added", mirror ErrorCodeRemoved;
    /// An error code that is not sent any more.
    ErrorCodeRemoved = "error-code-removed", mirror ErrorCodeAdded;
    /// An error that goes by another code.
    ErrorCodeRenumbered = "error-code-renumbered", mirror ErrorCodeRenumbered;
    /// An error code that says something else, or goes with another HTTP status.
    ErrorCodeChanged = "error-code-changed", mirror ErrorCodeChanged;
    /// An HTTP header that was not there before.
    HeaderAdded = "header-added", mirror HeaderRemoved;
    /// An HTTP header that is known no more.
    HeaderRemoved = "header-removed", mirror HeaderAdded;
    /// An HTTP header that says something else.
    HeaderChanged = "header-changed", mirror HeaderChanged;
    /// A binding rule that was not there before.
    RuleAdded = "rule-added", mirror RuleRemoved;
    /// A binding rule that holds no more.
    RuleRemoved = "rule-removed", mirror RuleAdded;
    /// A binding rule that says something else.
    RuleChanged = "rule-changed", mirror RuleChanged;
    /// Another name for the same wire paths.
    DefinitionRenamed = "definition-renamed", mirror DefinitionRenamed;
}

impl Kind {
    /// Returns whether a change of this kind can be seen in the text of a message.
    #[must_use]
    pub fn is_on_the_wire(self) -> bool {
        self != Self::DefinitionRenamed
    }

    /// Returns whether `other` undoes a change of this kind; an addition is undone by a removal, whichever it was.
    #[must_use]
    pub fn is_undone_by(self, other: Self) -> bool {
        self.mirror() == other || other.mirror() == self
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        (Self::ALL.iter().copied())
            .find(|kind| kind.id() == id)
            .ok_or_else(|| {
                let known = Self::ALL.iter().map(|kind| kind.id());
                Error::no_such("kind of change", id, known)
            })
    }
}
