//! What must hold of one sample that is converted.

use std::collections::BTreeMap;

use mcp_convert::Rule;
use mcp_revisions_core::{Loss, Outcome, UnknownFields};
use mcp_revisions_plans::open::UNDECIDED;
use mcp_revisions_plans::plan::{ConversionBody, PlannedConversion};
use mcp_revisions_schema::pair::StepDirection;

use super::put_back::put_back;
use super::steps::Way;
use super::stray::Search;
use super::world::{Implied, Said, World};
use crate::sampler::Instance;
use crate::text::{self, Value};
use crate::tree::{Kind, Node, Standing, Value as Drawn, pointer};

/// How often something was met, by the index of the pair and its name.
pub type Counts = BTreeMap<(usize, String), usize>;

/// What samples of one conversion have shown.
#[derive(Debug, Default)]
pub struct Findings {
    /// How many were tried.
    pub samples: usize,
    /// How many became a value without a loss.
    pub exact: usize,
    /// How many became a value with losses.
    pub lossy: usize,
    /// How often a conversion ended without a value, by the reason.
    pub stopped: BTreeMap<String, usize>,
    /// How often a rule of a pair lost something.
    pub lost: Counts,
    /// How often an empty member of a pair that goes without saying was not told from none.
    pub excused: Counts,
    /// How often a rule of a pair stopped the way back.
    pub stops: Counts,
    /// How often a member of a pair travelled on.
    pub passed: Counts,
    /// What did not hold.
    pub failures: Vec<String>,
}

impl Findings {
    /// Adds what other samples have shown.
    pub fn join(&mut self, other: Self) {
        let Self {
            samples,
            exact,
            lossy,
            stopped,
            lost,
            excused,
            stops,
            passed,
            failures,
        } = other;
        self.samples += samples;
        self.exact += exact;
        self.lossy += lossy;
        for (reason, count) in stopped {
            *self.stopped.entry(reason).or_default() += count;
        }
        add(&mut self.lost, lost);
        add(&mut self.excused, excused);
        add(&mut self.stops, stops);
        add(&mut self.passed, passed);
        self.failures.extend(failures);
    }
}

fn add(all: &mut Counts, more: Counts) {
    for (key, count) in more {
        *all.entry(key).or_default() += count;
    }
}

/// Checks all laws on the samples of one conversion.
#[must_use]
pub fn check(
    world: &World<'_>,
    way: &Way,
    policy: UnknownFields,
    instances: &[Instance],
) -> Findings {
    let mut findings = Findings::default();
    for instance in instances {
        findings.samples += 1;
        if let Err(problem) = check_one(world, way, policy, instance, &mut findings) {
            findings.failures.push(format!(
                "{}, {policy:?}, {:?}, seed {:#x}: {problem}\n  from: {}",
                way.label(),
                instance.recipe,
                instance.seed,
                instance.text
            ));
        }
    }
    findings
}

