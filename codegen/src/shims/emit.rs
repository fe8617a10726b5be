//! A function per pair of types and direction, in files by area, and the tables that name them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

use super::exact::target;
use super::plan::{
    Arm, ArmPlan, Body, Conversion, DroppedPlan, End, FieldPlan, Filter, Hook, Missing, PairPlan,
    Source, Step,
};
use super::rules::{ADAPTERS, Action, Loss, Reject, SessionFact};
use super::scaffold;
use crate::emit::{CrateFiles, named};
use crate::model::naming::snake_case;
use crate::{Error, format};

/// The files of the crate of all pairs.
///
/// # Errors
/// Tokens that do not parse, and templates that do not render.
pub fn crate_files(plans: &[PairPlan], facts: &scaffold::ShimFacts) -> Result<CrateFiles, Error> {
    let mut files = CrateFiles::new();
    let mut add = |path: String, tokens: TokenStream| -> Result<(), Error> {
        let text = format::rust(tokens, &path)?;
        files.insert(path, format!("{}{text}", facts.header()));
        Ok(())
    };
    for plan in plans {
        let module = scaffold::module(&plan.old, &plan.new);
        for (way, conversions) in [("up", &plan.up), ("down", &plan.down)] {
            let emitter = Emitter::new(conversions, way == "up");
            let mut areas: BTreeMap<&str, Vec<&Conversion>> = BTreeMap::new();
            for conversion in conversions {
                areas.entry(&conversion.area).or_default().push(conversion);
            }
            for (area, conversions) in &areas {
                let functions = conversions.iter().map(|one| emitter.function(one));
                let body = quote!(#(#functions)*);
                let about = format!(" Types of {}, {way}.", area.replace('_', " "));
                let own = conversions
                    .iter()
                    .map(|one| emitter.name(one).to_string())
                    .collect();
                let imports = scaffold::imports(plan, &body, &emitter.elsewhere(&body, &own));
                add(
                    format!("src/{module}/{way}/{area}.rs"),
                    quote!(#![doc = #about] #imports #body),
                )?;
            }
            let names: BTreeSet<&str> = areas.keys().copied().collect();
            let hops = emitter.hops(conversions);
            let body = scaffold::way(plan, way, &names, &hops);
            add(format!("src/{module}/{way}/mod.rs"), body)?;
        }
        add(format!("src/{module}/mod.rs"), scaffold::pair(plan))?;
    }
    add("src/tables.rs".to_owned(), scaffold::tables(plans, facts))?;
    files.extend(scaffold::files(plans, facts)?);
    Ok(files)
}

/// One direction of a pair.
struct Emitter {
    up: bool,
    names: BTreeMap<(End, End), Ident>,
    exact: BTreeSet<(End, End)>,
}

impl Emitter {
    fn new(conversions: &[Conversion], up: bool) -> Self {
        let mut by_source: BTreeMap<&End, usize> = BTreeMap::new();
        for one in conversions {
            *by_source.entry(&one.from).or_default() += 1;
        }
        let mut names = BTreeMap::new();
        let mut exact = BTreeSet::new();
        for one in conversions {
            let (from, to) = (&one.from, &one.to);
            let same = from.name() == to.name();
            let name = match same
                || (by_source[from] == 1 && matches!((from, to), (End::Type(_), End::Type(_))))
            {
                true => snake_case(from.name()),
                false => format!("{}_to_{}", snake_case(from.name()), snake_case(to.name())),
            };
            // The direction in the name keeps it apart from the fields that it converts.
            let way = if up { "up" } else { "down" };
            names.insert((from.clone(), to.clone()), format_ident!("{name}_{way}"));
            if one.exact {
                exact.insert((from.clone(), to.clone()));
            }
        }
        Self { up, names, exact }
    }

    fn name(&self, one: &Conversion) -> &Ident {
        &self.names[&(one.from.clone(), one.to.clone())]
    }

    /// The functions of other files that some code names.
    fn elsewhere(&self, body: &TokenStream, own: &BTreeSet<String>) -> Vec<Ident> {
        let named = named(body);
        let mut names: Vec<Ident> = self
            .names
            .values()
            .filter(|name| named.contains(&name.to_string()) && !own.contains(&name.to_string()))
            .cloned()
            .collect();
        names.sort();
        names
    }

    fn sides(&self) -> (Ident, Ident) {
        match self.up {
            true => (format_ident!("old"), format_ident!("new")),
            false => (format_ident!("new"), format_ident!("old")),
        }
    }

    fn end(side: &Ident, end: &End) -> TokenStream {
        match end {
            End::Type(name) => {
                let name = format_ident!("{name}");
                quote!(#side::#name)
            }
            End::Map => quote!(Extra),
            End::Opaque => quote!(JsonObject),
        }
    }

    /// The function, and the trait that makes it a method of its source.
    fn function(&self, one: &Conversion) -> TokenStream {
        let Conversion {
            from,
            to,
            exact,
            body,
            ..
        } = one;
        let name = &self.names[&(from.clone(), to.clone())];
        let (source, target) = self.sides();
        let from_type = Self::end(&source, from);
        let to_type = Self::end(&target, to);
        let inner = self.body(one, body);
        let doc = format!(" `{}` to `{}`.", from.name(), to.name());
        let function = match exact {
            true => quote! {
                #[doc = #doc]
                pub(crate) fn #name(value: #from_type) -> #to_type { #inner }
            },
            false => quote! {
                #[doc = #doc]
                pub(crate) fn #name(value: #from_type, cx: &mut Context) -> Result<#to_type, Stop> { #inner }
            },
        };
        let methods = matches!((from, to), (End::Type(_), End::Type(_))).then(|| {
            let (way, run, exactly) = match self.up {
                true => (quote!(Upgrade), quote!(upgrade_in), quote!(UpgradeExact)),
                false => (
                    quote!(Downgrade),
                    quote!(downgrade_in),
                    quote!(DowngradeExact),
                ),
            };
            let (context, call) = match exact {
                true => (quote!(_), quote!(Ok(#name(self)))),
                false => (quote!(cx), quote!(#name(self, cx))),
            };
            let exactly = exact.then(|| {
                let run = match self.up {
                    true => quote!(upgrade_exact),
                    false => quote!(downgrade_exact),
                };
                quote! {
                    impl crate::#exactly<#to_type> for #from_type {
                        fn #run(self) -> #to_type { #name(self) }
                    }
                }
            });
            let hop = quote!(
                const HOP: &'static str = super::HOP;
            );
            quote! {
                impl crate::#way<#to_type> for #from_type {
                    #hop
                    fn #run(self, #context: &mut Context) -> Result<#to_type, Stop> { #call }
                }
                #exactly
            }
        });
        quote!(#function #methods)
    }

    fn body(&self, one: &Conversion, body: &Body) -> TokenStream {
        let (source, target) = self.sides();
        let from = Self::end(&source, &one.from);
        let to = Self::end(&target, &one.to);
        let done = |value: TokenStream| if one.exact { value } else { quote!(Ok(#value)) };
        match body {
            Body::Object {
                before,
                fields,
                dropped,
                after,
            } => self.object(one, before, fields, dropped, after),
            Body::Union(arms) => {
                let arms = arms.iter().map(|arm| self.arm(arm, &from, &to, one.exact));
                quote!(match value { #(#arms)* })
            }
            Body::Strings(values) => {
                let arms = values.iter().map(|value| {
                    let variant = format_ident!("{}", crate::model::naming::pascal_case(value));
                    quote!(#from::#variant => #to::#variant,)
                });
                done(quote!(match value { #(#arms)* }))
            }
            Body::IntoVariant(variant, boxed, step) => {
                let variant = format_ident!("{variant}");
                let value = self.convert(step, quote!(value));
                let value = if *boxed {
                    quote!(Box::new(#value))
                } else {
                    value
                };
                done(quote!(#to::#variant(#value)))
            }
            Body::Custom(hook) => {
                let path = path(&hook.path);
                quote!(#path(value, cx))
            }
        }
    }

    fn arm(
        &self,
        plan: &ArmPlan,
        from: &TokenStream,
        to: &TokenStream,
        exact: bool,
    ) -> TokenStream {
        let variant = format_ident!("{}", plan.variant);
        let value = if plan.boxed {
            quote!(*value)
        } else {
            quote!(value)
        };
        let then = match &plan.arm {
            Arm::Same {
                variant,
                boxed,
                step,
            } => {
                let value = self.convert(step, value);
                let value = if *boxed {
                    quote!(Box::new(#value))
                } else {
                    value
                };
                let value = match variant {
                    Some(variant) => {
                        let variant = format_ident!("{variant}");
                        quote!(#to::#variant(#value))
                    }
                    None => value,
                };
                if exact { value } else { quote!(Ok(#value)) }
            }
            Arm::Custom(hook) => {
                let path = path(&hook.path);
                quote!(#path(#value, cx))
            }
            Arm::NeedsState { rule, adapter } => {
                let adapter = self::adapter(adapter);
                return quote!(#from::#variant(_) => Err(cx.needs(#rule, #adapter)),);
            }
            Arm::Reject { error, .. } => {
                let reject = reject(error);
                return quote!(#from::#variant(_) => Err(#reject),);
            }
        };
        quote!(#from::#variant(value) => #then,)
    }

    fn object(
        &self,
        one: &Conversion,
        before: &[Hook],
        fields: &[FieldPlan],
        dropped: &[DroppedPlan],
        after: &[Hook],
    ) -> TokenStream {
        let (source, target) = self.sides();
        let from = Self::end(&source, &one.from);
        let to = Self::end(&target, &one.to);
        let adopts =
            |field: &FieldPlan| matches!(field.source, Source::Adopt { .. } | Source::Fill(_));
        let carries = |plan: &DroppedPlan| {
            !matches!(
                plan.action,
                Action::Only(_) | Action::NeedsState(_) | Action::Reject(_)
            )
        };
        let changes = fields.iter().any(adopts) || dropped.iter().any(carries);
        let extra = if changes {
            quote!(mut extra)
        } else {
            quote!(extra)
        };
        let hooks = before.iter().map(|hook| {
            let path = path(&hook.path);
            quote!(#path(&mut value, cx)?;)
        });
        let rebound = (!before.is_empty()).then(|| quote!(let mut value = value;));
        let open = match &one.from {
            // Every member of the source is named here: a new one is a compile error until it has a plan.
            End::Type(_) => {
                let mut names: BTreeSet<&str> =
                    dropped.iter().map(|plan| plan.field.as_str()).collect();
                names.extend(fields.iter().filter_map(|plan| match &plan.source {
                    Source::Same { field, .. } | Source::Custom { field, .. } => {
                        Some(field.as_str())
                    }
                    _ => None,
                }));
                let names = names.into_iter().map(|name| format_ident!("{name}"));
                quote!(let #from { #(#names,)* #extra } = value;)
            }
            End::Map => quote!(let #extra = value;),
            End::Opaque => quote!(let #extra = cx.open(value)?;),
        };
        let drops = dropped.iter().map(|plan| self.dropped(plan));
        let close = match &one.to {
            End::Type(_) => {
                let values = fields.iter().map(|plan| self.field(plan));
                quote!(#to { #(#values,)* extra })
            }
            End::Map => quote!(extra),
            End::Opaque => quote!(Context::close(&extra)),
        };
        let steps = quote!(#rebound #(#hooks)* #open #(#drops)*);
        if after.is_empty() {
            return if one.exact {
                quote!(#steps #close)
            } else {
                quote!(#steps Ok(#close))
            };
        }
        let hooks = after.iter().map(|hook| {
            let path = path(&hook.path);
            quote!(#path(&mut value, cx)?;)
        });
        quote!(#steps let mut value = #close; #(#hooks)* Ok(value))
    }

    fn field(&self, plan: &FieldPlan) -> TokenStream {
        let field = format_ident!("{}", plan.field);
        let wire = &plan.wire;
        let value = match &plan.source {
            Source::Same {
                field: from,
                step,
                filter: Some(filter),
                ..
            } => {
                let from = format_ident!("{from}");
                self.filtered(&from, wire, step, filter)
            }
            Source::Same {
                field: from,
                step,
                optional,
                boxed,
                missing,
                implied,
                filter: None,
            } => {
                let from = format_ident!("{from}");
                self.same(
                    &from,
                    wire,
                    step,
                    *optional,
                    *boxed,
                    missing.as_ref(),
                    implied.as_ref(),
                )
            }
            Source::Custom { field: from, hook } => {
                let from = format_ident!("{from}");
                let path = path(&hook.path);
                quote!(cx.member(#wire, |cx| #path(#from, cx))?)
            }
            Source::Adopt { boxed: false } => quote!(cx.adopt(#wire, &mut extra)),
            Source::Adopt { boxed: true } => quote!(cx.adopt(#wire, &mut extra).map(Box::new)),
            Source::Fill(missing) => {
                let fill = fill(missing);
                let value = quote!(match cx.adopt(#wire, &mut extra) { Some(value) => value, None => #fill });
                if missing.boxed {
                    quote!(Box::new(#value))
                } else {
                    value
                }
            }
        };
        if field == value.to_string() {
            quote!(#field)
        } else {
            quote!(#field: #value)
        }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of one plan, taken apart by the caller"
    )]
    fn same(
        &self,
        from: &Ident,
        wire: &str,
        step: &Step,
        optional: [bool; 2],
        boxed: [bool; 2],
        missing: Option<&Missing>,
        implied: Option<&Value>,
    ) -> TokenStream {
        let unboxed = |value: TokenStream| if boxed[0] { quote!(*#value) } else { value };
        let wrap = |value: TokenStream| {
            if boxed[1] {
                quote!(Box::new(#value))
            } else {
                value
            }
        };
        let plain = *step == Step::Move && boxed[0] == boxed[1];
        let one = |value: TokenStream| wrap(self.member(step, wire, unboxed(value)));
        match optional {
            _ if plain && optional[0] == optional[1] => quote!(#from),
            [false, false] => one(quote!(#from)),
            [true, true] => match self.function_of(step) {
                Some(function) if boxed == [false, false] => quote!(#from.map(#function)),
                _ => {
                    let value = one(quote!(value));
                    match self.is_exact(step) {
                        true => quote!(#from.map(|value| #value)),
                        false => quote!(match #from { Some(value) => Some(#value), None => None }),
                    }
                }
            },
            [false, true] => {
                let value = if plain {
                    quote!(#from)
                } else {
                    one(quote!(#from))
                };
                match implied {
                    Some(implied) => {
                        let text = implied.to_string();
                        quote!(Context::unless_implied(#value, #text))
                    }
                    None => quote!(Some(#value)),
                }
            }
            [true, false] => {
                let value = if plain {
                    quote!(value)
                } else {
                    one(quote!(value))
                };
                let fill = missing.map(|missing| match &missing.empty {
                    // An empty one of the source, converted like any other.
                    Some((_, step)) => self.member(step, wire, quote!(Default::default())),
                    None => fill(missing),
                });
                quote!(match #from { Some(value) => #value, None => #fill })
            }
        }
    }

    /// A list without the items that a hand-written function refuses.
    fn filtered(&self, from: &Ident, wire: &str, step: &Step, filter: &Filter) -> TokenStream {
        let rule = &filter.hook.rule;
        let keep = path(&filter.hook.path);
        let kind = kind(filter.loss);
        let inner = match step {
            Step::List(inner) => &**inner,
            step => step,
        };
        let run = match self.function_of(inner) {
            Some(function) => quote!(|value, _| Ok(#function(value))),
            None => self.each_fallible(inner),
        };
        quote!(cx.member(#wire, |cx| cx.list_keeping(#rule, #kind, #from, #keep, #run))?)
    }

    /// A value of a member, converted; losses get the member's name.
    fn member(&self, step: &Step, wire: &str, value: TokenStream) -> TokenStream {
        match self.is_exact(step) {
            true => self.convert(step, value),
            false => {
                let run = self.fallible(step, value);
                quote!(cx.member(#wire, |cx| #run)?)
            }
        }
    }

    /// A value, converted, in a place where `?` works.
    fn convert(&self, step: &Step, value: TokenStream) -> TokenStream {
        if !self.is_exact(step) {
            let run = self.fallible(step, value);
            return quote!(#run?);
        }
        match step {
            Step::Move => value,
            Step::Widen => quote!(#value.into()),
            Step::Call { .. } => {
                let function = self.function_of(step);
                quote!(#function(#value))
            }
            Step::List(inner) => {
                let each = self.each(inner);
                quote!(#value.into_iter().map(#each).collect())
            }
            Step::Map(inner) => {
                let each = self.convert(inner, quote!(value));
                quote!(#value.into_iter().map(|(name, value)| (name, #each)).collect())
            }
            Step::Nullable(inner) => {
                let each = self.each(inner);
                quote!(#value.map(#each))
            }
        }
    }

    fn each(&self, inner: &Step) -> TokenStream {
        match self.function_of(inner) {
            Some(function) => function,
            None => {
                let each = self.convert(inner, quote!(value));
                quote!(|value| #each)
            }
        }
    }

    /// As a `Result`.
    fn fallible(&self, step: &Step, value: TokenStream) -> TokenStream {
        let function = |inner: &Step| self.each_fallible(inner);
        match step {
            Step::Call { .. } => {
                let function = function(step);
                quote!(#function(#value, cx))
            }
            Step::List(inner) => {
                let function = function(inner);
                quote!(cx.list(#value, #function))
            }
            Step::Map(inner) => {
                let function = function(inner);
                quote!(cx.map(#value, #function))
            }
            Step::Nullable(inner) => {
                let run = self.fallible(inner, quote!(value));
                quote!(match #value { Some(value) => #run.map(Some), None => Ok(None) })
            }
            Step::Move | Step::Widen => {
                let value = self.convert(step, value);
                quote!(Ok(#value))
            }
        }
    }

    /// A function that converts one item and may fail.
    fn each_fallible(&self, inner: &Step) -> TokenStream {
        match inner {
            Step::Call { from, to } => {
                let name = &self.names[&(from.clone(), to.clone())];
                quote!(#name)
            }
            inner => {
                let run = self.fallible(inner, quote!(value));
                quote!(|value, cx| #run)
            }
        }
    }

    fn is_exact(&self, step: &Step) -> bool {
        target(step).is_none_or(|called| self.exact.contains(&called))
    }

    /// The path of a function that cannot fail and does this step.
    fn function_of(&self, step: &Step) -> Option<TokenStream> {
        match step {
            Step::Call { from, to } if self.is_exact(step) => {
                let name = &self.names[&(from.clone(), to.clone())];
                Some(quote!(#name))
            }
            _ => None,
        }
    }

    fn dropped(&self, plan: &DroppedPlan) -> TokenStream {
        let DroppedPlan {
            wire,
            field,
            optional,
            rule,
            action,
            loss,
        } = plan;
        let field = format_ident!("{field}");
        let kind = kind(*loss);
        let value = if *optional {
            quote!(#field)
        } else {
            quote!(Some(#field))
        };
        match action {
            Action::Implied(implied) => {
                let text = implied.to_string();
                quote!(cx.drop_unless(#rule, #kind, #wire, #value, #text, &mut extra);)
            }
            Action::Only(only) => {
                let goes = only.value.as_str().unwrap_or_default().to_owned();
                let adapters = only.adapters.iter().map(|(value, name)| {
                    let adapter = adapter(name);
                    quote!(#value => return Err(cx.needs(#rule, #adapter)),)
                });
                let reject = reject(&only.otherwise);
                let look = match optional {
                    true => quote!(#field.as_deref().unwrap_or(#goes)),
                    false => quote!(&*#field),
                };
                quote! {
                    match #look {
                        #goes => {}
                        #(#adapters)*
                        _ => return Err(#reject),
                    }
                }
            }
            Action::Pass => quote!(Context::pass(#wire, #value, &mut extra);),
            Action::NeedsState(name) => {
                let adapter = adapter(name);
                match optional {
                    true => quote!(if #field.is_some() { return Err(cx.needs(#rule, #adapter)); }),
                    false => quote!(let _ = #field; return Err(cx.needs(#rule, #adapter));),
                }
            }
            Action::Reject(error) => {
                let reject = reject(error);
                match optional {
                    true => quote!(if #field.is_some() { return Err(#reject); }),
                    false => quote!(let _ = #field; return Err(#reject);),
                }
            }
            Action::Custom(function) => {
                let path = path(function);
                quote!(#path(#field, cx, &mut extra)?;)
            }
            _ => quote!(cx.drop_member(#rule, #kind, #wire, #value, &mut extra);),
        }
    }

    /// The rows by which a value whose type is only known at run time is converted.
    fn hops(&self, conversions: &[Conversion]) -> TokenStream {
        let (source, target) = self.sides();
        let rows = conversions.iter().filter_map(|one| {
            let (End::Type(from), End::Type(to)) = (&one.from, &one.to) else { return None };
            let name = &self.names[&(one.from.clone(), one.to.clone())];
            let from_type = Self::end(&source, &one.from);
            let run = match one.exact {
                true => quote!(|value, _| Ok(#name(value))),
                false => quote!(#name),
            };
            let to_type = Self::end(&target, &one.to);
            Some(quote! {
                Hop { from: #from, to: #to, run: |value, cx| carry::<#from_type, #to_type>(value, cx, #run) },
            })
        });
        quote!(#(#rows)*)
    }
}

fn fill(missing: &Missing) -> TokenStream {
    let Missing { rule, action, .. } = missing;
    match action {
        Action::Default(value) => {
            let text = value.to_string();
            quote!(cx.fill(#rule, #text)?)
        }
        Action::Session(SessionFact::ProtocolVersion) => quote!(cx.session_version(#rule)?),
        Action::Session(SessionFact::ClientCapabilities) => quote!(cx.session_capabilities(#rule)?),
        Action::NeedsState(name) => {
            let adapter = adapter(name);
            quote!(return Err(cx.needs(#rule, #adapter)))
        }
        Action::Reject(error) => {
            let reject = reject(error);
            quote!(return Err(#reject))
        }
        Action::Custom(function) => {
            let path = path(function);
            quote!(#path(cx)?)
        }
        _ => quote!(return Err(cx.reject(-32603, "no value for a member that must be there"))),
    }
}

fn path(path: &str) -> TokenStream {
    let steps = path.split("::").map(|step| format_ident!("{step}"));
    quote!(mcp_convert::#(#steps)::*)
}

fn adapter(name: &str) -> TokenStream {
    let known = ADAPTERS.iter().find(|(known, _)| *known == name);
    let variant = format_ident!("{}", known.map_or("Handshake", |(_, variant)| *variant));
    quote!(Adapter::#variant)
}

fn reject(error: &Reject) -> TokenStream {
    let Reject { code, message } = error;
    let code = Literal::i64_unsuffixed(*code);
    quote!(cx.reject(#code, #message))
}

fn kind(loss: Option<Loss>) -> TokenStream {
    match loss {
        Some(Loss::Semantic) => quote!(LossKind::Semantic),
        Some(Loss::Interaction) => quote!(LossKind::Interaction),
        Some(Loss::Safety) => quote!(LossKind::Safety),
        Some(Loss::Cosmetic) | None => quote!(LossKind::Cosmetic),
    }
}
