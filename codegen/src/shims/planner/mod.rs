//! Plans the conversions of a pair: from the methods that both revisions have, through every type they reach.

mod methods;
mod objects;
mod unions;

use methods::{error_codes, methods};
use objects::pseudo;

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::exact;
use super::pair::{Pair, Way};
use super::plan::{Body, Conversion, End, Hook, PairPlan, Step};
use super::rules::{PairRules, Rule};
use crate::Error;
use crate::model::{Model, Object, Rest, Shape, Ty, TypeDef};

/// One revision of a pair.
#[derive(Debug, Clone, Copy)]
pub struct Side<'m> {
    /// The id of the revision.
    pub id: &'m str,
    /// Its model.
    pub model: &'m Model,
    /// Its schema, for what the model leaves as text.
    pub schema: &'m Value,
    /// Its error codes that may be sent, and their names.
    pub errors: &'m [(i64, String)],
}

/// Plans a pair.
///
/// # Errors
/// Every change without a rule, named with the line to write, and every rule without a change.
pub fn plan(old: Side<'_>, new: Side<'_>, rules: &PairRules) -> Result<PairPlan, Error> {
    let mut errors = error_codes(old, new, rules);
    let mut ways = Way::BOTH.map(|way| {
        let [from, to] = way.of([old, new], [new, old]);
        Planner::new(Hop {
            from: from.model,
            to: to.model,
            schemas: [from.schema, to.schema],
            rules,
            way,
        })
    });
    let methods = methods(old.model, new.model, rules, &mut ways, &mut errors);
    let mut also = Vec::new();
    for (offset, name) in rules.also() {
        if old.model.get(name).is_none() || new.model.get(name).is_none() {
            errors.push(rules.also_error(offset, "both revisions must have a type of that name"));
            continue;
        }
        let end = || End::Type(name.to_owned());
        also.push((offset, (end(), end())));
    }
    if errors.is_empty() {
        // What the methods reach is only known once their types have been gone through.
        let reached = ways.each_ref().map(|way| way.reached());
        for (offset, pair) in &also {
            if reached.iter().all(|reached| reached.contains(pair)) {
                errors.push(
                    rules.also_error(*offset, "a method of both revisions reaches it as it is"),
                );
            }
        }
    }
    for (_, (from, to)) in also {
        for way in &mut ways {
            way.call(from.clone(), to.clone());
        }
    }
    let [mut up, mut down] = ways.map(|way| way.run(&mut errors));
    if errors.is_empty() {
        errors.extend(rules.unused());
    }
    Error::check(errors)?;
    exact::mark(&mut up);
    exact::mark(&mut down);
    Ok(PairPlan {
        pair: Pair::new(old.id, new.id),
        up,
        down,
        methods,
        errors: rules.errors().cloned().collect(),
    })
}

fn uncovered(rules: &PairRules, place: &str, way: &str, problem: &str) -> Error {
    Error::File {
        file: rules.path().into(),
        problem: format!("{place}, {way}: {problem}, and no rule covers it").into(),
        detail: "".into(),
        help: format!(
            "add a [[rule]] with at = \"{place}\", a [[rename]], or a hook that covers it"
        )
        .into(),
    }
}

/// One direction of a pair.
#[derive(Debug, Clone, Copy)]
struct Hop<'m> {
    from: &'m Model,
    to: &'m Model,
    schemas: [&'m Value; 2],
    rules: &'m PairRules,
    way: Way,
}

struct Planner<'m> {
    hop: Hop<'m>,
    known: BTreeSet<(End, End)>,
    open: VecDeque<(End, End)>,
}

/// What stands in the way, in words; the caller knows the place.
type Problem = String;

impl<'m> Planner<'m> {
    fn new(hop: Hop<'m>) -> Self {
        Self {
            hop,
            known: BTreeSet::new(),
            open: VecDeque::new(),
        }
    }

    /// All pairs of types that are reached from those asked for so far.
    fn reached(&self) -> BTreeSet<(End, End)> {
        let mut ahead = Self {
            hop: self.hop,
            known: self.known.clone(),
            open: self.open.clone(),
        };
        while let Some((from, to)) = ahead.open.pop_front() {
            let _ = ahead.body(&from, &to, &mut Vec::new());
        }
        ahead.known
    }

    fn run(mut self, errors: &mut Vec<Error>) -> Vec<Conversion> {
        let mut conversions = Vec::new();
        while let Some((from, to)) = self.open.pop_front() {
            let mut problems = Vec::new();
            let body = self.body(&from, &to, &mut problems);
            let way = format!("on the way {}", self.hop.way);
            errors.extend(
                problems
                    .iter()
                    .map(|(place, problem)| uncovered(self.hop.rules, place, &way, problem)),
            );
            if let Some(body) = body {
                conversions.push(Conversion {
                    area: self.area(&from, &to),
                    from,
                    to,
                    exact: false,
                    body,
                });
            }
        }
        conversions.sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        conversions
    }

    fn area(&self, from: &End, to: &End) -> String {
        let def = match (from, to) {
            (End::Type(name), _) => self.hop.from.get(name),
            (_, End::Type(name)) => self.hop.to.get(name),
            _ => None,
        };
        def.map_or_else(|| "shared".to_owned(), |def| def.area.clone())
    }

