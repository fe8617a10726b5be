//! The generated tables: conversions between adjacent revisions, of values, methods and error codes.

use std::fmt;

use mcp_wire::{AnyValue, Decode, Direction, Encode, ErrorObject, MethodInfo, TypeInfo};

use super::{Part, Subject, mistyped};
use crate::adapter::Adapter;
use crate::context::Context;
use crate::outcome::Stop;
use crate::rule::Rule;

/// A conversion to the adjacent revision.
pub struct TypeStep {
    /// The Rust name of the source type.
    pub from: &'static str,
    /// The Rust name of the target type.
    pub to: &'static str,
    /// The conversion; `None` for a type that both revisions share.
    pub run: Option<&'static dyn Convert>,
}

impl fmt::Debug for TypeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

/// A conversion of a value whose type is only known at run time: a function, from one type to another.
pub trait Convert: Sync {
    /// Takes the value out, and converts it. The error is the [`Stop`] of the function, and a value of another type than the
    /// function takes: the tables are wrong.
    fn convert(&self, value: &mut AnyValue, cx: &mut Context) -> Result<AnyValue, Stop>;
}

/// A function that can stop.
impl<A: Decode + 'static, B: Decode + Encode + 'static> Convert
    for fn(A, &mut Context) -> Result<B, Stop>
{
    fn convert(&self, value: &mut AnyValue, cx: &mut Context) -> Result<AnyValue, Stop> {
        match value.take() {
            Some(value) => self(value, cx).map(AnyValue::new),
            None => Err(mistyped(cx)),
        }
    }
}

/// A function that can lose something, and always gives a value.
#[doc(hidden)]
pub struct Lossy<A, B>(pub fn(A, &mut Context) -> B);

impl<A, B> fmt::Debug for Lossy<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lossy")
    }
}

impl<A: Decode + 'static, B: Decode + Encode + 'static> Convert for Lossy<A, B> {
    fn convert(&self, value: &mut AnyValue, cx: &mut Context) -> Result<AnyValue, Stop> {
        match value.take() {
            Some(value) => Ok(AnyValue::new((self.0)(value, cx))),
            None => Err(mistyped(cx)),
        }
    }
}

/// A function that was proven to lose nothing.
impl<A: Decode + 'static, B: Decode + Encode + 'static> Convert for fn(A) -> B {
    fn convert(&self, value: &mut AnyValue, cx: &mut Context) -> Result<AnyValue, Stop> {
        match value.take() {
            Some(value) => Ok(AnyValue::new(self(value))),
            None => Err(mistyped(cx)),
        }
    }
}

impl TypeStep {
    /// Converts a value. Fails as the conversion.
    pub fn convert(&self, mut value: AnyValue, cx: &mut Context) -> Result<AnyValue, Stop> {
        match self.run {
            Some(run) => run.convert(&mut value, cx),
            None => Ok(value),
        }
    }
}

/// Declares `STEPS`, the conversions of one step by the names of their types: `exact`, `lossy` or `fallible` ones, each with
/// its function, and the `same` for a type that both revisions share.
#[doc(hidden)]
#[macro_export]
macro_rules! steps {
    ($($from:literal => $to:literal $how:ident $($convert:path)?;)*) => {
        /// The conversions of this step, by the names of their types.
        pub(crate) static STEPS: &[$crate::dynamic::TypeStep] = {
            // A static of its own, as that of the types is: a constant would be compiled again by each crate that refers to it.
            static ROWS: [$crate::dynamic::TypeStep; [$($from),*].len()] = [$(
                $crate::dynamic::TypeStep { from: $from, to: $to, run: $crate::steps!(@$how $($convert)?) },
            )*];
            &ROWS
        };
    };
    (@same) => { None };
    (@exact $convert:path) => { Some(&($convert as fn(_) -> _)) };
    (@lossy $convert:path) => { Some(&$crate::dynamic::Lossy($convert)) };
    (@fallible $convert:path) => {
        Some(&($convert as fn(_, &mut $crate::Context) -> ::core::result::Result<_, $crate::Stop>))
    };
}

/// Two adjacent revisions.
#[derive(Debug)]
pub struct Pair {
    /// The id of the older one.
    pub old: &'static str,
    /// The id of the newer one.
    pub new: &'static str,
    /// The name of the way up in losses.
    pub up_step: &'static str,
    /// The name of the way down.
    pub down_step: &'static str,
    /// To the newer one.
    pub up: &'static [TypeStep],
    /// To the older one.
    pub down: &'static [TypeStep],
    /// The Rust names, in order, of the types that both have exactly alike and that no conversion is needed for.
    pub alike: &'static [&'static str],
    /// Methods that only one of them has, or that mean something else to the other.
    pub methods: &'static [MethodStep],
    /// Methods that go by another name in the newer one.
    pub renamed: &'static [RenamedMethod],
    /// Messages and responses that are converted as wholes, since the two differ beside params and results.
    pub wholes: &'static [WholeMessage],
    /// Error codes that mean something else, the narrowest rule first.
    pub errors: &'static [ErrorStep],
    /// Results that stand in the place of a method's own, and that an adapter takes: the rule that says so.
    pub instead: &'static [(Adapter, &'static Rule)],
    /// What becomes of results of types that only the newer one can have.
    pub open_results: Option<OpenResults>,
    /// All rules of the pair, by id.
    pub rules: &'static [&'static Rule],
}

