//! Plans the conversions of a pair: from the methods that both revisions have, through every type they reach.

mod alternatives;
mod entries;
mod lists;
mod members;
mod methods;
mod objects;
mod unions;
mod words;

use methods::{error_codes, methods};

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::collections::VecDeque;
use std::fmt::Write as _;

use super::open::{OpenDifferences, ProposedRow, UNDECIDED};
use super::plan::{
    ConversionBody, Effect, HookCall, PairEnd, PairPlan, PlannedConversion, StringPlan, Transfer,
};
use super::rules::{Action, Also, Offer, PairRule, PairRules, Reject, placed};
use super::{alike, effect};
use mcp_revisions_diff::{ComparedSchemas, MemberLimits};
use mcp_revisions_schema::Error;
use mcp_revisions_schema::model::{Model, ObjectShape, Rest, Shape, Ty, TypeDef, Union};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::spec::toml_text::quoted;

/// One revision of a pair.
#[derive(Debug, Clone, Copy)]
pub struct PairSide<'m> {
    /// The id of the revision.
    pub id: &'m str,
    /// The name of it in messages.
    pub wire: &'m str,
    /// Its model.
    pub model: &'m Model,
    /// Its error codes that may be sent, and their names.
    pub errors: &'m [(i64, String)],
}

/// A plan, and what is wrong with the rules that it was made by.
#[derive(Debug)]
pub struct Planned {
    /// The plan: what no rule answers gets the safe answer there, and is listed in [`PairPlan::open`].
    pub plan: PairPlan,
    /// Every rule without a change, and every rule that answers another question than the one at its place.
    pub faults: Vec<Error>,
}

/// Plans a pair.
pub fn plan(old: PairSide<'_>, new: PairSide<'_>, rules: &PairRules) -> Planned {
    let (compared, errors) = match ComparedSchemas::of(old.model, new.model) {
        Ok(compared) => (Some(compared), Vec::new()),
        Err(errors) => (None, errors),
    };
    let mut planned = plan_compared(old, new, compared.as_ref(), rules);
    planned.faults.splice(0..0, errors);
    planned
}

