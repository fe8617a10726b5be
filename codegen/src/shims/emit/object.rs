//! Objects: the members of the target, and what the source has beside them.

use super::super::open::UNDECIDED;
use super::super::plan::{
    Adoption, Body, Conversion, DroppedPlan, End, FieldPlan, Filter, Held, Hook, Kept, Missing,
    Recast, SettledPlan, Source, Step,
};
use super::super::rules::{Action, SessionFact};
use super::{Emitter, adapter, call, path, reject, rule};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;
use std::collections::BTreeSet;

impl Emitter {
    /// The body of a conversion of objects; nothing for another one.
    pub(super) fn object(&self, one: &Conversion, body: &Body) -> TokenStream {
        let Body::Object {
            before,
            fields,
            dropped,
            settled,
            rest,
            after,
        } = body
        else {
            return TokenStream::new();
        };
        let (source, target) = self.sides();
        let from = Self::end(&source, &one.from);
        let to = Self::end(&target, &one.to);
        let adopts = |field: &FieldPlan| {
            matches!(
                field.source,
                Source::Adopt { .. } | Source::Session { .. } | Source::Fill(_)
            )
        };
        let carries = |plan: &DroppedPlan| {
            let stops = matches!(
                plan.action,
                Action::Only(_) | Action::NeedsState(_) | Action::Reject(_)
            );
            plan.action == Action::Pass || plan.carried && !stops
        };
        let changes = fields.iter().any(adopts) || dropped.iter().any(carries);
        let extra = if changes {
            quote!(mut extra)
        } else {
            quote!(extra)
        };
        let run = |hook: &Hook| {
            let call = call(hook, quote!(&mut value));
            quote!(#call?;)
        };
        let hooks = before.iter().map(run);
        let rebound = (!before.is_empty()).then(|| quote!(let mut value = value;));
        let is_read = changes || rest.to != Kept::Closed;
        let open = match &one.from {
            // Every member of the source is named here: a new one is a compile error until it has a plan.
            End::Type(_) => {
                let names = named_fields(fields, dropped, settled);
                let names = names.into_iter().map(|name| format_ident!("{name}"));
                match rest.from {
                    Kept::Open => quote!(let #from { #(#names,)* #extra } = value;),
                    Kept::Typed => quote! {
                        let #from { #(#names,)* extra } = value;
                        let #extra = Context::untyped(&extra);
                    },
                    Kept::Closed if is_read => quote! {
                        let #from { #(#names),* } = value;
                        let #extra = Extra::new();
                    },
                    Kept::Closed => quote!(let #from { #(#names),* } = value;),
                }
            }
            End::Map => quote!(let #extra = value;),
            End::Opaque => quote!(let #extra = cx.open(value)?;),
        };
        let drops = dropped.iter().map(|plan| self.dropped(plan));
        let settles = settled.iter().map(settles);
        let rule = rule(&rest.rule);
        let close = match &one.to {
            End::Type(_) => {
                let values = fields.iter().map(|plan| self.field(plan));
                match rest.to {
                    Kept::Open => quote!(#to { #(#values,)* extra }),
                    Kept::Typed => {
                        quote!(#to { #(#values,)* extra: cx.typed(#rule, extra) })
                    }
                    Kept::Closed => quote!(#to { #(#values),* }),
                }
            }
            End::Map => quote!(extra),
            End::Opaque => quote!(Context::close(&extra)),
        };
        let steps = quote!(#rebound #(#hooks)* #open #(#drops)* #(#settles)*);
        // The target has no room for what is left.
        let leaves = rest.to == Kept::Closed && (changes || rest.from != Kept::Closed);
        let leaves = leaves.then(|| quote!(cx.drop_extra(#rule, extra);));
        if after.is_empty() && leaves.is_none() {
            return if one.exact {
                quote!(#steps #close)
            } else {
                quote!(#steps Ok(#close))
            };
        }
        if after.is_empty() {
            return quote!(#steps let value = #close; #leaves Ok(value));
        }
        let hooks = after.iter().map(run);
        quote!(#steps let mut value = #close; #leaves #(#hooks)* Ok(value))
    }

    pub(super) fn field(&self, plan: &FieldPlan) -> TokenStream {
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
                prune,
                summon,
                filter: None,
            } => {
                let from = format_ident!("{from}");
                if *prune && !self.is_exact(step) {
                    let run = self.fallible(step, quote!(value));
                    let value = quote!(match #from { Some(value) => cx.prune(#wire, |cx| #run)?, None => None });
                    return quote!(#field: #value);
                }
                if summon.is_some() {
                    let run = self.fallible(step, quote!(value));
                    let source = quote!(if cx.session().subscription_id.is_some() { #from.or_else(|| Some(Default::default())) } else { #from });
                    return quote!(#field: match #source { Some(value) => Some(cx.member(#wire, |cx| #run)?), None => None });
                }
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
            Source::Reread(recast) => self.reread(recast, wire),
            Source::Lost(recast) => self.lost(recast, wire),
            Source::Constant {
                value,
                optional,
                boxed,
            } => {
                let text = value.to_string();
                let rule = rule(UNDECIDED);
                let value = quote!(cx.fill(#rule, #text)?);
                let value = if *boxed {
                    quote!(Box::new(#value))
                } else {
                    value
                };
                if *optional {
                    quote!(Some(#value))
                } else {
                    value
                }
            }
            Source::Custom { field: from, hook } => {
                let from = format_ident!("{from}");
                let call = call(hook, quote!(#from));
                quote!(cx.member(#wire, |cx| #call)?)
            }
            Source::Adopt { boxed, adoption } => {
                let adopted = match adoption {
                    Adoption::Always => quote!(cx.adopt(#wire, &mut extra)),
                    Adoption::Carried => quote!(cx.carried(#wire, &mut extra)),
                    Adoption::Never => quote!({ cx.foreign(#wire, &mut extra); None }),
                };
                if *boxed && *adoption != Adoption::Never {
                    quote!(#adopted.map(Box::new))
                } else {
                    adopted
                }
            }
            Source::Session { boxed, fact } => {
                let known = match fact {
                    SessionFact::ClientInfo => quote!(cx.known(|session| &session.client_info)),
                    SessionFact::SubscriptionId => {
                        quote!(cx.known(|session| &session.subscription_id))
                    }
                    SessionFact::ClientCapabilities => {
                        quote!(cx.known(|session| &session.client_capabilities))
                    }
                };
                let known = if *boxed {
                    quote!(#known.map(Box::new))
                } else {
                    known
                };
                quote!({ cx.foreign(#wire, &mut extra); #known })
            }
            Source::Fill(missing) => {
                let fill = fill(missing);
                let value = match missing.action.stops() {
                    // One that was carried here is what is missing.
                    true => {
                        quote!(match cx.carried(#wire, &mut extra) { Some(value) => value, None => #fill })
                    }
                    false => quote!({ cx.foreign(#wire, &mut extra); #fill }),
                };
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
    pub(super) fn same(
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

    /// A member whose text is read again.
    fn reread(&self, recast: &Recast, wire: &str) -> TokenStream {
        let Recast {
            rule: id, boxed, ..
        } = recast;
        let rule = rule(id);
        let wrap = |value: TokenStream| match boxed[1] {
            true => quote!(Box::new(#value)),
            false => value,
        };
        let required = |value: TokenStream| {
            wrap(quote!(cx.member(#wire, |cx| cx.reread_required(#rule, &#value))?))
        };
        match recast.optional {
            [_, true] => {
                let value = recast.option();
                let boxed = boxed[1].then(|| quote!(.map(Box::new)));
                quote!(cx.reread(#rule, #wire, #value)#boxed)
            }
            [false, false] => required(recast.value()),
            [true, false] => {
                let value = recast.option();
                let then = required(quote!(value));
                let fill = recast.missing.as_ref().map(fill);
                quote!(match #value { Some(value) => #then, None => #fill })
            }
        }
    }

    /// A member whose value has no counterpart.
    fn lost(&self, recast: &Recast, wire: &str) -> TokenStream {
        let rule = rule(&recast.rule);
        let refused = |value: TokenStream| {
            let message = "the value has no counterpart in the other revision";
            quote!(cx.member(#wire, |cx| cx.refused(#rule, &#value, #message))?)
        };
        let value = recast.option();
        match recast.optional {
            [_, true] => quote!(cx.lost(#rule, #wire, #value)),
            [false, false] => refused(recast.value()),
            [true, false] => {
                let then = refused(quote!(value));
                let fill = recast.missing.as_ref().map(fill);
                quote!(match #value { Some(value) => #then, None => #fill })
            }
        }
    }

    /// A list without the items that a hand-written function refuses.
    pub(super) fn filtered(
        &self,
        from: &Ident,
        wire: &str,
        step: &Step,
        filter: &Filter,
    ) -> TokenStream {
        let rule = rule(&filter.hook.rule);
        let keep = path(&filter.hook.path);
        let inner = match step {
            Step::List(inner) => &**inner,
            step => step,
        };
        let run = match self.function_of(inner) {
            Some(function) => quote!(|value, _| Ok(#function(value))),
            None => self.each_fallible(inner),
        };
        quote!(cx.member(#wire, |cx| cx.list_keeping(#rule, #from, #keep, #run))?)
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
        let value = if *optional {
            quote!(#field)
        } else {
            quote!(Some(#field))
        };
        let drop = |value: TokenStream| match carried {
            true => quote!(cx.drop_member(#rule, #wire, #value, &mut extra);),
            false => quote!(cx.lose_member(#rule, #wire, #value);),
        };
        match action {
            Action::Implied(implied) => {
                let text = implied.to_string();
                drop(match optional {
                    true => quote!(#field.and_then(|value| Context::unless_implied(value, #text))),
                    false => quote!(Context::unless_implied(#field, #text)),
                })
            }
            Action::Only(only) => {
                let goes = only.value.as_str().unwrap_or_default().to_owned();
                let reject = reject(id, &only.otherwise);
                let look = match optional {
                    true => quote!(#field.as_deref().unwrap_or(#goes)),
                    false => quote!(&*#field),
                };
                quote! {
                    if #look != #goes {
                        return Err(#reject);
                    }
                }
            }
            Action::Pass => quote!(Context::pass(#wire, #value, &mut extra);),
            Action::NeedsState(name) => {
                let adapter = adapter(*name);
                match optional {
                    true => quote!(if #field.is_some() { return Err(cx.needs(#rule, #adapter)); }),
                    false => quote!(let _ = #field; return Err(cx.needs(#rule, #adapter));),
                }
            }
            Action::Reject(error) => {
                let reject = reject(id, error);
                match optional {
                    true => quote!(if #field.is_some() { return Err(#reject); }),
                    false => quote!(let _ = #field; return Err(#reject);),
                }
            }
            Action::Custom(function) => {
                let path = path(function);
                quote!(#path(#field, &mut cx.under(#rule), &mut extra)?;)
            }
            _ => drop(value),
        }
    }
}

impl Recast {
    /// The value of the source, out of its box.
    fn value(&self) -> TokenStream {
        let field = format_ident!("{}", self.field);
        match self.boxed[0] {
            true => quote!(*#field),
            false => quote!(#field),
        }
    }

    /// The same as an `Option`.
    fn option(&self) -> TokenStream {
        let field = format_ident!("{}", self.field);
        match (self.optional[0], self.boxed[0]) {
            (true, true) => quote!(#field.map(|value| *value)),
            (true, false) => quote!(#field),
            (false, _) => {
                let value = self.value();
                quote!(Some(#value))
            }
        }
    }
}

/// The fields of the source that a conversion takes.
fn named_fields<'p>(
    fields: &'p [FieldPlan],
    dropped: &'p [DroppedPlan],
    settled: &'p [SettledPlan],
) -> BTreeSet<&'p str> {
    let mut names: BTreeSet<&str> = dropped.iter().map(|plan| plan.field.as_str()).collect();
    names.extend(fields.iter().filter_map(|plan| match &plan.source {
        Source::Same { field, .. }
        | Source::Custom { field, .. }
        | Source::Reread(Recast { field, .. })
        | Source::Lost(Recast { field, .. }) => Some(field.as_str()),
        Source::Constant { .. }
        | Source::Adopt { .. }
        | Source::Session { .. }
        | Source::Fill(_) => None,
    }));
    names.extend(settled.iter().filter_map(|plan| match &plan.from {
        Held::Field { field, .. } => Some(field.as_str()),
        Held::Constant(_) => None,
    }));
    names
}

/// Records what becomes a constant.
fn settles(plan: &SettledPlan) -> TokenStream {
    let wire = &plan.wire;
    let (rule, text) = (rule(&plan.rule), plan.constant.to_string());
    let value = match &plan.from {
        Held::Constant(constant) => {
            let was = constant.to_string();
            quote!(Some(cx.fill::<mcp_wire::Json>(#rule, #was)?))
        }
        Held::Field { field, optional } => {
            let field = format_ident!("{field}");
            if *optional {
                quote!(#field)
            } else {
                quote!(Some(#field))
            }
        }
    };
    quote! {
        let was = #value;
        cx.settle(#rule, #wire, was, #text);
    }
}

pub(super) fn fill(missing: &Missing) -> TokenStream {
    let Missing {
        rule: id, action, ..
    } = missing;
    let rule = rule(id);
    match action {
        Action::Default(value) => {
            let text = value.to_string();
            quote!(cx.fill(#rule, #text)?)
        }
        Action::Swallow => quote!(return Err(cx.swallow(#rule))),
        Action::Session(SessionFact::ClientCapabilities) => quote!(cx.session_capabilities(#rule)?),
        Action::NeedsState(name) => {
            let adapter = adapter(*name);
            quote!(return Err(cx.needs(#rule, #adapter)))
        }
        Action::Reject(error) => {
            let reject = reject(id, error);
            quote!(return Err(#reject))
        }
        Action::Custom(function) => {
            let path = path(function);
            quote!(#path(&mut cx.under(#rule))?)
        }
        _ => {
            quote!(return Err(cx.reject(#rule, -32603, "no value for a member that must be there")))
        }
    }
}