fn check_one(
    world: &World<'_>,
    way: &Way,
    policy: UnknownFields,
    instance: &Instance,
    findings: &mut Findings,
) -> Result<(), String> {
    let outcome = way.there(&instance.text, policy)?;
    let losses = outcome.losses().to_vec();
    let there = match outcome {
        Outcome::Exact(text) => {
            findings.exact += 1;
            text
        }
        Outcome::Reversible(text, _) | Outcome::Lossy(text, _) => {
            findings.lossy += 1;
            text
        }
        stopped => {
            let reason = reason(&stopped)?;
            *findings.stopped.entry(reason).or_default() += 1;
            return Ok(());
        }
    };
    for loss in &losses {
        if loss.change.is_loss() {
            let key = (way.pair, loss.rule().to_owned());
            *findings.lost.entry(key).or_default() += 1;
        }
    }
    let said = world.rules.get(way.pair).ok_or("no rules")?;
    named_by_rules(said, way, &losses)?;
    let side = |id: &str| world.side(id).ok_or_else(|| format!("no side {id}"));
    let value = (side(way.to)?.judge.check(way.target.rust_name, &there))
        .map_err(|problem| format!("the target refuses it: {problem}\n  to: {there}"))?;
    if !way.up && policy == UnknownFields::Drop {
        let mut search = Search::new(side(way.to)?, side(way.from)?, said);
        let stray = search.of(way.target.rust_name, &value);
        let passed = search.passed.into_iter();
        add(
            &mut findings.passed,
            passed
                .map(|(name, count)| ((way.pair, name), count))
                .collect(),
        );
        if !stray.is_empty() {
            return Err(format!(
                "members of the newer revision at {}\n  to: {there}",
                stray.join(", ")
            ));
        }
    }
    let plan = world.plans.get(way.pair).ok_or("no plan")?;
    let direction = match way.up {
        true => StepDirection::Up,
        false => StepDirection::Down,
    };
    unknown_survive(instance, &there, &losses, plan.way(direction))?;
    let back = way.back(&there, policy)?;
    let shown = format!("\n  to: {there}");
    let back = match back {
        Outcome::Exact(text) | Outcome::Reversible(text, _) | Outcome::Lossy(text, _) => text,
        // What a draft leaves open is left out, recorded, and refused on the way back, until somebody says what it is.
        Outcome::Rejected(rejected)
            if rejected.rule == UNDECIDED
                && policy == UnknownFields::Drop
                && losses.iter().any(|loss| loss.rule() == UNDECIDED) =>
        {
            return Ok(());
        }
        stopped => {
            let rule = match &stopped {
                Outcome::RequiresState(needs) if policy == UnknownFields::Drop => Some(needs.rule),
                _ => None,
            };
            let excused = rule.filter(|rule| said.stops.contains(*rule));
            let rule =
                excused.ok_or_else(|| format!("there is no way back: {stopped:?}{shown}"))?;
            let key = (way.pair, rule.to_owned());
            *findings.stops.entry(key).or_default() += 1;
            return Ok(());
        }
    };
    let all: Vec<&Loss> = losses.iter().collect();
    let shown = format!("{shown}\n  back: {back}\n  losses: {}", listed(&losses));
    let before = text::parse(&instance.text).map_err(|at| format!("no JSON at {at}"))?;
    let whole = put_back(&back, &all).map_err(|problem| format!("{problem}{shown}"))?;
    if !equal((way, said), &before, &whole, findings) {
        return Err(format!("it comes back as another value{shown}"));
    }
    for left_out in 0..all.len() {
        let mut fewer = all.clone();
        let loss = fewer.remove(left_out);
        if !loss.change.is_loss() {
            continue;
        }
        // Without one, another may have no place: that too shows that it was needed.
        let Ok(fewer) = put_back(&back, &fewer) else {
            continue;
        };
        if fewer == before {
            return Err(format!("a loss that is none: {loss}{shown}"));
        }
    }
    Ok(())
}

/// The losses, a line each.
fn listed(losses: &[Loss]) -> String {
    losses.iter().map(|loss| format!("\n    {loss}")).collect()
}

/// Why a conversion ended without a value.
fn reason(outcome: &Outcome<String>) -> Result<String, String> {
    Ok(match outcome {
        Outcome::RequiresState(needs) => {
            format!("{} needs the {} adapter", needs.rule, needs.adapter)
        }
        Outcome::Rejected(rejected) if rejected.error.message.starts_with("rule ") => {
            return Err(format!("a rule is wrong: {}", rejected.error.message));
        }
        Outcome::Rejected(rejected) => format!("rejected by {}", rejected.rule),
        Outcome::Dropped(dropped) => format!("dropped by {}", dropped.rule),
        Outcome::Exact(_) | Outcome::Reversible(..) | Outcome::Lossy(..) => {
            return Err("it did not stop".to_owned());
        }
    })
}

