//! What the tables say of a conversion, looked up once for each method, part and way.

use std::sync::OnceLock;

use mcp_wire::{Direction, MethodInfo, TypeInfo};

use super::tables::{MethodStep, Pair, RevisionTables, TypeStep};
use super::{Failure, Part, Subject, Tables, route};

/// A conversion from one revision to another, as far as it does not depend on the value.
#[derive(Debug)]
pub(super) struct Plan {
    /// The type that is read, if the first revision has it.
    pub(super) start: Result<&'static TypeInfo, Failure>,
    /// The steps; no more after one that ends the conversion.
    pub(super) steps: Vec<PlannedStep>,
}

/// One step of a conversion.
#[derive(Debug)]
pub(super) struct PlannedStep {
    /// Its name in losses.
    pub(super) name: &'static str,
    pub(super) up: bool,
    /// The method that only one of the two revisions has, or that means something else to the other.
    pub(super) method: Option<&'static MethodStep>,
    /// Whether a subscription delivers the message.
    pub(super) delivers: bool,
    pub(super) how: PlanKind,
}

/// What a step does with a value.
#[derive(Debug)]
pub(super) enum PlanKind {
    /// The conversion, and the type that it gives.
    Convert(&'static TypeStep, &'static TypeInfo),
    /// The value is read again, as the type that is exactly alike.
    Read(&'static TypeInfo),
    /// The type has no counterpart in the revision of this id.
    Nowhere(&'static str),
    /// The revision does not know what it is asked for.
    Fail(Failure),
}

/// The plans of methods, each made when it is first needed: as many as there are methods, parts and ways between
/// revisions, and no more.
#[derive(Debug)]
pub(super) struct ConversionPlans(OnceLock<Box<[PlanDirection]>>);

/// The plans between two revisions, for each of the first one's methods.
type PlanDirection = OnceLock<Box<[OnceLock<Plan>]>>;

/// How many plans a method has: a part, and who sends the request if that is known.
const PLANS: usize = 2 * 3;

impl ConversionPlans {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the place of a method's plan; `None` if the revision has no method of this name.
    pub(super) fn of(
        &self,
        revisions: &[&'static RevisionTables],
        (from, to): (usize, usize),
        subject: Subject<'_>,
    ) -> Option<&OnceLock<Plan>> {
        let Subject::Method(name, part, sender) = subject else {
            return None;
        };
        let empty = |number| (0..number).map(|_| OnceLock::new()).collect();
        let methods = revisions.get(from)?.methods;
        let method = methods.iter().position(|row| row.name == name)?;
        let ways = self.0.get_or_init(|| {
            let ways = revisions.len() * revisions.len();
            (0..ways).map(|_| OnceLock::new()).collect()
        });
        let way = ways.get(from * revisions.len() + to)?;
        let plans = way.get_or_init(|| empty(methods.len() * PLANS));
        let part = match part {
            Part::Params => 0,
            Part::Result => 1,
        };
        let sender = match sender {
            None => 0,
            Some(Direction::ClientToServer) => 1,
            Some(Direction::ServerToClient) => 2,
        };
        plans.get(method * PLANS + part * 3 + sender)
    }
}

impl Tables {
    /// Looks up what a conversion does at each step.
    pub(super) fn plan(&self, from: usize, to: usize, subject: Subject<'_>) -> Plan {
        let start = self.revision(from).and_then(|start| {
            self.revision(to)?;
            Ok((start, type_of(start, subject)?))
        });
        let (start, mut ty) = match start {
            Ok(start) => start,
            Err(failure) => {
                return Plan {
                    start: Err(failure),
                    steps: Vec::new(),
                };
            }
        };
        let mut plan = Plan {
            start: Ok(ty),
            steps: Vec::new(),
        };
        let mut subject = subject;
        let mut before = start;
        for step in route::steps(from, to) {
            let (Some(pair), Ok(revision)) = (self.pairs.get(step.pair), self.revision(step.to))
            else {
                plan.start = Err(Failure::Unknown("no such pair of revisions".to_owned()));
                return plan;
            };
            let method = match subject {
                Subject::Method(method, _, sender) => pair.method(method, sender, step.up),
                Subject::Type(_) => None,
            };
            let delivers = pair.delivers(subject, start.methods, step.up);
            if let Subject::Method(method, _, sender) = &mut subject {
                *method = pair.adjacent_name(method, *sender, step.up);
            }
            let how = how(pair, step.up, (before, revision), ty, subject);
            before = revision;
            let next = match &how {
                PlanKind::Convert(_, next) | PlanKind::Read(next) => Some(*next),
                PlanKind::Nowhere(_) | PlanKind::Fail(_) => None,
            };
            plan.steps.push(PlannedStep {
                name: pair.step(step.up),
                up: step.up,
                method,
                delivers,
                how,
            });
            match next {
                Some(next) => ty = next,
                None => break,
            }
        }
        plan
    }

    fn revision(&self, at: usize) -> Result<&'static RevisionTables, Failure> {
        let unknown = || Failure::Unknown("no such revision".to_owned());
        self.revisions.get(at).copied().ok_or_else(unknown)
    }
}

/// Returns the step of a value of a type from one revision to another.
fn how(
    pair: &'static Pair,
    up: bool,
    (before, revision): (&'static RevisionTables, &'static RevisionTables),
    ty: &'static TypeInfo,
    subject: Subject<'_>,
) -> PlanKind {
    let types = pair.types(up);
    let wanted = match subject {
        Subject::Type(_) => None,
        Subject::Method(..) => match type_of(revision, subject) {
            Ok(wanted) => Some(wanted.rust_name),
            Err(failure) => return PlanKind::Fail(failure),
        },
    };
    match route::type_step(types, ty.rust_name, wanted) {
        Some(one) => match revision.rust_type(one.to) {
            Some(next) => PlanKind::Convert(one, next),
            None => PlanKind::Fail(Failure::Unknown(format!("no type `{}`", one.to))),
        },
        None => match revision.rust_type(ty.rust_name) {
            Some(next) if pair.alike.contains(&ty.rust_name) => PlanKind::Read(next),
            Some(next) => match step_by_other_name(types, (before, ty), (revision, next)) {
                Some(one) => PlanKind::Convert(one, next),
                None => PlanKind::Nowhere(revision.id),
            },
            None => PlanKind::Nowhere(revision.id),
        },
    }
}

/// Returns the conversion of a type that has a second name in both revisions, by its first one: `EmptyResult` is converted
/// as `Result` is.
fn step_by_other_name(
    types: &'static [TypeStep],
    (before, ty): (&RevisionTables, &TypeInfo),
    (revision, next): (&RevisionTables, &TypeInfo),
) -> Option<&'static TypeStep> {
    let is_other_name = |of: &RevisionTables, name: &str, row: &TypeInfo| {
        of.rust_type(name)
            .is_some_and(|first| first.is_same_type(row))
    };
    types
        .iter()
        .find(|step| is_other_name(before, step.from, ty) && is_other_name(revision, step.to, next))
}

/// Returns the type that is converted, in a revision.
fn type_of(revision: &RevisionTables, subject: Subject<'_>) -> Result<&'static TypeInfo, Failure> {
    let unknown = |what: String| Failure::Unknown(format!("no {what} in {}", revision.id));
    let name = match subject {
        Subject::Type(name) => name,
        Subject::Method(method, part, _) => {
            let row: &MethodInfo = revision
                .methods
                .iter()
                .find(|row| row.name == method)
                .ok_or_else(|| unknown(format!("method `{method}`")))?;
            part.of(row)
                .ok_or_else(|| unknown(format!("{part:?} of `{method}`")))?
        }
    };
    revision
        .type_named(name)
        .ok_or_else(|| unknown(format!("type `{name}`")))
}
