//! Members that stand elsewhere on the other side: as items of a list of typed alternatives, or as an entry of a map.

use super::Emitter;
use super::words::{option, rule};
use crate::emit::{assign, in_box};
use crate::shims::same::reduced;
use mcp_revisions_plans::plan::{
    AlternativePlan, AlternativesPlan, EntryPlan, HeldValue, ObjectPlan,
};
use mcp_revisions_schema::model::Rest;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

impl Emitter {
    /// Returns the statement that gathers members of the source in a list.
    pub(super) fn gathers(&self, plan: &AlternativesPlan) -> TokenStream {
        let (wire, local) = (&plan.wire, local(&plan.field));
        let items = plan.items.iter().map(|item| {
            let Some(held) = &item.held else {
                let one = self.item(plan, item, None);
                return quote!(Some(#one));
            };
            let from = format_ident!("{}", held.member_field);
            let unboxed = |value: TokenStream| {
                if held.member_boxed {
                    quote!(*#value)
                } else {
                    value
                }
            };
            let transfer = &reduced(&held.transfer, &self.moved);
            let one = |value: TokenStream| {
                let value = self.member(transfer, &held.member, unboxed(value));
                self.item(plan, item, Some((held, in_box(value, held.boxed))))
            };
            if held.optional {
                self.mapped(transfer, quote!(#from), one(quote!(value)))
            } else {
                let one = one(quote!(#from));
                quote!(Some(#one))
            }
        });
        let list = quote!([#(#items),*].into_iter().flatten().collect());
        if !plan.optional {
            return quote! {
                cx.foreign(#wire, &mut extra);
                let #local = #list;
            };
        }
        let there = plan.held_values().map(|held| {
            let from = format_ident!("{}", held.member_field);
            quote!(#from.is_some())
        });
        quote! {
            cx.foreign(#wire, &mut extra);
            let is_there = #(#there)||*;
            let #local: Vec<_> = #list;
            let #local = is_there.then_some(#local);
        }
    }

    /// Returns an item of a list of the target.
    fn item(
        &self,
        plan: &AlternativesPlan,
        item: &AlternativePlan,
        held: Option<(&HeldValue, TokenStream)>,
    ) -> TokenStream {
        let (_, target) = self.sides();
        let [union, variant, ty] =
            [&plan.union, &item.variant, &item.ty].map(|name| format_ident!("{name}"));
        let own = held.map(|(held, value)| assign(&format_ident!("{}", held.field), &value));
        let others = item.others.iter().map(|field| {
            let field = format_ident!("{field}");
            quote!(#field: None)
        });
        let extra = (item.rest != Rest::Closed).then(|| quote!(extra: Default::default()));
        let fields = own.into_iter().chain(others).chain(extra);
        let value = in_box(quote!(#target::#ty { #(#fields),* }), item.boxed);
        quote!(#target::#union::#variant(#value))
    }

    /// Returns the statements that make members of the target out of a list of the source.
    pub(super) fn spreads(&self, plan: &AlternativesPlan) -> TokenStream {
        let (source, _) = self.sides();
        let (wire, rule, list) = (
            &plan.wire,
            rule(&plan.rule),
            format_ident!("{}", plan.field),
        );
        let union = format_ident!("{}", plan.union);
        let slots: Vec<Option<Ident>> = plan
            .items
            .iter()
            .map(|item| {
                let held = item.held.as_ref()?;
                Some(format_ident!("item_{}", held.member_field))
            })
            .collect();
        let names = slots.iter().map(|slot| match slot {
            Some(slot) => quote!(#slot),
            None => quote!(_),
        });
        let always = plan
            .items
            .iter()
            .map(|item| item.held.as_ref().is_none_or(|held| !held.optional));
        let arms = plan.items.iter().enumerate().map(|(at, item)| {
            let (variant, at) = (
                format_ident!("{}", item.variant),
                Literal::usize_unsuffixed(at),
            );
            let fields = item.others.iter().map(|field| {
                let field = format_ident!("{field}");
                quote!(item.#field.is_none())
            });
            let extra = (item.rest != Rest::Closed).then(|| quote!(item.extra.is_empty()));
            let all: Vec<TokenStream> = fields.chain(extra).collect();
            if all.is_empty() {
                quote!(#source::#union::#variant(_) => Some((#at, true)),)
            } else {
                quote!(#source::#union::#variant(item) => Some((#at, #(#all)&&*)),)
            }
        });
        let other = plan.has_others.then(|| quote!(_ => None,));
        let spread = format_ident!(
            "{}",
            if plan.optional {
                "spread_optional"
            } else {
                "spread"
            }
        );
        let foreign = plan.held_values().map(|held| {
            let member = &held.member;
            quote!(cx.foreign(#member, &mut extra);)
        });
        let values = plan.items.iter().zip(&slots).filter_map(|(item, slot)| {
            let (held, slot) = (item.held.as_ref()?, slot.as_ref()?);
            let (variant, local) = (format_ident!("{}", item.variant), local(&held.member_field));
            let field = format_ident!("{}", held.field);
            let of_item = if held.boxed {
                quote!(*item.#field)
            } else {
                quote!(item.#field)
            };
            let transfer = &reduced(&held.transfer, &self.moved);
            let (index, converted) = if self.is_exact(transfer) {
                (quote!(_), self.convert(transfer, of_item))
            } else {
                let question = self.is_fallible(transfer).then(|| quote!(?));
                let (each, name) = (self.each_with_context(transfer), &held.wire);
                (
                    quote!(index),
                    quote!(cx.item_member((#wire, index, #name), #of_item, #each) #question),
                )
            };
            let absent = match &held.absent {
                Some(absent) => {
                    let text = absent.to_string();
                    quote!(cx.fill(#rule, #text)?)
                }
                None => quote!(None),
            };
            let whole = in_box(converted, held.member_boxed);
            let value = if held.optional {
                quote!(Some(#whole))
            } else {
                whole
            };
            Some(quote! {
                let #local = match #slot {
                    Some((#index, #source::#union::#variant(item))) => #value,
                    _ => #absent,
                };
            })
        });
        quote! {
            #(#foreign)*
            let [#(#names),*] = cx.#spread(#rule, #wire, #list, [#(#always),*], |item| match item { #(#arms)* #other });
            #(#values)*
        }
    }

    /// Returns the statements that take a member out of a map of the source, or put it there.
    pub(super) fn entry(plan: &EntryPlan) -> TokenStream {
        let (rule, map, name, wire) = (rule(&plan.rule), &plan.map, &plan.name, &plan.wire);
        let [entries, field] = [&plan.map_field, &plan.field].map(|field| format_ident!("{field}"));
        if !plan.takes {
            let value = option(&field, true, plan.boxed);
            return quote! {
                let mut #entries = #entries;
                cx.put_entry(#rule, #wire, (#map, #name), #value, &mut #entries);
            };
        }
        let local = local(&plan.field);
        let boxed = plan.boxed.then(|| quote!(.map(Box::new)));
        quote! {
            cx.foreign(#wire, &mut extra);
            let mut #entries = #entries;
            let #local = cx.take_entry(#rule, (#map, #name), &mut #entries)#boxed;
        }
    }

    /// Returns the members of the target that stand elsewhere in the source.
    pub(super) fn listed(plan: &ObjectPlan) -> Vec<TokenStream> {
        let lists = plan.gathered().iter().map(|list| &list.field);
        let held = plan.spread().iter().flat_map(AlternativesPlan::held_values);
        let taken = (plan.entries().iter().filter(|entry| entry.takes)).map(|entry| &entry.field);
        let all = lists
            .chain(held.map(|held| &held.member_field))
            .chain(taken);
        all.map(|field| {
            let local = local(field);
            assign(&format_ident!("{field}"), &quote!(#local))
        })
        .collect()
    }
}

/// Returns the variable that holds a member of the target.
fn local(field: &str) -> Ident {
    format_ident!("listed_{field}")
}
