//! Conversions as plain data: emitted as Rust, printed as a table, compared with the diff.

mod moves;

pub use moves::{AlternativePlan, AlternativesPlan, EntryPlan, HeldValue, MemberMoves};

use mcp_revisions_schema::sorted::SortedSet;

use super::rules::{Action, MethodAction, RuleFacts, SessionFact};
use mcp_convert::Adapter;
use mcp_revisions_diff::ExchangePart;
use mcp_revisions_schema::decision::Decision;
use mcp_revisions_schema::model::Rest;
use mcp_revisions_schema::pair::{MethodSender, RevisionPair, StepDirection};

/// The plan of one pair of revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct PairPlan {
    /// The two revisions.
    pub pair: RevisionPair,
    /// The conversions to the newer revision, by name of the source type.
    pub up: Vec<PlannedConversion>,
    /// The conversions to the older one.
    pub down: Vec<PlannedConversion>,
    /// The types that both have exactly alike and that no method reaches, by Rust name.
    pub alike: SortedSet<String>,
    /// The plan of each method.
    pub methods: Vec<MethodPlan>,
    /// The fate of error codes.
    pub errors: Vec<super::rules::ErrorRule>,
    /// Differences that no rule answers: the plan takes the safe answer.
    pub open: Vec<Decision>,
    /// The rules that record losses and stops.
    pub rules: Vec<RuleFacts>,
}

impl PairPlan {
    /// Returns the conversions of one way.
    pub fn way(&self, way: StepDirection) -> &[PlannedConversion] {
        way.of(&self.up, &self.down)
    }
}

/// The conversion of values of one type to another.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedConversion {
    /// The source.
    pub from: PairEnd,
    /// The target.
    pub to: PairEnd,
    /// The area of the source type, for the file.
    pub area: String,
    /// The possible results beside a value.
    pub effect: Effect,
    /// The steps of the conversion.
    pub body: ConversionBody,
}

/// The possible results of a conversion beside a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it cannot lose, need or refuse anything.
    Exact,
    /// It may lose something, and always gives a value.
    Lossy,
    /// It may stop.
    Fallible,
}

/// The steps of a conversion.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversionBody {
    /// Member by member.
    Object(ObjectPlan),
    /// Variant by variant.
    Union(Vec<ArmPlan>),
    /// As the variant that has the value of one member for a constant.
    Split(SplitPlan),
    /// Value by value.
    Strings(Vec<StringPlan>),
    /// The string, as any string is a value of both.
    Text,
    /// The text, read again as the target.
    Reread,
    /// No value has a counterpart.
    Reject {
        /// The rule.
        rule: String,
        /// The error.
        error: super::rules::Reject,
    },
    /// A type that became one variant of a union.
    IntoVariant(Becomes),
    /// A hand-written function.
    Custom(HookCall),
}

/// The conversion of an object to one of several, by the value of one member.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitPlan {
    /// The Rust field of the source.
    pub field: String,
    /// The Rust name of its type, a set of strings.
    pub ty: String,
    /// Each value of that member, and what an object that has it becomes.
    pub arms: Vec<(String, Becomes)>,
}

/// The target of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Becomes {
    /// The variant of the target that the value becomes; the target itself if it is not a union.
    pub variant: Option<String>,
    /// Set if it is in a box there.
    pub boxed: bool,
    /// The conversion of the value.
    pub transfer: Transfer,
}

/// The conversion of an object to another type.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectPlan {
    /// Hand-written functions that change the source first.
    pub before: Vec<HookCall>,
    /// The members of the target.
    pub fields: Vec<FieldPlan>,
    /// The members of the source that the target does not have.
    pub dropped: Vec<DroppedPlan>,
    /// The members that are a constant of the target, and were something else in the source.
    pub settled: Vec<SettledPlan>,
    /// The constants of the target that the source does not name: an unknown member of that name is something else.
    pub foreign: Vec<String>,
    /// The members that stand elsewhere on the other side; `None` without any.
    pub moves: Option<Box<MemberMoves>>,
    /// The fate of the unknown members.
    pub rest: RestPlan,
    /// Hand-written functions that change the target last.
    pub after: Vec<HookCall>,
}

impl ObjectPlan {
    /// Returns the lists of the target that hold members of the source.
    pub fn gathered(&self) -> &[AlternativesPlan] {
        self.moves.as_ref().map_or(&[], |moves| &moves.gathered)
    }

    /// Returns the lists of the source whose items become members of the target.
    pub fn spread(&self) -> &[AlternativesPlan] {
        self.moves.as_ref().map_or(&[], |moves| &moves.spread)
    }

    /// Returns the members that are entries of a map on the other side.
    pub fn entries(&self) -> &[EntryPlan] {
        self.moves.as_ref().map_or(&[], |moves| &moves.entries)
    }
}

