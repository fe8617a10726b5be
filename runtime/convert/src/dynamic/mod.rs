//! Values whose type is only known at run time, on their way through several revisions.
//!
//! The tables are generated; a value is boxed once and converted step by step, so that a chain of
//! steps reads and writes its text once.

mod plan;
mod route;
mod tables;

use mcp_wire::mend::{Mended, Mistakes};
use mcp_wire::{
    AnyValue, Decode, Direction, Encode, Error, ErrorObject, Extra, Json, MethodInfo, TypeInfo,
};

use crate::context::Context;
use crate::outcome::Stop;
use crate::rule::Rule;
use plan::{ConversionPlans, PlanKind};

pub use tables::{
    Convert, ErrorFate, ErrorStep, Lossy, MethodFate, MethodStep, OpenResults, Pair, RenamedMethod,
    RevisionTables, TypeStep, WholeMessage,
};

/// Returns the end of a conversion that was given a value of another type.
#[cold]
fn mistyped(cx: &Context) -> Stop {
    cx.reject(
        &Rule::NO_COUNTERPART,
        ErrorObject::INTERNAL_ERROR,
        "a conversion was given a value of another type",
    )
}

/// Part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What a request or notification carries.
    Params,
    /// What answers a request.
    Result,
}

impl Part {
    /// Returns the type of this part, by the name of its definition.
    pub fn of(self, method: &MethodInfo) -> Option<&'static str> {
        match self {
            Self::Params => method.params,
            Self::Result => method.result,
        }
    }
}

