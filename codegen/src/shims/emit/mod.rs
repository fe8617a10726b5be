//! A function per pair of types and direction, in files by area, and the tables that name them.

mod field;
mod moves;
mod object;
mod transfer;
pub(super) mod words;

use words::{adapter, call, called, path, reject, rule};

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::same::{is_moved, moved, reduced};
use super::scaffold;
use crate::emit::{CrateFiles, doc, in_box, inner_doc, named};
use crate::format;
use mcp_revisions_plans::UNDECIDED;
use mcp_revisions_plans::plan::{
    Arm, ArmPlan, Becomes, ConversionBody, Effect, PairEnd, PairPlan, PlannedConversion,
};
use mcp_revisions_schema::naming::{pascal_case, snake_case};
use mcp_revisions_schema::pair::StepDirection;
use mcp_revisions_schema::{Error, Markdown};

/// Returns the files of the crate of all pairs. Fails for tokens that do not parse, and templates that do not render.
pub fn crate_files(plans: &[PairPlan], facts: &scaffold::ShimFacts) -> Result<CrateFiles, Error> {
    let mut files = CrateFiles::new();
    let header = scaffold::header();
    let mut add = |path: String, text: String| {
        files.insert(path, format!("{header}{text}"));
    };
    for plan in plans {
        let shared = facts.shared(&plan.pair);
        let module = plan.pair.module();
        for way in StepDirection::BOTH {
            let same = moved(plan.way(way), &shared);
            let conversions: Vec<&PlannedConversion> = (plan.way(way).iter())
                .filter(|one| !is_moved(&one.from, &one.to, &same))
                .collect();
            let emitter = Emitter::new(&conversions, way, same);
            let mut areas: SortedMap<&str, Vec<&PlannedConversion>> = SortedMap::new();
            for conversion in &conversions {
                areas.entry(&conversion.area).or_default().push(conversion);
            }
            for (area, conversions) in &areas {
                let path = format!("src/{module}/{way}/{area}.rs");
                let functions = conversions.iter().map(|one| emitter.function(one));
                let body = format::parsed(quote!(#(#functions)*), &path)?;
                let about =
                    Markdown::from("Types of ").then(Markdown::prose(&area.replace('_', " ")));
                let about = inner_doc(&about.then(way.of(", up.", ", down.")));
                let own = conversions
                    .iter()
                    .map(|one| emitter.of(&one.from, &one.to).name.to_string())
                    .collect();
                let elsewhere = emitter.elsewhere(&body, &own);
                let imports = scaffold::imports(plan, facts, &body, &elsewhere);
                let text = format::below(quote!(#about #imports), body, &path)?;
                add(path, text);
            }
            let names: SortedSet<&str> = areas.keys().copied().collect();
            let types = emitter.types(&conversions);
            let body = scaffold::way(plan, way, &names, &types);
            let path = format!("src/{module}/{way}/mod.rs");
            let text = format::rust(body, &path)?;
            add(path, text);
        }
        let path = format!("src/{module}/rules.rs");
        let text = format::rust(scaffold::rules(plan), &path)?;
        add(path, text);
        let path = format!("src/{module}/mod.rs");
        let text = scaffold::pair(plan, &path)?;
        add(path, text);
    }
    files.extend(scaffold::files(plans, facts)?);
    Ok(files)
}

/// Returns the value of a conversion, as its function returns it.
fn as_returned(effect: Effect, value: TokenStream) -> TokenStream {
    match effect {
        Effect::Exact | Effect::Lossy => value,
        Effect::Fallible => quote!(Ok(#value)),
    }
}

/// One direction of a pair.
struct Emitter {
    way: StepDirection,
    functions: SortedMap<(PairEnd, PairEnd), Function>,
    /// The types that are moved as a whole.
    moved: SortedSet<String>,
}

/// The function of a conversion.
struct Function {
    name: Ident,
    /// The file in which it stands.
    area: Ident,
    effect: Effect,
}

impl Emitter {
    fn new(
        conversions: &[&PlannedConversion],
        way: StepDirection,
        moved: SortedSet<String>,
    ) -> Self {
        let mut by_source: SortedMap<&PairEnd, usize> = SortedMap::new();
        for one in conversions {
            *by_source.entry(&one.from).or_default() += 1;
        }
        let mut functions = SortedMap::new();
        for one in conversions {
            let (from, to) = (&one.from, &one.to);
            let same = from.name() == to.name();
            let name = if same
                || (by_source[from] == 1
                    && matches!((from, to), (PairEnd::Type(_), PairEnd::Type(_))))
            {
                snake_case(from.name())
            } else {
                format!("{}_to_{}", snake_case(from.name()), snake_case(to.name()))
            };
            // The direction in the name keeps it apart from the fields that it converts.
            let function = Function {
                name: format_ident!("{name}_{way}"),
                area: format_ident!("{}", one.area),
                effect: one.effect,
            };
            functions.insert((from.clone(), to.clone()), function);
        }
        Self {
            way,
            functions,
            moved,
        }
    }

    fn of(&self, from: &PairEnd, to: &PairEnd) -> &Function {
        &self.functions[&(from.clone(), to.clone())]
    }

    /// Returns the functions of other files that some code names, each with its file.
    fn elsewhere(&self, body: &syn::File, own: &SortedSet<String>) -> Vec<TokenStream> {
        let named = named(body);
        let other = |name: &String| named.contains(name) && !own.contains(name);
        let others: SortedMap<String, &Function> = (self.functions.values())
            .map(|function| (function.name.to_string(), function))
            .filter(|(name, _)| other(name))
            .collect();
        let path = |Function { name, area, .. }: &Function| quote!(#area::#name);
        others.into_values().map(path).collect()
    }

    pub(super) fn sides(&self) -> (Ident, Ident) {
        let (from, to) = self.way.of(("old", "new"), ("new", "old"));
        (format_ident!("{from}"), format_ident!("{to}"))
    }

    pub(super) fn end(side: &Ident, end: &PairEnd) -> TokenStream {
        match end {
            PairEnd::Type(name) => {
                let name = format_ident!("{name}");
                quote!(#side::#name)
            }
            PairEnd::Map => quote!(Extra),
            PairEnd::Opaque => quote!(JsonObject),
        }
    }

    /// Returns the function; it takes a context where something can be lost.
    fn function(&self, one: &PlannedConversion) -> TokenStream {
        let PlannedConversion {
            from,
            to,
            effect,
            body,
            ..
        } = one;
        let name = &self.of(from, to).name;
        let (source, target) = self.sides();
        let from_type = Self::end(&source, from);
        let to_type = Self::end(&target, to);
        let inner = self.body(one, body, [&from_type, &to_type]);
        let about = Markdown::code(from.name())
            .then(" to ")
            .then(Markdown::code(to.name()));
        let about = doc(&about.then("."));
        let context = (*effect != Effect::Exact).then(|| quote!(, cx: &mut Context));
        let result = match effect {
            Effect::Exact | Effect::Lossy => to_type,
            Effect::Fallible => quote!(Result<#to_type, Stop>),
        };
        quote! {
            #(#about)*
            pub(crate) fn #name(value: #from_type #context) -> #result { #inner }
        }
    }

    fn body(
        &self,
        one: &PlannedConversion,
        body: &ConversionBody,
        ends: [&TokenStream; 2],
    ) -> TokenStream {
        let [from, to] = ends;
        let done = |value: TokenStream| as_returned(one.effect, value);
        match body {
            ConversionBody::Object(plan) => self.object(one, plan, ends),
            ConversionBody::Union(arms) => {
                let branches = arms.iter().map(|arm| self.arm(arm, ends, one.effect));
                quote!(match value { #(#branches)* })
            }
            ConversionBody::Split(plan) => {
                let (source, _) = self.sides();
                let [field, ty] = [&plan.field, &plan.ty].map(|name| format_ident!("{name}"));
                let arms = plan.arms.iter().map(|(value, becomes)| {
                    let value = format_ident!("{}", pascal_case(value));
                    let then = done(self.becoming(becomes, to, quote!(value)));
                    quote!(#source::#ty::#value => #then,)
                });
                quote!(match value.#field { #(#arms)* })
            }
            ConversionBody::Strings(values) => {
                let arms = values.iter().map(|plan| {
                    let variant = pascal_case(&plan.value);
                    let variant = format_ident!("{variant}");
                    let then = match &plan.rejected {
                        None => done(quote!(#to::#variant)),
                        Some((rule, error)) => {
                            let reject = reject(rule, error);
                            quote!(Err(#reject))
                        }
                    };
                    quote!(#from::#variant => #then,)
                });
                quote!(match value { #(#arms)* })
            }
            ConversionBody::Text => done(quote!(#to::from(String::from(value)))),
            ConversionBody::Reread => {
                let rule = rule(UNDECIDED);
                quote!(cx.reread_required(#rule, &value))
            }
            ConversionBody::Reject { rule, error } => {
                let (rule, message) = (self::rule(rule), &error.message);
                quote!(cx.refused(#rule, &value, #message))
            }
            ConversionBody::IntoVariant(becomes) => done(self.becoming(becomes, to, quote!(value))),
            ConversionBody::Custom(hook) => done(called(hook, quote!(value))),
        }
    }

    fn arm(&self, plan: &ArmPlan, [from, to]: [&TokenStream; 2], effect: Effect) -> TokenStream {
        let variant = format_ident!("{}", plan.variant);
        let value = if plan.boxed {
            quote!(*value)
        } else {
            quote!(value)
        };
        let then = match &plan.arm {
            Arm::Same(becomes) => as_returned(effect, self.becoming(becomes, to, value)),
            Arm::Custom(hook) => as_returned(effect, called(hook, value)),
            Arm::RequiresState { rule, adapter } => {
                let (rule, adapter) = (self::rule(rule), self::adapter(*adapter));
                return quote!(#from::#variant(_) => Err(cx.needs(#rule, #adapter)),);
            }
            Arm::Reject { rule, error } => {
                let reject = reject(rule, error);
                return quote!(#from::#variant(_) => Err(#reject),);
            }
        };
        quote!(#from::#variant(value) => #then,)
    }

    /// Returns a value, converted, as a variant of the target or as the target itself.
    fn becoming(&self, becomes: &Becomes, to: &TokenStream, value: TokenStream) -> TokenStream {
        let transfer = reduced(&becomes.transfer, &self.moved);
        let value = in_box(self.convert(&transfer, value), becomes.boxed);
        match &becomes.variant {
            Some(variant) => {
                let variant = format_ident!("{variant}");
                quote!(#to::#variant(#value))
            }
            None => value,
        }
    }

    /// Returns the rows by which a value whose type is only known at run time is converted.
    fn types(&self, conversions: &[&PlannedConversion]) -> TokenStream {
        let converted = conversions.iter().filter_map(|one| {
            let (PairEnd::Type(from), PairEnd::Type(to)) = (&one.from, &one.to) else {
                return None;
            };
            let Function { name, area, .. } = self.of(&one.from, &one.to);
            let effect = format_ident!("{}", snake_case(&format!("{:?}", one.effect)));
            Some(((from, to), quote!(#effect #area::#name)))
        });
        let same = (self.moved.iter()).map(|name| ((name, name), quote!(same)));
        let rows: SortedMap<(&String, &String), TokenStream> = converted.chain(same).collect();
        let rows = rows
            .into_iter()
            .map(|((from, to), run)| quote!(#from => #to #run;));
        quote!(#(#rows)*)
    }
}
