//! Plans the conversions of a pair: from the methods that both revisions have, through every type they reach.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::exact;
use super::limits;
use super::plan::{
    Arm, ArmPlan, Body, Conversion, DroppedPlan, End, Fate, FieldPlan, Filter, Hook, MethodPlan,
    Missing, PairPlan, Source, Step,
};
use super::rules::{Action, PairRules, Rule, Sender};
use crate::Error;
use crate::model::{
    Direction, Member, Method, Model, Object, Presence, Rest, Shape, Ty, TypeDef, Union,
};

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
    let up = Way {
        from: old.model,
        to: new.model,
        schemas: [old.schema, new.schema],
        rules,
        up: true,
    };
    let down = Way {
        from: new.model,
        to: old.model,
        schemas: [new.schema, old.schema],
        rules,
        up: false,
    };
    let mut errors = error_codes(old, new, rules);
    let mut ways = [Planner::new(up), Planner::new(down)];
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
        old: old.id.to_owned(),
        new: new.id.to_owned(),
        up,
        down,
        methods,
        errors: rules.errors().cloned().collect(),
    })
}

/// Matches the methods of both by name: a request that became an embedded one is the same method.
fn methods(
    old: &Model,
    new: &Model,
    rules: &PairRules,
    ways: &mut [Planner<'_>; 2],
    errors: &mut Vec<Error>,
) -> Vec<MethodPlan> {
    let by_name = |model: &'_ Model| -> BTreeMap<(String, Direction), Method> {
        let key = |method: &Method| (method.name.clone(), method.direction);
        model
            .methods
            .iter()
            .map(|method| (key(method), method.clone()))
            .collect()
    };
    let (old, new) = (by_name(old), by_name(new));
    let names: BTreeSet<&(String, Direction)> = old.keys().chain(new.keys()).collect();
    let mut plans = Vec::new();
    for key in names {
        let (name, direction) = key;
        let sender = match direction {
            Direction::ClientToServer => Sender::Client,
            Direction::ServerToClient => Sender::Server,
        };
        let fate = match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => {
                let mut both = |old: &Option<Ty>, new: &Option<Ty>, part: &str| {
                    let (Some(old), Some(new)) = (old, new) else {
                        return None;
                    };
                    let place = format!("{name} {part}");
                    let [up, down] = &mut *ways;
                    match (up.step(old, new), down.step(new, old)) {
                        (Ok(up), Ok(down)) => Some([up, down]),
                        (Err(problem), _) | (_, Err(problem)) => {
                            errors.push(uncovered(rules, &place, "either way", &problem));
                            None
                        }
                    }
                };
                Fate::Both {
                    params: both(&old.params, &new.params, "params"),
                    result: both(&old.result, &new.result, "result"),
                }
            }
            (only_old, _) => match rules.method(name, sender) {
                Some(rule) => {
                    let (rule, action) = (rule.id.clone(), rule.action.clone());
                    match only_old {
                        Some(_) => Fate::OldOnly { rule, action },
                        None => Fate::NewOnly { rule, action },
                    }
                }
                None => {
                    let what = match only_old {
                        Some(_) => "the newer revision has no such method",
                        None => "the older revision has no such method",
                    };
                    errors.push(Error::File {
                        file: rules.path().into(),
                        problem: format!(
                            "method `{name}`: {what}, and no rule says what becomes of it"
                        )
                        .into(),
                        detail: "".into(),
                        help: format!("add a [[method]] with name = \"{name}\"").into(),
                    });
                    continue;
                }
            },
        };
        plans.push(MethodPlan {
            name: name.clone(),
            sender,
            fate,
        });
    }
    plans
}

/// Every error code that only one of the two revisions may send, and no rule speaks of.
fn error_codes(old: Side<'_>, new: Side<'_>, rules: &PairRules) -> Vec<Error> {
    let mut errors = Vec::new();
    for (one, other) in [(old, new), (new, old)] {
        for (code, name) in one.errors {
            let shared = other.errors.iter().any(|(known, _)| known == code);
            if !shared && rules.error_row(*code).is_none() {
                errors.push(Error::File {
                    file: rules.path().into(),
                    problem: format!(
                        "error {code} ({name}) of {}: {} does not send it, and no rule says what becomes of it",
                        one.id, other.id
                    )
                    .into(),
                    detail: "".into(),
                    help: format!("add an [[error]] with code = {code}").into(),
                });
            }
        }
    }
    errors
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
struct Way<'m> {
    from: &'m Model,
    to: &'m Model,
    schemas: [&'m Value; 2],
    rules: &'m PairRules,
    up: bool,
}

struct Planner<'m> {
    way: Way<'m>,
    known: BTreeSet<(End, End)>,
    open: VecDeque<(End, End)>,
}