/// Why a value whose type is only known at run time was not converted.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The text is not of the type it was said to be.
    Invalid(Error),
    /// The revision has no such method or type, or the method has no such part.
    Unknown(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::Unknown(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// The revisions that are converted, in order, and all pairs of adjacent ones.
#[derive(Debug)]
pub struct Tables {
    /// Oldest first.
    pub revisions: &'static [&'static RevisionTables],
    /// One fewer: the pair at an index joins the revisions at it and after it.
    pub pairs: &'static [Pair],
    /// What stands for mistakes of peers.
    pub mistakes: Mistakes,
    plans: ConversionPlans,
}

/// What is converted: a type, or a part of a method's messages.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'s> {
    /// A definition, by name.
    Type(&'s str),
    /// A method's params or result; who sends the request, where that is known and matters.
    Method(&'s str, Part, Option<Direction>),
}

impl Subject<'_> {
    /// Returns the sender and the message, as the beginning of a sentence: "the client's params of `tools/call` are".
    #[must_use]
    pub fn title(&self) -> String {
        match *self {
            Self::Type(name) => format!("`{name}` is"),
            Self::Method(method, part, sender) => {
                let (what, by) = match part {
                    Part::Params => ("params", sender),
                    Part::Result => ("result", sender.map(Direction::back)),
                };
                let whose = match by {
                    Some(Direction::ClientToServer) => "the client's ",
                    Some(Direction::ServerToClient) => "the server's ",
                    None => "the ",
                };
                let verb = if part == Part::Params { "are" } else { "is" };
                format!("{whose}{what} of `{method}` {verb}")
            }
        }
    }
}

impl Tables {
    /// Creates the tables of these revisions, oldest first, and of the pairs of adjacent ones.
    pub const fn new(
        revisions: &'static [&'static RevisionTables],
        pairs: &'static [Pair],
    ) -> Self {
        Self {
            revisions,
            pairs,
            mistakes: &[],
            plans: ConversionPlans::new(),
        }
    }

    /// Sets what stands for mistakes of peers; nothing does by default.
    #[must_use]
    pub const fn with_mistakes(mut self, mistakes: Mistakes) -> Self {
        self.mistakes = mistakes;
        self
    }

    /// Returns the index of a revision.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.revisions.iter().position(|revision| revision.id == id)
    }

    /// Returns the rule of this id in a step.
    #[must_use]
    pub fn rule(&self, step: &str, id: &str) -> Option<&'static Rule> {
        let of = |pair: &&Pair| pair.up_step == step || pair.down_step == step;
        let mut rules = self.pairs.iter().find(of)?.rules.iter();
        rules.find(|rule| rule.id() == id).copied()
    }

    /// Converts a text from one revision to another, step by step.
    ///
    /// A part that is not valid where it comes from is mended, or left out, and recorded as a loss of the severity
    /// [`Invalid`](crate::Severity::Invalid). Fails for a text that is not valid where it comes from and cannot be mended, and
    /// names that are not known there.
    pub fn convert(
        &self,
        subject: Subject<'_>,
        from: usize,
        to: usize,
        text: &str,
        cx: &mut Context,
    ) -> Result<Result<Json, Stop>, Failure> {
        let planned;
        let plan = match self.plans.of(self.revisions, (from, to), subject) {
            Some(plan) => plan.get_or_init(|| self.plan(from, to, subject)),
            None => {
                planned = self.plan(from, to, subject);
                &planned
            }
        };
        let mut ty = plan.start.clone()?;
        let (mut value, is_framed) = match ty.read_framed(text) {
            Ok(read) => read,
            Err(error) => {
                if let Some(stop) = self.open_result(subject, from, to, text, cx) {
                    return Ok(Err(stop));
                }
                let first = plan.steps.first().map(|step| step.name);
                let mended = self.mended(ty, text, error)?;
                cx.enter(first.unwrap_or_else(|| self.id(from)));
                cx.mended(mended.mends);
                ty.read_framed(&mended.text).map_err(Failure::Invalid)?
            }
        };
        for step in &plan.steps {
            cx.enter(step.name);
            if let Some(stop) = step.method.and_then(|row| row.stop(step.up, cx)) {
                return Ok(Err(stop));
            }
            (value, ty) = match &step.how {
                PlanKind::Convert(one, next) => {
                    let result = if step.delivers {
                        one.convert(value, cx)
                    } else {
                        cx.undelivered(|cx| one.convert(value, cx))
                    };
                    match result {
                        Ok(value) => (value, *next),
                        Err(stop) => return Ok(Err(stop)),
                    }
                }
                PlanKind::Read(next) => {
                    let text = ty.write(&value).unwrap_or_default();
                    (next.read(text.text()).map_err(Failure::Invalid)?, *next)
                }
                PlanKind::Nowhere(revision) => {
                    return Ok(Err(no_counterpart(ty.name, revision, cx)));
                }
                PlanKind::Fail(failure) => return Err(failure.clone()),
            };
        }
        // A step adds little to a text, such as what a request says of its client.
        const ADDED: usize = 256;
        let written = (ty.write_within(&value, text.len() + ADDED))
            .ok_or_else(|| Failure::Unknown("a value of another type".to_owned()))?;
        if !is_framed {
            return Ok(Ok(written));
        }
        // The schema of the receiver may say more of a value that is kept as text.
        match ty.read_framed(written.text()) {
            Ok(_) => Ok(Ok(written)),
            Err(error) => {
                let mended = self.mended(ty, written.text(), error)?;
                cx.mended(mended.mends);
                Json::from_text(&mended.text)
                    .map(Ok)
                    .map_err(Failure::Invalid)
            }
        }
    }

    /// Converts a value from one revision to another, step by step, with no text in between.
    ///
    /// Both ends are the index of a revision and the Rust name of a type of it. Fails as the conversions; and a rejection if no
    /// chain of conversions leads from the one type to the other.
    pub fn convert_value<A: Decode + Encode + 'static, B: Decode + 'static>(
        &self,
        from: (usize, &str),
        to: (usize, &str),
        value: A,
        cx: &mut Context,
    ) -> Result<B, Stop> {
        let Some(steps) = route::chain(self.pairs, from, to) else {
            return Err(no_counterpart(from.1, self.id(to.0), cx));
        };
        let mut value = AnyValue::new(value);
        for (name, one) in steps {
            cx.enter(name);
            value = one.convert(value, cx)?;
        }
        value
            .take()
            .ok_or_else(|| no_counterpart(from.1, self.id(to.0), cx))
    }

    /// Returns the name of a method in another revision: the same, unless a rule of a pair between the two renames it.
    #[must_use]
    pub fn method_name<'m>(
        &self,
        method: &'m str,
        direction: Option<Direction>,
        from: usize,
        to: usize,
    ) -> &'m str {
        route::steps(from, to).fold(method, |method, step| match self.pairs.get(step.pair) {
            Some(pair) => pair.adjacent_name(method, direction, step.up),
            None => method,
        })
    }

    /// Converts an error that answers a method; a code that changes is recorded. Returns an error that an adapter has to turn
    /// into something else.
    pub fn convert_error(
        &self,
        method: &str,
        from: usize,
        to: usize,
        mut error: ErrorObject,
        cx: &mut Context,
    ) -> Result<ErrorObject, Stop> {
        let mut method = method;
        for step in route::steps(from, to) {
            let (Some(pair), up) = (self.pairs.get(step.pair), step.up) else {
                continue;
            };
            cx.enter(pair.step(up));
            let newer = pair.newer_name(method, None, up);
            method = pair.adjacent_name(method, None, up);
            let Some(code) = error.code.as_i64() else {
                continue;
            };
            let mut rows = pair.errors.iter();
            let fate = rows.find_map(|row| Some((row.rule, row.fate(&error, newer, up)?)));
            match fate {
                None => {}
                Some((rule, ErrorFate::RequiresState(adapter))) => {
                    return Err(cx.needs(rule, adapter));
                }
                Some((_, ErrorFate::Code(same))) if same == code => {}
                Some((rule, ErrorFate::Code(other))) => {
                    cx.recode(rule, Json::of(&error.code));
                    error.code = other.into();
                }
            }
        }
        Ok(error)
    }

    fn id(&self, at: usize) -> &'static str {
        self.revisions.get(at).map_or("", |revision| revision.id)
    }

    /// Mends a text that is not of its type.
    #[cold]
    fn mended(&self, ty: &TypeInfo, text: &str, error: Error) -> Result<Mended, Failure> {
        match self.mistakes {
            [] => Err(Failure::Invalid(error)),
            mistakes => ty.mend(text, mistakes).map_err(Failure::Invalid),
        }
    }

    /// Returns the refusal of a result that does not read: it is of a type that the next revision down cannot know.
    fn open_result(
        &self,
        subject: Subject<'_>,
        from: usize,
        to: usize,
        text: &str,
        cx: &mut Context,
    ) -> Option<Stop> {
        let Subject::Method(_, Part::Result, _) = subject else {
            return None;
        };
        let step = route::steps(from, to).next().filter(|step| !step.up)?;
        let pair = self.pairs.get(step.pair)?;
        let row = pair.open_results.as_ref()?;
        let members: Extra = mcp_wire::from_str(text).ok()?;
        let kind = members.get(row.member)?.as_str()?;
        if row.known.contains(&&*kind) {
            return None;
        }
        cx.enter(pair.step(step.up));
        Some(cx.reject(row.rule, row.code, row.message))
    }
}

/// Returns the end of a conversion of a part that has no counterpart.
fn no_counterpart(name: &str, revision: &str, cx: &Context) -> Stop {
    let what = format!("`{name}` has no counterpart in {revision}");
    cx.reject(&Rule::NO_COUNTERPART, ErrorObject::INVALID_PARAMS, &what)
}