/// A hand-written function, and the rule that names it.
#[derive(Debug, Clone, PartialEq)]
pub struct HookCall {
    /// The rule.
    pub rule: String,
    /// The function in the module of the pair in `mcp_hooks`, with a `?` behind it if it may stop.
    pub path: String,
}

impl HookCall {
    /// Returns whether the conversion may end by it.
    pub fn stops(&self) -> bool {
        may_stop(&self.path)
    }
}

/// Returns whether a hand-written function may end the conversion, by its name in a rule.
pub fn may_stop(path: &str) -> bool {
    path.ends_with('?')
}

/// The source of a target member's value.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldPlan {
    /// The name on the wire.
    pub wire: String,
    /// The Rust field of the target.
    pub field: String,
    /// Set if the target may lack it.
    pub optional: bool,
    /// Set if the target keeps it in a box.
    pub boxed: bool,
    /// The source of the value.
    pub source: ValueSource,
    /// The other name that the source has for it, so that an unknown member of this one is something else.
    pub was: Option<String>,
    /// The changes that make it fit where the target limits it more.
    pub fitted: Vec<Fitted>,
}

impl FieldPlan {
    /// Returns the name that the source has for it: losses point into the source.
    pub fn source_wire(&self) -> &str {
        self.was.as_deref().unwrap_or(&self.wire)
    }
}

/// A place in a member that the target limits more, and the rule that sees to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The names on the way from the member to the place.
    pub inside: Vec<String>,
    /// The rule.
    pub rule: String,
}

/// The source of the value of a target's member.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueSource {
    /// From the same member of the source.
    Same(SameMember),
    /// A hand-written function, given the source's member as it is.
    Custom {
        /// The Rust field of the source.
        field: String,
        /// The function.
        hook: HookCall,
    },
    /// From the same member, whose text is read again: it may not read as what the target has there.
    Reread(Recast),
    /// The same member of the source has no counterpart: lost, or refused where the target must have one.
    Lost(Recast),
    /// A hand-written function, given the whole source: there the member is a constant.
    Derived(HookCall),
    /// From the same member of the source, which says of which revision the message is: of the target, from here on.
    Claim {
        /// The Rust field of the source.
        field: String,
    },
    /// A constant of the source.
    Constant(serde_json::Value),
    /// The source does not name it: taken out of its unknown members, or absent.
    Adopt(Adoption),
    /// The source does not name it: what a session knows, or absent.
    Session(SessionFact),
    /// The source does not name it, the target must have it.
    Fill(Missing),
}

/// A member that source and target have.
#[derive(Debug, Clone, PartialEq)]
pub struct SameMember {
    /// The Rust field of the source.
    pub field: String,
    /// The conversion of the value.
    pub transfer: Transfer,
    /// Set if the source may lack it.
    pub optional: bool,
    /// Set if the source keeps it in a box.
    pub boxed: bool,
    /// The value for an absent one where the target must have it.
    pub missing: Option<Missing>,
    /// The target takes this value if the member is absent, so that the conversion leaves it out.
    pub implied: Option<serde_json::Value>,
    /// The rule by which `null` is left out, where it is a value of the source alone.
    pub null: Option<String>,
    /// Set if an object that loses all its members is left out.
    pub prune: bool,
    /// The fact of the session for the target, where the source has none.
    pub summon: Option<SessionFact>,
    /// The hand-written function that says which items of a list stay.
    pub filter: Option<HookCall>,
    /// The variants whose items a list goes on without.
    pub left_out: Vec<LeftOut>,
}

/// A variant that the target lacks, and whose items are left out of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The variant of the source.
    pub variant: String,
    /// The rule by which an item is lost.
    pub rule: String,
}

/// When an unknown member of the source is taken for one that the target names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// Always: a rule says that it means the same.
    Always,
    /// Under the policy that carries members: it may have come from a newer peer.
    Carried,
    /// Never: the other revision lets it decide something.
    Never,
}

/// A member whose type has become another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Recast {
    /// The Rust field of the source.
    pub field: String,
    /// Set if the source may lack it.
    pub optional: bool,
    /// Set if the source keeps it in a box.
    pub boxed: bool,
    /// The rule.
    pub rule: String,
    /// Set if the target holds every value of the source, so that no rule is asked for.
    pub widens: bool,
    /// The value for an absent one where the target must have it.
    pub missing: Option<Missing>,
}

/// The value that fills a required member.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The rule.
    pub rule: String,
    /// The action of the rule.
    pub action: Action,
    /// The conversion of an empty value of the source, where the rule asks for one.
    pub empty: Option<Transfer>,
}

/// A member of the source that the target does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedPlan {
    /// The name on the wire.
    pub wire: String,
    /// The Rust field of the source.
    pub field: String,
    /// Set if the source may lack it.
    pub optional: bool,
    /// The rule.
    pub rule: String,
    /// The action of the rule.
    pub action: Action,
    /// Set if it travels as an unknown member where members are carried.
    pub carried: bool,
}

