//! What surrounds the conversions: modules, imports, tables, manifest and root.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};

use minijinja::{Value, context};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::emit::words::{adapter, code, name, rule, severity_constant};
use crate::emit::{
    COMMAND, CrateFiles, Once, Set, doc, fragment, header_of, inner_doc, named, optional, rendered,
};
use crate::format;
use crate::registry::VERSION;
use crate::registry::features::{self, Feature};
use mcp_convert::Adapter;
use mcp_revisions_plans::OneOrMany;
use mcp_revisions_plans::effect::target;
use mcp_revisions_plans::plan::{
    Apart, Arm, ConversionBody, MethodPlan, PairEnd, PairPlan, PlannedConversion,
};
use mcp_revisions_plans::rules::{Action, ErrorRule, ErrorRuleFate, MethodAction, RuleFacts};
use mcp_revisions_schema::model::Ty;
use mcp_revisions_schema::names::{constant, extension, extension_package, package};
use mcp_revisions_schema::pair::{MethodSender, RevisionPair, StepDirection};
use mcp_revisions_schema::spec::ExtensionSpec;
use mcp_revisions_schema::{Error, Markdown, RevisionModel};

/// The facts about the revisions for the crate of conversions.
#[derive(Debug)]
pub struct ShimFacts<'m> {
    /// The revisions that are converted, oldest first.
    pub revisions: Vec<&'m RevisionModel<'m>>,
    /// All extensions: those that were in a core are converted, too.
    pub extensions: Vec<&'m ExtensionSpec>,
    /// The features that bring them.
    pub features: Vec<Feature>,
    /// The types that several of them share.
    pub once: &'m Once,
}

impl ShimFacts<'_> {
    /// Returns the extension that an end of a pair is.
    fn named(&self, end: &str) -> Option<&ExtensionSpec> {
        self.extensions.iter().copied().find(|one| one.name == end)
    }

    /// Returns the extension that a pair is of, if it is not one of two revisions.
    fn extension(&self, pair: &RevisionPair) -> Option<&ExtensionSpec> {
        self.named(&pair.new).or_else(|| self.named(&pair.old))
    }

    /// Returns whether a pair leads from an extension to the later core that took it back.
    fn is_of_later_core(&self, pair: &RevisionPair) -> bool {
        self.named(&pair.old).is_some() && self.named(&pair.new).is_none()
    }

    /// Returns whether a pair is on the way from the core that had a feature to the later one that took it back.
    fn leads_to_later_core(&self, pair: &RevisionPair) -> bool {
        let Some(of) = self.extension(pair) else {
            return false;
        };
        let states = (self.extensions.iter()).filter(|one| one.folder == of.folder);
        let place =
            |is_it: &dyn Fn(&ExtensionSpec) -> bool| states.clone().position(|one| is_it(one));
        let last = place(&|one| one.later_core.is_some());
        last.is_some() && place(&|one| one.name == of.name) <= last
    }

    /// Returns the package of an end of a pair.
    fn package_of(&self, end: &str) -> String {
        self.named(end)
            .map_or_else(|| package(end), |_| extension_package(end))
    }

    /// Returns the condition under which both ends of a pair are there.
    fn gate(&self, pair: &RevisionPair) -> Option<String> {
        let alone = |id: &str| features::gate(&self.features, &[id]);
        if self.extension(pair).is_none() {
            // Of two adjacent revisions, the one farther from the revision of handlers brings the other.
            return alone(&pair.old).or_else(|| alone(&pair.new));
        }
        let [old, new] = [&pair.old, &pair.new].map(|end| {
            self.named(end)
                .map_or_else(|| end.clone(), |_| extension(end))
        });
        features::gate(&self.features, &[&old, &new])
    }

    /// Returns the types that both revisions of a pair share.
    pub(super) fn shared(&self, pair: &RevisionPair) -> SortedSet<&str> {
        let has = |set: &Set<'_>| {
            [&pair.old, &pair.new]
                .iter()
                .all(|id| set.revisions.contains(&id.as_str()))
        };
        let types = self.once.sets().filter(has).flat_map(|set| set.types);
        types.map(String::as_str).collect()
    }
}

