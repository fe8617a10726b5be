//! Members of the target: where each comes from, and what happens to it on the way.

use super::object::derived;
use super::words::{option, question};
use super::{Emitter, adapter, call, path, reject, rule};
use crate::emit::{assign, in_box};
use crate::shims::same::reduced;
use mcp_revisions_plans::UNDECIDED;
use mcp_revisions_plans::plan::{
    Adoption, FieldPlan, HookCall, Missing, Recast, SameMember, Transfer, ValueSource,
};
use mcp_revisions_plans::rules::{Action, SessionFact};
use mcp_revisions_schema::naming::snake_case;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter {
    pub(super) fn field(&self, plan: &FieldPlan) -> TokenStream {
        let field = format_ident!("{}", plan.field);
        let wire = &plan.wire;
        let value = match &plan.source {
            ValueSource::Same(same) => self.same(plan, same),
            ValueSource::Reread(recast) => self.recast(plan, recast, false),
            ValueSource::Lost(recast) => self.recast(plan, recast, true),
            ValueSource::Constant(value) => {
                let text = value.to_string();
                let rule = rule(UNDECIDED);
                let value = in_box(quote!(cx.fill(#rule, #text)?), plan.boxed);
                if plan.optional {
                    quote!(Some(#value))
                } else {
                    value
                }
            }
            ValueSource::Claim { field: from } => {
                let from = format_ident!("{from}");
                let (source, target) = self.sides();
                quote!(cx.claim(#wire, #from, #source::PROTOCOL_VERSION, #target::PROTOCOL_VERSION))
            }
            ValueSource::Custom { field: from, hook } => {
                let from = format_ident!("{from}");
                let (call, question) = (call(hook, quote!(value)), question(&hook.path));
                let wire = plan.source_wire();
                quote!(cx.member(#wire, #from, |value, cx| #call) #question)
            }
            ValueSource::Derived(_) => {
                let value = derived(&plan.field);
                quote!(#value)
            }
            ValueSource::Adopt(adoption) => {
                let adopted = match adoption {
                    Adoption::Always => quote!(cx.adopt(#wire, &mut extra)),
                    Adoption::Carried => quote!(cx.carried(#wire, &mut extra)),
                    Adoption::Never => quote!({ cx.foreign(#wire, &mut extra); None }),
                };
                if plan.boxed && *adoption != Adoption::Never {
                    quote!(#adopted.map(Box::new))
                } else {
                    adopted
                }
            }
            ValueSource::Session(fact) => {
                let fact = format_ident!("{}", snake_case(&format!("{fact:?}")));
                let boxed = plan.boxed.then(|| quote!(.map(Box::new)));
                quote!({ cx.foreign(#wire, &mut extra); cx.known(|session| &session.#fact)#boxed })
            }
            ValueSource::Fill(missing) => {
                let fill = fill(missing);
                let value = if missing.action.stops() {
                    // A member that was carried here has the value that is missing.
                    quote!(match cx.carried(#wire, &mut extra) { Some(value) => value, None => #fill })
                } else {
                    quote!({ cx.foreign(#wire, &mut extra); #fill })
                };
                in_box(value, plan.boxed)
            }
        };
        let value = match plan.was {
            Some(_) => quote!({ cx.foreign(#wire, &mut extra); #value }),
            None => value,
        };
        assign(&field, &value)
    }

    /// Returns a member that source and target have.
    fn same(&self, plan: &FieldPlan, same: &SameMember) -> TokenStream {
        let (wire, transfer) = (plan.source_wire(), &reduced(&same.transfer, &self.moved));
        let optional = [same.optional, plan.optional];
        let boxed = [same.boxed, plan.boxed];
        let from = &format_ident!("{}", same.field);
        if let Some(hook) = &same.filter {
            return self.filtered(from, wire, transfer, hook);
        }
        if let Some(id) = &same.null {
            let (rule, given) = (rule(id), option(from, optional[0], boxed[0]));
            let value = SameMember {
                optional: true,
                boxed: false,
                null: None,
                ..same.clone()
            };
            let value = self.same(plan, &value);
            return quote!({ let #from = cx.not_null(#rule, #wire, #given); #value });
        }
        if same.prune && !self.is_exact(transfer) {
            let run = self.each_with_context(transfer);
            return if self.is_fallible(transfer) {
                quote!(match #from { Some(value) => cx.try_prune(#wire, value, #run)?, None => None })
            } else {
                quote!(#from.and_then(|value| cx.prune(#wire, value, #run)))
            };
        }
        if same.summon.is_some() {
            let value = self.member(transfer, wire, quote!(value));
            let source = quote!(if cx.session().subscription_id.is_some() { #from.or_else(|| Some(Default::default())) } else { #from });
            return self.mapped(transfer, source, value);
        }
        let unboxed = |value: TokenStream| if boxed[0] { quote!(*#value) } else { value };
        let plain = *transfer == Transfer::Move && boxed[0] == boxed[1];
        let one = |value: TokenStream| {
            let value = unboxed(value);
            let converted = match (&same.left_out[..], transfer) {
                ([], _) => self.member(transfer, wire, value),
                (left_out, Transfer::List(inner)) => {
                    self.list_without(left_out, inner, wire, value)
                }
                (_, transfer) => self.member(transfer, wire, value),
            };
            in_box(converted, boxed[1])
        };
        match optional {
            [a, b] if plain && a == b => quote!(#from),
            [false, false] => one(quote!(#from)),
            [true, true] => match self.function_of(transfer) {
                Some(function) if boxed == [false, false] => quote!(#from.map(#function)),
                _ => {
                    let value = one(quote!(value));
                    self.mapped(transfer, quote!(#from), value)
                }
            },
            [false, true] => {
                let value = if plain {
                    quote!(#from)
                } else {
                    one(quote!(#from))
                };
                match &same.implied {
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
                let fill = same.missing.as_ref().map(|missing| match &missing.empty {
                    // An empty one of the source, converted like any other.
                    Some(empty) => {
                        let empty = reduced(empty, &self.moved);
                        self.member(&empty, wire, quote!(Default::default()))
                    }
                    None => added(missing, &plan.wire),
                });
                quote!(match #from { Some(value) => #value, None => #fill })
            }
        }
    }

    /// Returns an optional value, converted if it is there: to this, of `value`.
    pub(super) fn mapped(
        &self,
        transfer: &Transfer,
        from: TokenStream,
        converted: TokenStream,
    ) -> TokenStream {
        if self.is_fallible(transfer) {
            quote!(match #from { Some(value) => Some(#converted), None => None })
        } else {
            quote!(#from.map(|value| #converted))
        }
    }

    /// Returns a member whose text is read again, or whose value has no counterpart and is lost.
    fn recast(&self, plan: &FieldPlan, recast: &Recast, is_lost: bool) -> TokenStream {
        let (wire, rule) = (plan.source_wire(), rule(&recast.rule));
        let field = format_ident!("{}", recast.field);
        let given = option(&field, recast.optional, recast.boxed);
        if plan.optional && is_lost {
            return quote!(cx.lost(#rule, #wire, #given));
        }
        if plan.optional {
            let boxed = plan.boxed.then(|| quote!(.map(Box::new)));
            return quote!(cx.reread(#rule, #wire, #given)#boxed);
        }
        let required = |value: TokenStream| {
            if is_lost {
                let message = "the value has no counterpart in the other revision";
                quote!(cx.member(#wire, &#value, |value, cx| cx.refused(#rule, value, #message))?)
            } else {
                let read = quote!(cx.member(#wire, &#value, |value, cx| cx.reread_required(#rule, value))?);
                in_box(read, plan.boxed)
            }
        };
        match (recast.optional, recast.boxed) {
            (false, true) => required(quote!(*#field)),
            (false, false) => required(quote!(#field)),
            (true, _) => {
                let then = required(quote!(value));
                let fill = (recast.missing.as_ref()).map(|missing| added(missing, &plan.wire));
                quote!(match #given { Some(value) => #then, None => #fill })
            }
        }
    }

    /// Returns a list without the items that a hand-written function refuses.
    pub(super) fn filtered(
        &self,
        from: &Ident,
        wire: &str,
        transfer: &Transfer,
        filter: &HookCall,
    ) -> TokenStream {
        let rule = rule(&filter.rule);
        let keep = path(&filter.path);
        let inner = match transfer {
            Transfer::List(inner) => &**inner,
            transfer => transfer,
        };
        let run = self.each_with_context(inner);
        let kept = quote!(cx.list_keeping(#wire, #rule, #from, #keep, #run));
        if self.is_fallible(inner) {
            quote!(Context::all(#kept)?)
        } else {
            kept
        }
    }
}

/// Returns the value of a member that the source may have and lacks.
fn added(missing: &Missing, wire: &str) -> TokenStream {
    match &missing.action {
        Action::Default(value) => {
            let (rule, text) = (rule(&missing.rule), value.to_string());
            quote!(cx.add(#rule, #wire, #text)?)
        }
        _ => fill(missing),
    }
}

/// Returns the value of a member that the source does not name.
fn fill(missing: &Missing) -> TokenStream {
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
        Action::RequiresState(name) => {
            let adapter = adapter(*name);
            quote!(cx.supplied(#rule, #adapter)?)
        }
        Action::Reject(error) => {
            let reject = reject(id, error);
            quote!(return Err(#reject))
        }
        Action::Custom(function) => {
            let path = path(function);
            let question = question(function);
            quote!(#path(&mut cx.under(#rule)) #question)
        }
        _ => {
            quote!(return Err(cx.reject(#rule, -32603, "no value for a member that must be there")))
        }
    }
}