/// The rules that the conversions have without a file: for foreign members, for the claim of another revision, and for a name that
/// an opaque object has twice.
const BUILT_IN: [&str; 3] = [Rule::FOREIGN.id(), Rule::CLAIM.id(), Rule::INVALID.id()];

/// Every loss is of this step, and of a rule that people can read.
fn named_by_rules(said: &Said, way: &Way, losses: &[Loss]) -> Result<(), String> {
    for loss in losses {
        if loss.step != way.name {
            return Err(format!("a loss of another step: {loss}"));
        }
        if !said.ids.contains(loss.rule()) && !BUILT_IN.contains(&loss.rule()) {
            return Err(format!("a loss of no rule: {loss}"));
        }
    }
    Ok(())
}

/// Whether two values are the same, but for what goes without saying.
fn equal(
    (way, said): (&Way, &Said),
    before: &Value,
    after: &Value,
    findings: &mut Findings,
) -> bool {
    if before == after {
        return true;
    }
    for implied in said.implied.iter().filter(|implied| implied.up == way.up) {
        if levelled(before, implied) == levelled(after, implied) {
            let key = (way.pair, implied.member.clone());
            *findings.excused.entry(key).or_default() += 1;
            return true;
        }
    }
    false
}

/// Whether two values are the same, but for what goes without saying by the rules of any of these pairs.
#[must_use]
pub fn same_but_for_implied(rules: &[Said], before: &Value, after: &Value) -> bool {
    let level = |value: &Value| {
        let implied = rules.iter().flat_map(|said| &said.implied);
        implied.fold(value.clone(), |value, implied| levelled(&value, implied))
    };
    before == after || level(before) == level(after)
}

/// The value without an empty member that is implied, or with the number that is implied as it is spelled there.
fn levelled(value: &Value, implied: &Implied) -> Value {
    let mut value = value.clone();
    match (implied.value.as_f64(), &mut value) {
        (Some(number), value) => respell(value, implied, number),
        (None, Value::Object(members)) => members
            .retain(|(name, value)| *name != implied.member || *value != Value::Object(Vec::new())),
        _ => (),
    }
    value
}

/// Spells the number that is implied as it is spelled there, at any depth: what is converted may hold a list of its owners.
fn respell(value: &mut Value, implied: &Implied, number: f64) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::Word(word) if *name == implied.member => {
                        if word.parse() == Ok(number) {
                            *word = implied.value.to_string();
                        }
                    }
                    value => respell(value, implied, number),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                respell(item, implied, number);
            }
        }
        _ => (),
    }
}

/// Unknown members, and keys of `_meta` that are nobody's, stand where they stood or where the plan moves what holds them,
/// unless a loss tells of their place.
fn unknown_survive(
    instance: &Instance,
    there: &str,
    losses: &[Loss],
    conversions: &[PlannedConversion],
) -> Result<(), String> {
    let read = |text: &str| text::parse(text).map_err(|at| format!("no JSON at {at}"));
    let mut search = Survival {
        here: read(&instance.text)?,
        there: read(there)?,
        losses,
        conversions,
        moved: Vec::new(),
        missing: None,
    };
    search.of(&instance.node, &mut Vec::new());
    match search.missing {
        Some(pointer) => Err(format!(
            "an unknown member did not survive: {pointer}\n  to: {there}"
        )),
        None => Ok(()),
    }
}

struct Survival<'l> {
    here: Value,
    there: Value,
    losses: &'l [Loss],
    conversions: &'l [PlannedConversion],
    /// The paths of values that stand elsewhere in the target, each with its path there.
    moved: Vec<[Vec<String>; 2]>,
    missing: Option<String>,
}