/// A message or a response that is converted as a whole: two adjacent revisions differ beside its params or its result.
#[derive(Debug)]
pub struct WholeMessage {
    /// The method, by the name of the newer one.
    pub method: &'static str,
    /// Who sends the method.
    pub direction: Direction,
    /// What the whole is around.
    pub part: Part,
    /// The name of its definition in the older one.
    pub old: &'static str,
    /// The name of its definition in the newer one.
    pub new: &'static str,
}

/// Results whose type the older revision does not know: an extension's, or one that its method cannot have.
#[derive(Debug)]
pub struct OpenResults {
    /// The member that says which type it is.
    pub member: &'static str,
    /// The types that the newer revision itself has.
    pub known: &'static [&'static str],
    /// The rule that says what becomes of others.
    pub rule: &'static Rule,
    /// The code of the error that answers.
    pub code: i64,
    /// Its message.
    pub message: &'static str,
}

/// Error codes that mean something else in the adjacent revision.
#[derive(Debug)]
pub struct ErrorStep {
    /// The lowest and the highest code.
    pub codes: (i64, i64),
    /// The methods that they answer, where they mean something else elsewhere; `None` for all.
    pub methods: &'static [&'static str],
    /// The member that their data has, where they mean something else without it.
    pub data: Option<&'static str>,
    /// The rule that says so.
    pub rule: &'static Rule,
    /// What they become on the way up; `None` if they stay.
    pub up: Option<ErrorFate>,
    /// What they become on the way down.
    pub down: Option<ErrorFate>,
}

impl ErrorStep {
    /// Returns the fate of an error code that answers a method, on the way up or down.
    pub(super) fn fate(&self, error: &ErrorObject, method: &str, up: bool) -> Option<ErrorFate> {
        let code = error.code.as_i64()?;
        let (lowest, highest) = self.codes;
        let among = (lowest..=highest).contains(&code)
            && (self.methods.is_empty() || self.methods.contains(&method))
            && self.data.is_none_or(|member| {
                let data = error.data.as_ref();
                data.is_some_and(|data| data.get(member).is_some())
            });
        let fate = if up { self.up } else { self.down };
        fate.filter(|_| among)
    }
}

/// What an error becomes.
#[derive(Debug, Clone, Copy)]
pub enum ErrorFate {
    /// The same error with this code.
    Code(i64),
    /// An adapter has to turn it into something else.
    RequiresState(Adapter),
}

impl Pair {
    /// Returns the definition by which a message of a method, or the response to it, is converted as a whole, by its name where
    /// the way up or down begins; `None` if its params or its result are all that is converted.
    #[must_use]
    pub fn whole(
        &self,
        method: &str,
        direction: Option<Direction>,
        part: Part,
        up: bool,
    ) -> Option<&'static str> {
        let method = self.newer_name(method, direction, up);
        let is_it = |row: &&WholeMessage| {
            let sends = direction.is_none_or(|direction| row.direction == direction);
            row.method == method && row.part == part && sends
        };
        let row = self.wholes.iter().find(is_it)?;
        Some(if up { row.old } else { row.new })
    }

    /// Returns the name in losses of the way up or down.
    pub fn step(&self, up: bool) -> &'static str {
        if up { self.up_step } else { self.down_step }
    }

    /// Returns the conversions of the way up or down.
    pub fn types(&self, up: bool) -> &'static [TypeStep] {
        if up { self.up } else { self.down }
    }

    /// Returns the name of a method in the adjacent revision, on the way up or down.
    #[must_use]
    pub fn adjacent_name<'m>(
        &self,
        method: &'m str,
        direction: Option<Direction>,
        up: bool,
    ) -> &'m str {
        let fits = |row: &&RenamedMethod| {
            row.ends(up).0 == method && direction.is_none_or(|wanted| wanted == row.direction)
        };
        let row = self.renamed.iter().find(fits);
        row.map_or(method, |row| row.ends(up).1)
    }

    /// Returns the name by which the rules of the pair call a method, on the way up or down: that of the newer revision.
    pub(super) fn newer_name<'m>(
        &self,
        method: &'m str,
        direction: Option<Direction>,
        up: bool,
    ) -> &'m str {
        if up {
            self.adjacent_name(method, direction, up)
        } else {
            method
        }
    }

    /// Returns the rule by which an adapter has to do with a method: the method's own, that of results in the place of its own,
    /// else the first method's that is the adapter's business.
    #[must_use]
    pub fn hands_to(&self, adapter: Adapter, method: &str) -> Option<&'static Rule> {
        let mut rows = self.methods.iter().filter(|row| row.is_for(adapter));
        let own = rows.clone().find(|row| row.method == method);
        let instead = self.instead.iter().find(|(other, _)| *other == adapter);
        (own.map(|row| row.rule))
            .or(instead.map(|(_, rule)| *rule))
            .or_else(|| rows.next().map(|row| row.rule))
    }

    /// Returns whether the method, or one whose params are of this type, is one that a subscription delivers.
    pub(super) fn delivers(&self, subject: Subject<'_>, methods: &[MethodInfo], up: bool) -> bool {
        let is_delivered = |name: &str, direction| {
            let name = self.newer_name(name, direction, up);
            let mut rows = self.methods.iter().filter(|row| row.method == name);
            rows.any(|row| matches!(row.fate(up), Some(MethodFate::Subscribed)))
        };
        match subject {
            Subject::Method(name, _, direction) => is_delivered(name, direction),
            Subject::Type(ty) => methods
                .iter()
                .any(|row| row.params == Some(ty) && is_delivered(row.name, Some(row.direction))),
        }
    }

    /// Returns the step of a method that only one of the two has in this direction, or that means something else.
    ///
    /// Where it is not said who sends it, a method that is left in the other direction is not gone.
    pub(super) fn method(
        &self,
        method: &str,
        direction: Option<Direction>,
        up: bool,
    ) -> Option<&MethodStep> {
        let method = self.newer_name(method, direction, up);
        let mut rows = self.methods.iter().filter(|row| row.method == method);
        match direction {
            Some(direction) => rows.find(|row| row.direction == direction),
            None => {
                let first = rows.next()?;
                let one_way = rows.next().is_none();
                (!one_way || !first.stays_the_other_way).then_some(first)
            }
        }
    }
}

