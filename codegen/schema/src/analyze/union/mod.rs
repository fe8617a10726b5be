//! Works out the decision plan of each union.
//!
//! In order: the JSON kind; a member whose constants differ; members that must be there and that
//! only one variant knows. What none of these settles is an error that names the rule to write.

mod presence;

use crate::sorted::{SortedMap, SortedSet};

use super::profile::{Opaque, VariantProfile};
use crate::Error;
use crate::decision::{Decision, QuestionKind, Scope, Settle};
use crate::draft::opaque_rule;
use crate::model::{Case, KindCase, Model, Shape, Ty, TypeDef, Union, UnionPlan};
use crate::rules::{Decide, HeldRules, PresentRow};
use crate::schema::JsonType;
use crate::spec::toml_text::quoted;

/// The read plans of a draft's unions.
#[derive(Debug, Default)]
pub(crate) struct UnionPlans {
    /// The plan of each union that can be decided.
    pub(crate) plans: SortedMap<String, UnionPlan>,
    /// Those that cannot.
    pub(crate) opaque: Opaque,
    /// One for each of those.
    pub(crate) decisions: Vec<Decision>,
}

/// Works out the plans of all unions of a draft; what cannot be decided is opaque JSON, and is a decision. Fails for rules that
/// do not hold.
pub(crate) fn plans(
    model: &Model,
    scope: &Scope,
    rules: &HeldRules<'_>,
) -> Result<UnionPlans, Error> {
    let mut done = UnionPlans::default();
    let mut errors = Vec::new();
    // An opaque type may be any JSON, which may leave a union open that holds it.
    loop {
        let found = done.opaque.len();
        done.plans = SortedMap::new();
        for (name, def) in &model.types {
            let Shape::Union(union) = &def.shape else {
                continue;
            };
            if done.opaque.contains(name) {
                continue;
            }
            match plan(model, &done.opaque, rules, &def.doc_key, union) {
                Ok(plan) => drop(done.plans.insert(name.clone(), plan)),
                Err(problem) => {
                    match rules.union_error(&def.doc_key, &problem) {
                        Some(ruled) => errors.push(ruled),
                        None => (done.decisions).push(open(model, scope, def, union, &problem)),
                    }
                    done.opaque.insert(name.clone());
                }
            }
        }
        if done.opaque.len() == found {
            break;
        }
    }
    Error::check(errors)?;
    Ok(done)
}

/// Returns a union that its schema leaves open.
fn open(model: &Model, scope: &Scope, def: &TypeDef, union: &Union, problem: &str) -> Decision {
    let at = &def.doc_key;
    // Members decide where every variant has some; what else could tell the variants apart was tried.
    let row = |ty: &Ty| {
        let def = ty.name().and_then(|name| model.get(name));
        def.filter(|def| matches!(def.shape, Shape::Object(_)))
            .map(|def| format!("{{ variant = {}, member = \"\" }}", quoted(&def.doc_key)))
    };
    let rows: Option<Vec<String>> = union.types().map(row).collect();
    let opaque = opaque_rule(scope, at, "json");
    let settle = match rows {
        Some(rows) => Settle {
            stub: format!(
                "# or, where a member of each tells them apart, in unions.toml, with the range of this row:\n# [[union]]\n# at = {}\n# decide = {{ present = [{}] }}\n# reason = \"\"\n{}",
                quoted(at),
                rows.join(", "),
                opaque.stub
            ),
            ..opaque
        },
        None => opaque,
    };
    Decision {
        scope: scope.clone(),
        place: def.at(),
        question: QuestionKind::Union,
        open: format!("expected a union whose variants can be distinguished, found {problem}"),
        answer: format!("`{at}` is any JSON, kept as text"),
        settle,
    }
}

fn plan(
    model: &Model,
    opaque: &Opaque,
    rules: &HeldRules<'_>,
    place: &str,
    union: &Union,
) -> Result<UnionPlan, String> {
    match rules.decide(place) {
        Some(Decide::Method { alone }) => find(model, union, alone).map(UnionPlan::Take),
        Some(Decide::Present(rows)) => ruled_rows(model, opaque, union, rows),
        None => {
            let types: Vec<Ty> = union.types().cloned().collect();
            let decider = Decider::new(model, opaque, types);
            // A union of one (`ClientNotification` of 2026-07-28) still reads its tag, so that
            // an unknown method can be told.
            if let [_] = union.variants[..] {
                let tagged = if union.open {
                    decider.single_tag()
                } else {
                    None
                };
                return Ok(tagged.unwrap_or(UnionPlan::Take(0)));
            }
            let plan = decider.by_kind()?;
            match &plan {
                UnionPlan::Tag {
                    member,
                    other: None,
                    ..
                } if member == "method" => Ok(plan),
                // An unknown method has to be told from those that there are.
                _ if union.open => Err(format!(
                    "messages that their methods do not tell apart: {}",
                    decider.names(&(0..union.variants.len()).collect::<Vec<_>>())
                )),
                _ => Ok(plan),
            }
        }
    }
}