/// Returns the first lines of every file.
pub(super) fn header() -> String {
    header_of(COMMAND, "spec/shims/")
}

/// Returns the imports of a file of conversions.
pub(super) fn imports(
    plan: &PairPlan,
    facts: &ShimFacts<'_>,
    body: &syn::File,
    elsewhere: &[TokenStream],
) -> TokenStream {
    let names = named(body);
    let uses = |from, all: &[&str]| uses(from, all, |name| names.contains(name));
    let convert = uses(quote!(mcp_convert), &["Adapter", "Context", "Stop"]);
    let wire = uses(quote!(mcp_wire), &["Extra", "JsonObject"]);
    let (old, new) = (
        format_ident!("{}", facts.package_of(&plan.pair.old).replace('-', "_")),
        format_ident!("{}", facts.package_of(&plan.pair.new).replace('-', "_")),
    );
    let pair = format_ident!("{}", plan.pair.module());
    let hooks = names
        .contains("hooks")
        .then(|| quote!(use mcp_hooks::#pair as hooks;));
    let elsewhere = (!elsewhere.is_empty()).then(|| quote!(use super::{#(#elsewhere),*};));
    let rules = uses(quote!(super::super), &["rules"]);
    quote! {
        use #old as old;
        use #new as new;
        #convert
        #hooks
        #wire
        #rules
        #elsewhere
    }
}

/// Returns the import of those of some names that are used, if any is.
fn uses(from: TokenStream, all: &[&str], is_used: impl Fn(&str) -> bool) -> Option<TokenStream> {
    let used: Vec<_> = all
        .iter()
        .filter(|name| is_used(name))
        .map(|name| format_ident!("{name}"))
        .collect();
    (!used.is_empty()).then(|| quote!(use #from::{#(#used),*};))
}

/// Returns the module of one direction.
pub(super) fn way(
    plan: &PairPlan,
    way: StepDirection,
    areas: &SortedSet<&str>,
    types: &TokenStream,
) -> TokenStream {
    let [from, to] = plan.pair.ends(way);
    let about = Markdown::from("From ")
        .then(Markdown::prose(from))
        .then(" to ");
    let about = inner_doc(&about.then(Markdown::prose(to)).then("."));
    let modules: Vec<_> = areas.iter().map(|area| format_ident!("{area}")).collect();
    quote! {
        #about
        #(mod #modules;)*
        mcp_convert::steps! { #types }
    }
}

/// Returns a line about the two ends of a pair.
fn between(before: &'static str, plan: &PairPlan) -> TokenStream {
    let RevisionPair { old, new, .. } = &plan.pair;
    let ends = Markdown::prose(old)
        .then(" and ")
        .then(Markdown::prose(new));
    inner_doc(&Markdown::from(before).then(ends).then("."))
}

/// Returns the text of the module of a pair; `file` is named in errors.
pub(super) fn pair(plan: &PairPlan, file: &str) -> Result<String, Error> {
    let about = between("Between ", plan);
    let [up, down] = StepDirection::BOTH.map(|way| plan.pair.step(way));
    let (old, new) = (&plan.pair.old, &plan.pair.new);
    let methods: Vec<_> = plan.methods.iter().filter_map(|method| {
        let Apart { rule, up, down } = method.apart.as_ref()?;
        let name = &method.name;
        let sender = direction(method.sender);
        let stays = plan.methods.iter().any(|other| {
            other.name == *name
                && other.sender != method.sender
                && other.in_both
        });
        let (rule, up, down) = (self::rule(rule), fate(up.as_ref()), fate(down.as_ref()));
        Some(quote!(MethodStep { method: #name, direction: #sender, stays_the_other_way: #stays, rule: #rule, up: #up, down: #down },))
    }).collect();
    let renamed: Vec<_> = plan.methods.iter().filter_map(renamed).collect();
    let wholes: Vec<_> = plan.methods.iter().flat_map(wholes).collect();
    // The narrowest first: a code before a range, some methods before all.
    let mut errors: Vec<_> = plan.errors.iter().collect();
    errors.sort_by_key(|row| {
        let width = row.code.to.abs_diff(row.code.from);
        (row.method.is_none(), width, row.code.from)
    });
    let error_rows: Vec<_> = errors.into_iter().map(error_row).collect();
    let open = plan.way(StepDirection::Down).iter().find_map(open_results);
    let instead = instead(plan);
    let (alike, open) = (plan.alike.iter(), optional(open));
    let table = quote! {
        /// What the tables know of the pair.
        pub(crate) const PAIR: Pair = Pair {
            old: #old,
            new: #new,
            up_step: #up,
            down_step: #down,
            up: up::STEPS,
            down: down::STEPS,
            alike: &[#(#alike),*],
            methods: &[#(#methods)*],
            renamed: &[#(#renamed)*],
            wholes: &[#(#wholes)*],
            errors: &[#(#error_rows)*],
            instead: &[#(#instead)*],
            open_results: #open,
            rules: rules::ALL,
        };
    };
    let table = format::parsed(table, file)?;
    let names = named(&table);
    let uses = |from, all: &[&str]| uses(from, all, |name| names.contains(name));
    let adapter = uses(quote!(mcp_convert), &["Adapter"]);
    let tables = [
        "Pair",
        "Part",
        "ErrorFate",
        "ErrorStep",
        "MethodFate",
        "MethodStep",
        "OpenResults",
        "RenamedMethod",
        "WholeMessage",
    ];
    let tables = uses(quote!(mcp_convert::dynamic), &tables);
    let direction = uses(quote!(mcp_wire), &["Direction"]);
    let head = quote! {
        #about
        pub(crate) mod down;
        pub(crate) mod rules;
        pub(crate) mod up;
        #adapter
        #tables
        #direction
    };
    format::below(head, table, file)
}

/// Returns the rules of a pair, as conversions are handed them.
pub(super) fn rules(plan: &PairPlan) -> TokenStream {
    let about = between("The rules between ", plan);
    let statics = plan.rules.iter().map(|facts| {
        let RuleFacts {
            id,
            severity,
            lesser,
            trivial,
            reason,
        } = facts;
        let (name, doc) = (name(id), doc(&Markdown::code(id)));
        let losing = severity.map(severity_constant).map(|it| quote!(.losing(#it)));
        let with_lesser = lesser.map(severity_constant).map(|it| quote!(.lesser(#it)));
        let with_trivial = trivial.as_ref().map(|trivial| {
            let values = trivial.values.iter().map(ToString::to_string);
            let members = optional(trivial.members.as_ref().map(|all| quote!(&[#(#all),*])));
            quote!(.trivial(&[#(#values),*], #members))
        });
        quote! {
            #(#doc)*
            pub(crate) static #name: Rule = Rule::new(#id, #reason) #losing #with_lesser #with_trivial;
        }
    });
    let loses = plan.rules.iter().any(|facts| facts.severity.is_some());
    let severities = uses(quote!(mcp_convert), &["Severity"], |_| loses);
    let all = plan.rules.iter().map(|facts| name(&facts.id));
    quote! {
        #about
        #severities
        use mcp_convert::Rule;
        #(#statics)*
        /// All of them.
        pub(crate) const ALL: &[&Rule] = &[#(&#all),*];
    }
}

/// Returns the adapters that take results in the place of those of methods, each with the rule about the most of them.
fn instead(plan: &PairPlan) -> Vec<TokenStream> {
    let bodies = StepDirection::BOTH
        .into_iter()
        .flat_map(|way| plan.way(way));
    let arms = bodies.filter_map(|one| match &one.body {
        ConversionBody::Union(arms) => Some(arms),
        _ => None,
    });
    let mut counts: SortedMap<Adapter, SortedMap<&str, usize>> = SortedMap::new();
    for arm in arms.flatten() {
        if let Arm::RequiresState { rule, adapter } = &arm.arm {
            *counts.entry(*adapter).or_default().entry(rule).or_default() += 1;
        }
    }
    let most = |rules: SortedMap<&'_ str, usize>| {
        let (id, _) = rules.into_iter().max_by_key(|(_, count)| *count)?;
        Some(rule(id))
    };
    (counts.into_iter())
        .filter_map(|(name, rules)| {
            let (adapter, rule) = (adapter(name), most(rules)?);
            Some(quote!((#adapter, #rule),))
        })
        .collect()
}

/// Results of types that the older revision cannot know, where the newer one reads them by their type.
fn open_results(one: &PlannedConversion) -> Option<TokenStream> {
    let ConversionBody::Object(plan) = &one.body else {
        return None;
    };
    plan.dropped.iter().find_map(|plan| {
        let Action::Only(only) = &plan.action else {
            return None;
        };
        let (member, rule) = (&plan.wire, rule(&plan.rule));
        let known = std::iter::once(only.value.as_str()?).chain(only.known.iter().map(String::as_str));
        let (code, message) = (code(only.otherwise.code), &only.otherwise.message);
        Some(quote!(OpenResults { member: #member, known: &[#(#known),*], rule: #rule, code: #code, message: #message }))
    })
}

/// Returns a method that the two have different names for.
fn renamed(method: &MethodPlan) -> Option<TokenStream> {
    let (old, new) = (method.was.as_ref()?, &method.name);
    let direction = direction(method.sender);
    Some(quote!(RenamedMethod { direction: #direction, old: #old, new: #new },))
}

/// Returns the message of a method and the response to it, as far as they are converted as wholes.
fn wholes(method: &MethodPlan) -> Vec<TokenStream> {
    let (name, direction) = (&method.name, direction(method.sender));
    let parts = [("Params", &method.message), ("Result", &method.response)];
    let rows = parts.into_iter().filter_map(|(part, transfers)| {
        let [up, _] = transfers.as_ref()?;
        let (old, new) = target(up)?;
        let (part, old, new) = (format_ident!("{part}"), old.name(), new.name());
        Some(quote!(WholeMessage { method: #name, direction: #direction, part: Part::#part, old: #old, new: #new },))
    });
    rows.collect()
}

fn direction(sender: MethodSender) -> TokenStream {
    let direction = sender.direction();
    let direction = format_ident!("{direction:?}");
    quote!(Direction::#direction)
}

/// Returns the fate of a method in one direction.
fn fate(action: Option<&MethodAction>) -> TokenStream {
    optional(action.map(|action| match action {
        MethodAction::RequiresState(name) => {
            let adapter = adapter(*name);
            quote!(MethodFate::RequiresState(#adapter))
        }
        MethodAction::Reject(error) => {
            let (code, message) = (code(error.code), &error.message);
            quote!(MethodFate::Reject(#code, #message))
        }
        MethodAction::Subscribed => quote!(MethodFate::Subscribed),
        MethodAction::Drop => quote!(MethodFate::Drop),
    }))
}

fn error_row(row: &ErrorRule) -> TokenStream {
    let [from, to] = [row.code.from, row.code.to].map(code);
    let methods = row.method.iter().flat_map(OneOrMany::all);
    let fate = |fate: &ErrorRuleFate| match fate {
        ErrorRuleFate::Code(new) => {
            let new = code(*new);
            quote!(ErrorFate::Code(#new))
        }
        ErrorRuleFate::RequiresState(name) => {
            let adapter = adapter(*name);
            quote!(ErrorFate::RequiresState(#adapter))
        }
    };
    let [up, down] = [&row.up, &row.down].map(|way| optional(way.as_ref().map(fate)));
    let rule = rule(&row.id);
    let data = optional(row.data.as_ref().map(|member| quote!(#member)));
    quote!(ErrorStep { codes: (#from, #to), methods: &[#(#methods),*], data: #data, rule: #rule, up: #up, down: #down },)
}

/// Returns the types of each revision that take part in conversions, and those of methods that only it has.
pub fn used<'p>(
    plans: &'p [PairPlan],
    facts: &'p ShimFacts<'_>,
) -> SortedMap<&'p str, SortedSet<&'p str>> {
    let mut used: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
    for RevisionModel {
        revision, model, ..
    } in &facts.revisions
    {
        let methods = model.methods.iter();
        let parts = methods.flat_map(|method| [&method.params, &method.result]);
        for ty in parts.flatten() {
            if let Ty::Named(name) = model.resolve(ty) {
                used.entry(&revision.id).or_default().insert(name);
            }
        }
    }
    for plan in plans {
        for way in StepDirection::BOTH {
            for one in plan.way(way) {
                for (end, revision) in [&one.from, &one.to].into_iter().zip(plan.pair.ends(way)) {
                    if let PairEnd::Type(name) = end {
                        used.entry(revision).or_default().insert(name);
                    }
                }
            }
        }
    }
    used
}

/// Manifest, root module and README.
pub(super) fn files(plans: &[PairPlan], facts: &ShimFacts<'_>) -> Result<CrateFiles, Error> {
    let revisions: Vec<Value> = facts
        .revisions
        .iter()
        .map(|of| {
            let id = of.revision.id.as_str();
            let optional = features::gate(&facts.features, &[id]).is_some();
            context! { id, package => package(id), optional }
        })
        .collect();
    let modules: Vec<Value> = plans
        .iter()
        .map(|plan| {
            let extension = facts.extension(&plan.pair).map(|of| of.folder.as_str());
            let later = facts.is_of_later_core(&plan.pair);
            let leads_to_later = facts.leads_to_later_core(&plan.pair);
            context! { name => plan.pair.module(), gate => facts.gate(&plan.pair).map(fragment), extension, later, leads_to_later }
        })
        .collect();
    let folders = |later: bool| -> Vec<Value> {
        let of_kind = plans
            .iter()
            .filter(|plan| facts.is_of_later_core(&plan.pair) == later);
        let of_extensions = of_kind.filter_map(|plan| facts.extension(&plan.pair));
        let folders: SortedSet<&str> = of_extensions.map(|of| of.folder.as_str()).collect();
        let row = |name| context! { name, constant => constant(&extension(name)) };
        folders.into_iter().map(row).collect()
    };
    let ends = plans
        .iter()
        .flat_map(|plan| [&plan.pair.old, &plan.pair.new]);
    let added: SortedSet<String> = ends
        .filter(|end| facts.named(end).is_some())
        .map(|end| extension_package(end))
        .collect();
    let converted = |one: &str| {
        let mut revisions = facts.revisions.iter();
        revisions.any(|of| package(&of.revision.id) == one)
            || plans.iter().any(|plan| {
                [&plan.pair.old, &plan.pair.new]
                    .iter()
                    .any(|end| facts.package_of(end) == one)
            })
    };
    let features = features::rows(&facts.features, |feature| {
        let own = feature
            .package
            .iter()
            .filter(|package| converted(package))
            .map(|package| format!("dep:{package}"));
        own.chain([format!("mcp-hooks/{}", feature.name)]).collect()
    });
    let all = context! {
        header => fragment(header()),
        command => COMMAND,
        version => VERSION,
        revisions,
        modules,
        extensions => folders(false),
        later_cores => folders(true),
        added => added.into_iter().collect::<Vec<_>>(),
        features => fragment(features),
    };
    rendered("shims", TEMPLATES, &all)
}

/// The templates of the crate.
const TEMPLATES: &[(&str, &str)] = templates![
    "Cargo.toml": "shims/Cargo.toml",
    "src/lib.rs": "shims/lib.rs",
    "README.md": "shims/README.md",
];
