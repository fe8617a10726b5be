//! What the text of the generated conversions has to show: every member of a source by name, and exactness where planned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mcp_revisions_plans::plan::{ConversionBody, Effect, PairEnd, PlannedConversion};
use mcp_revisions_schema::pair::RevisionPair;
use mcp_tests::root;
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Item, Pat, Stmt};

fn source() -> PathBuf {
    root().join("generated/mcp-shims/src")
}

/// All files of one direction of a pair, read.
fn files(module: &str, way: &str) -> Vec<syn::File> {
    let folder = source().join(module).join(way);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let parse = |path: &Path| syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap();
    entries.map(|entry| parse(&entry.unwrap().path())).collect()
}

fn module(pair: &RevisionPair) -> String {
    pair.module()
}

/// Every `old::Type` or `new::Type` of a pattern that takes a value apart.
#[test]
fn every_member_of_a_source_is_named() {
    let world = crate::specs::world();
    let mut taken_apart = 0;
    let mut planned = 0;
    for plan in &world.plans {
        for (way, conversions) in [("up", &plan.up), ("down", &plan.down)] {
            let files = files(&module(&plan.pair), way);
            let functions: Vec<&syn::ItemFn> = files
                .iter()
                .flat_map(|file| &file.items)
                .filter_map(|item| match item {
                    Item::Fn(function) => Some(function),
                    _ => None,
                })
                .collect();
            // A type that both revisions share has a row, and no function.
            let same = rows(&files, "same");
            assert_eq!(
                functions.len() + same.len(),
                conversions.len(),
                "{} {way}",
                plan.pair.old
            );
            let is_same = |one: &PlannedConversion| {
                same.contains(&(one.from.name().to_owned(), one.to.name().to_owned()))
            };
            planned += (conversions.iter())
                .filter(|one| from_object(one) && !is_same(one))
                .count();
            for function in functions {
                for stmt in &function.block.stmts {
                    let Stmt::Local(local) = stmt else { continue };
                    let Pat::Struct(pattern) = &local.pat else {
                        continue;
                    };
                    assert!(pattern.rest.is_none(), "{}: `..`", function.sig.ident);
                    for field in &pattern.fields {
                        assert!(
                            !matches!(*field.pat, Pat::Wild(_)),
                            "{}: `_`",
                            function.sig.ident
                        );
                    }
                    taken_apart += 1;
                }
            }
            let objects = conversions.iter().filter(|one| from_object(one)).count();
            assert!(objects > 0);
        }
    }
    assert_eq!(
        taken_apart, planned,
        "conversions of objects that take their source apart"
    );
}

fn from_object(one: &PlannedConversion) -> bool {
    matches!(
        (&one.body, &one.from),
        (ConversionBody::Object { .. }, PairEnd::Type(_))
    )
}

#[test]
fn no_conversion_matches_whatever_is_left() {
    for entry in walk(&source()) {
        let text = std::fs::read_to_string(&entry).unwrap();
        let file = syn::parse_file(&text).unwrap();
        for item in &file.items {
            let Item::Fn(function) = item else { continue };
            for stmt in &function.block.stmts {
                let Stmt::Expr(syn::Expr::Match(matched), _) = stmt else {
                    continue;
                };
                for arm in &matched.arms {
                    // A constant of an open string has no end of values; a union has.
                    assert!(
                        !takes_anything(&arm.pat) || is_text(&matched.expr),
                        "{}: {}",
                        entry.display(),
                        function.sig.ident
                    );
                }
            }
        }
    }
}

/// Whether a pattern matches every value. A name alone does if it binds; that of a variant without fields, as `None`,
/// or of a constant does not, and is told by its capital as the compiler's lints have it.
fn takes_anything(pat: &Pat) -> bool {
    match pat {
        Pat::Wild(_) => true,
        Pat::Ident(name) => match &name.subpat {
            Some((_, below)) => takes_anything(below),
            None => !name.ident.to_string().starts_with(char::is_uppercase),
        },
        Pat::Or(any) => any.cases.iter().any(takes_anything),
        Pat::Paren(inner) => takes_anything(&inner.pat),
        _ => false,
    }
}

#[test]
fn a_name_that_binds_takes_anything_and_a_variant_does_not() {
    let takes = |text: &str| takes_anything(&Pat::parse_multi.parse_str(text).unwrap());
    for all in [
        "_",
        "rest",
        "ref rest",
        "(_)",
        "Some(1) | _",
        "all @ _",
        "_rest",
    ] {
        assert!(takes(all), "{all}");
    }
    for some in [
        "None",
        "Some(_)",
        "old::A::B(value)",
        "NONE",
        "a @ None",
        "A | B",
    ] {
        assert!(!takes(some), "{some}");
    }
}

fn is_text(expr: &syn::Expr) -> bool {
    let text = expr.to_token_stream().to_string();
    text.starts_with("& *") || text.contains("as_deref")
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(walk(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => all.push(path),
            false => {}
        }
    }
    all
}

/// The ends of the rows of the tables of conversions that run by a function: `exact`, `lossy`, `fallible` or `same`.
fn rows(files: &[syn::File], run: &str) -> BTreeSet<(String, String)> {
    let items = files.iter().flat_map(|file| &file.items);
    let tables = items.filter_map(|item| match item {
        Item::Macro(table) if table.mac.path.segments.last()?.ident == "steps" => {
            Some(table.mac.tokens.to_string())
        }
        _ => None,
    });
    // `"Tool" => "Tool" fallible tools::tool_up`
    let row = |row: &str| {
        let mut quoted = row.split('"');
        let (from, to) = (quoted.nth(1)?.to_owned(), quoted.nth(1)?.to_owned());
        (quoted.next()?.trim().starts_with(run)).then_some((from, to))
    };
    let rows = tables.flat_map(|table| table.split(';').filter_map(row).collect::<Vec<_>>());
    rows.collect()
}

#[test]
fn conversions_are_exact_where_the_plan_says_so_and_nowhere_else() {
    let world = crate::specs::world();
    let mut count = 0;
    for plan in &world.plans {
        for (way, conversions) in [("up", &plan.up), ("down", &plan.down)] {
            let planned: BTreeSet<(String, String)> = conversions
                .iter()
                .filter(|one| one.effect == Effect::Exact)
                .filter_map(|one| match (&one.from, &one.to) {
                    (PairEnd::Type(from), PairEnd::Type(to)) => Some((from.clone(), to.clone())),
                    _ => None,
                })
                .collect();
            // A row that runs by `exact` takes a function without a context: it has nothing to record a loss in.
            let files = files(&module(&plan.pair), way);
            let found = &rows(&files, "exact") | &rows(&files, "same");
            assert_eq!(found, planned, "{} {way}", plan.pair);
            count += planned.len();
        }
    }
    println!("{count} exact conversions");
    assert!(count > 100, "{count}");
}