fn find(model: &Model, union: &Union, definition: &str) -> Result<usize, String> {
    let is_it = |ty: &Ty| {
        let def = ty.name().and_then(|name| model.get(name));
        def.is_some_and(|def| def.doc_key == definition)
    };
    (union.types().position(is_it))
        .ok_or_else(|| format!("no variant `{definition}`, which the rule names"))
}

fn ruled_rows(
    model: &Model,
    opaque: &Opaque,
    union: &Union,
    rows: &[PresentRow],
) -> Result<UnionPlan, String> {
    let mut cases = Vec::new();
    let mut otherwise = None;
    let mut open: SortedSet<usize> = (0..union.variants.len()).collect();
    for row in rows {
        let index = find(model, union, &row.variant)?;
        if !open.remove(&index) || otherwise.is_some() {
            let name = &row.variant;
            return Err(format!(
                "the row of `{name}` comes twice, or after the one for the rest"
            ));
        }
        if row.member.is_empty() {
            otherwise = Some(Box::new(UnionPlan::Take(index)));
        } else {
            let profile = VariantProfile::of(model, opaque, &union.variants[index].ty);
            if !profile.has(&row.member) {
                return Err(format!("`{}` has no member `{}`", row.variant, row.member));
            }
            cases.push(Case::take(row.member.as_str(), index));
        }
    }
    if let Some(index) = open.first() {
        return Err(format!(
            "no row for the variant {}",
            union.variants[*index].ty
        ));
    }
    Ok(UnionPlan::Present { cases, otherwise })
}

struct Decider<'d> {
    model: &'d Model,
    opaque: &'d Opaque,
    types: Vec<Ty>,
    profiles: Vec<VariantProfile>,
}

impl<'d> Decider<'d> {
    fn new(model: &'d Model, opaque: &'d Opaque, types: Vec<Ty>) -> Self {
        let profile = |ty: &Ty| VariantProfile::of(model, opaque, ty);
        Self {
            model,
            opaque,
            profiles: types.iter().map(profile).collect(),
            types,
        }
    }

    fn by_kind(&self) -> Result<UnionPlan, String> {
        let admits = |index: &usize, kind| self.profiles[*index].kinds.contains(&kind);
        let mut integers = Vec::new();
        let mut by_variants: Vec<(Vec<JsonType>, Vec<usize>)> = Vec::new();
        for kind in JsonType::KINDS {
            let mut variants: Vec<usize> = (0..self.profiles.len()).collect();
            variants.retain(|index| admits(index, kind));
            if kind == JsonType::Integer {
                // A whole number is an integer where one is offered, and any number otherwise.
                let exact = |index: &usize| !admits(index, JsonType::Number);
                if variants.iter().any(exact) {
                    variants.retain(exact);
                }
                integers.clone_from(&variants);
            } else if kind == JsonType::Number && variants.is_empty() {
                // A whole number may be spelled `5.0`: where no other number is offered, the integer's reader looks.
                variants.clone_from(&integers);
            }
            match by_variants.iter_mut().find(|(_, other)| *other == variants) {
                Some((kinds, _)) => kinds.push(kind),
                None if variants.is_empty() => {}
                None => by_variants.push((vec![kind], variants)),
            }
        }
        let mut cases = Vec::new();
        for (kinds, variants) in by_variants {
            let plan = match kinds.as_slice() {
                [JsonType::Object] => self.objects(&variants)?,
                [JsonType::Array] if variants.len() > 1 => self.arrays(&variants)?,
                _ => match variants.as_slice() {
                    [only] => UnionPlan::Take(*only),
                    several => {
                        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
                        return Err(format!(
                            "{} that may each be {}",
                            self.names(several),
                            words.join(" or ")
                        ));
                    }
                },
            };
            cases.push(KindCase { kinds, plan });
        }
        // One kind only: whatever reads the variant says so itself.
        Ok(match cases.len() {
            1 => cases.remove(0).plan,
            _ => UnionPlan::Kind(cases),
        })
    }

    fn arrays(&self, variants: &[usize]) -> Result<UnionPlan, String> {
        let mut elements = Vec::new();
        let mut owners = Vec::new();
        for &index in variants {
            let Ty::Array(item) = self.model.resolve(&self.types[index]) else {
                return Err(format!("{} that are all lists", self.names(variants)));
            };
            for element in self.leaves(item) {
                elements.push(element);
                owners.push(index);
            }
        }
        let plan = Decider::new(self.model, self.opaque, elements)
            .by_kind()?
            .renumbered(&owners);
        Ok(UnionPlan::Element {
            plan: Box::new(plan),
            empty: variants[0],
        })
    }

