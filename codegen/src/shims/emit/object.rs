//! Objects: the members of the target, and what the source has beside them.

use super::words::{option, question};
use super::{Emitter, adapter, as_returned, called, path, reduced, reject, rule};
use mcp_revisions_plans::UNDECIDED;
use mcp_revisions_plans::plan::{
    AlternativesPlan, DroppedPlan, FieldPlan, HookCall, ObjectPlan, PairEnd, PlannedConversion,
    Recast, SameMember, SettledPlan, SourceValue, Transfer, ValueSource,
};
use mcp_revisions_plans::rules::Action;
use mcp_revisions_schema::model::Rest;
use mcp_revisions_schema::sorted::SortedSet;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter {
    /// Returns the body of a conversion of objects.
    pub(super) fn object(
        &self,
        one: &PlannedConversion,
        plan: &ObjectPlan,
        [from, to]: [&TokenStream; 2],
    ) -> TokenStream {
        let ObjectPlan {
            before,
            fields,
            dropped,
            settled,
            foreign,
            moves,
            rest,
            after,
        } = plan;
        let adopts = |field: &FieldPlan| {
            matches!(
                field.source,
                ValueSource::Adopt(_) | ValueSource::Session(_) | ValueSource::Fill(_)
            )
        };
        let carries = |plan: &DroppedPlan| {
            let stops = matches!(
                plan.action,
                Action::InSession | Action::Only(_) | Action::RequiresState(_) | Action::Reject(_)
            );
            plan.action == Action::Pass || plan.carried && !stops
        };
        let changes = (fields.iter()).any(|field| field.was.is_some() || adopts(field))
            || dropped.iter().any(carries)
            || !plan.foreign.is_empty()
            || moves.as_ref().is_some_and(|moves| moves.reads_unknown());
        let extra = if changes {
            quote!(mut extra)
        } else {
            quote!(extra)
        };
        let run = |hook: &HookCall| {
            let call = called(hook, quote!(&mut value));
            quote!(#call;)
        };
        let hooks = before.iter().map(run);
        let rebound = (!before.is_empty()).then(|| quote!(let mut value = value;));
        let is_read = changes || rest.to != Rest::Closed;
        // The others are values of one type of the target, before members join them or leave them.
        let converts = rest.transfer.as_ref().map(|each| {
            let all = reduced(each, &self.moved).within(Transfer::Map);
            (all != Transfer::Move).then(|| {
                let (ty, all) = (type_of(&all), self.convert(&all, quote!(extra)));
                quote!(let extra: #ty = #all;)
            })
        });
        let stays_typed = converts.is_some() && !changes;
        let open = match &one.from {
            // Every member of the source is named here: a new one is a compile error until it has a plan.
            PairEnd::Type(_) => {
                let names = named_fields(plan)
                    .into_iter()
                    .map(|name| format_ident!("{name}"));
                match &rest.from {
                    Rest::Open => quote!(let #from { #(#names,)* #extra } = value;),
                    Rest::Typed(_) => {
                        let untyped =
                            (!stays_typed).then(|| quote!(let #extra = Context::untyped(&extra);));
                        quote!(let #from { #(#names,)* extra } = value; #converts #untyped)
                    }
                    Rest::Closed if is_read => quote! {
                        let #from { #(#names),* } = value;
                        let #extra = Extra::new();
                    },
                    Rest::Closed => quote!(let #from { #(#names),* } = value;),
                }
            }
            PairEnd::Map => quote!(let #extra = value;),
            PairEnd::Opaque => quote!(let #extra = cx.open(value)?;),
        };
        let drops = dropped.iter().map(|plan| self.dropped(plan));
        let settles = settled.iter().map(settles);
        let rule = rule(&rest.rule);
        let close = match &one.to {
            PairEnd::Type(_) => {
                let own = fields.iter().map(|plan| self.field(plan));
                let values = own.chain(Self::listed(plan));
                match &rest.to {
                    Rest::Open => quote!(#to { #(#values,)* extra }),
                    Rest::Typed(_) if stays_typed => quote!(#to { #(#values,)* extra }),
                    Rest::Typed(_) => {
                        quote!(#to { #(#values,)* extra: cx.typed(#rule, extra) })
                    }
                    Rest::Closed => quote!(#to { #(#values),* }),
                }
            }
            PairEnd::Map => quote!(extra),
            PairEnd::Opaque => quote!(Context::close(&extra)),
        };
        let derived = fields.iter().filter_map(|plan| match &plan.source {
            ValueSource::Derived(hook) => {
                let (field, call) = (derived(&plan.field), called(hook, quote!(&value)));
                Some(quote!(let #field = #call;))
            }
            _ => None,
        });
        let foreign = (foreign.iter()).map(|wire| quote!(cx.foreign(#wire, &mut extra);));
        let gathers = plan.gathered().iter().map(|list| self.gathers(list));
        let entries = plan.entries().iter().map(Self::entry);
        let lists = entries
            .chain(gathers)
            .chain(plan.spread().iter().map(|list| self.spreads(list)));
        let stages = quote!(#rebound #(#hooks)* #(#derived)* #open #(#foreign)* #(#drops)* #(#settles)* #(#lists)*);
        // The target has no room for what is left.
        let leaves = rest.to == Rest::Closed && (changes || rest.from != Rest::Closed);
        let drop_rest = leaves.then(|| quote!(cx.drop_extra(#rule, extra);));
        if after.is_empty() && drop_rest.is_none() {
            let value = as_returned(one.effect, close);
            return quote!(#stages #value);
        }
        let value = as_returned(one.effect, quote!(value));
        let rebound = (!after.is_empty()).then(|| quote!(mut));
        let hooks = after.iter().map(run);
        quote!(#stages let #rebound value = #close; #drop_rest #(#hooks)* #value)
    }

    pub(super) fn dropped(&self, plan: &DroppedPlan) -> TokenStream {
        let DroppedPlan {
            wire,
            field,
            optional,
            rule: id,
            action,
            carried,
        } = plan;
        let (field, rule) = (format_ident!("{field}"), rule(id));
        let value = option(&field, *optional, false);
        let drop = |value: TokenStream| {
            if *carried {
                quote!(cx.drop_member(#rule, #wire, #value, &mut extra);)
            } else {
                quote!(cx.lose_member(#rule, #wire, #value);)
            }
        };
        let stop = |error: TokenStream| {
            if *optional {
                quote!(if #field.is_some() { return Err(#error); })
            } else {
                quote!(let _ = #field; return Err(#error);)
            }
        };
        match action {
            Action::InSession => quote!(cx.leave_to_session(#rule, #wire, #value);),
            Action::Implied(implied) => {
                let text = implied.to_string();
                drop(if *optional {
                    quote!(#field.and_then(|value| Context::unless_implied(value, #text)))
                } else {
                    quote!(Context::unless_implied(#field, #text))
                })
            }
            Action::Only(only) => {
                let goes = only.value.as_str().unwrap_or_default().to_owned();
                let reject = reject(id, &only.otherwise);
                let look = if *optional {
                    quote!(#field.as_ref().map_or(#goes, |value| value.as_str()))
                } else {
                    quote!(#field.as_str())
                };
                quote! {
                    if #look != #goes {
                        return Err(#reject);
                    }
                }
            }
            Action::Pass => quote!(Context::pass(#wire, #value, &mut extra);),
            Action::RequiresState(name) => {
                let adapter = adapter(*name);
                stop(quote!(cx.needs(#rule, #adapter)))
            }
            Action::Reject(error) => stop(reject(id, error)),
            Action::Custom(function) => {
                let (path, question) = (path(function), question(function));
                quote!(#path(#field, &mut cx.under(#rule), &mut extra) #question;)
            }
            _ => drop(value),
        }
    }
}

/// Returns the type of the value of a transfer, as far as the generated code does not infer it.
fn type_of(transfer: &Transfer) -> TokenStream {
    match transfer {
        Transfer::List(inner) => {
            let inner = type_of(inner);
            quote!(Vec<#inner>)
        }
        Transfer::Map(inner) => {
            let inner = type_of(inner);
            quote!(mcp_wire::Map<#inner>)
        }
        Transfer::Nullable(inner) | Transfer::OrNull(inner) => {
            let inner = type_of(inner);
            quote!(Option<#inner>)
        }
        Transfer::Widen => quote!(mcp_wire::Json),
        Transfer::Move | Transfer::Call { .. } => quote!(_),
    }
}

/// Returns the fields of the source that a conversion takes.
fn named_fields(plan: &ObjectPlan) -> SortedSet<&str> {
    let mut names: SortedSet<&str> = plan.dropped.iter().map(|plan| &*plan.field).collect();
    names.extend(plan.fields.iter().filter_map(|plan| match &plan.source {
        ValueSource::Same(SameMember { field, .. })
        | ValueSource::Custom { field, .. }
        | ValueSource::Claim { field }
        | ValueSource::Reread(Recast { field, .. })
        | ValueSource::Lost(Recast { field, .. }) => Some(field.as_str()),
        ValueSource::Constant(_)
        | ValueSource::Derived(_)
        | ValueSource::Adopt(_)
        | ValueSource::Session(_)
        | ValueSource::Fill(_) => None,
    }));
    names.extend(plan.settled.iter().filter_map(|plan| match &plan.from {
        SourceValue::Field { field, .. } => Some(field.as_str()),
        SourceValue::Constant(_) => None,
    }));
    names.extend(plan.spread().iter().map(|list| &*list.field));
    let put = plan.entries().iter().filter(|entry| !entry.takes);
    names.extend(put.map(|entry| &*entry.field));
    let gathered = plan
        .gathered()
        .iter()
        .flat_map(AlternativesPlan::held_values);
    names.extend(gathered.map(|held| &*held.member_field));
    names
}

/// Returns the variable that holds what a hook made of the whole source.
pub(super) fn derived(field: &str) -> Ident {
    format_ident!("derived_{field}")
}

/// Records what becomes a constant.
fn settles(plan: &SettledPlan) -> TokenStream {
    let (wire, text) = (&plan.wire, plan.constant.to_string());
    let rule = match (&plan.rule, &plan.from) {
        (None, SourceValue::Field { field, .. }) => {
            let field = format_ident!("{field}");
            return quote!(cx.only(#wire, &#field, #text)?;);
        }
        (id, _) => rule(id.as_deref().unwrap_or(UNDECIDED)),
    };
    let value = match &plan.from {
        SourceValue::Constant(constant) => {
            let was = constant.to_string();
            quote!(Some(cx.fill::<mcp_wire::Json>(#rule, #was)?))
        }
        SourceValue::Field { field, optional } => {
            option(&format_ident!("{field}"), *optional, false)
        }
    };
    quote! {
        let was = #value;
        cx.settle(#rule, #wire, was, #text);
    }
}