/// Plans a pair whose schemas are compared; without that, limits that no type expresses are not looked at.
pub fn plan_compared(
    old: PairSide<'_>,
    new: PairSide<'_>,
    compared: Option<&ComparedSchemas>,
    rules: &PairRules,
) -> Planned {
    let mut errors = Vec::new();
    let limits = compared.map(MemberLimits::of);
    let mut ways = StepDirection::BOTH.map(|way| {
        let [from, to] = way.ends([old, new]);
        Planner {
            before: from.id,
            now: to.id,
            restates: from.wire != to.wire,
            from: from.model,
            to: to.model,
            limits: limits.as_ref(),
            rules,
            way,
            known: SortedSet::new(),
            open: VecDeque::new(),
            done: Vec::new(),
            splits: SortedMap::new(),
            found: OpenDifferences::default(),
            unsupported: Vec::new(),
        }
    });
    let mut found = OpenDifferences::default();
    let mut codes = rules.errors().cloned().collect();
    error_codes(old, new, rules, &mut codes, &mut found);
    let methods = methods(old, new, rules, &mut ways, &mut found, &mut errors);
    let mut also = Vec::new();
    let mut fault = |offset: usize, row: &Also, problem: &str| {
        errors.push(rules.error(offset, &row.r#type, problem, &row.reason));
    };
    for (offset, row) in placed(&rules.rows.also) {
        let end = PairEnd::Type(row.r#type.clone());
        let has = |side: PairSide<'_>| side.model.get(&row.r#type).is_some();
        if has(old) && has(new) {
            also.push((offset, row, (end.clone(), end)))
        } else {
            fault(offset, row, "both revisions must have a type of that name")
        }
    }
    // The types that the methods reach are only known once all types have been gone through.
    ways.iter_mut().for_each(Planner::run);
    for (offset, row, pair) in &also {
        if ways.iter().all(|way| way.known.contains(pair)) {
            let problem = "a method of both revisions reaches it as it is";
            fault(*offset, row, problem);
        }
    }
    for (.., (from, to)) in also {
        for way in &mut ways {
            way.call(from.clone(), to.clone());
        }
    }
    let [mut up, mut down] = ways.map(|mut way| {
        way.run();
        way.leave_out();
        found.extend(way.found);
        errors.extend(way.unsupported);
        way.done
            .sort_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        way.done
    });
    errors.extend(rules.unused());
    effect::mark(&mut up);
    effect::mark(&mut down);
    let pair = rules.pair(old.id, new.id);
    let plan = PairPlan {
        alike: alike::unreached([old.model, new.model], [&up, &down]),
        open: found.decisions(&pair, rules.ids()),
        pair,
        up,
        down,
        methods,
        errors: codes,
        rules: rules.facts(),
    };
    Planned {
        plan,
        faults: errors,
    }
}

/// The planner of one direction of a pair.
struct Planner<'m> {
    /// The id of the source.
    before: &'m str,
    /// The id of the target.
    now: &'m str,
    /// Set if messages call the two by different names.
    restates: bool,
    from: &'m Model,
    to: &'m Model,
    /// The limits of the schemas on members beside the types; `None` if they cannot be compared.
    limits: Option<&'m MemberLimits<'m>>,
    rules: &'m PairRules,
    way: StepDirection,
    known: SortedSet<(PairEnd, PairEnd)>,
    open: VecDeque<(PairEnd, PairEnd)>,
    /// The conversions that are planned.
    done: Vec<PlannedConversion>,
    /// The member by whose value an object becomes one of several, by the two ends.
    splits: SortedMap<(String, String), String>,
    /// The differences that no rule answers.
    found: OpenDifferences,
    /// Rules that answer another question than the one at their place.
    unsupported: Vec<Error>,
}

/// The obstacle, in words; the caller knows the place.
type PlanProblem = String;

impl<'m> Planner<'m> {
    /// Plans every pair of types that is reached from those asked for so far.
    fn run(&mut self) {
        while let Some((from, to)) = self.open.pop_front() {
            let defs = [(self.from, &from), (self.to, &to)].map(|(model, end)| match end {
                PairEnd::Type(name) => model.get(name),
                PairEnd::Map | PairEnd::Opaque => None,
            });
            let body = self.body(defs);
            let area = defs[0].or(defs[1]).map_or("shared", |def| &def.area);
            self.done.push(PlannedConversion {
                area: area.to_owned(),
                from,
                to,
                effect: Effect::Fallible,
                body,
            });
        }
    }

    /// Notes that no rule answers a question at a place; `action` is the one that would say the same.
    fn finds(&mut self, place: &str, open: &str, answer: &str, action: &str) {
        self.notes(place, open, answer, ProposedRow::Rule(action.to_owned()));
    }

    /// As [`Planner::finds`], where another row than a `[[rule]]` would settle it.
    fn notes(&mut self, place: &str, open: &str, answer: &str, row: ProposedRow) {
        self.found.open(place, Some(self.way), open, answer, row);
    }

    /// Returns the rule about a place, if it answers the question there; one that does not is an error.
    fn rule(
        &mut self,
        place: &str,
        answers: fn(&Action) -> bool,
        question: &str,
    ) -> Option<(&'m PairRule, &'m Action)> {
        let rules = self.rules;
        let offer = rules.offer(place, self.way)?;
        rules.uses(&offer);
        if answers(offer.action) {
            return Some((offer.rule, offer.action));
        }
        self.misses(place, &offer, question);
        None
    }

    /// Returns the id of the rule by which what stands at a place is dropped, if there is one.
    fn dropped(&mut self, place: &str, question: &str) -> Option<String> {
        let (rule, _) = self.rule(place, |action| *action == Action::Drop, question)?;
        Some(rule.id.clone())
    }

    /// A rule at the right place that answers another question.
    fn misses(&mut self, place: &str, offer: &Offer<'_>, question: &str) {
        let (way, rule) = (self.way, offer.rule);
        let mut problem = format!("it does not say {question}: {place}, on the way {way}");
        if !rule.at.all().iter().any(|at| at == place) {
            let _ = write!(
                problem,
                "; a [[rule]] with at = \"{place}\" before it would"
            );
        }
        let error = (self.rules).error(offer.offset(), &rule.id, &problem, &rule.reason);
        self.unsupported.push(error);
    }

    /// Returns the same; where there is none, that it is dropped is open.
    fn dropped_safely(&mut self, place: &str, question: &str, open: &str, answer: &str) -> String {
        self.dropped(place, question).unwrap_or_else(|| {
            self.finds(place, open, answer, "\"drop\"");
            UNDECIDED.to_owned()
        })
    }

    /// Returns the rejection of what has no counterpart.
    fn refusal(&self, what: &str) -> Reject {
        Reject {
            code: -32602,
            message: format!("{what} has no counterpart in {}", self.now),
        }
    }

    /// Returns the conversion of a value of one type to the other, and queues the conversions that it calls.
    fn transfer(&mut self, from: &Ty, to: &Ty) -> Result<Transfer, PlanProblem> {
        let (source, target) = (self.from, self.to);
        let (from, to) = (source.resolve(from), target.resolve(to));
        // One of two objects has a name.
        if let (Some(a), Some(b)) = (object_end(source, from), object_end(target, to))
            && matches!(a, PairEnd::Type(_)) != matches!(b, PairEnd::Type(_))
        {
            return Ok(self.call(a, b));
        }
        Ok(match (from, to) {
            (Ty::Named(a), Ty::Named(b)) => {
                if !self.belong_together(a, b) {
                    return Err(format!("its type was `{a}`, and is `{b}`"));
                }
                self.call(PairEnd::Type(a.clone()), PairEnd::Type(b.clone()))
            }
            (Ty::Array(a), Ty::Array(b)) => self.transfer(a, b)?.within(Transfer::List),
            (Ty::Map(a), Ty::Map(b)) => self.transfer(a, b)?.within(Transfer::Map),
            (Ty::Nullable(a), Ty::Nullable(b)) => self.transfer(a, b)?.within(Transfer::Nullable),
            (from, Ty::Nullable(to)) if !matches!(from, Ty::Json) => {
                Transfer::OrNull(Box::new(self.transfer(from, to)?))
            }
            (Ty::JsonObject | Ty::JsonArray, Ty::Json) => Transfer::Widen,
            (a, b) if a == b => Transfer::Move,
            (a, b) => return Err(format!("it was {a}, and is {b}")),
        })
    }

    fn call(&mut self, from: PairEnd, to: PairEnd) -> Transfer {
        let pair = (from.clone(), to.clone());
        if self.known.insert(pair.clone()) {
            self.open.push_back(pair);
        }
        Transfer::Call { from, to }
    }

    /// Returns whether two types that stand at the same place can be converted: they are one in two revisions, both are
    /// objects, or choices that have one in common, or one is a variant of the other.
    fn belong_together(&self, from: &str, to: &str) -> bool {
        let shapes = (self.from.shape(from), self.to.shape(to));
        let share = match shapes {
            (Some(Shape::StringEnum(old)), Some(Shape::StringEnum(new))) => {
                old.iter().any(|value| new.contains(value))
            }
            (Some(Shape::Union(old)), Some(Shape::Union(new))) => !self.pairs(old, new).is_empty(),
            _ => false,
        };
        share
            || self.is_one(from, to)
            || matches!(shapes, (Some(Shape::Object(_)), Some(Shape::Object(_))))
            || matches!(shapes.1, Some(Shape::Union(union)) if self.holding(union, from).next().is_some())
            || matches!(shapes.0, Some(Shape::Union(union)) if self.holds(union, to))
    }

    /// Returns whether a variant of a union of the source holds a type of the target.
    fn holds(&self, union: &Union, to: &str) -> bool {
        let mut held = union.types().map(|ty| self.from.resolve(ty));
        held.any(|ty| matches!(ty, Ty::Named(name) if self.is_one(name, to)))
    }

    /// Returns whether two types are one, by their name or by a rule.
    fn is_one(&self, from: &str, to: &str) -> bool {
        from == to || self.rules.renamed(from, to, self.way)
    }

    /// Returns the body of the conversion of a type into another one; an opaque object has no type.
    fn body(&mut self, [from, to]: [Option<&'m TypeDef>; 2]) -> ConversionBody {
        let named = from.filter(|_| to.is_some());
        let custom = named.and_then(|def| self.rules.custom(&def.doc_key, self.way));
        if let Some((rule, path)) = custom {
            return ConversionBody::Custom(hook(rule, path));
        }
        let empty = ObjectShape {
            members: Vec::new(),
            rest: Rest::Open,
        };
        match (from, to) {
            (Some(a), Some(b)) => match (&a.shape, &b.shape) {
                (Shape::Union(of), Shape::Union(target)) => {
                    ConversionBody::Union(self.arms(a, of, Ok(target)))
                }
                (Shape::Union(of), _) if self.holds(of, &b.name) => {
                    ConversionBody::Union(self.arms(a, of, Err(&b.name)))
                }
                (_, Shape::Union(of)) => self.variant_that_holds(a, of, &b.name),
                (Shape::StringEnum(of), Shape::StringEnum(target)) => self.strings(a, of, target),
                (Shape::Object(of), Shape::Object(target)) => {
                    self.object(Some(a), of, Some(b), target)
                }
                _ => self.recast(a, &b.name),
            },
            // Transfers ask for such a conversion of objects only.
            _ => match [from, to].map(|def| def.map_or(Some(&empty), |def| def.shape.object())) {
                [Some(of), Some(target)] => self.object(from, of, to, target),
                _ => ConversionBody::Reread,
            },
        }
    }

    /// Returns a type that became one of another shape: its text is read again where no rule could have a say in it.
    fn recast(&mut self, from: &TypeDef, to: &str) -> ConversionBody {
        let shapes = [Some(&from.shape), self.to.shape(to)].map(|shape| shape.map(words::shape));
        let open = match shapes {
            [Some(old), Some(new)] if old != new => format!("it was {old}, and is {new}"),
            _ => format!("it became `{to}`"),
        };
        let plain = |model: &Model, name: &str| words::is_plain(model, &Ty::Named(name.to_owned()));
        if plain(self.from, &from.name) && plain(self.to, to) {
            // A newtype around the same scalar is the same text.
            let scalars = (
                from.shape.scalar(),
                self.to.shape(to).and_then(Shape::scalar),
            );
            return match scalars {
                (Some(Ty::String), Some(Ty::String)) => ConversionBody::Text,
                (Some(a), Some(b)) if a == b => ConversionBody::Reread,
                // A value of a list of strings is one.
                (None, Some(Ty::String)) if matches!(from.shape, Shape::StringEnum(_)) => {
                    ConversionBody::Reread
                }
                _ => {
                    let answer = "the value is read again, and refused if it does not fit";
                    self.finds(&from.doc_key, &open, answer, "{ custom = \"\" }");
                    ConversionBody::Reread
                }
            };
        }
        self.refused(from, &open)
    }

    /// No value of a type has a counterpart.
    fn refused(&mut self, from: &TypeDef, open: &str) -> ConversionBody {
        self.finds(&from.doc_key, open, REFUSED, "{ custom = \"\" }");
        ConversionBody::Reject {
            rule: UNDECIDED.to_owned(),
            error: self.refusal(&format!("`{}`", from.doc_key)),
        }
    }

    fn strings(&mut self, def: &TypeDef, from: &[String], to: &[String]) -> ConversionBody {
        let plan = |value: &String| StringPlan {
            value: value.clone(),
            rejected: (!to.contains(value)).then(|| self.rejected(def, value)),
        };
        ConversionBody::Strings(from.iter().map(plan).collect())
    }

    /// Returns the rule by which a string is rejected that the target does not have, and the error.
    fn rejected(&mut self, def: &TypeDef, value: &str) -> (String, Reject) {
        let place = format!("{}|{value}", def.doc_key);
        let rejects = |action: &Action| matches!(action, Action::Reject(_));
        let rule = self.rule(&place, rejects, "with which error it is rejected");
        if let Some((rule, Action::Reject(error))) = rule {
            return (rule.id.clone(), error.clone());
        }
        let open = format!("{} has no such value", self.now);
        let error = self.refusal(&format!("`{value}`"));
        self.finds(&place, &open, REFUSED, &rejection(&error));
        (UNDECIDED.to_owned(), error)
    }
}

/// Returns the end of a conversion that a type is, if it is an object.
fn object_end(model: &Model, ty: &Ty) -> Option<PairEnd> {
    match ty {
        Ty::Named(name) => (model.object(ty)).map(|_| PairEnd::Type(name.clone())),
        Ty::Map(value) if **value == Ty::Json => Some(PairEnd::Map),
        Ty::JsonObject => Some(PairEnd::Opaque),
        _ => None,
    }
}

/// The safe answer to what has no counterpart, in words.
const REFUSED: &str = "it is refused";

/// Returns a rejection as an action, in TOML.
fn rejection(error: &Reject) -> String {
    let Reject { code, message } = error;
    let message = quoted(message);
    format!("{{ reject = {{ code = {code}, message = {message} }} }}")
}

fn hook(rule: &PairRule, path: &str) -> HookCall {
    HookCall {
        rule: rule.id.clone(),
        path: path.to_owned(),
    }
}