    /// Returns the variants of a type that is a union, or the type.
    fn leaves(&self, ty: &Ty) -> Vec<Ty> {
        let opaque = (self.model.resolve(ty).name()).is_some_and(|name| self.opaque.contains(name));
        if let (false, Some(Shape::Union(union))) = (opaque, self.model.shape_of(ty)) {
            return union.types().cloned().collect();
        }
        vec![ty.clone()]
    }

    fn objects(&self, variants: &[usize]) -> Result<UnionPlan, String> {
        if let [only] = variants {
            return Ok(UnionPlan::Take(*only));
        }
        let tagged = self.by_tag(variants)?;
        // A tag that some variant leaves open sends every wrong value there, to a wrong error.
        if let Some(UnionPlan::Tag { other: Some(_), .. }) = tagged
            && let Some(plan) = self.by_sole_members(variants)
        {
            return Ok(plan);
        }
        match tagged {
            Some(plan) => Ok(plan),
            None => self.by_presence(variants),
        }
    }

    /// Returns the member whose constants split the variants best, else one with choices; ties go to the name.
    fn by_tag(&self, variants: &[usize]) -> Result<Option<UnionPlan>, String> {
        let members: SortedSet<&str> = variants
            .iter()
            .flat_map(|index| self.profiles[*index].members.keys().map(String::as_str))
            .collect();
        let worth = |member: &str| {
            let groups = self.groups(variants, member);
            let shrinks = groups.values().all(|group| group.len() < variants.len());
            let free = self.free(variants, member);
            // Every variant that leaves the member open adds a doubt.
            let worth = (groups.len() * variants.len()).saturating_sub(free.len());
            let optional = self.optional(variants, member);
            // A constant that every variant fixes leaves no doubt. A choice is there to be made, and says less about the object
            // than a constant.
            let is_sure = free.is_empty() && optional.is_empty();
            let worth = (is_sure, !self.is_choice(variants, member), worth);
            let splits = groups.len() > 1 || (groups.len() == 1 && !free.is_empty());
            (splits && shrinks && optional.len() < variants.len()).then_some(worth)
        };
        let able = members
            .into_iter()
            .rev()
            .filter_map(|member| Some((worth(member)?, member)));
        let Some((_, member)) = able.max_by_key(|(worth, _)| *worth) else {
            return Ok(None);
        };
        let free = self.free(variants, member);
        let optional = self.optional(variants, member);
        let mut cases = Vec::new();
        for (value, group) in self.groups(variants, member) {
            cases.push(Case {
                value: value.to_owned(),
                plan: self.objects(&group)?,
            });
        }
        let rest = |group: &[usize]| match group {
            [] => Ok(None),
            group => self.objects(group).map(Box::new).map(Some),
        };
        Ok(Some(UnionPlan::Tag {
            member: member.to_owned(),
            cases,
            other: rest(&free)?,
            absent: rest(&optional)?,
        }))
    }

    /// Returns the strings that a member of a variant may hold, where they are fixed.
    fn values(&self, index: usize, member: &str) -> Option<&Vec<String>> {
        self.profiles[index].members.get(member)?.values.as_ref()
    }

    /// For each constant of a member, the variants that name it.
    fn groups(&self, variants: &[usize], member: &str) -> SortedMap<&str, Vec<usize>> {
        let mut groups: SortedMap<&str, Vec<usize>> = SortedMap::new();
        for &index in variants {
            for value in self.values(index, member).into_iter().flatten() {
                groups.entry(value).or_default().push(index);
            }
        }
        groups
    }

    /// Returns whether some variant gives a member more than one value to choose from.
    fn is_choice(&self, variants: &[usize], member: &str) -> bool {
        let mut values = variants
            .iter()
            .filter_map(|index| self.values(*index, member));
        values.any(|values| values.len() > 1)
    }

    /// Returns the variants in which a member may hold any string, or is not known.
    fn free(&self, variants: &[usize], member: &str) -> Vec<usize> {
        let free = |index: &usize| self.values(*index, member).is_none();
        variants.iter().copied().filter(free).collect()
    }

    /// Returns the variants in which a member need not be there.
    fn optional(&self, variants: &[usize], member: &str) -> Vec<usize> {
        let demands = |index: &usize| self.profiles[*index].required().any(|name| name == member);
        variants
            .iter()
            .copied()
            .filter(|index| !demands(index))
            .collect()
    }

    /// Returns a tag for a single variant: the member whose constant it always carries.
    fn single_tag(&self) -> Option<UnionPlan> {
        let members = &self.profiles.first()?.members;
        let (member, profile) = members.iter().find(|(name, member)| {
            member.required && name.as_str() != "jsonrpc" && member.values.is_some()
        })?;
        let cases = profile.values.iter().flatten();
        Some(UnionPlan::Tag {
            member: member.clone(),
            cases: cases.map(|value| Case::take(value, 0)).collect(),
            other: None,
            absent: None,
        })
    }

    fn names(&self, variants: &[usize]) -> String {
        let name = |index: &usize| self.types[*index].to_string();
        variants.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}