    /// How a value of one type becomes a value of the other; asks for the conversions that it calls.
    fn step(&mut self, from: &Ty, to: &Ty) -> Result<Step, Problem> {
        let from = self.hop.from.resolve(from);
        let to = self.hop.to.resolve(to);
        Ok(match (from, to) {
            (Ty::Named(a), Ty::Named(b)) => {
                if !self.belong_together(a, b) {
                    return Err(format!("`{a}` became `{b}`"));
                }
                self.call(End::Type(a.clone()), End::Type(b.clone()))
            }
            (Ty::Map(value), Ty::Named(b))
                if **value == Ty::Json && self.is_object(self.hop.to, b) =>
            {
                self.call(End::Map, End::Type(b.clone()))
            }
            (Ty::JsonObject, Ty::Named(b)) if self.is_object(self.hop.to, b) => {
                self.call(End::Opaque, End::Type(b.clone()))
            }
            (Ty::Named(a), Ty::Map(value))
                if **value == Ty::Json && self.is_object(self.hop.from, a) =>
            {
                self.call(End::Type(a.clone()), End::Map)
            }
            (Ty::Named(a), Ty::JsonObject) if self.is_object(self.hop.from, a) => {
                self.call(End::Type(a.clone()), End::Opaque)
            }
            (Ty::Array(a), Ty::Array(b)) => match self.step(a, b)? {
                Step::Move => Step::Move,
                step => Step::List(Box::new(step)),
            },
            (Ty::Map(a), Ty::Map(b)) => match self.step(a, b)? {
                Step::Move => Step::Move,
                step => Step::Map(Box::new(step)),
            },
            (Ty::Nullable(a), Ty::Nullable(b)) => match self.step(a, b)? {
                Step::Move => Step::Move,
                step => Step::Nullable(Box::new(step)),
            },
            (Ty::JsonObject | Ty::JsonArray, Ty::Json) => Step::Widen,
            (a, b) if a == b => Step::Move,
            (a, b) => return Err(format!("its type changed from {a:?} to {b:?}")),
        })
    }

    fn call(&mut self, from: End, to: End) -> Step {
        let pair = (from.clone(), to.clone());
        if self.known.insert(pair.clone()) {
            self.open.push_back(pair);
        }
        Step::Call { from, to }
    }

    /// Whether two types that stand at the same place can be converted: they are one in two
    /// revisions, both are objects, or one is a variant of the other.
    fn belong_together(&self, from: &str, to: &str) -> bool {
        let holds = |model: &Model, union: &str, wanted: &dyn Fn(&str) -> bool| match model
            .get(union)
            .map(|def| &def.shape)
        {
            Some(Shape::Union(union)) => union
                .variants
                .iter()
                .any(|variant| matches!(&variant.ty, Ty::Named(name) if wanted(name))),
            _ => false,
        };
        self.is_one(from, to)
            || (self.is_object(self.hop.from, from) && self.is_object(self.hop.to, to))
            || holds(self.hop.to, to, &|variant| self.is_one(from, variant))
            || holds(self.hop.from, from, &|variant| self.is_one(variant, to))
    }

    /// Whether two types are one, by their name or by a rule.
    fn is_one(&self, from: &str, to: &str) -> bool {
        from == to || self.hop.rules.renamed(from, to, self.hop.way)
    }

    fn is_object(&self, model: &Model, name: &str) -> bool {
        matches!(
            model.get(name).map(|def| &def.shape),
            Some(Shape::Object(_))
        )
    }

    fn body(
        &mut self,
        from: &End,
        to: &End,
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        let from_def = self.def(self.hop.from, from);
        let to_def = self.def(self.hop.to, to);
        let empty = Object {
            members: Vec::new(),
            rest: Rest::Open,
        };
        match (from_def.map(|def| &def.shape), to_def.map(|def| &def.shape)) {
            (Some(Shape::Union(a)), Some(Shape::Union(b))) => {
                Some(Body::Union(self.arms(from_def?, a, Ok(b), problems)))
            }
            (Some(Shape::Union(a)), _) => {
                let target = to.name().to_owned();
                Some(Body::Union(self.arms(from_def?, a, Err(&target), problems)))
            }
            (_, Some(Shape::Union(b))) => self.variant_that_holds(from_def?, b, problems),
            (Some(Shape::StringEnum(a)), Some(Shape::StringEnum(b))) => {
                self.strings(from_def?, a, b, problems)
            }
            (Some(Shape::Object(a)), Some(Shape::Object(b))) => {
                self.object(from_def?, a, to_def, b, problems)
            }
            (None, Some(Shape::Object(b))) => {
                let source = pseudo(from.name());
                self.object(&source, &empty, to_def, b, problems)
            }
            (Some(Shape::Object(a)), None) => self.object(from_def?, a, None, &empty, problems),
            _ => {
                problems.push((from.name().to_owned(), format!("it became `{}`", to.name())));
                None
            }
        }
    }

    fn def(&self, model: &'m Model, end: &End) -> Option<&'m TypeDef> {
        match end {
            End::Type(name) => model.get(name),
            End::Map | End::Opaque => None,
        }
    }

    fn strings(
        &self,
        def: &TypeDef,
        from: &[String],
        to: &[String],
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        for value in from.iter().filter(|value| !to.contains(value)) {
            problems.push((
                format!("{}|{value}", def.doc_key),
                "the target has no such value".to_owned(),
            ));
        }
        Some(Body::Strings(from.to_vec()))
    }
}

/// A rule at the right place that answers another question.
fn unfit(rule: &Rule, question: &str) -> Problem {
    format!("rule `{}` does not say what {question}", rule.id)
}

fn hook(rule: &Rule, path: &str) -> Hook {
    Hook {
        rule: rule.id.clone(),
        path: path.to_owned(),
    }
}
