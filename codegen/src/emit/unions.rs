//! Unions: the enum, and reading by its decision plan.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::items::doc;
use super::structs::number;
use super::ty::{field_type, ident, rust_type};
use mcp_revisions_schema::Markdown;
use mcp_revisions_schema::docs::TypeDocs;
use mcp_revisions_schema::model::{Case, KindCase, Model, Ty, TypeDef, Union, UnionPlan, Variant};
use mcp_revisions_schema::naming::snake_case;
use mcp_revisions_schema::schema::JsonType;

/// Returns the enum.
pub(super) fn item(model: &Model, def: &TypeDef, union: &Union, docs: &TypeDocs) -> TokenStream {
    let name = ident(&def.name);
    let attributes = doc(&docs.ty(def));
    let variants = union.variants.iter().map(|variant| {
        let line = variant_doc(model, &variant.ty, docs);
        let attributes = doc(&line);
        let name = ident(&variant.name);
        let ty = field_type(&variant.ty, variant.boxed);
        quote!(#(#attributes)* #name(#ty),)
    });
    let unknown = union.open.then(|| {
        let unknown = ident(Union::UNKNOWN);
        quote! {
            /// A method that this revision does not name, with its params unread.
            #unknown(UnknownMessage),
        }
    });
    quote! {
        #(#attributes)*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum #name { #(#variants)* #unknown }
    }
}

/// Returns the name of a variant's accessor; messages have none, since their method tells which one it is.
fn accessor(union: &Union, variant: &Variant) -> Option<Ident> {
    let is_read = !union.open && union.variants.len() > 1;
    let name = snake_case(&variant.name);
    is_read.then(|| format_ident!("as_{}", name.trim_end_matches('_')))
}

/// Returns the doc line of a variant: that of its type, in one line.
fn variant_doc(model: &Model, ty: &Ty, docs: &TypeDocs) -> Markdown {
    match ty {
        Ty::Named(name) => match model.get(name) {
            Some(def) => docs.ty(def).first_line(),
            None => Markdown::code(name).then("."),
        },
        Ty::String => "A string.".into(),
        Ty::Boolean => "`true` or `false`.".into(),
        Ty::Integer => "A whole number.".into(),
        Ty::Number => "A number.".into(),
        Ty::Array(_) | Ty::JsonArray => "A list.".into(),
        Ty::JsonObject | Ty::Map(_) => "An object.".into(),
        Ty::Json => "Any JSON value.".into(),
        Ty::Nullable(_) => "A value or `null`.".into(),
        Ty::Runtime(path, _) => Markdown::code(path).then("."),
    }
}

/// Reading and writing of a union, as a table of its variants, and the function that decides which one comes.
pub(super) fn wire(def: &TypeDef, union: &Union) -> TokenStream {
    let name = ident(&def.name);
    let emitter = PlanEmitter { def, union };
    let lines = union.variants.iter().map(|variant| {
        let (name, ty) = (ident(&variant.name), rust_type(&variant.ty));
        let boxed = variant.boxed.then(|| quote!(box));
        let accessor = accessor(union, variant);
        quote!(#name(#boxed #ty) #accessor;)
    });
    let unknown = ident(Union::UNKNOWN);
    let blank = match union.start {
        Some(index) => &ident(&union.variants[index].name),
        None => &unknown,
    };
    let unknown = union.open.then(|| quote!(#unknown;));
    let decide = match union.plan {
        // There is nothing to decide where a blank is of that variant.
        UnionPlan::Take(index) if union.start == Some(index) => None,
        UnionPlan::Take(index) => {
            let take = emitter.take(index);
            Some(quote!(#take;))
        }
        _ => Some(emitter.plan(&union.plan, union.open)),
    };
    let word = decide.as_ref().map(|_| quote!(decide));
    let reader = match union.plan {
        UnionPlan::Take(_) => quote!(_),
        _ => quote!(reader),
    };
    let implementation = decide.map(|decide| {
        quote! {
            impl #name {
                fn decide(&mut self, #reader: &mut Reader<'_>) -> Result<(), Fault> {
                    #decide
                    Ok(())
                }
            }
        }
    });
    quote! {
        #implementation
        mcp_wire::variants! { #name { blank #blank #word; #(#lines)* #unknown } }
    }
}

struct PlanEmitter<'m> {
    def: &'m TypeDef,
    union: &'m Union,
}

impl PlanEmitter<'_> {
    /// Returns the code that reads the variant on which a plan has decided.
    fn take(&self, index: usize) -> TokenStream {
        let variant = ident(&self.union.variants[index].name);
        quote!(*self = Self::#variant(Decode::blank()))
    }

    fn plan(&self, plan: &UnionPlan, open: bool) -> TokenStream {
        match plan {
            UnionPlan::Take(index) => self.take(*index),
            UnionPlan::Kind(cases) => self.kinds(cases),
            UnionPlan::Tag {
                member,
                cases,
                other,
                absent,
            } => {
                let other_branch =
                    other
                        .as_deref()
                        .map(|plan| self.plan(plan, false))
                        .or_else(|| {
                            let unknown = ident(Union::UNKNOWN);
                            open.then(|| quote!(*self = Self::#unknown(Decode::blank())))
                        });
                let absent_branch = absent.as_deref().map(|plan| self.plan(plan, false));
                self.tag(member, cases, other_branch, absent_branch)
            }
            UnionPlan::First(cases) => self.first(cases),
            UnionPlan::Present { cases, otherwise } => self.present(
                cases,
                otherwise.as_deref().map(|plan| self.plan(plan, false)),
            ),
            UnionPlan::Element { plan, empty } => self.element(plan, *empty),
        }
    }

    /// Decides by a look at the first element.
    fn element(&self, plan: &UnionPlan, empty: usize) -> TokenStream {
        let decide = self.plan(plan, false);
        let empty = self.take(empty);
        quote! {
            match reader.first_element()? {
                None => #empty,
                Some(mut element) => {
                    let reader = &mut element;
                    #decide
                }
            }
        }
    }

    fn kinds(&self, cases: &[KindCase]) -> TokenStream {
        let covered: usize = cases.iter().map(|case| case.kinds.len()).sum();
        let arms = cases.iter().map(|case| {
            let kinds = case.kinds.iter().map(|kind| ident(&format!("{kind:?}")));
            let then = self.plan(&case.plan, false);
            quote!(#(Kind::#kinds)|* => { #then })
        });
        let expected = self.expected(cases);
        let refuse = (covered < 7).then(|| quote!(_ => return Err(reader.refuse(#expected)),));
        quote!(match reader.kind()? { #(#arms)* #refuse })
    }

    /// `a string, an integer or an object`, for the error.
    fn expected(&self, cases: &[KindCase]) -> String {
        let kinds: Vec<JsonType> = cases.iter().flat_map(|case| case.kinds.clone()).collect();
        // Where every number goes to an integer's reader, that is what is expected.
        let whole = cases.iter().any(|case| match case.plan {
            UnionPlan::Take(index) => {
                case.kinds.contains(&JsonType::Number)
                    && self.union.variants[index].ty == Ty::Integer
            }
            _ => false,
        });
        let mut names = Vec::new();
        for kind in &kinds {
            names.push(match kind {
                JsonType::Object => "an object",
                JsonType::Array => "an array",
                JsonType::String => "a string",
                // A number stands for integers too.
                JsonType::Integer if kinds.contains(&JsonType::Number) => continue,
                JsonType::Integer => "an integer",
                JsonType::Number if whole => "an integer",
                JsonType::Number => "a number",
                JsonType::Boolean => "a boolean",
                JsonType::Null => "null",
            });
        }
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn tag(
        &self,
        member: &str,
        cases: &[Case],
        other: Option<TokenStream>,
        absent: Option<TokenStream>,
    ) -> TokenStream {
        let type_name = &self.def.name;
        let values = cases.iter().map(|case| &case.value);
        let new = match absent {
            Some(_) => quote!(Tag::optional),
            None => quote!(Tag::new),
        };
        let table = quote!(static TAG: Tag = #new(#type_name, #member, &[#(#values),*]););
        let absent_branch = absent.unwrap_or_else(|| quote!(return Err(reader.missing_tag(&TAG))));
        let arms = self.numbered(cases).map(|(index, then)| match other {
            Some(_) => quote!(TagFound::Known(#index) => { #then }),
            None => quote!(Some(#index) => { #then }),
        });
        match &other {
            Some(other) => quote! {
                #table
                match reader.tag_or_other(&TAG)? {
                    #(#arms)*
                    TagFound::Other => { #other }
                    TagFound::Absent => { #absent_branch }
                }
            },
            None => quote! {
                #table
                match reader.tag(&TAG)? { #(#arms)* None => { #absent_branch } }
            },
        }
    }

    /// Returns a pattern and a body per case: the number of the case, and `_` for the last one.
    fn numbered(&self, cases: &[Case]) -> impl Iterator<Item = (TokenStream, TokenStream)> {
        let last = cases.len().saturating_sub(1);
        cases.iter().enumerate().map(move |(index, case)| {
            let pattern = if index == last {
                quote!(_)
            } else {
                number(index)
            };
            (pattern, self.plan(&case.plan, false))
        })
    }

    fn first(&self, cases: &[Case]) -> TokenStream {
        let table = self.paths(cases);
        let arms = (self.numbered(cases)).map(|(index, then)| quote!(Some(#index) => { #then }));
        quote! {
            #table
            match reader.first_present(&PATHS)? {
                #(#arms)*
                None => return Err(reader.undecided(&PATHS)),
            }
        }
    }

    fn present(&self, cases: &[Case], otherwise: Option<TokenStream>) -> TokenStream {
        let table = self.paths(cases);
        let fallback = otherwise.unwrap_or_else(|| quote!(return Err(reader.undecided(&PATHS))));
        // Rows that lead to the same variant share a branch.
        let mut rows: Vec<(Vec<usize>, &UnionPlan)> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            match rows.last_mut() {
                Some((indices, plan)) if **plan == case.plan => indices.push(index),
                _ => rows.push((vec![index], &case.plan)),
            }
        }
        let branches = rows.iter().map(|(indices, plan)| {
            let then = self.plan(plan, false);
            let conditions = indices.iter().map(|index| {
                let index = number(*index);
                quote!(present.has(#index))
            });
            quote!(if #(#conditions)||* { #then } else)
        });
        quote! {
            #table
            let present = reader.present(&PATHS)?;
            #(#branches)* { #fallback }
        }
    }

    fn paths(&self, cases: &[Case]) -> TokenStream {
        let type_name = &self.def.name;
        let paths = cases.iter().map(|case| {
            let steps = case.value.split('.');
            quote!(&[#(#steps),*])
        });
        quote!(static PATHS: Paths = Paths::new(#type_name, &[#(#paths),*]);)
    }
}