/// The plan of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmPlan {
    /// The variant of the source.
    pub variant: String,
    /// Set if it is in a box.
    pub boxed: bool,
    /// The fate of the variant.
    pub arm: Arm,
}

/// The fate of a variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Arm {
    /// It is in the target, with its value converted.
    Same(Becomes),
    /// A hand-written function makes a value of the target.
    Custom(HookCall),
    /// An adapter has to do it.
    RequiresState {
        /// The rule.
        rule: String,
        /// The adapter.
        adapter: Adapter,
    },
    /// The error that the spec calls for.
    Reject {
        /// The rule.
        rule: String,
        /// The error.
        error: super::rules::Reject,
    },
}

/// The plan of a string.
#[derive(Debug, Clone, PartialEq)]
pub struct StringPlan {
    /// The string.
    pub value: String,
    /// The error where the target has no such value, and its rule.
    pub rejected: Option<(String, super::rules::Reject)>,
}

/// A member that is a constant of the target, and something else in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledPlan {
    /// The name on the wire.
    pub wire: String,
    /// The value of the source.
    pub from: SourceValue,
    /// The constant of the target.
    pub constant: serde_json::Value,
    /// The rule by which another value is lost; without one it is refused: the value led to this target.
    pub rule: Option<String>,
}

/// The value of a source.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceValue {
    /// A constant.
    Constant(serde_json::Value),
    /// A value in this field, or `None` where it may be absent.
    Field {
        /// The Rust field.
        field: String,
        /// Set if it may be absent.
        optional: bool,
    },
}

/// The plan of an object's unknown members.
#[derive(Debug, Clone, PartialEq)]
pub struct RestPlan {
    /// The form in which the source keeps them.
    pub from: Rest,
    /// The form in which the target keeps them.
    pub to: Rest,
    /// The conversion of each, where both keep values of a type and the two types belong together.
    pub transfer: Option<Box<Transfer>>,
    /// The rule about those that the target cannot keep.
    pub rule: String,
}

/// The conversion of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum Transfer {
    /// Moved as it is.
    Move,
    /// By the conversion of this pair of types.
    Call {
        /// The source.
        from: PairEnd,
        /// The target.
        to: PairEnd,
    },
    /// Each item.
    List(Box<Transfer>),
    /// Each value.
    Map(Box<Transfer>),
    /// The value, if it is not `null`.
    Nullable(Box<Transfer>),
    /// The value, where `null` may stand as well.
    OrNull(Box<Transfer>),
    /// An opaque object becomes any opaque JSON.
    Widen,
}

impl Transfer {
    /// Returns the transfer of what stands in a list or a map; nothing is to be done to that where it is moved.
    pub fn within(self, around: fn(Box<Self>) -> Self) -> Self {
        match self {
            Self::Move => Self::Move,
            inner => around(Box::new(inner)),
        }
    }
}

/// One end of a conversion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairEnd {
    /// A type of the revision, by Rust name.
    Type(String),
    /// Names to opaque values.
    Map,
    /// The text of an object.
    Opaque,
}

impl PairEnd {
    /// Returns a name for tables and function names.
    pub fn name(&self) -> &str {
        match self {
            Self::Type(name) => name,
            Self::Map => "Map",
            Self::Opaque => "JsonObject",
        }
    }
}

/// The plan of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodPlan {
    /// The method; what the newer revision calls it, where the two have different names for it.
    pub name: String,
    /// The older revision's name of it, where that differs.
    pub was: Option<String>,
    /// The sender.
    pub sender: MethodSender,
    /// Set if both revisions have it.
    pub in_both: bool,
    /// The conversions of params up and down, where both have the method, with some.
    pub params: Option<[Transfer; 2]>,
    /// The conversions of results up and down, where both have the method, with some.
    pub result: Option<[Transfer; 2]>,
    /// The conversions of whole messages up and down, where both have the method and differ beside its params.
    pub message: Option<[Transfer; 2]>,
    /// The conversions of whole responses up and down, where both have one and differ beside its result.
    pub response: Option<[Transfer; 2]>,
    /// The fate of a method that the other revision lacks, or understands otherwise.
    pub apart: Option<Apart>,
}

impl MethodPlan {
    /// Returns the part of an exchange, each with its conversions up and down: those around params and results last.
    pub fn parts(&self) -> [(ExchangePart, Option<&[Transfer; 2]>); 4] {
        [
            (ExchangePart::Params, self.params.as_ref()),
            (ExchangePart::Result, self.result.as_ref()),
            (ExchangePart::Message, self.message.as_ref()),
            (ExchangePart::Response, self.response.as_ref()),
        ]
    }
}

/// The fate of a method that the other revision lacks, or understands otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Apart {
    /// The rule.
    pub rule: String,
    /// On the way up.
    pub up: Option<MethodAction>,
    /// On the way down.
    pub down: Option<MethodAction>,
}