impl Survival<'_> {
    /// Returns the path in the target of a value of the source.
    fn target(&self, path: &[String]) -> Vec<String> {
        let moved = self.moved.iter().rev().find_map(|[from, to]| {
            let rest = path.strip_prefix(from.as_slice())?;
            Some([to, rest].concat())
        });
        moved.unwrap_or_else(|| path.to_vec())
    }

    /// Notes the values that the conversion of an object puts into a list, or takes out of one.
    fn note_moves(&mut self, node: &Node, path: &[String]) {
        let (Drawn::Object(members), types) = (&node.value, &node.facts.types) else {
            return;
        };
        let member = |name: &str| members.iter().find(|member| member.name == name);
        let bodies = self.conversions.iter().filter_map(|one| match &one.body {
            ConversionBody::Object(plan) if types.iter().any(|ty| ty == one.from.name()) => {
                Some(plan)
            }
            _ => None,
        });
        let target = self.target(path);
        let below = |owner: &[String], steps: &[&str]| {
            let steps = steps.iter().map(|step| (*step).to_owned());
            owner.iter().cloned().chain(steps).collect::<Vec<_>>()
        };
        for plan in bodies {
            for list in plan.gathered() {
                for (index, held) in list.places(|_, held| member(&held.member).is_some()) {
                    let steps = [&*list.wire, &*index.to_string(), &*held.wire];
                    let to = below(&target, &steps);
                    self.moved.push([below(path, &[&held.member]), to]);
                }
            }
            for list in plan.spread() {
                let Some(Drawn::List(items)) = member(&list.wire).map(|list| &list.node.value)
                else {
                    continue;
                };
                let is_item = |ty: &str| {
                    items
                        .iter()
                        .any(|item| item.facts.types.iter().any(|own| own == ty))
                };
                for (index, held) in list.places(|item, _| is_item(&item.ty)) {
                    let steps = [&*list.wire, &*index.to_string(), &*held.wire];
                    let to = below(&target, &[&held.member]);
                    self.moved.push([below(path, &steps), to]);
                }
            }
        }
    }

    fn of(&mut self, node: &Node, path: &mut Vec<String>) {
        let at = pointer(path);
        if self.losses.iter().any(|loss| loss.pointer() == at) {
            return;
        }
        match &node.value {
            Drawn::Object(members)
                if node.facts.kind != Kind::Opaque && node.facts.kind != Kind::SchemaText =>
            {
                self.note_moves(node, path);
                for member in members {
                    path.push(member.name.clone());
                    if member.standing == Standing::Unknown && is_opaque(&member.node) {
                        // A mistake inside of it is told where it stands, and costs no more than itself.
                        let own = pointer(path);
                        let lost = self.losses.iter().any(|loss| {
                            let place = loss.pointer();
                            let below = place.strip_prefix(&own);
                            below.is_some_and(|rest| {
                                let is_mistake = loss.rule() == Rule::INVALID.id();
                                rest.is_empty() || is_mistake && rest.starts_with('/')
                            })
                        });
                        let target = self.target(path);
                        let found = find(&mut self.there, &target);
                        if !lost && (found.is_none() || found != find(&mut self.here, path)) {
                            self.missing.get_or_insert(own);
                        }
                    } else {
                        self.of(&member.node, path);
                    }
                    path.pop();
                }
            }
            Drawn::List(items) if node.facts.kind == Kind::List => {
                // Where items are left out or split, those after them stand elsewhere.
                let moved = self.losses.iter().any(|loss| {
                    loss.pointer()
                        .strip_prefix(&at)
                        .and_then(|rest| rest.strip_prefix('/'))
                        .is_some_and(|rest| {
                            !rest.contains('/')
                                && loss.change == mcp_revisions_core::Change::Removed
                        })
                });
                if moved {
                    return;
                }
                for (index, item) in items.iter().enumerate() {
                    path.push(index.to_string());
                    self.of(item, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

fn is_opaque(node: &Node) -> bool {
    matches!(
        node.facts.kind,
        Kind::Opaque | Kind::OpaqueObject | Kind::OpaqueArray | Kind::SchemaText
    )
}

fn find<'v>(value: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter()
        .try_fold(value, |value, step| super::put_back::child(value, step))
}