/// What stands in the way, in words; the caller knows the place.
type Problem = String;

impl<'m> Planner<'m> {
    fn new(way: Way<'m>) -> Self {
        Self {
            way,
            known: BTreeSet::new(),
            open: VecDeque::new(),
        }
    }

    /// All pairs of types that are reached from those asked for so far.
    fn reached(&self) -> BTreeSet<(End, End)> {
        let mut ahead = Self {
            way: self.way,
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
            let way = if self.way.up {
                "on the way up"
            } else {
                "on the way down"
            };
            errors.extend(
                problems
                    .iter()
                    .map(|(place, problem)| uncovered(self.way.rules, place, way, problem)),
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
            (End::Type(name), _) => self.way.from.get(name),
            (_, End::Type(name)) => self.way.to.get(name),
            _ => None,
        };
        def.map_or_else(|| "shared".to_owned(), |def| def.area.clone())
    }

    /// How a value of one type becomes a value of the other; asks for the conversions that it calls.
    fn step(&mut self, from: &Ty, to: &Ty) -> Result<Step, Problem> {
        let from = self.way.from.resolve(from);
        let to = self.way.to.resolve(to);
        Ok(match (from, to) {
            (Ty::Named(a), Ty::Named(b)) => {
                if !self.belong_together(a, b) {
                    return Err(format!("`{a}` became `{b}`"));
                }
                self.call(End::Type(a.clone()), End::Type(b.clone()))
            }
            (Ty::Map(value), Ty::Named(b))
                if **value == Ty::Json && self.is_object(self.way.to, b) =>
            {
                self.call(End::Map, End::Type(b.clone()))
            }
            (Ty::JsonObject, Ty::Named(b)) if self.is_object(self.way.to, b) => {
                self.call(End::Opaque, End::Type(b.clone()))
            }
            (Ty::Named(a), Ty::Map(value))
                if **value == Ty::Json && self.is_object(self.way.from, a) =>
            {
                self.call(End::Type(a.clone()), End::Map)
            }
            (Ty::Named(a), Ty::JsonObject) if self.is_object(self.way.from, a) => {
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
            || (self.is_object(self.way.from, from) && self.is_object(self.way.to, to))
            || holds(self.way.to, to, &|variant| self.is_one(from, variant))
            || holds(self.way.from, from, &|variant| self.is_one(variant, to))
    }

    /// Whether two types are one, by their name or by a rule.
    fn is_one(&self, from: &str, to: &str) -> bool {
        from == to || self.way.rules.renamed(from, to, self.way.up)
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
        let from_def = self.def(self.way.from, from);
        let to_def = self.def(self.way.to, to);
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

    fn variant_that_holds(
        &mut self,
        def: &TypeDef,
        union: &Union,
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        if let Some((rule, Action::Custom(path))) =
            self.way.rules.decision(&def.doc_key, self.way.up)
        {
            return Some(Body::Custom(hook(rule, path)));
        }
        let found = union.variants.iter().find_map(|variant| match &variant.ty {
            Ty::Named(name) if self.is_one(&def.name, name) => Some((variant, name.clone())),
            _ => None,
        });
        let Some((variant, wanted)) = found else {
            problems.push((
                def.doc_key.clone(),
                format!("no variant of the target holds `{}`", def.name),
            ));
            return None;
        };
        let step = self.call(End::Type(def.name.clone()), End::Type(wanted));
        Some(Body::IntoVariant(variant.name.clone(), variant.boxed, step))
    }

    /// What becomes of each variant; the target is a union, or one type that a variant holds.
    fn arms(
        &mut self,
        def: &TypeDef,
        union: &Union,
        target: Result<&Union, &str>,
        problems: &mut Vec<(String, Problem)>,
    ) -> Vec<ArmPlan> {
        let mut arms = Vec::new();
        for variant in &union.variants {
            let place = format!("{}|{}", def.doc_key, variant.name);
            // A rule is for what has no counterpart.
            let arm = match self.same_arm(&variant.ty, target) {
                Some(arm) => Some(arm),
                None => self.decided_arm(&place),
            };
            match arm {
                Some(arm) => arms.push(ArmPlan {
                    variant: variant.name.clone(),
                    boxed: variant.boxed,
                    arm,
                }),
                None => {
                    let what = match &variant.ty {
                        Ty::Named(name) => format!("the target has no variant that holds `{name}`"),
                        _ => "the target has no such variant".to_owned(),
                    };
                    problems.push((place, what));
                }
            }
        }
        arms
    }

    fn decided_arm(&self, place: &str) -> Option<Arm> {
        let (rule, action) = self.way.rules.decision(place, self.way.up)?;
        Some(match action {
            Action::Custom(path) => Arm::Custom(hook(rule, path)),
            Action::NeedsState(adapter) => Arm::NeedsState {
                rule: rule.id.clone(),
                adapter: adapter.clone(),
            },
            Action::Reject(error) => Arm::Reject {
                rule: rule.id.clone(),
                error: error.clone(),
            },
            _ => return None,
        })
    }

    fn same_arm(&mut self, ty: &Ty, target: Result<&Union, &str>) -> Option<Arm> {
        match target {
            Err(name) => {
                let Ty::Named(own) = self.way.from.resolve(ty) else {
                    return None;
                };
                let own = own.clone();
                if !self.is_one(&own, name) {
                    return None;
                }
                let step = self.call(End::Type(own), End::Type(name.to_owned()));
                Some(Arm::Same {
                    variant: None,
                    boxed: false,
                    step,
                })
            }
            Ok(target) => {
                let variant = target.variants.iter().find(|variant| {
                    match (self.way.from.resolve(ty), self.way.to.resolve(&variant.ty)) {
                        (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                        (Ty::Array(a), Ty::Array(b)) => match (&**a, &**b) {
                            (Ty::Named(a), Ty::Named(b)) => self.is_one(a, b),
                            (a, b) => a == b,
                        },
                        (a, b) => a == b,
                    }
                })?;
                let step = self.step(ty, &variant.ty).ok()?;
                Some(Arm::Same {
                    variant: Some(variant.name.clone()),
                    boxed: variant.boxed,
                    step,
                })
            }
        }
    }

    fn object(
        &mut self,
        from_def: &TypeDef,
        from: &Object,
        to_def: Option<&TypeDef>,
        to: &Object,
        problems: &mut Vec<(String, Problem)>,
    ) -> Option<Body> {
        let to_key = to_def.map_or(from_def.doc_key.as_str(), |def| def.doc_key.as_str());
        let from_key = match from_def.definition.is_none() && from_def.places.is_empty() {
            // An opaque object has no name of its own.
            true => to_key,
            false => from_def.doc_key.as_str(),
        };
        let mut fields = Vec::new();
        for target in &to.members {
            if matches!(target.presence, Presence::Constant(_)) {
                continue;
            }
            let source = from.members.iter().find(|source| {
                source.wire == target.wire && !matches!(source.presence, Presence::Constant(_))
            });
            let place = format!("{to_key}.{}", target.wire);
            let plan = match source {
                Some(source) => {
                    let defs = [Some(from_def), to_def];
                    problems.extend(self.limited([source, target], defs, [from_key, to_key]));
                    self.same_member(source, target, &place)
                }
                None => self.new_member(target, &place),
            };
            match plan {
                Ok(source) => fields.push(FieldPlan {
                    wire: target.wire.clone(),
                    field: target.field.clone(),
                    source,
                }),
                Err(problem) => problems.push((place, problem)),
            }
        }
        let mut dropped = Vec::new();
        for source in &from.members {
            let constant = matches!(source.presence, Presence::Constant(_));
            let kept = to.members.iter().any(|target| target.wire == source.wire);
            if constant || kept {
                continue;
            }
            let place = format!("{from_key}.{}", source.wire);
            match self.way.rules.decision(&place, self.way.up) {
                Some((rule, action)) if !action.drops() => {
                    problems.push((
                        place,
                        unfit(rule, "becomes of a member that the target does not have"),
                    ));
                }
                Some((rule, action)) => dropped.push(DroppedPlan {
                    wire: source.wire.clone(),
                    field: source.field.clone(),
                    optional: source.presence == Presence::Optional,
                    rule: rule.id.clone(),
                    action: action.clone(),
                    loss: rule.loss,
                }),
                None => problems.push((place, "the target has no such member".to_owned())),
            }
        }
        let hooks = |key: &str, wanted: fn(&Action) -> Option<&String>| -> Vec<Hook> {
            (self.way.rules.decisions(key.to_owned(), self.way.up))
                .filter_map(|(rule, action)| wanted(action).map(|path| hook(rule, path)))
                .collect()
        };
        let before = hooks(from_key, |action| match action {
            Action::Before(path) => Some(path),
            _ => None,
        });
        let after = hooks(to_key, |action| match action {
            Action::After(path) => Some(path),
            _ => None,
        });
        Some(Body::Object {
            before,
            fields,
            dropped,
            after,
        })
    }

    /// The limits of a member that are tighter in the target, and that neither a rule of its own nor a hook of its
    /// type sees to.
    fn limited(
        &self,
        members: [&Member; 2],
        defs: [Option<&TypeDef>; 2],
        keys: [&str; 2],
    ) -> Vec<(String, Problem)> {
        let Way {
            rules,
            up,
            schemas: [before, now],
            ..
        } = self.way;
        let [source, target] = members;
        let mut all = limits::tighter(source, target);
        if let [Some(from), Some(to)] = defs {
            all.extend(limits::tighter_text([(before, from), (now, to)], members));
        }
        let [from_key, to_key] = keys;
        let open = all.into_iter().filter(|(place, _)| {
            // Not `||`: each rule that says so has to be seen.
            !(rules.fits(from_key, place, up) | rules.fits(to_key, place, up))
        });
        open.map(|(place, problem)| (format!("{to_key}.{place}"), problem))
            .collect()
    }

    fn same_member(
        &mut self,
        source: &Member,
        target: &Member,
        place: &str,
    ) -> Result<Source, Problem> {
        let optional = [source, target].map(|member| member.presence == Presence::Optional);
        let Way { rules, up, .. } = self.way;
        let offer = rules.offer(place, up);
        let used = |offset: usize| rules.uses(offset, up);
        if let Some((offset, rule, Action::Custom(path))) = offer {
            used(offset);
            return Ok(Source::Custom {
                field: source.field.clone(),
                hook: hook(rule, path),
            });
        }
        let step = self.step(&source.ty, &target.ty)?;
        let missing = match (optional, offer) {
            ([true, false], Some((_, rule, action))) if !action.fills() => {
                return Err(unfit(
                    rule,
                    "an absent one becomes where the target must have it",
                ));
            }
            ([true, false], Some((offset, rule, action))) => {
                used(offset);
                let mut missing = missing(rule, action, target);
                if *action == Action::Empty
                    && let Ty::Named(name) = self.way.from.resolve(&source.ty)
                {
                    missing.empty = Some((name.clone(), step.clone()));
                }
                Some(missing)
            }
            ([true, false], None) => {
                return Err("the target must have it, the source may not".to_owned());
            }
            _ => None,
        };
        let implied = match offer {
            Some((offset, _, Action::Implied(value))) if optional == [false, true] => {
                used(offset);
                Some(value.clone())
            }
            _ => None,
        };
        let filter = match (offer, &step) {
            (Some((offset, rule, Action::Filter(path))), Step::List(_)) => {
                used(offset);
                Some(Filter {
                    hook: hook(rule, path),
                    loss: rule.loss,
                })
            }
            _ => None,
        };
        Ok(Source::Same {
            field: source.field.clone(),
            step,
            optional,
            boxed: [source.boxed, target.boxed],
            missing,
            implied,
            filter,
        })
    }

    fn new_member(&self, target: &Member, place: &str) -> Result<Source, Problem> {
        if target.presence == Presence::Optional {
            return Ok(Source::Adopt {
                boxed: target.boxed,
            });
        }
        match self.way.rules.decision(place, self.way.up) {
            Some((rule, action)) if !action.fills() => {
                Err(unfit(rule, "a member gets that the source does not name"))
            }
            Some((rule, action)) => Ok(Source::Fill(missing(rule, action, target))),
            None => Err("the target must have it, the source does not name it".to_owned()),
        }
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

fn missing(rule: &Rule, action: &Action, target: &Member) -> Missing {
    // What is implied on the way down is the default on the way up.
    let action = match action {
        Action::Implied(value) => Action::Default(value.clone()),
        Action::Only(only) => Action::Default(Value::clone(&only.value)),
        action => action.clone(),
    };
    Missing {
        rule: rule.id.clone(),
        action,
        ty: target.ty.clone(),
        boxed: target.boxed,
        empty: None,
    }
}

/// Stands for an object whose members nobody named.
fn pseudo(name: &str) -> TypeDef {
    TypeDef {
        name: name.to_owned(),
        definition: None,
        places: Vec::new(),
        doc_key: name.to_owned(),
        area: String::new(),
        deprecated: false,
        shape: Shape::Alias(Ty::JsonObject),
    }
}