/// A method that the adjacent revision lacks, or understands otherwise.
#[derive(Debug)]
pub struct MethodStep {
    /// The method.
    pub method: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// Whether both revisions have it in the other direction.
    pub stays_the_other_way: bool,
    /// The rule that says what becomes of it.
    pub rule: &'static Rule,
    /// What becomes of it on the way up; `None` if it goes on as it is.
    pub up: Option<MethodFate>,
    /// What becomes of it on the way down.
    pub down: Option<MethodFate>,
}

/// A method that two adjacent revisions have different names for.
#[derive(Debug)]
pub struct RenamedMethod {
    /// Who sends it.
    pub direction: Direction,
    /// What the older one calls it.
    pub old: &'static str,
    /// What the newer one calls it.
    pub new: &'static str,
}

impl RenamedMethod {
    /// Returns the names where a conversion begins and where it ends.
    fn ends(&self, up: bool) -> (&'static str, &'static str) {
        if up {
            (self.old, self.new)
        } else {
            (self.new, self.old)
        }
    }
}

/// The outcome for a method that the adjacent revision lacks, or understands otherwise.
#[derive(Debug, Clone, Copy)]
pub enum MethodFate {
    /// An adapter has to do it.
    RequiresState(Adapter),
    /// The subscription adapter has to do it, unless the session says for which stream it is.
    Subscribed,
    /// This error answers it.
    Reject(i64, &'static str),
    /// It is dropped, without an error.
    Drop,
}

/// A revision as the tables know it.
#[derive(Debug)]
pub struct RevisionTables {
    /// Its id.
    pub id: &'static str,
    /// Its methods.
    pub methods: &'static [MethodInfo],
    /// Its types, in the order of their names in Rust.
    pub types: &'static [TypeInfo],
}

impl RevisionTables {
    /// Returns a type, by the name of its definition or of its Rust type.
    pub fn type_named(&self, name: &str) -> Option<&'static TypeInfo> {
        TypeInfo::find(self.types, name)
    }

    /// Returns a type, by the name of its Rust type, by which the rows are ordered.
    pub fn rust_type(&self, name: &str) -> Option<&'static TypeInfo> {
        let at = self.types.binary_search_by(|row| row.rust_name.cmp(name));
        self.types.get(at.ok()?)
    }
}

impl MethodStep {
    /// Returns whether an adapter has to do it, on any way.
    fn is_for(&self, adapter: Adapter) -> bool {
        [self.up, self.down]
            .into_iter()
            .flatten()
            .any(|fate| match fate {
                MethodFate::RequiresState(other) => other == adapter,
                MethodFate::Subscribed => adapter == Adapter::Subscription,
                MethodFate::Reject(..) | MethodFate::Drop => false,
            })
    }

    /// Returns its fate on the way up or down.
    fn fate(&self, up: bool) -> Option<MethodFate> {
        if up { self.up } else { self.down }
    }

    /// Returns the end of a conversion of this method, if it ends there.
    pub(super) fn stop(&self, up: bool, cx: &Context) -> Option<Stop> {
        Some(match self.fate(up)? {
            MethodFate::RequiresState(adapter) => cx.needs(self.rule, adapter),
            MethodFate::Subscribed if cx.session().subscription_id.is_some() => return None,
            MethodFate::Subscribed => cx.needs(self.rule, Adapter::Subscription),
            MethodFate::Reject(code, message) => cx.reject(self.rule, code, message),
            MethodFate::Drop => cx.swallow(self.rule),
        })
    }
}
